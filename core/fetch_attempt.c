/* SPDX-License-Identifier: MIT */
/* fetch_attempt.c -- one exchange with the transport. It belongs to the item that started it and to the
 * transport until done was called; an item that ends early lets go of it and never waits for the transport's
 * thread. */
#include "fetch_internal.h"

#include "clock.h"
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fetch_attempt {
    pthread_mutex_t lock;
    unsigned owners;  /* item, transport */
    fetch_item *item; /* NULL: it let go */
    bool done;
    const http_transport *transport;
    void *handle;
    http_exchange *exchange;
    fetch_result result;
};

static void let_go(fetch_attempt *a) {
    bool last = --a->owners == 0;
    pthread_mutex_unlock(&a->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&a->lock);
    free(a->result.body);
    free(a);
}

/* On the transport's thread. The instant of the read is taken here, not when the call gets round to it. */
static void on_done(void *arg, http_result *r) {
    fetch_attempt *a = arg;
    pthread_mutex_lock(&a->lock);
    a->done = true;
    if (a->item) {
        fetch_result *to = &a->result;
        *to = (fetch_result){.end = r->end,
                             .status = r->status,
                             .body = r->body,
                             .body_len = r->body_len,
                             .retry_after_ms = r->retry_after_ms,
                             .wall_ms = clock_wall_ms(),
                             .mono_ms = clock_mono_ms()};
        r->body = NULL;
        snprintf(to->content_type, sizeof to->content_type, "%s", r->content_type ? r->content_type : "");
        snprintf(to->error, sizeof to->error, "%s", r->error ? r->error : "");
        fetch_item_signal(a->item);
    }
    let_go(a);
}

static size_t body_max_of(const fetch_item *item) {
    return item->source->source->body_max ? item->source->source->body_max : (size_t)FETCH_BODY_MAX;
}

bool fetch_attempt_start(fetch_item *item, const http_transport *transport, void *handle,
                         uint32_t timeout_ms) {
    fetch_attempt *a = calloc(1, sizeof *a);
    if (!a)
        return false;
    pthread_mutex_init(&a->lock, NULL);
    a->owners = 2;
    a->item = item;
    a->transport = transport;
    a->handle = handle;
    const char *accept = item->source->source->accept, *trace = item->run->ctx->trace;
    char parent[TRACE_PARENT + 1]; /* each attempt is a span of its own */
    if (trace)
        trace_child(trace, (uint64_t)fetch_engine_random(item->run->engine) << 32 | fetch_engine_random(item->run->engine), parent);
    http_request request = {.url = item->real_url,
                            .accept = accept ? accept : "application/json",
                            .traceparent = trace ? parent : NULL,
                            .tracestate = trace ? item->run->ctx->trace_state : NULL,
                            .timeout_ms = timeout_ms,
                            .body_max = body_max_of(item),
                            .done = on_done,
                            .arg = a};
    http_exchange *exchange = transport->start(handle, &request);
    pthread_mutex_lock(&a->lock);
    a->exchange = exchange;
    if (!exchange) {
        a->owners = 1;
        let_go(a);
        return false;
    }
    pthread_mutex_unlock(&a->lock);
    item->attempt = a;
    return true;
}

bool fetch_attempt_take(fetch_item *item, fetch_result *ret) {
    fetch_attempt *a = item->attempt;
    pthread_mutex_lock(&a->lock);
    if (!a->done) {
        pthread_mutex_unlock(&a->lock);
        return false;
    }
    *ret = a->result;
    a->result.body = NULL;
    item->attempt = NULL;
    a->item = NULL;
    let_go(a);
    if (ret->end == HTTP_DONE && ret->body_len > body_max_of(item))
        ret->end = HTTP_TOO_LARGE; /* a transport that does not keep its promise */
    return true;
}

void fetch_attempt_abandon(fetch_item *item) {
    fetch_attempt *a = item->attempt;
    pthread_mutex_lock(&a->lock);
    item->attempt = NULL;
    a->item = NULL;
    if (!a->done) /* done takes our lock first, so the exchange is alive until we unlock */
        a->transport->cancel(a->handle, a->exchange);
    let_go(a);
}
