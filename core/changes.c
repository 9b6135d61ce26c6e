/* SPDX-License-Identifier: MIT */
/* changes.c -- one change, told to many: first who is to hear it is collected under the locks, then each is sent to
 * without them. */
#include "changes.h"
#include "log.h"
#include "mcp_internal.h"

#include <stdlib.h>
#include <string.h>

/* Somebody to be told. */
typedef struct {
    listener *listener; /* a use of it; NULL: the legacy session behind peer */
    peer *peer;
    session *pinned;    /* must stay while peer is sent to, because peer itself is not counted; NULL: it is */
} target;

typedef struct {
    target *at;
    size_t count, cap;
    bool failed;
} targets;

static void pin(session *s, target *t) {
    s->pins++;
    t->pinned = s;
}

static void let_go(const target *t) {
    if (t->pinned) {
        pthread_mutex_lock(&t->pinned->lock);
        if (--t->pinned->pins == 0)
            pthread_cond_broadcast(&t->pinned->answered);
        pthread_mutex_unlock(&t->pinned->lock);
    } else if (!t->listener && t->peer->release) {
        t->peer->release(t->peer);
    }
}

static target *more(targets *all) {
    if (all->count == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        target *p = realloc(all->at, cap * sizeof *p);
        if (!p) {
            all->failed = true;
            return NULL;
        }
        all->at = p;
        all->cap = cap;
    }
    target *t = &all->at[all->count++];
    *t = (target){0};
    return t;
}

/* A legacy client hears of lists without asking, and of the resources it subscribed to. aside is set before it can be ready. */
static bool session_hears(const session *s, const news *n) {
    return s->ready && s->aside && !n->task && (n->what != LASTRO_CHANGED_RESOURCE || text_set_has(&s->watched, &n->uri));
}

static bool listener_hears(const listener *l, const news *n) {
    if (n->task)
        return text_set_has(&l->tasks, &n->uri);
    return n->what == LASTRO_CHANGED_RESOURCE ? text_set_has(&l->watched, &n->uri) : (l->lists & 1u << n->what) != 0;
}

static void add_session(session *s, targets *all) {
    target *t = more(all);
    if (!t)
        return;
    t->peer = s->aside;
    if (t->peer->retain)
        t->peer->retain(t->peer);
    else
        pin(s, t);
}

static void add_listener(session *s, listener *l, targets *all) {
    target *t = more(all);
    if (!t)
        return;
    atomic_fetch_add(&l->users, 1);
    t->listener = l; /* which keeps its peer */
    if (!l->peer->retain)
        pin(s, t);
}

static void collect_session(session *s, const news *n, targets *all) {
    pthread_mutex_lock(&s->lock);
    if (session_hears(s, n))
        add_session(s, all);
    for (listener *l = s->listeners; l; l = l->next)
        if (listener_hears(l, n))
            add_listener(s, l, all);
    pthread_mutex_unlock(&s->lock);
}

static void collect(server *srv, const news *n, targets *all) {
    pthread_mutex_lock(&srv->sessions_lock);
    for (session *s = srv->sessions; s; s = s->next)
        collect_session(s, n, all);
    pthread_mutex_unlock(&srv->sessions_lock);
    if (all->failed)
        log_error("out of memory: not everybody is told with %s", n->method);
}

/* id: the subscription's, as JSON; NULL: it goes to a legacy session. False: out of memory, or the URI is no text. */
static bool compose(json_writer *w, const news *n, const char *id) {
    json_writer_reset(w);
    json_begin_object(w);
    json_key_n(w, "jsonrpc", 7);
    json_write_string_n(w, "2.0", 3);
    json_key_n(w, "method", 6);
    json_write_string(w, n->method);
    if (id || n->uri.at) {
        json_key_n(w, "params", 6);
        json_begin_object(w);
        if (id) {
            json_key_n(w, "_meta", 5);
            json_begin_object(w);
            json_key(w, META_PREFIX "subscriptionId");
            json_write_raw(w, id, strlen(id));
            json_end_object(w);
        }
        if (n->task) {
            task_write(n->task, w, TASK_NEWS);
        } else if (n->uri.at) {
            json_key_n(w, "uri", 3);
            json_write_string_n(w, n->uri.at, n->uri.len);
        }
        json_end_object(w);
    }
    json_end_object(w);
    return json_writer_finish(w);
}

/* Its lock is held. */
static void send_to(listener *l, const news *n, json_writer *w) {
    if (!atomic_load(&l->ended) && compose(w, n, l->id_json))
        l->peer->send(l->peer, w->data, w->len, PEER_ASIDE);
}

static void tell_listener(listener *l, const news *n, json_writer *w) {
    pthread_mutex_lock(&l->lock);
    send_to(l, n, w);
    pthread_mutex_unlock(&l->lock);
    listener_put(l);
}

static void tell(const targets *all, const news *n) {
    json_writer w, plain;
    json_writer_init(&w, 0);
    json_writer_init(&plain, 0);
    bool ready = !n->task && compose(&plain, n, NULL); /* the same text for all legacy sessions */
    if (!ready && !n->task && all->count)
        log_error("%s cannot be written: %s", n->method, json_fault_text(plain.fault));
    for (size_t i = 0; i < all->count; i++) {
        const target *t = &all->at[i];
        if (t->listener)
            tell_listener(t->listener, n, &w);
        else if (ready)
            t->peer->send(t->peer, plain.data, plain.len, PEER_ASIDE);
        let_go(t);
    }
    json_writer_free(&w);
    json_writer_free(&plain);
}

static const struct {
    const char *method;
    unsigned stale; /* lists that must be composed anew: 1u << LIST_… */
} kinds[] = {
    [LASTRO_CHANGED_TOOLS] = {"notifications/tools/list_changed", 1u << LIST_TOOLS},
    [LASTRO_CHANGED_PROMPTS] = {"notifications/prompts/list_changed", 1u << LIST_PROMPTS},
    [LASTRO_CHANGED_RESOURCES] = {"notifications/resources/list_changed", 1u << LIST_RESOURCES | 1u << LIST_TEMPLATES},
    [LASTRO_CHANGED_RESOURCE] = {"notifications/resources/updated", 0},
};

void changes_tell(server *srv, int32_t what, const char *uri) {
    bool one = what == LASTRO_CHANGED_RESOURCE;
    if (what < 0 || (size_t)what >= sizeof kinds / sizeof *kinds || (one && !uri)) {
        log_warning("a plugin says that something changed (%d), but not what", (int)what);
        return;
    }
    news n = {.what = what, .method = kinds[what].method};
    targets all = {0};
    if (one)
        n.uri = text_key_of(uri, strlen(uri));
    for (list_kind list = LIST_TOOLS; list < LIST_KINDS; list++)
        if (kinds[what].stale & 1u << list)
            surface_renew(srv->surface, list);
    collect(srv, &n, &all);
    tell(&all, &n);
    free(all.at);
}

static news news_of(task *t) {
    return (news){.what = NEWS_OF_TASK, .method = "notifications/tasks", .task = t,
                  .uri = text_key_of(task_id(t), strlen(task_id(t)))};
}

void changes_tell_task(void *arg, task *t) {
    server *srv = arg;
    if (!atomic_load(&srv->task_watchers))
        return;
    news n = news_of(t);
    targets all = {0};
    collect(srv, &n, &all);
    tell(&all, &n);
    free(all.at);
}

void changes_tell_states(listener *l, const char *principal) {
    json_writer w;
    json_writer_init(&w, 0);
    for (size_t i = 0; i < l->tasks.count; i++) {
        task *t = tasks_find(l->srv->tasks, l->tasks.at[i].at, l->tasks.at[i].len, principal);
        if (!t)
            continue;
        news n = news_of(t);
        send_to(l, &n, &w);
        task_release(t);
    }
    json_writer_free(&w);
}
