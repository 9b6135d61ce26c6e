/* SPDX-License-Identifier: MIT */
/* session.c -- what a legacy client negotiated, and the list of all sessions. */
#include "mcp_internal.h"

#include <stdlib.h>

enum { LISTENERS_MOST = 1000 };

static void add_to_server(session *s) {
    server *srv = s->srv;
    pthread_mutex_lock(&srv->sessions_lock);
    s->next = srv->sessions;
    if (s->next)
        s->next->prev = s;
    srv->sessions = s;
    pthread_mutex_unlock(&srv->sessions_lock);
}

static void remove_from_server(session *s) {
    server *srv = s->srv;
    pthread_mutex_lock(&srv->sessions_lock);
    *(s->prev ? &s->prev->next : &srv->sessions) = s->next;
    if (s->next)
        s->next->prev = s->prev;
    pthread_mutex_unlock(&srv->sessions_lock);
}

session *session_create(server *srv) {
    session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->answered, &attr);
    pthread_condattr_destroy(&attr);
    s->srv = srv;
    s->log_level = LASTRO_LOG_ERROR + 1;
    s->next_ask = 1;
    s->listeners_most = LISTENERS_MOST;
    add_to_server(s);
    return s;
}

/* ---- what the client declared ---- */

/* A copy; NULL: nothing, or out of memory. */
static client_doc *keep_client(const json_value *capabilities) {
    json_writer w;
    json_writer_init(&w, 0);
    if (json_count(capabilities))
        json_write_value(&w, capabilities);
    client_doc *d = json_writer_finish(&w) ? calloc(1, sizeof *d) : NULL;
    if (d) {
        atomic_init(&d->users, 1);
        arena_init(&d->mem, 0);
        d->capabilities = json_read_copy(&d->mem, w.data, w.len, NULL, NULL);
    }
    json_writer_free(&w);
    return d;
}

static void put_client(void *doc) {
    client_doc *d = doc;
    if (!d || atomic_fetch_sub(&d->users, 1) != 1)
        return;
    arena_free(&d->mem);
    free(d);
}

void session_begin(session *s, revision rev, const json_value *capabilities) {
    client_doc *client = keep_client(capabilities);
    pthread_mutex_lock(&s->lock);
    client_doc *before = s->client;
    s->rev = rev;
    s->client = client;
    s->ready = false;
    text_set_clear(&s->watched);
    pthread_mutex_unlock(&s->lock);
    put_client(before);
}

void session_enter(session *s, lastro_call *c, bool quiet) {
    pthread_mutex_lock(&s->lock);
    c->rev = s->rev;
    c->log_level = s->log_level;
    if (s->client && call_keep(c, put_client, s->client)) {
        atomic_fetch_add(&s->client->users, 1);
        c->client = s->client->capabilities;
    }
    if (s->rev != REV_NONE && !quiet)
        s->ready = true; /* whether or not it says so */
    pthread_mutex_unlock(&s->lock);
}

void session_ready(session *s) {
    pthread_mutex_lock(&s->lock);
    s->ready = s->rev != REV_NONE;
    pthread_mutex_unlock(&s->lock);
}

/* ---- the end ---- */

void session_destroy(session *s) {
    if (!s)
        return;
    remove_from_server(s);
    mcp_end_listeners(s, false);
    pthread_mutex_lock(&s->lock);
    while (s->pins)
        pthread_cond_wait(&s->answered, &s->lock);
    pthread_mutex_unlock(&s->lock);
    put_client(s->client);
    text_set_clear(&s->watched);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->answered);
    free(s);
}
