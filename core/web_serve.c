/* SPDX-License-Identifier: MIT */
#include "web_serve.h"
#include "clock.h"
#include "fail.h"
#include "log.h"
#include "module.h"
#include "signals.h"
#include "web_host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    HEAD_MS = 10000,        /* a request's head must be whole by then */
    BODY_MS = 60000,        /* and its body */
    IDLE_MS = 120000,       /* a connection on which nothing is asked */
    KEEPALIVE_MS = 15000,   /* shorter than the half minute after which common proxies give a silent stream up */
    STALL_MS = 10000,       /* a reader that takes nothing */
    QUEUE_MOST = 256 << 10, /* bytes waiting on one stream */
    CANCEL_GRACE_MS = 500,  /* what was cancelled may still tidy up */
    CANCEL_EVERY_MS = 50,   /* meanwhile, for what becomes a call only then */
    OTHER_DESCRIPTORS = 256,/* of the process, besides one for each client */
    INHERITED_FD = 3        /* the first one, by the convention of the service manager */
};

typedef struct {
    server *srv;
    const web_front *front;
    web_keys *keys;
    web_host *host;
    web_server *open;
} serving;

/* ---- addresses ---- */

static web_reach reach_of_v4(struct in_addr a) {
    return ntohl(a.s_addr) >> 24 == 127 ? WEB_LOOPBACK : WEB_BEYOND;
}

static web_reach reach_of_v6(const struct in6_addr *a) {
    if (IN6_IS_ADDR_LOOPBACK(a))
        return WEB_LOOPBACK;
    struct in_addr mapped;
    memcpy(&mapped, a->s6_addr + 12, sizeof mapped);
    return IN6_IS_ADDR_V4MAPPED(a) ? reach_of_v4(mapped) : WEB_BEYOND;
}

static web_reach reach_of_socket(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
    } at;
    socklen_t len = sizeof at;
    if (getsockname(fd, &at.any, &len) != 0)
        return WEB_UNREADABLE;
    switch (at.any.sa_family) {
    case AF_UNIX:
        return WEB_UNIX;
    case AF_INET:
        return reach_of_v4(at.v4.sin_addr);
    case AF_INET6:
        return reach_of_v6(&at.v6.sin6_addr);
    default:
        return WEB_UNREADABLE;
    }
}

static bool is_port(const char *text) {
    return strspn(text, "0123456789") == strlen(text) && *text && strlen(text) <= 5 && atoi(text) <= 65535;
}

web_reach web_serve_reach(const char *listen) {
    char host[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    if (!listen)
        return reach_of_socket(INHERITED_FD);
    if (strncmp(listen, "unix:", 5) == 0)
        return listen[5] ? WEB_UNIX : WEB_UNREADABLE;
    const char *colon = strrchr(listen, ':');
    size_t len = colon ? (size_t)(colon - listen) : 0;
    if (!len || len >= sizeof host || !is_port(colon + 1))
        return WEB_UNREADABLE;
    memcpy(host, listen, len);
    host[len] = '\0';
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        return inet_pton(AF_INET6, host + 1, &v6) == 1 ? reach_of_v6(&v6) : WEB_UNREADABLE;
    }
    return inet_pton(AF_INET, host, &v4) == 1 ? reach_of_v4(v4) : WEB_UNREADABLE;
}

bool web_serve_inherits(void) {
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    return pid && fds && atol(pid) == (long)getpid() && atoi(fds) >= 1;
}

/* ---- what the process needs ---- */

/* A closed standard descriptor would be the number of the next socket, and what a plugin prints would go to a client. */
static void keep_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
            return;
}

void web_serve_prepare(void) {
    keep_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signals_block_ending();
}

/* As many clients at once as asked, or as the system lets this process have descriptors for. */
static unsigned connections_within_limits(int64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return (unsigned)wanted;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur == RLIM_INFINITY || (rlim_t)wanted + OTHER_DESCRIPTORS <= limit.rlim_cur)
        return (unsigned)wanted;
    rlim_t room = limit.rlim_cur > 2 * OTHER_DESCRIPTORS ? limit.rlim_cur - OTHER_DESCRIPTORS : limit.rlim_cur / 2;
    log_line(room < (rlim_t)wanted / 2 ? LASTRO_LOG_WARNING : LASTRO_LOG_INFO,
             "%llu connections at once instead of %lld: the process may have %llu descriptors (ulimit -n)",
             (unsigned long long)room, (long long)wanted, (unsigned long long)limit.rlim_cur);
    return (unsigned)room;
}

const web_front *web_serve_load(const server *srv, lastro_error *err) {
    web_front_entry_fn entry;
    *(void **)&entry = module_entry(srv->exe_dir, "web", WEB_FRONT_ENTRY, err);
    const web_front *front = entry ? entry() : NULL;
    if (front && front->version != WEB_FRONT_VERSION) {
        fail(err, LASTRO_EABI, "modules/web.so is version %u, this program needs %u", front->version, WEB_FRONT_VERSION);
        return NULL;
    }
    return front;
}

/* ---- from open to closed ---- */

static lastro_status open_front(serving *v, const char *listen, lastro_error *err) {
    const manifest *m = v->srv->manifest;
    char why[300] = "";
    web_config config = {
        .listen = listen,
        .io_threads = (unsigned)m->http.io_threads,
        .connections = connections_within_limits(m->http.connections),
        .body_max = (size_t)m->limits.message_bytes,
        .head_ms = HEAD_MS,
        .body_ms = BODY_MS,
        .idle_ms = IDLE_MS,
        .keepalive_ms = KEEPALIVE_MS,
        .keepalive_text = ": keep-alive\n\n",
        .stall_ms = STALL_MS,
        .queue_max = QUEUE_MOST,
        .too_large_body = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"Invalid request: the message is longer "
                          "than this server takes (limits.messageBytes of its manifest).\"}}",
        .busy_body = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"The server is stopping or has no room for "
                     "another request; ask again later.\"}}",
    };
    v->open = v->front->open(&config, web_host_handler(v->host), why, sizeof why);
    return v->open ? LASTRO_OK : fail(err, LASTRO_EARGS, "cannot listen at %s: %s", listen ? listen : "the inherited socket", why);
}

static lastro_status begin(serving *v, const char *listen, lastro_error *err) {
    v->keys = web_keys_create(v->srv->manifest, err);
    if (!v->keys && err->status)
        return (lastro_status)err->status;
    web_host_options options = {.loopback = web_serve_reach(listen) == WEB_LOOPBACK, .keys = v->keys};
    v->host = web_host_create(v->srv, v->front, &options);
    return v->host ? open_front(v, listen, err) : fail(err, LASTRO_ENOMEM, "out of memory");
}

static void end(serving *v) {
    if (v->open)
        v->front->close(v->open);
    web_host_destroy(v->host);
    web_keys_destroy(v->keys);
}

static void say_where(const char *address, bool sse) {
    bool path = strncmp(address, "unix:", 5) == 0;
    fprintf(stderr, path ? "lastro: listening on %s, endpoint /mcp%s\n" : "lastro: listening on http://%s/mcp%s\n", address,
            sse ? " and, for clients of 2024-11-05, /sse" : "");
}

static void wait_for_signal(void) {
    sigset_t set = signals_ending();
    int number;
    while (sigwait(&set, &number) != 0)
        ;
    log_notice("%s: stopping; running calls may end, a second signal stops at once", number == SIGINT ? "SIGINT" : "SIGTERM");
}

static void leave_now(int number) {
    (void)number;
    _exit(1);
}

/* A handler of ours, because the first process of a container has no default action for these signals. */
static void let_second_signal_end(void) {
    sigset_t set = signals_ending();
    struct sigaction action = {.sa_handler = leave_now};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Answers that are ready still have to be taken by their clients. */
static void wait_until_written(const serving *v, int64_t until) {
    while (v->front->open_exchanges(v->open) && clock_mono_ms() < until)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* True: none is left. */
static bool cancel_calls(const serving *v) {
    int64_t until = clock_mono_ms() + CANCEL_GRACE_MS;
    do {
        server_cancel_all(v->srv);
        if (server_wait_idle(v->srv, CANCEL_EVERY_MS))
            return true;
    } while (clock_mono_ms() < until);
    return false;
}

/* Until here requests whose head came before the signal are read to their end, and become calls. */
static void close_front(serving *v) {
    v->front->close(v->open);
    v->open = NULL;
}

static void stop(serving *v) {
    int64_t drain_ms = v->srv->manifest->http.drain_ms, until = clock_mono_ms() + drain_ms;
    v->front->drain(v->open);
    web_host_end_streams(v->host);
    if (server_wait_idle(v->srv, drain_ms))
        wait_until_written(v, until);
    else
        log_notice("calls still running %lld ms after the signal are cancelled", (long long)drain_ms);
    bool ended = cancel_calls(v);
    if (ended) {
        close_front(v);
        ended = cancel_calls(v);
    }
    if (ended)
        return;
    log_warning("a call did not end when it was cancelled; leaving without it"); /* nothing it touches may be freed */
    if (v->open && strncmp(v->front->address(v->open), "unix:", 5) == 0)
        unlink(v->front->address(v->open) + 5);
    _exit(0);
}

lastro_status web_serve(server *srv, const web_front *front, const char *listen, lastro_error *err) {
    serving v = {.srv = srv, .front = front};
    lastro_status s = begin(&v, listen, err);
    if (s == LASTRO_OK) {
        say_where(front->address(v.open), srv->manifest->http.sse);
        wait_for_signal();
        let_second_signal_end();
        stop(&v);
    }
    end(&v);
    return s;
}
