/* SPDX-License-Identifier: MIT */
/* web_sessions.h -- the sessions of legacy clients over HTTP, and where they are kept.
 *
 * Lifetime: a session is counted. The store has one reference until it is removed; whoever found it has one until
 * web_session_release. Who enters (finds it for a call) also makes it busy until leave: a busy session neither expires nor
 * gives way to a new one. Its end (web_session_end) cancels its calls and ends its streams; memory goes with the last
 * reference, when no call of it runs any more.
 * Locks, in this order: web_session.lock, the log's; the store's is never held while another is taken. */
#ifndef LASTRO_CORE_WEB_SESSIONS_H
#define LASTRO_CORE_WEB_SESSIONS_H

#include "mcp.h"
#include "web.h"
#include "web_events.h"

enum { WEB_SESSION_ID_MAX = 256 }; /* bytes of an id that a client may send */

typedef struct web_session web_session;
struct web_session {
    session *core;
    peer aside;               /* what answers nothing goes to the stream that GET opens */
    server *srv;
    const web_front *front;
    web_log *log;
    const char *id, *principal; /* principal NULL: nobody needs a key */
    atomic_uint refs;
    atomic_uint listening;    /* connections of its own stream */
    pthread_mutex_t lock;     /* streams' connections, ended */
    bool ended;
    web_history history;      /* the log's */
    web_stream *own;          /* the stream that GET opens */
    /* the store's */
    web_session *hash_next, *older, *newer;
    unsigned busy;
    int64_t used;             /* monotonic ms */
    bool stored;
};

/* What a store keeps. NULL: out of memory. principal must outlive it. */
web_session *web_session_create(server *srv, const web_front *front, web_log *log, const char *principal);
/* Removed from its store: calls are cancelled, streams end. Once. */
void web_session_end(web_session *w);
bool web_session_ended(web_session *w);
void web_session_retain(web_session *w);
void web_session_release(web_session *w); /* accepts NULL */

/* Where sessions are kept: in memory (web_store_memory), or one day where several processes find them. Any thread. */
typedef struct web_store web_store;
struct web_store {
    /* Keeps a session for the first time, entered; those that were idle too long, or the longest when there are too many,
     * end. False: as many as may be, all busy. */
    bool (*add)(web_store *st, web_session *w);
    /* The session with that id, entered; NULL: unknown, or another principal's. */
    web_session *(*find)(web_store *st, const char *id, const char *principal);
    void (*leave)(web_store *st, web_session *w); /* it was used just now; the caller's reference goes */
    void (*touch)(web_store *st, web_session *w); /* it was used just now */
    bool (*remove)(web_store *st, web_session *w); /* true: it was kept until now, and the caller ends it */
    size_t (*count)(web_store *st);
    /* All that are kept; visit must not call the store. */
    void (*each)(web_store *st, void (*visit)(void *arg, web_session *w), void *arg);
    void (*destroy)(web_store *st); /* ends all of them; accepts what is half built */
};
/* most: at once. idle_ms: one that was not used for so long ends. NULL: out of memory. */
web_store *web_store_memory(size_t most, int64_t idle_ms);

#endif
