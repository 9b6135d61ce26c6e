/* SPDX-License-Identifier: MIT */
/* watcher.c -- one thread beside the I/O threads. It accepts connections (libmicrohttpd's own way of ending
 * that can abort the process when its threads are busy), sees clients leave whose connection libmicrohttpd
 * does not look at, as it does not at suspended ones, and keeps the deadlines, which are absolute: a byte now
 * and then does not move them. */
#include "front.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, ACCEPTS = 64, CLOSING_MS = 5, LEFT_MS = 500 };
enum { ALARM = 1, LISTENER = 2 }; /* event data; a peer's is generation << 32 | fd, its generation never 0 */

/* ---- accepting ---- */

/* Paused at the limit or without descriptors: who comes waits in the backlog. */
static void pause_accepting(web_server *s, bool pause) {
    struct epoll_event e = {.events = pause ? 0 : EPOLLIN, .data.u64 = LISTENER};
    atomic_store(&s->paused, pause);
    epoll_ctl(s->events, EPOLL_CTL_MOD, s->listener.fd, &e);
}

static void resume_accepting(web_server *s) {
    if (atomic_load(&s->paused) && atomic_load(&s->connections) < s->config.connections)
        pause_accepting(s, false);
}

/* A client whose network is gone says nothing, not even goodbye: what it leaves unacknowledged for stall_ms
 * ends it. */
static void set_up(const web_server *s, int fd) {
    unsigned most = s->config.stall_ms;
    if (most)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most,
                   sizeof most); /* fails on a unix socket, where it means nothing */
}

/* accept_lock held. False: enough for now. */
static bool accept_one(web_server *s) {
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    if (atomic_load(&s->draining))
        return false;
    if (atomic_load(&s->connections) >= s->config.connections) {
        pause_accepting(s, true);
        resume_accepting(s); /* one may have ended just before it could see the pause */
        return false;
    }
    int fd = accept4(s->listener.fd, (struct sockaddr *)&at, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            pause_accepting(s, true);
        return false;
    }
    set_up(s, fd);
    peer *p = peer_create(s, fd, (struct sockaddr *)&at);
    if (!p)
        close(fd);
    else if (MHD_add_connection(s->daemon, fd, (struct sockaddr *)&at, len) != MHD_YES) /* it closed fd */
        peer_destroy(p);
    return true;
}

static void accept_some(web_server *s) {
    pthread_mutex_lock(&s->accept_lock);
    for (int i = 0; i < ACCEPTS && accept_one(s); i++)
        ;
    pthread_mutex_unlock(&s->accept_lock);
}

bool watcher_stop_accepting(web_server *s) {
    pthread_mutex_lock(&s->accept_lock);
    bool before = atomic_exchange(&s->draining, true);
    pthread_mutex_unlock(&s->accept_lock);
    if (!before)
        epoll_ctl(s->events, EPOLL_CTL_DEL, s->listener.fd, NULL);
    return !before;
}

/* ---- who left ---- */

static web_exchange *attached_to(peer *p) {
    if (!p || !p->attached)
        return NULL;
    exchange_ref(p->attached);
    return p->attached;
}

static void mark_gone(web_server *s, int fd, uint32_t generation) {
    pthread_mutex_lock(&s->peers_lock);
    peer *p = peer_at(s, fd, generation);
    web_exchange *x = attached_to(p);
    if (p)
        p->hup = true;
    pthread_mutex_unlock(&s->peers_lock);
    if (!x)
        return;
    exchange_gone(x);
    exchange_unref(x);
}

/* ---- deadlines ---- */

static bool is_overdue(const web_config *c, peer_phase phase, uint64_t age) {
    uint32_t most = phase == PHASE_FRESH || phase == PHASE_HEAD ? c->head_ms
                    : phase == PHASE_IDLE                       ? c->idle_ms
                    : phase == PHASE_BODY                       ? c->body_ms
                                                                : 0;
    return most && age >= most;
}

/* Who left in the middle of a request, or between two, will not end it. libmicrohttpd sees that by itself,
 * but not when the end comes in one event with the bytes before it (it takes a short read for the last one).
 */
static bool is_left(const peer *p, peer_phase phase, uint64_t age) {
    return p->hup && phase <= PHASE_BODY && age >= LEFT_MS;
}

/* Bytes wait for the client, and for stall_ms the kernel could get rid of none of its own. */
static bool is_stalled(const web_server *s, peer *p, peer_phase phase, uint64_t now) {
    int unsent = 0;
    bool waits =
        phase == PHASE_SEND || (phase == PHASE_STREAM && p->attached && exchange_has_backlog(p->attached));
    if (!waits || !s->config.stall_ms || ioctl(p->fd, SIOCOUTQ, &unsent) || !unsent || unsent != p->unsent) {
        p->unsent = waits ? unsent : 0;
        p->unsent_since = now;
        return false;
    }
    return now - p->unsent_since >= s->config.stall_ms;
}

/* peers_lock held. */
static void look_at(web_server *s, peer *p, uint64_t now) {
    uint64_t packed = atomic_load_explicit(&p->phase, memory_order_relaxed), since = packed >> 3;
    peer_phase phase = (peer_phase)(packed & 7);
    bool end = atomic_load(&s->closing);
    if (phase == PHASE_NEW)
        return;
    uint64_t age = now > since ? now - since : 0;
    if (end || is_overdue(&s->config, phase, age) || is_left(p, phase, age) || is_stalled(s, p, phase, now))
        shutdown(p->fd, SHUT_RDWR);
    else if (phase == PHASE_STREAM && p->attached && s->config.keepalive_ms && s->config.keepalive_text)
        exchange_keep_alive(p->attached, now);
    p->hup |= end;
}

static void sweep(web_server *s) {
    uint64_t now = now_ms();
    bool end = atomic_load(&s->closing);
    size_t top = 1;
    for (size_t fd = 0; fd < top; fd++) {
        web_exchange *x = NULL;
        pthread_mutex_lock(&s->peers_lock);
        top = s->peers_top;
        peer *p = fd < top ? s->peers[fd] : NULL;
        if (p)
            look_at(s, p, now);
        if (end)
            x = attached_to(p);
        pthread_mutex_unlock(&s->peers_lock);
        if (x) {
            exchange_gone(x);
            exchange_unref(x);
        }
    }
    resume_accepting(s);
}

/* ---- the thread ---- */

static void handle(web_server *s, const struct epoll_event *e) {
    uint64_t n;
    if (e->data.u64 == LISTENER)
        accept_some(s);
    else if (e->data.u64 == ALARM && read(s->alarm, &n, sizeof n) > 0)
        resume_accepting(s);
    else if (e->data.u64 != ALARM)
        mark_gone(s, (int)(uint32_t)e->data.u64, (uint32_t)(e->data.u64 >> 32));
}

static void *watch(void *arg) {
    web_server *s = arg;
    struct epoll_event events[EVENTS];
    uint64_t next = now_ms() + s->period_ms;
    while (!atomic_load(&s->ended)) {
        bool closing = atomic_load(&s->closing);
        uint64_t now = now_ms();
        int wait = closing ? CLOSING_MS : next > now ? (int)(next - now) : 0;
        int n = epoll_wait(s->events, events, EVENTS, wait);
        for (int i = 0; i < n; i++)
            handle(s, &events[i]);
        now = now_ms();
        if (closing || now >= next) {
            sweep(s);
            next = now + s->period_ms;
        }
    }
    return NULL;
}

static bool add(web_server *s, int fd, uint64_t data) {
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = data};
    return epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &e) == 0;
}

bool watcher_init(web_server *s) {
    s->events = epoll_create1(EPOLL_CLOEXEC);
    s->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return s->events >= 0 && s->alarm >= 0 && add(s, s->alarm, ALARM) && add(s, s->listener.fd, LISTENER);
}

bool watcher_start(web_server *s) {
    if (pthread_create(&s->watcher, NULL, watch, s))
        return false;
    pthread_setname_np(s->watcher, "lastro-web");
    return true;
}

void watcher_wake(web_server *s) {
    uint64_t one = 1;
    (void)!write(s->alarm, &one, sizeof one);
}

void watcher_stop(web_server *s) {
    atomic_store(&s->ended, true);
    watcher_wake(s);
    pthread_join(s->watcher, NULL);
}

void watcher_destroy(web_server *s) {
    if (s->events >= 0)
        close(s->events);
    if (s->alarm >= 0)
        close(s->alarm);
}

/* RDHUP alone, on its edge: data does not wake the watcher, an end wakes it once. Should the kernel refuse,
 * the client's leaving is seen when something is written to it. */
void watcher_watch(web_server *s, const peer *p) {
    struct epoll_event e = {.events = EPOLLRDHUP | EPOLLET,
                            .data.u64 = (uint64_t)p->generation << 32 | (uint32_t)p->fd};
    epoll_ctl(s->events, EPOLL_CTL_ADD, p->fd, &e);
}

/* By hand: close() alone does not, while a duplicate of the descriptor lives. */
void watcher_forget(web_server *s, const peer *p) {
    epoll_ctl(s->events, EPOLL_CTL_DEL, p->fd, NULL);
}
