/* SPDX-License-Identifier: MIT */
#include "web_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct web_log {
    pthread_mutex_t lock;
    web_event *oldest, *newest; /* of all sessions */
    size_t bytes, most, session_most, session_events;
};

web_log *web_log_create(size_t bytes, size_t session_bytes, size_t session_events) {
    web_log *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->most = bytes;
    l->session_most = session_bytes;
    l->session_events = session_events;
    return l;
}

void web_log_destroy(web_log *l) {
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- references ---- */

void web_stream_retain(web_stream *s) {
    atomic_fetch_add(&s->refs, 1);
}

void web_stream_release(web_stream *s) {
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&s->order);
    free(s);
}

void web_event_release(web_event *e) {
    if (e && atomic_fetch_sub(&e->refs, 1) == 1)
        free(e);
}

/* ---- under the lock ---- */

static void list_stream(web_history *h, web_stream *s) {
    s->of = h;
    s->next = h->streams;
    if (h->streams)
        h->streams->prev = s;
    h->streams = s;
}

/* A stream that says nothing more and of which nothing is kept is not found any more. */
static void drop_empty_stream(web_stream *s) {
    if (s->open || s->kept || !s->of)
        return;
    if (s->prev)
        s->prev->next = s->next;
    else
        s->of->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->of = NULL;
    web_stream_release(s);
}

/* The oldest event of its session goes. */
static void drop_first(web_log *l, web_history *h) {
    web_event *e = h->first;
    web_stream *s = e->stream;
    h->first = e->next;
    if (!h->first)
        h->last = NULL;
    h->bytes -= e->len;
    h->events--;
    *(e->older ? &e->older->newer : &l->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &l->newest) = e->older;
    l->bytes -= e->len;
    s->kept--;
    web_event_release(e);
    drop_empty_stream(s);
}

static void make_room(web_log *l, web_history *h, size_t len) {
    while (h->first && (h->bytes + len > l->session_most || h->events >= l->session_events))
        drop_first(l, h);
    while (l->oldest && l->bytes + len > l->most)
        drop_first(l, l->oldest->stream->of); /* the oldest of all is the oldest of its session */
}

static void append(web_log *l, web_history *h, web_event *e) {
    *(h->last ? &h->last->next : &h->first) = e;
    h->last = e;
    h->bytes += e->len;
    h->events++;
    e->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = e;
    l->newest = e;
    l->bytes += e->len;
}

/* ---- streams ---- */

web_stream *web_log_open(web_log *l, web_history *h) {
    web_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->order, NULL);
    atomic_init(&s->refs, 2); /* the list's and the caller's */
    s->open = true;
    pthread_mutex_lock(&l->lock);
    s->id = h->next++;
    list_stream(h, s);
    pthread_mutex_unlock(&l->lock);
    return s;
}

void web_log_close(web_log *l, web_stream *s) {
    pthread_mutex_lock(&l->lock);
    s->open = false;
    drop_empty_stream(s);
    pthread_mutex_unlock(&l->lock);
}

web_stream *web_log_find(web_log *l, web_history *h, uint32_t stream) {
    pthread_mutex_lock(&l->lock);
    web_stream *s = h->streams;
    while (s && s->id != stream)
        s = s->next;
    if (s)
        web_stream_retain(s);
    pthread_mutex_unlock(&l->lock);
    return s;
}

void web_log_clear(web_log *l, web_history *h) {
    pthread_mutex_lock(&l->lock);
    for (web_stream *s = h->streams, *next; s; s = next) {
        next = s->next;
        s->open = false;
        drop_empty_stream(s);
    }
    while (h->first)
        drop_first(l, h);
    pthread_mutex_unlock(&l->lock);
}

/* ---- events ---- */

/* Room for the frame around a message: "id: N-N\ndata: " and "\n\n". */
enum { FRAME = WEB_EVENT_ID + 16 };

web_event *web_log_add(web_log *l, web_stream *s, const char *json, size_t len) {
    web_event *e = malloc(sizeof *e + FRAME + len);
    if (!e)
        return NULL;
    *e = (web_event){.stream = s};
    atomic_init(&e->refs, 2);
    pthread_mutex_lock(&l->lock);
    e->number = ++s->added;
    pthread_mutex_unlock(&l->lock);
    int head = snprintf(e->text, FRAME, "id: %u-%u\ndata: ", (unsigned)s->id, (unsigned)e->number);
    memcpy(e->text + head, json, len);
    memcpy(e->text + head + len, "\n\n", 2);
    e->len = (size_t)head + len + 2;
    pthread_mutex_lock(&l->lock);
    if (s->of && s->open && e->len <= l->most) {
        make_room(l, s->of, e->len);
        append(l, s->of, e);
        s->kept++;
    } else {
        atomic_fetch_sub(&e->refs, 1); /* nobody will ask for it */
    }
    pthread_mutex_unlock(&l->lock);
    return e;
}

bool web_event_id(const char *text, uint32_t *ret_stream, uint32_t *ret_number) {
    unsigned long long part[2];
    for (int i = 0; i < 2; i++) {
        size_t digits = strspn(text, "0123456789");
        if (!digits || digits > 10 || text[digits] != (i ? '\0' : '-'))
            return false;
        part[i] = strtoull(text, NULL, 10);
        if (part[i] >= UINT32_MAX) /* which stands for none */
            return false;
        text += digits + 1;
    }
    *ret_stream = (uint32_t)part[0];
    *ret_number = (uint32_t)part[1];
    return true;
}

/* References to the events after number, in their order; how many. */
static size_t collect(const web_stream *s, uint32_t number, web_event **ret, size_t *ret_len) {
    size_t n = 0, len = 0;
    for (web_event *e = s->of ? s->of->first : NULL; e && n < s->kept; e = e->next)
        if (e->stream == s && e->number > number) {
            atomic_fetch_add(&e->refs, 1);
            ret[n++] = e;
            len += e->len;
        }
    *ret_len = len;
    return n;
}

bool web_log_after(web_log *l, web_stream *s, uint32_t number, char **ret_text, size_t *ret_len, bool *ret_open) {
    web_event **events = NULL;
    size_t n = 0, at = 0;
    *ret_text = NULL;
    *ret_len = 0;
    pthread_mutex_lock(&l->lock);
    bool known = number <= s->added;
    *ret_open = s->open;
    if (known && s->kept) {
        events = malloc(s->kept * sizeof *events);
        known = events != NULL;
        n = known ? collect(s, number, events, ret_len) : 0;
    }
    pthread_mutex_unlock(&l->lock);
    if (n) {
        *ret_text = malloc(*ret_len);
        known = *ret_text != NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (*ret_text)
            memcpy(*ret_text + at, events[i]->text, events[i]->len);
        at += events[i]->len;
        web_event_release(events[i]);
    }
    free(events);
    return known;
}
