/* SPDX-License-Identifier: MIT */
#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOLD_MOST = 256 << 10, KEEP_CAP = 1 << 20 };

void outlet_init(outlet *o, int fd, int wake) {
    *o = (outlet){.fd = fd, .wake = wake, .blocking = true};
    pthread_mutex_init(&o->lock, NULL);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return;
    if (S_ISSOCK(st.st_mode)) {
        o->socket = true;
        o->blocking = false;
    } else if (S_ISFIFO(st.st_mode)) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        int own = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (own < 0)
            return;
        close(fd);
        o->fd = own;
        o->blocking = false;
    }
}

void outlet_destroy(outlet *o) {
    free(o->data);
    close(o->fd);
    pthread_mutex_destroy(&o->lock);
}

static ssize_t put(outlet *o, const char *data, size_t len) {
    return o->socket ? send(o->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) : write(o->fd, data, len);
}

static void ring(outlet *o) {
    uint64_t one = 1;
    ssize_t ignored = write(o->wake, &one, sizeof one);
    (void)ignored;
}

/* With the lock held. False: something waits for room, or the reader is gone; the loop must know. */
static bool drain(outlet *o) {
    while (o->from < o->len && !o->broken) {
        ssize_t n = put(o, o->data + o->from, o->len - o->from);
        if (n > 0) {
            o->from += (size_t)n;
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return false;
        } else {
            o->broken = true;
        }
    }
    o->from = o->len = 0;
    if (o->cap > KEEP_CAP) {
        free(o->data);
        o->data = NULL;
        o->cap = 0;
    }
    return !o->broken;
}

static bool room(outlet *o, size_t more) {
    if (o->from > o->len / 2 && o->cap - o->len < more) { /* half is free: each byte is moved once, however long it waits */
        memmove(o->data, o->data + o->from, o->len - o->from);
        o->len -= o->from;
        o->from = 0;
    }
    size_t cap = o->cap ? o->cap : 8192;
    while (cap - o->len < more)
        cap *= 2;
    if (cap == o->cap)
        return true;
    char *p = realloc(o->data, cap);
    if (!p)
        return false;
    o->data = p;
    o->cap = cap;
    return true;
}

void outlet_line(outlet *o, const char *text, size_t len) {
    pthread_mutex_lock(&o->lock);
    bool calm = true;
    if (!o->broken && !room(o, len + 1)) {
        o->broken = true; /* better no more lines than one that is missing */
        calm = false;
    } else if (!o->broken) {
        memcpy(o->data + o->len, text, len);
        o->data[o->len + len] = '\n';
        o->len += len + 1;
        calm = (o->hold && o->len - o->from <= HOLD_MOST) || drain(o);
    }
    if (!calm)
        ring(o);
    pthread_mutex_unlock(&o->lock);
}

void outlet_hold(outlet *o, bool on) {
    pthread_mutex_lock(&o->lock);
    o->hold = on;
    if (!on && !drain(o))
        ring(o);
    pthread_mutex_unlock(&o->lock);
}

size_t outlet_flush(outlet *o) {
    pthread_mutex_lock(&o->lock);
    drain(o); /* without a ring: who flushes learns it from what is returned, and would wake itself for ever */
    size_t left = o->broken ? 0 : o->len - o->from;
    pthread_mutex_unlock(&o->lock);
    return left;
}

bool outlet_broken(outlet *o) {
    pthread_mutex_lock(&o->lock);
    bool b = o->broken;
    pthread_mutex_unlock(&o->lock);
    return b;
}
