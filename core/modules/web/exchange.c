/* SPDX-License-Identifier: MIT */
/* exchange.c -- one request and its answer: its life, and how its answer reaches libmicrohttpd. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static web_exchange *create(void) {
    web_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->room, &attr);
    pthread_condattr_destroy(&attr);
    return x;
}

void exchange_destroy(web_exchange *x) {
    if (!x)
        return;
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->room);
    free(x->lines);
    free(x->query);
    free(x->trimmed);
    free(x->body);
    free(x->out);
    free(x);
}

/* What the last request left in a spare one, but for its memory, its lock and its condition. */
static void reset(web_exchange *x) {
    web_exchange old = *x;
    size_t locks = offsetof(web_exchange, lock);
    memset(x, 0, locks);
    memset((char *)x + offsetof(web_exchange, connection), 0, sizeof *x - offsetof(web_exchange, connection));
    x->lines = old.lines;
    x->line_size = old.line_size;
    x->body = old.body;
    x->size = old.size;
}

web_exchange *exchange_begin(peer *p, struct MHD_Connection *c) {
    web_exchange *x = p->spare ? p->spare : create();
    if (!x)
        return NULL;
    p->spare = NULL;
    x->server = p->server;
    x->peer = p;
    x->connection = c;
    x->head.remote = p->remote;
    x->head.header = head_header;
    atomic_init(&x->refs, 1);
    return x;
}

void exchange_ref(web_exchange *x) {
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
}

void exchange_unref(web_exchange *x) {
    if (atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) == 1)
        exchange_destroy(x);
}

void exchange_drop_request(web_exchange *x) {
    free(x->lines);
    free(x->query);
    free(x->trimmed);
    free(x->body);
    x->lines = NULL;
    x->query = x->trimmed = x->body = NULL;
    x->line_count = x->line_size = 0;
    x->len = x->size = 0;
    x->head.query = NULL;
}

/* The memory of a cheap request serves the connection's next one, unless somebody else still holds it. */
static void recycle(web_exchange *x, peer *p) {
    if (atomic_load_explicit(&x->refs, memory_order_acquire) != 1) {
        exchange_unref(x);
        return;
    }
    free(x->query);
    free(x->trimmed);
    free(x->out);
    if (x->size > BODY_KEPT) {
        free(x->body);
        x->body = NULL;
        x->size = 0;
    }
    reset(x);
    p->spare = x;
}

/* ---- the end ---- */

static void tell_done(web_exchange *x) {
    web_server *s = x->server;
    s->handler.done(s->handler.arg, x);
    atomic_fetch_sub(&s->open, 1);
}

/* gone and done are told by whoever sees the reason, on different threads; done comes after gone returned, as
 * who told gone then tells done too. */
void exchange_gone(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    bool stop = x->connection && !x->handed && !x->gone_told, tell = stop && x->accepted && !x->aborted;
    if (stop) {
        x->dead = x->gone_told = true;
        x->telling = tell;
        answer_wake(x);
        pthread_cond_broadcast(&x->room);
    }
    pthread_mutex_unlock(&x->lock);
    if (!tell)
        return;
    x->server->handler.gone(x->server->handler.arg, x);
    pthread_mutex_lock(&x->lock);
    x->telling = false;
    bool owed = x->done_owed;
    pthread_mutex_unlock(&x->lock);
    if (owed)
        tell_done(x);
}

/* Under the lock what is left to say is decided, then it is said. True: gone comes first. */
static bool bury(web_exchange *x, bool well, struct MHD_Response **ret_unsent) {
    pthread_mutex_lock(&x->lock);
    bool gone = x->accepted && !well && !x->gone_told && !x->aborted;
    *ret_unsent = x->response;
    x->response = NULL;
    x->connection = NULL;
    x->suspended = false;
    x->dead = true;
    x->gone_told |= gone;
    x->done_owed = x->accepted && x->telling;
    if (x->waiters)
        pthread_cond_broadcast(&x->room);
    pthread_mutex_unlock(&x->lock);
    return gone;
}

void exchange_completed(web_exchange *x, bool well) {
    peer *p = x->peer;
    struct MHD_Response *unsent;
    peer_detach(p, x);
    bool gone = bury(x, well, &unsent), owed = x->done_owed;
    if (unsent)
        MHD_destroy_response(unsent);
    if (gone)
        x->server->handler.gone(x->server->handler.arg, x);
    if (x->accepted && !owed)
        tell_done(x);
    else if (x->offered && !x->accepted)
        atomic_fetch_sub(&x->server->open, 1);
    recycle(x, p);
}

/* ---- the answer ---- */

bool exchange_refuse(web_exchange *x, unsigned status, const char *body) {
    web_header type = {"Content-Type", *body == '{' ? "application/json" : "text/plain; charset=utf-8"};
    web_answer a = {.status = status, .headers = &type, .header_count = 1, .body = body, .len = strlen(body)};
    return answer_reply(x, &a);
}

/* The lock is held. Suspends before anybody else can see that the exchange waits, as resuming comes after. */
static void suspend(web_exchange *x) {
    x->suspended = true;
    MHD_suspend_connection(x->connection);
}

static enum MHD_Result hand_over(web_exchange *x, struct MHD_Response *r, bool streaming) {
    if (streaming)
        exchange_drop_request(x);
    peer_enter(x->peer, streaming ? PHASE_STREAM : PHASE_SEND);
    enum MHD_Result ok = MHD_queue_response(x->connection, x->status, r);
    MHD_destroy_response(r);
    if (streaming && !x->attached)
        peer_attach(x->peer, x);
    return ok;
}

enum MHD_Result exchange_send_or_wait(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    struct MHD_Response *r = x->response;
    bool dead = x->dead, streaming = x->streaming;
    if (!dead) {
        x->response = NULL;
        x->handed = r && !streaming;
        if (!r)
            suspend(x);
    }
    pthread_mutex_unlock(&x->lock);
    if (dead)
        return MHD_NO;
    if (r)
        return hand_over(x, r, streaming);
    if (!x->attached)
        peer_attach(x->peer, x);
    return MHD_YES;
}

/* ---- for the watcher ---- */

/* now is the sweep's: bytes may have been written after it. */
void exchange_keep_alive(web_exchange *x, uint64_t now) {
    const web_config *c = &x->server->config;
    pthread_mutex_lock(&x->lock);
    bool quiet =
        x->streaming && x->suspended && !x->finished && !x->dead && now >= x->written_ms + c->keepalive_ms;
    if (quiet)
        answer_append(x, c->keepalive_text, strlen(c->keepalive_text));
    pthread_mutex_unlock(&x->lock);
}

bool exchange_has_backlog(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    bool waits = x->out_len > x->out_from && !x->dead;
    pthread_mutex_unlock(&x->lock);
    return waits;
}
