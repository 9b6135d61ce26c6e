/* SPDX-License-Identifier: MIT */
/* web_events.h -- what went out on the event streams of legacy sessions, kept for a while so that a client whose
 * connection broke takes its stream up again (GET with Last-Event-ID). Bounded by session and in all: the oldest events
 * go first. An event's id is "STREAM-NUMBER", unique in its session; it leads to nothing outside it.
 * All functions: any thread; one lock of the log, held for pointer work only, innermost of all. */
#ifndef LASTRO_CORE_WEB_EVENTS_H
#define LASTRO_CORE_WEB_EVENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEB_EVENT_ID = 24 }; /* room for an id */

typedef struct web_event web_event;
typedef struct web_log web_log;
typedef struct web_stream web_stream;

/* The events of one session, oldest first, and its streams. Begins as zeros. */
typedef struct {
    web_event *first, *last;
    web_stream *streams;
    size_t bytes, events;
    uint32_t next; /* number of the next stream */
} web_history;

struct web_event {
    web_event *older, *newer;   /* of all sessions */
    web_event *next;            /* of its session */
    web_stream *stream;
    atomic_uint refs;
    uint32_t number;
    size_t len;
    char text[];                /* as it is sent: id, data, empty line */
};

/* One stream, whatever connections carry it. Freed with its last reference. */
struct web_stream {
    atomic_uint refs;
    uint32_t id;                /* in its session; 0: the one that GET opens */
    /* under the log's lock */
    web_history *of;            /* NULL: not listed any more */
    web_stream *next, *prev;
    uint32_t added, kept;       /* number of the newest event, and how many are there */
    bool open;                  /* more events may come */
    /* web_stream.c's, under the session's lock */
    struct web_exchange *x;     /* the connection that carries it now; NULL: none */
    uint32_t sent;              /* the newest event that a connection got */
    pthread_mutex_t order;      /* who writes waits here for who wrote before */
};

/* bytes: at most so many of events in all, and so many (or so many events) a session; one event may pass the latter. */
web_log *web_log_create(size_t bytes, size_t session_bytes, size_t session_events); /* NULL: out of memory */
void web_log_destroy(web_log *l); /* no history has events any more; accepts NULL */

/* A new stream; the caller has a reference and says when nothing more comes. NULL: out of memory. */
web_stream *web_log_open(web_log *l, web_history *h);
void web_log_close(web_log *l, web_stream *s);
void web_stream_retain(web_stream *s);
void web_stream_release(web_stream *s); /* accepts NULL */

/* The next event of an open stream, with a reference for the caller. NULL: out of memory. */
web_event *web_log_add(web_log *l, web_stream *s, const char *json, size_t len);
void web_event_release(web_event *e);

/* Reads an id that a client sent. */
bool web_event_id(const char *text, uint32_t *ret_stream, uint32_t *ret_number);
/* The stream of that id, with a reference; NULL: there is none (any more). */
web_stream *web_log_find(web_log *l, web_history *h, uint32_t stream);
/* The texts of the events after that number that are kept, one after the other, malloc'ed (NULL: none). *ret_open: more may
 * come. False: the number was never given, or out of memory. */
bool web_log_after(web_log *l, web_stream *s, uint32_t number, char **ret_text, size_t *ret_len, bool *ret_open);
/* The session is over. */
void web_log_clear(web_log *l, web_history *h);

#endif
