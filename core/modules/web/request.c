/* SPDX-License-Identifier: MIT */
/* request.c -- libmicrohttpd's calls on a request: request line, head, pieces of the body, its end,
 * completion. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

#define TOO_LARGE "Payload too large: this server does not read a body of that size. Send a smaller one.\n"
#define BUSY "The server is stopping. Try again in a moment.\n"
#define UNANSWERED "The server refused this request without saying why.\n"

/* libmicrohttpd calls it before it touches the target; what it returns is the context of the calls that
 * follow. */
void *request_line(void *cls, const char *uri, struct MHD_Connection *c) {
    (void)cls;
    peer *p = peer_of(c);
    web_exchange *x = p ? exchange_begin(p, c) : NULL;
    const char *query = uri ? strchr(uri, '?') : NULL;
    if (!x)
        return NULL;
    peer_enter(p, PHASE_HEAD);
    if (query && !(x->query = strdup(query + 1))) {
        exchange_destroy(x);
        return NULL;
    }
    x->head.query = x->query;
    return x;
}

/* Says no from within the first call: the answer leaves at once and the connection ends. */
static enum MHD_Result refuse_now(web_exchange *x, unsigned status, const char *text) {
    x->last = true;
    exchange_refuse(x, status, text);
    return exchange_send_or_wait(x);
}

/* Closing a connection with unread bytes in it resets it, and clients lose the answer: so the body is read
 * first, unless it is too long for that, or waits for 100 Continue. (An answer in this call makes
 * libmicrohttpd end the connection.) */
static enum MHD_Result answer_after_body(web_exchange *x) {
    x->swallow = true;
    return x->expects || x->expected > SWALLOW_MAX ? exchange_send_or_wait(x) : MHD_YES;
}

/* True: the handler takes it. */
static bool offer(web_exchange *x) {
    web_server *s = x->server;
    x->offered = true;
    atomic_fetch_add(&s->open, 1); /* before draining is read: close() reads them in the other order */
    if (atomic_load(&s->draining)) {
        x->last = true;
        exchange_refuse(x, 503, s->config.busy_body ? s->config.busy_body : BUSY);
        return false;
    }
    if (s->handler.head(s->handler.arg, x, &x->head))
        return true;
    exchange_refuse(x, 500, UNANSWERED); /* does nothing if it is answered */
    return false;
}

static void refuse_too_large(web_exchange *x) {
    const char *text = x->server->config.too_large_body;
    x->last = true;
    exchange_refuse(x, 413, text ? text : TOO_LARGE);
}

/* Who may not ask learns that first, however long what it sends. */
static enum MHD_Result take_head(web_exchange *x, const char *url, const char *method, const char *version) {
    const head_fault *fault = head_read(x, url, method, version);
    x->stage = STAGE_BODY;
    if (fault)
        return refuse_now(x, fault->status, fault->text);
    peer_enter(x->peer, PHASE_BODY);
    x->accepted = offer(x);
    x->too_large = x->expected > x->server->config.body_max;
    if (x->accepted && !x->too_large)
        return MHD_YES;
    if (x->too_large)
        refuse_too_large(x); /* does nothing if it is answered */
    return answer_after_body(x);
}

static bool make_room(web_exchange *x, size_t more) {
    size_t need = x->len + more + 1, size = x->size ? 2 * x->size : 1024;
    if (need <= x->size)
        return true;
    size = size < need ? need : size;
    char *grown = realloc(x->body, size);
    if (!grown)
        return false;
    x->body = grown;
    x->size = size;
    return true;
}

/* No answer can be given in mid-body: a body that proves too long is read to its end, up to a limit. */
static enum MHD_Result take_body(web_exchange *x, const char *data, size_t *size) {
    size_t n = *size;
    *size = 0;
    if (!x->swallow && x->len + n > x->server->config.body_max)
        x->swallow = x->too_large = true;
    if (x->swallow)
        return (x->len += n) > SWALLOW_MAX ? MHD_NO : MHD_YES;
    if (!make_room(x, n))
        return MHD_NO;
    memcpy(x->body + x->len, data, n);
    x->len += n;
    return MHD_YES;
}

static void take_whole(web_exchange *x) {
    web_server *s = x->server;
    x->stage = STAGE_WHOLE;
    peer_enter(x->peer, PHASE_WORK);
    if (x->too_large)
        refuse_too_large(x); /* a chunked one; others have that answer */
    if (!x->accepted || x->too_large)
        return;
    if (x->len)
        x->body[x->len] = '\0';
    s->handler.request(s->handler.arg, x, &x->head, x->len ? x->body : "", x->len);
}

enum MHD_Result request_step(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *data, size_t *size, void **context) {
    (void)cls, (void)c;
    web_exchange *x = *context;
    if (!x)
        return MHD_NO;
    if (x->stage == STAGE_HEAD)
        return take_head(x, url, method, version);
    if (*size)
        return take_body(x, data, size);
    if (x->stage == STAGE_BODY)
        take_whole(x);
    return exchange_send_or_wait(x);
}

void request_completed(void *cls, struct MHD_Connection *c, void **context,
                       enum MHD_RequestTerminationCode why) {
    (void)cls, (void)c;
    web_exchange *x = *context;
    *context = NULL;
    if (!x)
        return;
    peer *p = x->peer;
    exchange_completed(x, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    peer_enter(p, PHASE_IDLE);
}
