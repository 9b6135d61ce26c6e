/* SPDX-License-Identifier: MIT */
/* server.h -- the running host: manifest, registry, fetch engine, workers. One a process. */
#ifndef LASTRO_CORE_SERVER_H
#define LASTRO_CORE_SERVER_H

#include "call.h"
#include "seal.h"
#include "surface.h"

#include <stdio.h>

struct tasks;

typedef struct {
    const char *manifest_path; /* --manifest; NULL: searched */
    bool offline;
    const char *overrides[32]; /* "NAME=URL" of --source; LASTRO_SOURCE_NAME is looked up by name */
    size_t override_count;
    bool serve_anyway;         /* a manifest that cannot be used: log it, serve without plugins and tell the client */
} server_options;

struct server {
    server_options opts;
    char exe_dir[3072];
    manifest *manifest;
    registry *reg;
    surface *surface;
    fetch_engine *fetch;
    pool *pool;
    pool *task_pool;           /* for what is a task before it runs: long ones must not keep others waiting */
    struct tasks *tasks;
    atomic_uint task_watchers; /* open subscriptions that watch some */
    lastro_host host;
    seal seal;                 /* signs what clients keep for us */
    char *principal;           /* name of who calls on stdio and in the shell */
    FILE *shell_out;           /* where a shell command's print goes; NULL: nowhere */
    pthread_mutex_t lock;      /* free list, in flight */
    pthread_cond_t idle;       /* a call ended */
    lastro_call *free_calls;
    unsigned free_count;
    lastro_call *inflight;
    unsigned inflight_count;
    pthread_mutex_t sessions_lock;
    session *sessions;         /* all there are */
    atomic_bool serving;       /* everything is loaded */
};

/* NULL with err filled when the manifest is broken; a plugin that fails is logged and left out. */
server *server_create(const server_options *opts, lastro_error *err);
void server_destroy(server *s); /* no call is running; accepts NULL */

/* Who calls when the transport names nobody. */
void server_principal(const server *s, const char *name, lastro_principal *ret);

void server_track(lastro_call *c);   /* it can be found and cancelled from now on */
/* It can no longer. True when it was tracked: server_settle is due once nothing of it is left, its answer included. */
bool server_untrack(lastro_call *c);
void server_settle(server *s);
/* The tracked call of that session with that id (same type, same value), marked silent when silently; NULL: none. */
bool server_cancel(server *s, const session *of, const json_value *id);
/* c answers to no request and no session any more: neither cancellation finds it. Its peer, which the caller now releases;
 * NULL: it was cancelled before, and nothing changed. */
peer *server_detach(lastro_call *c);
/* The client of that peer is gone: its tracked calls are cancelled and answer nobody. */
void server_cancel_peer(server *s, const peer *of);
/* The session is over: the same for its tracked calls. */
void server_cancel_session(server *s, const session *of);
/* Waits until every tracked call has settled, at most that long; true: none is left. */
bool server_wait_idle(server *s, int64_t ms);
void server_cancel_all(server *s);

/* The whole-host table given to plugins (host.c). */
void host_fill(server *s);
/* Plugins' threads reach the server no more; waits for one that just does. */
void host_leave(server *s);

#endif
