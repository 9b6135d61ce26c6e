/* SPDX-License-Identifier: MIT */
/* web_peer.c -- one POST to /mcp: where its answer goes. An answer with nothing before it is a JSON body with the status
 * of its kind; what comes earlier makes the answer an event stream that ends with it. A closed connection cancels in the
 * modern era; in the legacy one the call goes on, and what it says waits in the session's log.
 * Locks: web_peer.lock before the session's. */
#include "web_internal.h"
#include "web_stream.h"

#include <stdlib.h>
#include <string.h>

static web_peer *of(peer *base) {
    return (web_peer *)(void *)((char *)base - offsetof(web_peer, base));
}

/* ---- bodies ---- */

size_t web_stream_headers(const char *origin, web_header *ret) {
    ret[0] = (web_header){"Content-Type", "text/event-stream"};
    ret[1] = (web_header){"Cache-Control", "no-cache"};
    ret[2] = (web_header){"X-Accel-Buffering", "no"}; /* proxies would hold events back */
    return 3 + web_cors_headers(origin, ret + 3);
}

static unsigned status_of(const web_peer *p, peer_kind kind) {
    if (p->status)
        return p->status;
    return kind == PEER_REFUSED ? 400 : kind == PEER_NO_METHOD ? 404 : 200;
}

/* A client that takes nothing but streams. What opens a session has the id in its head, so it is a body. */
static bool answers_as_stream(const web_peer *p, peer_kind kind) {
    return !p->takes_json && !p->fresh && status_of(p, kind) == 200;
}

static void reply(web_peer *p, const char *json, size_t len, peer_kind kind) {
    web_header headers[WEB_HEADERS] = {{"Content-Type", "application/json"}};
    size_t n = 1;
    if (p->fresh && p->session->core->rev != REV_NONE)
        headers[n++] = (web_header){"Mcp-Session-Id", p->session->id};
    if (p->status == 503)
        headers[n++] = (web_header){"Retry-After", "5"};
    n += web_cors_headers(p->origin, headers + n);
    web_answer a = {.status = status_of(p, kind), .headers = headers, .header_count = n, .body = json, .len = len};
    p->user.host->front->reply(p->x, &a);
}

static void reply_nothing(web_peer *p, unsigned status) {
    web_header headers[WEB_HEADERS];
    web_answer a = {.status = status, .headers = headers, .header_count = web_cors_headers(p->origin, headers)};
    p->user.host->front->reply(p->x, &a);
}

/* ---- modern: events have no id, nothing is kept ---- */

enum { FRAME = 8, SMALL = 4096 };

/* The message as an event; into buf when it fits, else malloc'ed. NULL: out of memory. */
static char *framed(const char *json, size_t len, char *buf) {
    char *text = len + FRAME <= SMALL ? buf : malloc(len + FRAME);
    if (text) {
        memcpy(text, "data: ", 6);
        memcpy(text + 6, json, len);
        memcpy(text + 6 + len, "\n\n", 2);
    }
    return text;
}

static void begin_stream(web_peer *p, const char *text, size_t len) {
    web_header headers[WEB_HEADERS];
    web_answer a = {.status = 200, .headers = headers, .body = text, .len = len};
    a.header_count = web_stream_headers(p->origin, headers);
    p->user.host->front->stream(p->x, &a);
}

/* The lock is held, and given back: a write may wait. */
static void send_event(web_peer *p, const char *json, size_t len, bool last) {
    const web_front *front = p->user.host->front;
    char buf[SMALL], *text = framed(json, len, buf);
    bool first = !p->started;
    if (first && text) {
        p->started = true;
        begin_stream(p, text, len + FRAME);
    }
    pthread_mutex_unlock(&p->lock);
    if (!first && text)
        front->write(p->x, text, len + FRAME, web_may_wait() && !p->listens);
    if (last)
        front->finish(p->x);
    if (text != buf)
        free(text);
}

static void send_modern(web_peer *p, const char *json, size_t len, peer_kind kind) {
    bool last = kind != PEER_ASIDE;
    pthread_mutex_lock(&p->lock);
    bool drop = p->answered || atomic_load(&p->gone) || (!last && !p->takes_stream);
    p->answered = p->answered || last;
    if (!drop && (p->started || !last || answers_as_stream(p, kind))) {
        send_event(p, json, len, last);
        return;
    }
    pthread_mutex_unlock(&p->lock);
    if (!drop)
        reply(p, json, len, kind);
}

/* ---- legacy: events have ids and are kept ---- */

/* The lock is held. False: out of memory. */
static bool begin_kept_stream(web_peer *p, uint32_t retry_ms) {
    web_session *w = p->session;
    if (!p->stream && (p->stream = web_log_open(w->log, &w->history))) {
        web_start start = {.x = p->x, .origin = p->origin, .prime = p->primes, .retry_ms = retry_ms};
        p->started = true;
        web_stream_begin(w, p->stream, &start);
    }
    return p->stream != NULL;
}

/* Without a stream of its own, what a call says on the way can only go to the session's, if there is one. */
static void send_elsewhere(web_peer *p, const char *json, size_t len) {
    if (atomic_load(&p->session->listening))
        web_stream_send(p->session, p->session->own, json, len, false);
}

static void send_legacy(web_peer *p, const char *json, size_t len, peer_kind kind) {
    bool last = kind != PEER_ASIDE, gone = atomic_load(&p->gone);
    pthread_mutex_lock(&p->lock);
    bool drop = p->answered;
    p->answered = p->answered || last;
    bool wanted = last ? answers_as_stream(p, kind) : p->takes_stream;
    bool stream = p->started || (wanted && !gone && !drop && begin_kept_stream(p, WEB_RETRY_MS));
    pthread_mutex_unlock(&p->lock);
    if (drop)
        return;
    if (stream)
        web_stream_send(p->session, p->stream, json, len, last);
    else if (last)
        reply(p, json, len, kind);
    else
        send_elsewhere(p, json, len);
}

static void let_go(peer *base, uint32_t retry_ms) {
    web_peer *p = of(base);
    if (!p->session || !p->takes_stream || !p->primes)
        return;
    pthread_mutex_lock(&p->lock);
    bool fresh = !p->started, begun = !p->answered && !atomic_load(&p->gone) && begin_kept_stream(p, retry_ms);
    pthread_mutex_unlock(&p->lock);
    if (begun)
        web_stream_let_go(p->session, p->stream, retry_ms, !fresh);
}

static bool reaches(peer *base) {
    web_peer *p = of(base);
    return p->takes_stream || (p->session && atomic_load(&p->session->listening));
}

/* ---- the peer ---- */

static void send(peer *base, const char *json, size_t len, peer_kind kind) {
    web_peer *p = of(base);
    if (p->session)
        send_legacy(p, json, len, kind);
    else
        send_modern(p, json, len, kind);
}

static void retain(peer *base) {
    web_peer *p = of(base);
    atomic_fetch_add(&p->refs, 1);
    atomic_fetch_add(&p->calls, 1);
}

/* Nobody answers any more: a notification, a response, or a call that was cancelled. */
static void end_unanswered(web_peer *p) {
    pthread_mutex_lock(&p->lock);
    bool answered = p->answered, started = p->started;
    p->answered = true;
    pthread_mutex_unlock(&p->lock);
    if (answered)
        return;
    if (p->stream)
        web_stream_end(p->session, p->stream);
    else if (started)
        p->user.host->front->finish(p->x);
    else if (!atomic_load(&p->gone))
        reply_nothing(p, p->session && web_session_ended(p->session) ? 404 : 202);
}

static void release(peer *base) {
    web_peer *p = of(base);
    if (atomic_fetch_sub(&p->calls, 1) == 1)
        end_unanswered(p);
    web_peer_release(p);
}

web_peer *web_peer_create(const web_guest *g, bool takes_json, bool takes_stream) {
    size_t len = g->origin ? strlen(g->origin) + 1 : 0;
    web_peer *p = malloc(sizeof *p + len);
    if (!p)
        return NULL;
    *p = (web_peer){.user = {g->route, g->host}, .x = g->x, .takes_json = takes_json, .takes_stream = takes_stream,
                    .base = {.send = send, .retain = retain, .release = release, .let_go = let_go, .reaches = reaches, .principal = g->principal}};
    if (len)
        p->origin = memcpy(p->text, g->origin, len);
    atomic_init(&p->refs, 1);
    pthread_mutex_init(&p->lock, NULL);
    g->host->front->retain(g->x);
    return p;
}

void web_peer_release(web_peer *p) {
    if (atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    web_host *h = p->user.host;
    if (p->session)
        h->store->leave(h->store, p->session);
    web_stream_release(p->stream);
    h->front->release(p->x);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void web_peer_gone(web_peer *p) {
    web_host *h = p->user.host;
    atomic_store(&p->gone, true);
    pthread_mutex_lock(&p->lock);
    bool modern = !p->session, listens = p->listens;
    web_stream *s = p->stream;
    pthread_mutex_unlock(&p->lock);
    if (modern)
        server_cancel_peer(h->srv, &p->base);
    if (listens)
        mcp_forget_peer(h->modern, &p->base);
    if (s)
        web_stream_leave(p->session, s, p->x);
}
