/* SPDX-License-Identifier: MIT */
#include "web_stream.h"
#include "log.h"
#include "web_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- under the session's lock ---- */

/* The stream's connection, its reference handed over; NULL: none. */
static web_exchange *detach(web_stream *s) {
    web_exchange *x = s->x;
    s->x = NULL;
    return x;
}

static void attach(web_session *w, web_stream *s, web_exchange *x) {
    w->front->retain(x);
    s->x = x;
}

static void finish(web_session *w, web_exchange *x) {
    if (!x)
        return;
    w->front->finish(x);
    w->front->release(x);
}

/* ---- beginnings ---- */

/* An event without data: the client knows an id to come back with, and when. */
static size_t priming(const web_stream *s, uint32_t number, uint32_t retry_ms, char *buf, size_t size) {
    int n = snprintf(buf, size, "id: %u-%u\nretry: %u\ndata: \n\n", (unsigned)s->id, (unsigned)number, (unsigned)retry_ms);
    return (size_t)n;
}

static bool begin(web_session *w, const web_start *start, const char *body, size_t len) {
    web_header headers[WEB_HEADERS];
    web_answer a = {.status = 200, .headers = headers, .body = body, .len = len};
    a.header_count = web_stream_headers(start->origin, headers);
    return w->front->stream(start->x, &a);
}

void web_stream_begin(web_session *w, web_stream *s, const web_start *start) {
    char first[80];
    size_t len = start->prime ? priming(s, 0, start->retry_ms, first, sizeof first) : 0;
    pthread_mutex_lock(&w->lock);
    if (begin(w, start, first, len))
        attach(w, s, start->x);
    pthread_mutex_unlock(&w->lock);
}

/* ---- sending ---- */

/* The own stream of a session is written by whoever has news, so nobody waits for its reader. */
static void send_own(web_session *w, const char *json, size_t len) {
    web_stream *s = w->own;
    pthread_mutex_lock(&w->lock);
    web_event *e = web_log_add(w->log, s, json, len);
    if (e && s->x && w->front->write(s->x, e->text, e->len, false))
        s->sent = e->number;
    pthread_mutex_unlock(&w->lock);
    web_event_release(e);
}

/* A message of a call: its worker may wait for a slow reader, so it writes outside the session's lock; the parts of a
 * call, which have threads of their own, take turns. */
static void send_of_call(web_session *w, web_stream *s, const char *json, size_t len, bool last) {
    bool wait = web_may_wait();
    bool turn = wait ? !pthread_mutex_lock(&s->order) : !pthread_mutex_trylock(&s->order);
    pthread_mutex_lock(&w->lock);
    web_event *e = web_log_add(w->log, s, json, len);
    if (last)
        web_log_close(w->log, s);
    web_exchange *x = last ? detach(s) : s->x;
    if (x && !last)
        w->front->retain(x);
    pthread_mutex_unlock(&w->lock);
    if (x && e)
        w->front->write(x, e->text, e->len, wait);
    if (last)
        finish(w, x);
    else if (x)
        w->front->release(x);
    if (turn)
        pthread_mutex_unlock(&s->order);
    web_event_release(e);
}

void web_stream_send(web_session *w, web_stream *s, const char *json, size_t len, bool last) {
    if (s == w->own)
        send_own(w, json, len);
    else
        send_of_call(w, s, json, len, last);
}

void web_stream_let_go(web_session *w, web_stream *s, uint32_t retry_ms, bool say) {
    char text[32];
    int len = snprintf(text, sizeof text, "retry: %u\n\n", (unsigned)retry_ms);
    pthread_mutex_lock(&w->lock);
    web_exchange *x = detach(s);
    pthread_mutex_unlock(&w->lock);
    if (x && say)
        w->front->write(x, text, (size_t)len, web_may_wait());
    finish(w, x);
}

void web_stream_end(web_session *w, web_stream *s) {
    pthread_mutex_lock(&w->lock);
    web_log_close(w->log, s);
    web_exchange *x = detach(s);
    pthread_mutex_unlock(&w->lock);
    finish(w, x);
}

void web_stream_leave(web_session *w, web_stream *s, const web_exchange *x) {
    pthread_mutex_lock(&w->lock);
    web_exchange *was = s->x == x ? detach(s) : NULL;
    pthread_mutex_unlock(&w->lock);
    if (was)
        w->front->release(was);
}

void web_stream_finish_own(web_session *w) {
    pthread_mutex_lock(&w->lock);
    web_exchange *x = detach(w->own);
    pthread_mutex_unlock(&w->lock);
    finish(w, x);
}

/* ---- taking up ---- */

static char *joined(const char *first, size_t first_len, char *rest, size_t rest_len) {
    char *all = malloc(first_len + rest_len + 1);
    if (all) {
        memcpy(all, first, first_len);
        if (rest_len)
            memcpy(all + first_len, rest, rest_len);
    }
    free(rest);
    return all;
}

/* The lock is held. What the connection begins with; NULL: see *ret. */
static char *what_follows(web_session *w, web_stream *s, uint32_t number, const web_start *start, size_t *ret_len, bool *ret_open,
                          web_taking *ret) {
    char first[80], *text;
    size_t len, head = start->prime ? priming(s, number, start->retry_ms, first, sizeof first) : 0;
    bool kept = web_log_after(w->log, s, number, &text, &len, ret_open);
    *ret = !kept ? WEB_LOST : !*ret_open && !len ? WEB_OVER : WEB_TAKEN;
    char *body = *ret == WEB_TAKEN ? joined(first, head, text, len) : NULL;
    if (*ret == WEB_TAKEN && !body)
        *ret = WEB_LOST;
    *ret_len = head + len;
    return body;
}

web_taking web_stream_take_up(web_session *w, web_stream *s, uint32_t number, const web_start *start) {
    web_taking what = WEB_CLOSED;
    web_exchange *old = NULL, *whole = NULL;
    char *body = NULL;
    size_t len;
    bool open;
    pthread_mutex_lock(&w->lock);
    if (!w->ended)
        body = what_follows(w, s, number == WEB_UNSENT ? s->sent : number, start, &len, &open, &what);
    if (body) {
        old = detach(s);
        if (begin(w, start, body, len)) {
            attach(w, s, start->x);
            s->sent = s->added;
        }
        whole = open ? NULL : detach(s);
    }
    pthread_mutex_unlock(&w->lock);
    free(body);
    finish(w, old);
    finish(w, whole);
    return what;
}
