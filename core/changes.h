/* SPDX-License-Identifier: MIT */
/* changes.h -- who is told that something is different now: open subscriptions of the modern era (mcp_listen.c), and
 * legacy sessions for what they watch (mcp_subscribe.c).
 *
 * Locks: server.sessions_lock, then session.lock; neither is held while something is sent. A listener's own lock is held
 * while it is sent to, so that what goes out on a subscription is in order and nothing follows its end; under it only
 * session.lock and that of the tasks may be taken. */
#ifndef LASTRO_CORE_CHANGES_H
#define LASTRO_CORE_CHANGES_H

#include "mcp.h"
#include "tasks.h"

/* One open subscriptions/listen. It needs no call: it keeps its peer and its id. */
typedef struct listener {
    struct listener *next, *prev;           /* in session.listeners; under session.lock, as the next line */
    struct listener *peer_next, *peer_prev; /* in peer.listeners */
    session *session;
    server *srv;
    peer *peer;
    atomic_uint users;    /* the lists are one */
    atomic_bool ended;    /* nothing more goes out */
    pthread_mutex_t lock; /* held while it is sent to */
    unsigned lists;       /* 1u << LASTRO_CHANGED_TOOLS … it asked for */
    text_set watched;     /* URIs; not changed once it is in the lists */
    text_set tasks;       /* ids; the same */
    json_value id;        /* of the request; its text is id_plain */
    char *id_plain, *id_json;
} listener;

void listener_put(listener *l); /* one use less; the last one lets its client go */

/* What is told, and to whom. */
typedef struct {
    int32_t what;        /* LASTRO_CHANGED_*, or NEWS_OF_TASK */
    const char *method;  /* of the notification */
    text_key uri;        /* of LASTRO_CHANGED_RESOURCE, or the task's id: only who watches it is told */
    task *task;          /* of NEWS_OF_TASK */
} news;
enum { NEWS_OF_TASK = 100 };

/* Tells who asked for it, from the thread that calls. what: LASTRO_CHANGED_*; uri: of LASTRO_CHANGED_RESOURCE. */
void changes_tell(server *s, int32_t what, const char *uri);
/* Tells of a task's state who watches it. arg: the server. For the store of tasks. */
void changes_tell_task(void *arg, task *t);
/* Tells one listener of the state in which each task is that it watches. Its lock is held. */
void changes_tell_states(listener *l, const char *principal);

#endif
