/* SPDX-License-Identifier: MIT */
/* test_web_front.h -- the web module of the build, a handler that plays the host, and clients made of raw
 * sockets. The handler goes by the path; what it may not be told is counted in play.wrong. */
#ifndef LASTRO_TESTS_WEB_FRONT_H
#define LASTRO_TESTS_WEB_FRONT_H

#include "web.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, HELD_MOST = 1200, WORKERS = 4, JOBS_MOST = 4096 };

static const web_front *front;

/* ---- time ---- */

static inline int64_t ms_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void pause_ms(unsigned ms) {
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

#define WAIT_FOR(condition)                                                                                  \
    __extension__({                                                                                          \
        int64_t until_ = ms_now() + PATIENCE_MS;                                                             \
        while (!(condition) && ms_now() < until_)                                                            \
            pause_ms(1);                                                                                     \
        !!(condition);                                                                                       \
    })

/* ---- the host that is played ----
 * /now       answers from within request: "METHOD PATH QUERY LEN"
 * /head      answers from within head, 401
 * /silent    says no in head without an answer
 * /later     a worker answers at once: usually while the I/O thread is still leaving request
 * /big       5 MB
 * /hold      nobody answers; the test does, through play.held
 * /stream    a stream begun within request, then as /hold
 * /abort     cuts from within request
 * /sleep     holds the I/O thread for 60 ms, as no host may, then as /now
 */

typedef struct {
    atomic_int refs;
    atomic_int gone, done;
    char method[16];
} guest; /* an exchange's user pointer */

static struct {
    atomic_int heads, accepted, requests, gone, done, wrong;
    atomic_size_t body_len;
    pthread_mutex_t lock;
    web_exchange *held[HELD_MOST]; /* retained */
    unsigned held_count;
    web_exchange *jobs[JOBS_MOST];
    unsigned job_first, job_count;
    pthread_cond_t work;
    pthread_t workers[WORKERS];
    bool stop;
    char last_header[256]; /* X-Test of the last /now */
    unsigned last_count;
    char last_remote[64];
} play = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static char big_body[5 << 20];

static inline bool play_reply(web_exchange *x, unsigned status, const char *body, size_t len) {
    const web_header headers[] = {{"Content-Type", "text/plain"}, {"X-Who", "play"}, {"Connection", "never"}};
    web_answer a = {status, headers, 3, body, len};
    return front->reply(x, &a);
}

static inline bool play_stream(web_exchange *x) {
    const web_header headers[] = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}};
    web_answer a = {200, headers, 2, NULL, 0};
    return front->stream(x, &a);
}

static inline bool play_head(void *arg, web_exchange *x, const web_head *h) {
    (void)arg;
    play.heads++;
    if (strcmp(h->path, "/head") == 0) {
        play_reply(x, 401, "who?", 4);
        return false;
    }
    if (strcmp(h->path, "/silent") == 0)
        return false;
    guest *g = calloc(1, sizeof *g);
    snprintf(g->method, sizeof g->method, "%s", h->method);
    front->set_user(x, g);
    play.accepted++;
    return true;
}

static inline void play_hold(web_exchange *x) {
    front->retain(x);
    pthread_mutex_lock(&play.lock);
    if (play.held_count < HELD_MOST)
        play.held[play.held_count++] = x;
    else
        play.wrong++;
    pthread_mutex_unlock(&play.lock);
}

static inline void play_later(web_exchange *x) {
    front->retain(x);
    pthread_mutex_lock(&play.lock);
    play.jobs[(play.job_first + play.job_count++) % JOBS_MOST] = x;
    pthread_cond_signal(&play.work);
    pthread_mutex_unlock(&play.lock);
}

static inline void play_now(web_exchange *x, const web_head *h, size_t len) {
    char text[512];
    unsigned count;
    const char *header = h->header(h, "x-test", &count);
    pthread_mutex_lock(&play.lock);
    snprintf(play.last_header, sizeof play.last_header, "%s", header ? header : "(none)");
    snprintf(play.last_remote, sizeof play.last_remote, "%s", h->remote);
    play.last_count = count;
    pthread_mutex_unlock(&play.lock);
    int n = snprintf(text, sizeof text, "%s %s %s %zu", h->method, h->path, h->query ? h->query : "-", len);
    if ((size_t)n >= sizeof text)
        n = sizeof text - 1;
    if (!play_reply(x, 200, text, (size_t)n))
        play.wrong++;
    if (play_reply(x, 200, "again", 5)) /* an exchange is answered once */
        play.wrong++;
}

static inline void play_request(void *arg, web_exchange *x, const web_head *h, const char *body, size_t len) {
    (void)arg;
    play.requests++;
    play.body_len = len;
    if (strlen(body) > len || body[len] != '\0')
        play.wrong++;
    if (strcmp(h->path, "/later") == 0) {
        play_later(x);
    } else if (strcmp(h->path, "/big") == 0) {
        play_reply(x, 200, big_body, sizeof big_body);
    } else if (strcmp(h->path, "/hold") == 0) {
        play_hold(x);
    } else if (strcmp(h->path, "/stream") == 0) {
        play_stream(x);
        play_hold(x);
    } else if (strcmp(h->path, "/abort") == 0) {
        front->abort(x);
    } else {
        if (strcmp(h->path, "/sleep") == 0)
            pause_ms(60);
        play_now(x, h, len);
    }
}

static inline void play_gone(void *arg, web_exchange *x) {
    (void)arg;
    guest *g = front->user(x);
    play.gone++;
    if (!g || g->gone++ || g->done)
        play.wrong++;
}

static inline void play_done(void *arg, web_exchange *x) {
    (void)arg;
    guest *g = front->user(x);
    play.done++;
    if (!g || g->done++)
        play.wrong++;
    free(g);
}

static inline void *play_work(void *arg) {
    pthread_mutex_lock(&play.lock);
    for (;;) {
        while (!play.job_count && !play.stop)
            pthread_cond_wait(&play.work, &play.lock);
        if (!play.job_count)
            break;
        web_exchange *x = play.jobs[play.job_first];
        play.job_first = (play.job_first + 1) % JOBS_MOST;
        play.job_count--;
        pthread_mutex_unlock(&play.lock);
        play_reply(x, 200, "later", 5);
        front->release(x);
        pthread_mutex_lock(&play.lock);
    }
    pthread_mutex_unlock(&play.lock);
    return arg;
}

/* The exchange held as number i, when it is there. */
static inline web_exchange *play_held(unsigned i) {
    web_exchange *x = NULL;
    int64_t until = ms_now() + PATIENCE_MS;
    while (!x && ms_now() < until) {
        pthread_mutex_lock(&play.lock);
        x = i < play.held_count ? play.held[i] : NULL;
        pthread_mutex_unlock(&play.lock);
        if (!x)
            pause_ms(1);
    }
    return x;
}

static inline void play_let_go(void) {
    pthread_mutex_lock(&play.lock);
    for (unsigned i = 0; i < play.held_count; i++)
        front->release(play.held[i]);
    play.held_count = 0;
    pthread_mutex_unlock(&play.lock);
}

static inline bool play_remote_was(const char *want) {
    pthread_mutex_lock(&play.lock);
    bool same = strcmp(play.last_remote, want) == 0;
    pthread_mutex_unlock(&play.lock);
    return same;
}

static const web_handler play_handler = {NULL, play_head, play_request, play_gone, play_done};

/* ---- the server ---- */

static web_server *web;
static struct sockaddr_storage web_at;
static socklen_t web_at_len;
static char web_why[256];

static inline web_config web_defaults(void) {
    return (web_config){.listen = "127.0.0.1:0",
                        .io_threads = 2,
                        .connections = 2000,
                        .body_max = 1 << 20,
                        .head_ms = 10000,
                        .body_ms = 10000,
                        .idle_ms = 10000,
                        .keepalive_ms = 60000,
                        .keepalive_text = ": quiet\n\n",
                        .stall_ms = 10000,
                        .queue_max = 256 << 10,
                        .too_large_body = "{\"error\":\"too large\"}",
                        .busy_body = "{\"error\":\"busy\"}"};
}

static inline void web_find(const char *address) {
    struct sockaddr_in *v4 = (void *)&web_at;
    struct sockaddr_in6 *v6 = (void *)&web_at;
    struct sockaddr_un *un = (void *)&web_at;
    const char *colon = strrchr(address, ':');
    memset(&web_at, 0, sizeof web_at);
    if (strncmp(address, "unix:", 5) == 0) {
        un->sun_family = AF_UNIX;
        snprintf(un->sun_path, sizeof un->sun_path, "%s", address + 5);
        web_at_len = sizeof *un;
    } else if (address[0] == '[') {
        v6->sin6_family = AF_INET6;
        v6->sin6_addr = in6addr_loopback;
        v6->sin6_port = htons((uint16_t)atoi(colon + 1));
        web_at_len = sizeof *v6;
    } else {
        v4->sin_family = AF_INET;
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        v4->sin_port = htons((uint16_t)atoi(colon + 1));
        web_at_len = sizeof *v4;
    }
}

/* False: why is in web_why. */
static inline bool web_open(const web_config *config) {
    play.heads = play.accepted = play.requests = play.gone = play.done = 0;
    web_why[0] = '\0';
    web = front->open(config, &play_handler, web_why, sizeof web_why);
    if (web)
        web_find(front->address(web));
    return web != NULL;
}

/* Every exchange that head accepted has seen done by then, and nothing was told that should not be. */
static inline bool web_close(void) {
    front->close(web);
    play_let_go();
    return play.wrong == 0 && play.done == play.accepted;
}

static inline bool play_begin(void) {
    void *module = dlopen(LASTRO_BINARY_DIR "/modules/web.so", RTLD_NOW | RTLD_LOCAL);
    web_front_entry_fn entry = NULL;
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    *(void **)&entry = dlsym(module, WEB_FRONT_ENTRY);
    front = entry ? entry() : NULL;
    memset(big_body, 'b', sizeof big_body);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&play.workers[i], NULL, play_work, NULL);
    return front && front->version == WEB_FRONT_VERSION;
}

static inline void play_end(void) {
    pthread_mutex_lock(&play.lock);
    play.stop = true;
    pthread_cond_broadcast(&play.work);
    pthread_mutex_unlock(&play.lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(play.workers[i], NULL);
}

/* ---- clients ---- */

#define HOST "Host: localhost\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define POST(path, len, body) "POST " path " HTTP/1.1\r\n" HOST "Content-Length: " #len "\r\n\r\n" body

/* A signal may come first (libFuzzer has an alarm): connecting goes on without the caller. */
static inline bool connect_whole(int fd) {
    if (connect(fd, (struct sockaddr *)&web_at, web_at_len) == 0)
        return true;
    if (errno != EINTR)
        return false;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    while (poll(&p, 1, 5000) < 0 && errno == EINTR)
        ;
    int fault = ETIMEDOUT;
    socklen_t len = sizeof fault;
    return p.revents && getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &len) == 0 && fault == 0;
}

static inline int dial(void) {
    int fd = socket(web_at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd >= 0 && !connect_whole(fd)) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static inline bool say_bytes(int fd, const char *bytes, size_t len) {
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static inline bool say(int fd, const char *text) {
    return say_bytes(fd, text, strlen(text));
}

/* One read of at most size bytes: -2 when nothing comes for that long, -1 reset, 0 end. */
static inline ssize_t hear(int fd, char *to, size_t size, int ms) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    while ((ready = poll(&p, 1, ms)) < 0 && errno == EINTR) /* a fuzzer has an alarm */
        ;
    return ready == 1 ? recv(fd, to, size, 0) : -2;
}

/* Ends within ms, with whatever bytes before. */
static inline bool hears_end(int fd, int ms) {
    char buf[4096];
    int64_t until = ms_now() + ms;
    for (;;) {
        int left = (int)(until - ms_now());
        ssize_t n = hear(fd, buf, sizeof buf, left > 0 ? left : 0);
        if (n <= 0)
            return n != -2;
    }
}

/* Everything until `text` has come, or the end, or patience is out; NUL-terminated. */
static inline size_t hear_until(int fd, const char *text, char *to, size_t size) {
    size_t len = 0;
    int64_t until = ms_now() + PATIENCE_MS;
    to[0] = '\0';
    while (len + 1 < size && ms_now() < until && !(text && strstr(to, text))) {
        ssize_t n = hear(fd, to + len, text ? 1 : size - 1 - len, (int)(until - ms_now()));
        if (n <= 0)
            break;
        len += (size_t)n;
        to[len] = '\0';
    }
    return len;
}

typedef struct {
    int status; /* 0: no answer */
    bool closes, chunked;
    long length; /* -1: none given */
    char head[2048], body[4096];
} heard;

/* One answer with a Content-Length, or the head of one without. */
static inline heard hear_answer(int fd) {
    heard a = {.length = -1};
    hear_until(fd, "\r\n\r\n", a.head, sizeof a.head);
    if (sscanf(a.head, "HTTP/1.1 %d", &a.status) != 1)
        return a;
    const char *length = strstr(a.head, "Content-Length: ");
    a.length = length ? atol(length + 16) : -1;
    a.closes = strstr(a.head, "Connection: close");
    a.chunked = strstr(a.head, "Transfer-Encoding: chunked");
    size_t want = a.length > 0 && (size_t)a.length < sizeof a.body ? (size_t)a.length : 0, len = 0;
    while (len < want) {
        ssize_t n = hear(fd, a.body + len, want - len, PATIENCE_MS);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    return a;
}

/* On a connection of its own. */
static inline heard ask(const char *raw) {
    int fd = dial();
    say(fd, raw);
    heard a = hear_answer(fd);
    close(fd);
    return a;
}

#endif
