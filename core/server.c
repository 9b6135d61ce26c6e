/* SPDX-License-Identifier: MIT */
#include "server.h"
#include "changes.h"
#include "clock.h"
#include "fail.h"
#include "file.h"
#include "loader.h"
#include "log.h"
#include "module.h"
#include "mcp.h"
#include "rpc.h"
#include "tasks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define USER_AGENT "lastro/" LASTRO_VERSION

enum { TASKS_MOST = 1024, TASKS_BYTES = 64 << 20, TASK_KEEP_MS = 300000, TASK_POLL_MS = 500 };

/* The transport is a host module: loaded when the first request really goes out. */
static const http_transport *load_transport(void *arg, lastro_error *err) {
    server *s = arg;
    http_transport_entry_fn entry;
    *(void **)&entry = module_entry(s->exe_dir, "fetch", HTTP_TRANSPORT_ENTRY, err);
    const http_transport *t = entry ? entry() : NULL;
    if (t && t->version != HTTP_TRANSPORT_VERSION) {
        fail(err, LASTRO_EABI, "modules/fetch.so is version %u, this program needs %u", t->version, HTTP_TRANSPORT_VERSION);
        return NULL;
    }
    return t;
}

static manifest *open_manifest(server *s, lastro_error *err) {
    char path[PATH_MAX];
    if (!manifest_find(s->opts.manifest_path, s->exe_dir, path, sizeof path)) {
        log_warning("no manifest.json beside the program, in the configuration folder or in /etc/lastro: "
                    "no plugin is "
                    "loaded. Name one with --manifest FILE or LASTRO_MANIFEST");
        return manifest_empty();
    }
    return manifest_load(path, err);
}

/* A client that starts us should hear what is wrong rather than see a process that ended. */
static manifest *explain_manifest(const lastro_error *err) {
    log_error("%s; no plugin is loaded", err->text);
    manifest *m = manifest_empty();
    if (m)
        m->instructions = arena_printf(
            &m->mem,
            "This server has no tools: its manifest cannot be used (%s). Tell the user to mend it "
            "and to restart the server.",
            err->text);
    return m;
}

/* An override that names nothing is a slip of the pen: the source would be read where it always is. */
static void check_overrides(const server *s) {
    for (size_t i = 0; i < s->opts.override_count; i++) {
        char name[100];
        const char *o = s->opts.overrides[i];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(o, "="), o);
        if (!registry_source(s->reg, name))
            log_warning("--source %s: no loaded plugin has a source of that name, so it changes nothing",
                        name);
    }
}

static void init_locks(server *s) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->sessions_lock, NULL);
    pthread_cond_init(&s->idle, &attr);
    pthread_condattr_destroy(&attr);
}

/* Twice the largest result has room in any case. */
static tasks *make_tasks(server *s, const manifest_limits *limits) {
    size_t two = (size_t)limits->result_bytes * 2;
    tasks_config config = {.most = TASKS_MOST, .bytes = two > TASKS_BYTES ? two : TASKS_BYTES, .life_ms = limits->task_ms,
                           .keep_ms = TASK_KEEP_MS, .poll_ms = TASK_POLL_MS, .changed = changes_tell_task, .arg = s};
    return tasks_create(&config);
}

static lastro_status start(server *s, lastro_error *err) {
    if (!file_exe_dir(s->exe_dir, sizeof s->exe_dir))
        return fail(err, LASTRO_EINTERNAL, "cannot tell where the program is: /proc is not there");
    s->manifest = open_manifest(s, err);
    if (!s->manifest && s->opts.serve_anyway)
        s->manifest = explain_manifest(err);
    if (!s->manifest)
        return LASTRO_EARGS;
    fetch_config config = {.cache_bytes = (size_t)s->manifest->limits.cache_bytes,
                           .user_agent = USER_AGENT,
                           .transport = load_transport,
                           .transport_arg = s};
    if (!seal_init(&s->seal))
        return fail(err, LASTRO_EINTERNAL, "the kernel gives no random numbers");
    s->fetch = fetch_create(&config);
    s->pool = pool_create((unsigned)s->manifest->limits.workers);
    s->task_pool = pool_create((unsigned)s->manifest->limits.workers);
    s->tasks = make_tasks(s, &s->manifest->limits);
    if (!s->fetch || !s->pool || !s->task_pool || !s->tasks)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    const char *named = getenv("LASTRO_PRINCIPAL");
    s->principal = strdup(named && *named          ? named
                          : s->manifest->principal ? s->manifest->principal
                                                   : "local");
    loader_options load = {.exe_dir = s->exe_dir, .overrides = s->opts.overrides, .host = &s->host};
    host_fill(s);
    s->reg = loader_load(s->manifest, &load, err);
    if (!s->reg)
        return LASTRO_ENOMEM;
    check_overrides(s);
    s->surface = surface_create(s->reg);
    atomic_store(&s->serving, s->surface != NULL);
    return s->surface ? LASTRO_OK : fail(err, LASTRO_ENOMEM, "out of memory");
}

server *server_create(const server_options *opts, lastro_error *err) {
    server *s = calloc(1, sizeof *s);
    if (!s) {
        fail(err, LASTRO_ENOMEM, "out of memory");
        return NULL;
    }
    s->opts = *opts;
    init_locks(s);
    if (start(s, err) != LASTRO_OK) {
        server_destroy(s);
        return NULL;
    }
    return s;
}

static void free_kept_calls(server *s) {
    for (lastro_call *c = s->free_calls, *next; c; c = next) {
        next = c->next_free;
        call_destroy(c);
    }
}

void server_destroy(server *s) {
    if (!s)
        return;
    pool_destroy(s->task_pool);
    pool_destroy(s->pool);
    host_leave(s);
    tasks_destroy(s->tasks);
    if (s->fetch)
        fetch_destroy(s->fetch);
    loader_unload(s->reg);
    surface_destroy(s->surface);
    free_kept_calls(s);
    manifest_destroy(s->manifest);
    free(s->principal);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->sessions_lock);
    pthread_cond_destroy(&s->idle);
    free(s);
}

void server_principal(const server *s, const char *name, lastro_principal *ret) {
    *ret = (lastro_principal){.size = sizeof *ret, .name = name ? name : s->principal};
    for (json_iter it = json_iterate(s->manifest->principals); json_next(&it);)
        if (json_text_is(json_member(it.value, "name"), ret->name))
            ret->claims = json_member(it.value, "claims");
}

/* ---- calls in progress ---- */

/* The list of each kind that c belongs to; NULL: none. Under the lock, as all of the lists. */
static lastro_call **list_of(lastro_call *c, int kind) {
    switch (kind) {
    case INFLIGHT_OF_PEER:
        return c->peer ? &c->peer->calls : NULL;
    case INFLIGHT_OF_SESSION:
        return c->session ? &c->session->calls : NULL;
    default:
        return &c->srv->inflight;
    }
}

static void enlist(lastro_call *c, int kind) {
    lastro_call **list = list_of(c, kind);
    if (!list)
        return;
    c->inflight_prev[kind] = NULL;
    c->inflight_next[kind] = *list;
    if (*list)
        (*list)->inflight_prev[kind] = c;
    *list = c;
}

static void unlist(lastro_call *c, int kind) {
    lastro_call **list = list_of(c, kind), *next = c->inflight_next[kind], *prev = c->inflight_prev[kind];
    if (!list)
        return;
    *(prev ? &prev->inflight_next[kind] : list) = next;
    if (next)
        next->inflight_prev[kind] = prev;
}

void server_track(lastro_call *c) {
    server *s = c->srv;
    pthread_mutex_lock(&s->lock);
    c->inflight = true;
    s->inflight_count++;
    for (int kind = 0; kind < INFLIGHT_LISTS; kind++)
        enlist(c, kind);
    pthread_mutex_unlock(&s->lock);
}

bool server_untrack(lastro_call *c) {
    server *s = c->srv;
    pthread_mutex_lock(&s->lock);
    bool tracked = c->inflight;
    for (int kind = 0; tracked && kind < INFLIGHT_LISTS; kind++)
        unlist(c, kind);
    c->inflight = false;
    pthread_mutex_unlock(&s->lock);
    return tracked;
}

void server_settle(server *s) {
    pthread_mutex_lock(&s->lock);
    if (--s->inflight_count == 0)
        pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->lock);
}

static void silence(lastro_call *c) {
    atomic_store(&c->silent, true);
    cancel_raise(&c->cancel);
}

bool server_cancel(server *s, const session *of, const json_value *id) {
    pthread_mutex_lock(&s->lock);
    lastro_call *c = of->calls;
    while (c && (!c->id || !rpc_same_id(c->id, id)))
        c = c->inflight_next[INFLIGHT_OF_SESSION];
    if (c)
        silence(c);
    pthread_mutex_unlock(&s->lock);
    return c != NULL;
}

peer *server_detach(lastro_call *c) {
    server *s = c->srv;
    pthread_mutex_lock(&s->lock);
    peer *p = atomic_load(&c->silent) ? NULL : c->peer;
    if (p) {
        unlist(c, INFLIGHT_OF_PEER);
        unlist(c, INFLIGHT_OF_SESSION);
        c->peer = NULL;
        c->session = NULL;
        c->id = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

void server_cancel_peer(server *s, const peer *of) {
    pthread_mutex_lock(&s->lock);
    for (lastro_call *c = of->calls; c; c = c->inflight_next[INFLIGHT_OF_PEER])
        silence(c);
    pthread_mutex_unlock(&s->lock);
}

void server_cancel_session(server *s, const session *of) {
    pthread_mutex_lock(&s->lock);
    for (lastro_call *c = of->calls; c; c = c->inflight_next[INFLIGHT_OF_SESSION])
        silence(c);
    pthread_mutex_unlock(&s->lock);
}

bool server_wait_idle(server *s, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000)
        until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&s->lock);
    int timed_out = 0;
    while (s->inflight_count && !timed_out)
        timed_out = pthread_cond_timedwait(&s->idle, &s->lock, &until);
    bool idle = s->inflight_count == 0;
    pthread_mutex_unlock(&s->lock);
    return idle;
}

void server_cancel_all(server *s) {
    pthread_mutex_lock(&s->lock);
    for (lastro_call *c = s->inflight; c; c = c->inflight_next[INFLIGHT_OF_SERVER])
        cancel_raise(&c->cancel);
    pthread_mutex_unlock(&s->lock);
}
