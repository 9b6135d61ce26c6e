/* SPDX-License-Identifier: MIT */
/* web_get.c -- GET on /mcp: the own stream of a legacy session, or with Last-Event-ID one that broke. A second GET for the
 * same stream takes it over: the first is most often a connection whose end has not been seen yet. */
#include "web_internal.h"
#include "web_stream.h"

#include <stdlib.h>
#include <string.h>

static void refuse(const web_getter *u, unsigned status, const char *text) {
    web_guest g = {.host = u->user.host, .x = u->x, .origin = u->origin};
    web_refuse(&g, status, RPC_REQUEST, text, NULL);
}

/* The stream and the number of the last event that the client has; false: it was refused. */
static bool choose(web_getter *u, const char *last, uint32_t *ret_number) {
    web_session *w = u->session;
    uint32_t stream;
    web_stream *s = NULL;
    if (!last || !*last) {
        s = w->own;
        web_stream_retain(s);
        *ret_number = WEB_UNSENT;
    } else if (web_event_id(last, &stream, ret_number)) {
        s = web_log_find(w->log, &w->history, stream);
    }
    pthread_mutex_lock(&w->lock);
    u->stream = s;
    pthread_mutex_unlock(&w->lock);
    return s != NULL;
}

static const char unknown[] = "Last-Event-ID names no stream of this session of which something is still kept. Open the stream without it.";

static void request(web_user *user, web_exchange *x, const web_head *h, const char *body, size_t len) {
    web_getter *u = (web_getter *)user;
    web_session *w = u->session;
    (void)body, (void)len;
    const char *last = h->header(h, "Last-Event-ID", NULL);
    uint32_t number;
    pthread_mutex_lock(&w->core->lock);
    bool primes = w->core->rev >= REV_2025_11_25;
    pthread_mutex_unlock(&w->core->lock);
    web_start start = {.x = x, .origin = u->origin, .prime = primes && !last, .retry_ms = WEB_RETRY_MS};
    if (!choose(u, last, &number)) {
        refuse(u, 400, unknown);
        return;
    }
    switch (web_stream_take_up(w, u->stream, number, &start)) {
    case WEB_TAKEN:
        break;
    case WEB_OVER: { /* what a browser's EventSource takes for "do not come back" */
        web_guest g = {.host = user->host, .x = x, .origin = u->origin};
        web_reply_empty(&g, 204);
        break;
    }
    case WEB_LOST:
        refuse(u, 400, unknown);
        break;
    case WEB_CLOSED:
        refuse(u, 404, "The session has ended. Send initialize without Mcp-Session-Id.");
        break;
    }
}

static void gone(web_user *user, web_exchange *x) {
    web_getter *u = (web_getter *)user;
    pthread_mutex_lock(&u->session->lock);
    web_stream *s = u->stream;
    pthread_mutex_unlock(&u->session->lock);
    if (s)
        web_stream_leave(u->session, s, x);
}

static void done(web_user *user, web_exchange *x) {
    web_getter *u = (web_getter *)user;
    web_host *h = user->host;
    gone(user, x);
    atomic_fetch_sub(&u->session->listening, 1);
    h->store->touch(h->store, u->session);
    web_session_release(u->session);
    web_stream_release(u->stream);
    free(u);
}

static const web_route get_route = {.request = request, .gone = gone, .done = done};

bool web_get_accept(web_guest *g, web_session *w) {
    size_t len = g->origin ? strlen(g->origin) + 1 : 0;
    web_getter *u = malloc(sizeof *u + len);
    if (!u) {
        web_refuse(g, 503, RPC_INTERNAL, "Out of memory.", NULL);
        return false;
    }
    *u = (web_getter){.user = {&get_route, g->host}, .x = g->x, .session = w};
    if (len)
        u->origin = memcpy(u->text, g->origin, len);
    web_session_retain(w);
    atomic_fetch_add(&w->listening, 1);
    g->host->front->set_user(g->x, u);
    return true;
}
