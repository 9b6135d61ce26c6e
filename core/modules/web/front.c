/* SPDX-License-Identifier: MIT */
/* front.c -- the module's table: opening, draining and closing a server. */
#include "front.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { IO_THREADS_MOST = 8, CONNECTIONS_DEFAULT = 1024, QUEUE_DEFAULT = 256 << 10, SPARE_FDS = 64 };
enum { PERIOD_LEAST_MS = 20, PERIOD_MOST_MS = 500 };

/* ---- opening ---- */

/* A descriptor a connection, and some for the rest of the program. */
static void raise_descriptors(web_config *c) {
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l))
        return;
    rlim_t need = (rlim_t)c->connections + SPARE_FDS * 4;
    if (l.rlim_cur < need) {
        l.rlim_cur = l.rlim_max < need ? l.rlim_max : need;
        setrlimit(RLIMIT_NOFILE, &l);
    }
    if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < need)
        c->connections = l.rlim_cur > 2 * SPARE_FDS ? (unsigned)l.rlim_cur - SPARE_FDS : SPARE_FDS;
}

static void complete(web_config *c) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!c->io_threads)
        c->io_threads = cores < 1 ? 1 : (unsigned)cores;
    if (c->io_threads > IO_THREADS_MOST)
        c->io_threads = IO_THREADS_MOST;
    if (!c->connections)
        c->connections = CONNECTIONS_DEFAULT;
    if (!c->queue_max)
        c->queue_max = QUEUE_DEFAULT;
    raise_descriptors(c);
}

/* So often that no deadline is missed by more than a quarter. */
static unsigned period_of(const web_config *c) {
    const uint32_t all[] = {c->head_ms, c->body_ms, c->idle_ms, c->keepalive_text ? c->keepalive_ms : 0,
                            c->stall_ms};
    uint32_t least = PERIOD_MOST_MS * 4;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && all[i] < least)
            least = all[i];
    return least / 4 < PERIOD_LEAST_MS ? PERIOD_LEAST_MS : least / 4;
}

/* Else "/mcp%00x" would be "/mcp". */
static size_t keep_as_sent(void *cls, struct MHD_Connection *c, char *s) {
    (void)cls, (void)c;
    return strlen(s);
}

/* No timeout of the library's: it counts silence, and we have deadlines. Its limit is never reached, as we
 * count. */
static struct MHD_Daemon *start_daemon(web_server *s) {
    struct MHD_OptionItem more[] = {
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)((s->config.connections + SPARE_FDS) * s->config.io_threads),
         NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, POOL_BYTES, NULL},
#if MHD_VERSION >= 0x01000000 /* head.c cannot walk it, but it can be strict */
        {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1, NULL},
#endif
        {s->config.io_threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END,
         (intptr_t)s->config.io_threads, NULL},
        {MHD_OPTION_END, 0, NULL}
    };
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                                MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET,
                            0, NULL, NULL, request_step, s, MHD_OPTION_NOTIFY_COMPLETED, request_completed, s,
                            MHD_OPTION_NOTIFY_CONNECTION, peer_notice, s, MHD_OPTION_URI_LOG_CALLBACK,
                            request_line, s, MHD_OPTION_UNESCAPE_CALLBACK, keep_as_sent, s, MHD_OPTION_ARRAY,
                            more, MHD_OPTION_END);
}

/* With every signal blocked: they are the host's, and a client that left must not kill us with SIGPIPE. But
 * for those that a thread's own fault raises, so that who reports crashes can. */
static bool start_threads(web_server *s) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->daemon = watcher_init(s) ? start_daemon(s) : NULL;
    bool ok = s->daemon && watcher_start(s);
    if (s->daemon && !ok)
        MHD_stop_daemon(s->daemon);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void destroy(web_server *s) {
    peer_destroy_all(s);
    watcher_destroy(s);
    listener_close(&s->listener);
    pthread_mutex_destroy(&s->peers_lock);
    pthread_mutex_destroy(&s->accept_lock);
    free(s->peers);
    free(s);
}

static web_server *front_open(const web_config *config, const web_handler *handler, char *why,
                              size_t why_size) {
    web_server *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    s->config = *config;
    s->handler = *handler;
    s->events = s->alarm = -1;
    complete(&s->config);
    s->period_ms = period_of(&s->config);
    pthread_mutex_init(&s->peers_lock, NULL);
    pthread_mutex_init(&s->accept_lock, NULL);
    bool bound = listener_open(&s->listener, config->listen, why, why_size);
    if (bound && start_threads(s))
        return s;
    if (bound)
        snprintf(why, why_size, "cannot start the threads of the HTTP server: %s", strerror(errno));
    destroy(s);
    return NULL;
}

static const char *front_address(web_server *s) {
    return s->listener.address;
}

/* ---- ending ---- */

static void front_drain(web_server *s) {
    if (watcher_stop_accepting(s))
        listener_refuse(&s->listener);
}

static unsigned front_open_exchanges(web_server *s) {
    return atomic_load(&s->open);
}

/* The watcher ends every exchange; libmicrohttpd aborts the process when it is stopped with one still
 * suspended. */
static void front_close(web_server *s) {
    struct timespec pause = {.tv_nsec = 1000000};
    front_drain(s);
    atomic_store(&s->closing, true);
    watcher_wake(s);
    while (atomic_load(&s->open))
        nanosleep(&pause, NULL);
    MHD_stop_daemon(s->daemon);
    watcher_stop(s);
    destroy(s);
}

/* ---- the table ---- */

static const web_front table = {
    .version = WEB_FRONT_VERSION,
    .open = front_open,
    .address = front_address,
    .drain = front_drain,
    .open_exchanges = front_open_exchanges,
    .close = front_close,
    .set_user = answer_set_user,
    .user = answer_user,
    .retain = exchange_ref,
    .release = exchange_unref,
    .reply = answer_reply,
    .stream = answer_stream,
    .write = answer_write,
    .finish = answer_finish,
    .abort = answer_abort,
};

__attribute__((visibility("default"))) const web_front *web_front_entry(void);
const web_front *web_front_entry(void) {
    return &table;
}
