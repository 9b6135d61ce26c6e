/* SPDX-License-Identifier: MIT */
/* peer.c -- connections: a table by descriptor, in which the watcher finds who left. */
#include "front.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void peer_enter(peer *p, peer_phase phase) {
    atomic_store_explicit(&p->phase, now_ms() << 3 | phase, memory_order_relaxed);
}

peer *peer_of(struct MHD_Connection *c) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void write_remote(peer *p, const struct sockaddr *at) {
    const struct sockaddr_in6 *v6 = (const void *)at;
    if (at->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at)->sin_addr, p->remote,
                  sizeof p->remote);
    else if (at->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], p->remote, sizeof p->remote);
    else if (at->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &v6->sin6_addr, p->remote, sizeof p->remote);
}

/* peers_lock held. */
static bool make_room(web_server *s, size_t fd) {
    if (fd < s->peers_size)
        return true;
    size_t size = s->peers_size ? s->peers_size * 2 : 64;
    while (size <= fd)
        size *= 2;
    peer **grown = realloc(s->peers, size * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + s->peers_size, 0, (size - s->peers_size) * sizeof *grown);
    s->peers = grown;
    s->peers_size = size;
    return true;
}

/* What has the descriptor's place already is a connection that libmicrohttpd closed without a word, out of
 * memory. */
static bool enrol(web_server *s, peer *p) {
    size_t fd = (size_t)p->fd;
    pthread_mutex_lock(&s->peers_lock);
    bool ok = make_room(s, fd);
    peer *lost = ok ? s->peers[fd] : NULL;
    if (ok) {
        p->generation = ++s->generation;
        s->peers[fd] = p;
        s->peers_top = fd >= s->peers_top ? fd + 1 : s->peers_top;
        watcher_watch(s, p);
    }
    pthread_mutex_unlock(&s->peers_lock);
    if (lost)
        atomic_fetch_sub(&s->connections, 1);
    free(lost);
    return ok;
}

peer *peer_create(web_server *s, int fd, const struct sockaddr *at) {
    peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->server = s;
    p->fd = fd;
    write_remote(p, at);
    if (!enrol(s, p)) {
        free(p);
        return NULL;
    }
    atomic_fetch_add(&s->connections, 1);
    return p;
}

void peer_destroy(peer *p) {
    web_server *s = p->server;
    pthread_mutex_lock(&s->peers_lock);
    s->peers[p->fd] = NULL;
    pthread_mutex_unlock(&s->peers_lock);
    exchange_destroy(p->spare);
    free(p);
    atomic_fetch_sub(&s->connections, 1);
    if (atomic_load(&s->paused))
        watcher_wake(s);
}

void peer_destroy_all(web_server *s) {
    for (size_t fd = 0; fd < s->peers_top; fd++)
        if (s->peers[fd])
            peer_destroy(s->peers[fd]);
}

static peer *find_new(web_server *s, struct MHD_Connection *c) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    pthread_mutex_lock(&s->peers_lock);
    peer *p = info ? s->peers[info->connect_fd] : NULL;
    pthread_mutex_unlock(&s->peers_lock);
    if (p)
        peer_enter(p, PHASE_FRESH);
    return p;
}

/* The descriptor is still open when a connection ends: libmicrohttpd closes it after this notice. */
void peer_notice(void *cls, struct MHD_Connection *c, void **context,
                 enum MHD_ConnectionNotificationCode what) {
    web_server *s = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = find_new(s, c);
        return;
    }
    if (*context) {
        watcher_forget(s, *context);
        peer_destroy(*context);
    }
    *context = NULL;
}

void peer_attach(peer *p, web_exchange *x) {
    x->attached = true;
    pthread_mutex_lock(&p->server->peers_lock);
    p->attached = x;
    bool hup = p->hup;
    pthread_mutex_unlock(&p->server->peers_lock);
    if (hup)
        exchange_gone(x);
}

void peer_detach(peer *p, web_exchange *x) {
    if (!x->attached)
        return;
    x->attached = false;
    pthread_mutex_lock(&p->server->peers_lock);
    p->attached = NULL;
    pthread_mutex_unlock(&p->server->peers_lock);
}

peer *peer_at(web_server *s, int fd, uint32_t generation) {
    peer *p = fd >= 0 && (size_t)fd < s->peers_size ? s->peers[fd] : NULL;
    return p && p->generation == generation ? p : NULL;
}
