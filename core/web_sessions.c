/* SPDX-License-Identifier: MIT */
#include "web_sessions.h"
#include "web_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ID_RANDOM = 16 };

static char *new_id(server *srv, const char *principal) {
    unsigned char random[ID_RANDOM];
    arena scratch;
    arena_init(&scratch, 0);
    bool ok = getrandom(random, sizeof random, 0) == (ssize_t)sizeof random;
    char *sealed = ok ? seal_make(&srv->seal, &scratch, "session", principal ? principal : "", 0, random, sizeof random) : NULL;
    char *id = sealed ? strdup(sealed) : NULL;
    arena_free(&scratch);
    return id;
}

static void send_aside(peer *p, const char *json, size_t len, peer_kind kind) {
    (void)kind;
    web_session *w = (web_session *)(void *)((char *)p - offsetof(web_session, aside));
    web_stream_send(w, w->own, json, len, false);
}

static void destroy(web_session *w) {
    session_destroy(w->core);
    web_log_clear(w->log, &w->history);
    web_stream_release(w->own);
    pthread_mutex_destroy(&w->lock);
    free((char *)w->id);
    free(w);
}

web_session *web_session_create(server *srv, const web_front *front, web_log *log, const char *principal) {
    web_session *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (web_session){.srv = srv, .front = front, .log = log, .principal = principal, .aside.send = send_aside};
    atomic_init(&w->refs, 1);
    pthread_mutex_init(&w->lock, NULL);
    w->id = new_id(srv, principal);
    w->core = session_create(srv);
    w->own = web_log_open(log, &w->history);
    if (!w->id || !w->core || !w->own) {
        destroy(w);
        return NULL;
    }
    w->core->principal = principal;
    w->core->aside = &w->aside;
    return w;
}

void web_session_end(web_session *w) {
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_mutex_unlock(&w->lock);
    server_cancel_session(w->srv, w->core); /* their streams end with them */
    web_stream_end(w, w->own);
}

bool web_session_ended(web_session *w) {
    pthread_mutex_lock(&w->lock);
    bool ended = w->ended;
    pthread_mutex_unlock(&w->lock);
    return ended;
}

void web_session_retain(web_session *w) {
    atomic_fetch_add(&w->refs, 1);
}

void web_session_release(web_session *w) {
    if (w && atomic_fetch_sub(&w->refs, 1) == 1)
        destroy(w);
}
