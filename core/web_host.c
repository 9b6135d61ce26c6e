/* SPDX-License-Identifier: MIT */
/* web_host.c -- what the front calls: who is at which path, and the life of an exchange there. */
#include "web_host.h"
#include "web_health.h"
#include "web_internal.h"
#include "web_sse2024.h"
#include "web_stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENT_BYTES = 64 << 20,        /* of events that are kept for streams that broke, in all */
    SESSION_EVENT_BYTES = 4 << 20, /* the same, of one session */
    SESSION_EVENTS = 256
};

/* ---- answers ---- */

void web_refuse(const web_guest *g, unsigned status, int code, const char *text, const web_header *more) {
    web_header headers[WEB_HEADERS] = {{"Content-Type", "application/json"}};
    size_t n = 1 + web_cors_headers(g->origin, headers + 1);
    if (more)
        headers[n++] = *more;
    json_writer w;
    json_writer_init(&w, 0);
    rpc_write_error(&w, NULL, code, text, NULL);
    bool ok = json_writer_finish(&w);
    web_answer a = {.status = status, .headers = headers, .header_count = n, .body = ok ? w.data : "", .len = ok ? w.len : 0};
    g->host->front->reply(g->x, &a);
    json_writer_free(&w);
}

void web_reply_empty(const web_guest *g, unsigned status) {
    web_header headers[WEB_HEADERS];
    web_answer a = {.status = status, .headers = headers, .header_count = web_cors_headers(g->origin, headers)};
    g->host->front->reply(g->x, &a);
}

/* ---- /mcp ---- */

static void post(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len) {
    (void)x;
    web_rules_post((web_peer *)u, h, body, len);
}
static void post_gone(web_user *u, web_exchange *x) {
    (void)x;
    web_peer_gone((web_peer *)u);
}
static void post_done(web_user *u, web_exchange *x) {
    (void)x;
    web_peer_release((web_peer *)u);
}

/* ---- /health, /ready ---- */

static bool health(web_guest *g) {
    web_health(g->host->srv, g->host->front, g->x, g->head);
    return false;
}

/* One more path is one more line here. */
static const web_route routes[] = {
    {.path = "/mcp", .head = web_rules_head, .request = post, .gone = post_gone, .done = post_done},
    {.path = "/health", .open = true, .head = health},
    {.path = "/ready", .open = true, .head = health},
    {.path = WEB_SSE2024_STREAM, .sse = true, .head = web_sse2024_head, .request = web_sse2024_request, .gone = web_sse2024_gone,
     .done = web_sse2024_done},
    {.path = WEB_SSE2024_MESSAGES, .sse = true, .head = web_messages2024_head, .request = web_messages2024_request,
     .gone = web_messages2024_gone, .done = web_messages2024_done},
};

/* ---- from the front ---- */

static _Thread_local bool on_front;

bool web_may_wait(void) {
    return !on_front;
}

static bool on_head(void *arg, web_exchange *x, const web_head *h) {
    web_guest g = {.host = arg, .x = x, .head = h};
    on_front = true;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].path, h->path) == 0 && (!routes[i].sse || g.host->srv->manifest->http.sse))
            g.route = &routes[i];
    return web_rules_door(&g) && g.route->head(&g);
}

static void on_request(void *arg, web_exchange *x, const web_head *h, const char *body, size_t len) {
    web_host *host = arg;
    web_user *u = host->front->user(x);
    on_front = true;
    if (u)
        u->route->request(u, x, h, body, len);
}

static void on_gone(void *arg, web_exchange *x) {
    web_host *host = arg;
    web_user *u = host->front->user(x);
    on_front = true;
    if (u)
        u->route->gone(u, x);
}

static void on_done(void *arg, web_exchange *x) {
    web_host *host = arg;
    web_user *u = host->front->user(x);
    on_front = true;
    if (u)
        u->route->done(u, x);
}

/* ---- the host ---- */

web_host *web_host_create(server *srv, const web_front *front, const web_host_options *options) {
    const manifest_http *http = &srv->manifest->http;
    web_host *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    *h = (web_host){.srv = srv, .front = front, .options = *options,
                    .handler = {.arg = h, .head = on_head, .request = on_request, .gone = on_gone, .done = on_done}};
    h->modern = session_create(srv);
    if (h->modern)
        h->modern->listeners_most = 0; /* many clients share it: connections bound them */
    h->store = web_store_memory((size_t)http->sessions, http->session_ms);
    h->log = web_log_create(EVENT_BYTES, SESSION_EVENT_BYTES, SESSION_EVENTS);
    h->pairs = web_pairs_create((size_t)http->sessions);
    if (!h->modern || !h->store || !h->log || !h->pairs) {
        web_host_destroy(h);
        return NULL;
    }
    return h;
}

const web_handler *web_host_handler(web_host *h) {
    return &h->handler;
}

static void finish_own(void *arg, web_session *w) {
    (void)arg;
    web_stream_finish_own(w);
}

void web_host_end_streams(web_host *h) {
    mcp_end_listeners(h->modern, true);
    h->store->each(h->store, finish_own, NULL);
    web_pairs_end(h->pairs);
}

void web_host_destroy(web_host *h) {
    if (!h)
        return;
    if (h->store)
        h->store->destroy(h->store);
    web_pairs_destroy(h->pairs);
    session_destroy(h->modern);
    web_log_destroy(h->log);
    free(h);
}
