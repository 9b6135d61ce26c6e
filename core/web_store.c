/* SPDX-License-Identifier: MIT */
/* web_store.c -- sessions kept in this process: a table by id, and a list of those that are not busy by their last use, so
 * that the one to end next is always at hand. */
#include "clock.h"
#include "web_sessions.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK = 16 }; /* sessions that are looked at for one nobody listens to, before any idle one goes */

typedef struct {
    web_store base; /* first */
    pthread_mutex_t lock;
    web_session **buckets;
    size_t mask, count, most;
    int64_t idle_ms;
    web_session *oldest, *newest; /* not busy */
} memory_store;

/* ---- under the lock ---- */

/* Ids begin with a signature: its first characters are as good as random. */
static web_session **bucket(const memory_store *m, const char *id) {
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < 16 && id[i]; i++)
        h = (h ^ (unsigned char)id[i]) * 1099511628211u;
    return &m->buckets[(h ^ h >> 29) & m->mask];
}

static void list(memory_store *m, web_session *w) {
    w->used = clock_mono_ms();
    w->newer = NULL;
    w->older = m->newest;
    *(m->newest ? &m->newest->newer : &m->oldest) = w;
    m->newest = w;
}

static void unlist(memory_store *m, web_session *w) {
    *(w->older ? &w->older->newer : &m->oldest) = w->newer;
    *(w->newer ? &w->newer->older : &m->newest) = w->older;
}

static void enter(memory_store *m, web_session *w) {
    web_session_retain(w);
    if (w->busy++ == 0)
        unlist(m, w);
}

static void take_out(memory_store *m, web_session *w) {
    web_session **at = bucket(m, w->id);
    while (*at != w)
        at = &(*at)->hash_next;
    *at = w->hash_next;
    w->stored = false;
    m->count--;
    if (!w->busy)
        unlist(m, w);
}

/* One that was idle too long, taken out; NULL: none. One whose client listens is not idle. */
static web_session *take_expired(memory_store *m) {
    int64_t now = clock_mono_ms();
    for (int i = 0; i < LOOK && m->oldest && now - m->oldest->used > m->idle_ms; i++) {
        web_session *w = m->oldest;
        if (!atomic_load(&w->listening)) {
            take_out(m, w);
            return w;
        }
        unlist(m, w);
        list(m, w);
    }
    return NULL;
}

/* The one that gives way to a new one, taken out; NULL: all are busy. */
static web_session *take_longest_idle(memory_store *m) {
    web_session *w = m->oldest;
    for (int i = 0; i < LOOK && w && atomic_load(&w->listening); i++)
        w = w->newer;
    if (!w || atomic_load(&w->listening))
        w = m->oldest;
    if (w)
        take_out(m, w);
    return w;
}

/* ---- the interface ---- */

static void end(web_session *w) {
    if (!w)
        return;
    web_session_end(w);
    web_session_release(w);
}

static bool add(web_store *st, web_session *w) {
    memory_store *m = (memory_store *)st;
    web_session *gone = NULL;
    pthread_mutex_lock(&m->lock);
    web_session *expired = take_expired(m);
    if (m->count >= m->most)
        gone = take_longest_idle(m);
    bool room = m->count < m->most;
    if (room) {
        web_session **at = bucket(m, w->id);
        web_session_retain(w); /* the store's; the caller's own becomes that of who entered */
        w->hash_next = *at;
        *at = w;
        w->stored = true;
        w->busy = 1;
        m->count++;
    }
    pthread_mutex_unlock(&m->lock);
    end(expired);
    end(gone);
    return room;
}

static bool same_principal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static web_session *find(web_store *st, const char *id, const char *principal) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    web_session *expired = take_expired(m), *w = *bucket(m, id);
    while (w && strcmp(w->id, id) != 0)
        w = w->hash_next;
    if (w && !same_principal(w->principal, principal))
        w = NULL;
    if (w)
        enter(m, w);
    pthread_mutex_unlock(&m->lock);
    end(expired);
    return w;
}

static void leave(web_store *st, web_session *w) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    if (--w->busy == 0 && w->stored)
        list(m, w);
    pthread_mutex_unlock(&m->lock);
    web_session_release(w);
}

static void touch(web_store *st, web_session *w) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    if (w->stored && !w->busy) {
        unlist(m, w);
        list(m, w);
    }
    pthread_mutex_unlock(&m->lock);
}

static bool remove_one(web_store *st, web_session *w) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    bool kept = w->stored;
    if (kept)
        take_out(m, w);
    pthread_mutex_unlock(&m->lock);
    if (kept)
        web_session_release(w); /* the store's; the caller has its own */
    return kept;
}

static size_t count(web_store *st) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    size_t n = m->count;
    pthread_mutex_unlock(&m->lock);
    return n;
}

static void each(web_store *st, void (*visit)(void *arg, web_session *w), void *arg) {
    memory_store *m = (memory_store *)st;
    pthread_mutex_lock(&m->lock);
    size_t n = 0;
    web_session **all = calloc(m->count + 1, sizeof *all);
    for (size_t i = 0; all && i <= m->mask; i++)
        for (web_session *w = m->buckets[i]; w; w = w->hash_next) {
            web_session_retain(w);
            all[n++] = w;
        }
    pthread_mutex_unlock(&m->lock);
    for (size_t i = 0; i < n; i++) {
        visit(arg, all[i]);
        web_session_release(all[i]);
    }
    free(all);
}

static void destroy(web_store *st) {
    memory_store *m = (memory_store *)st;
    for (size_t i = 0; m->buckets && i <= m->mask; i++)
        while (m->buckets[i]) {
            web_session *w = m->buckets[i];
            m->buckets[i] = w->hash_next;
            w->stored = false;
            end(w);
        }
    pthread_mutex_destroy(&m->lock);
    free(m->buckets);
    free(m);
}

web_store *web_store_memory(size_t most, int64_t idle_ms) {
    memory_store *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    size_t buckets = 64;
    while (buckets < most)
        buckets *= 2;
    *m = (memory_store){.base = {add, find, leave, touch, remove_one, count, each, destroy},
                        .buckets = calloc(buckets, sizeof *m->buckets), .mask = buckets - 1, .most = most,
                        .idle_ms = idle_ms};
    pthread_mutex_init(&m->lock, NULL);
    if (!m->buckets) {
        destroy(&m->base);
        return NULL;
    }
    return &m->base;
}
