/* SPDX-License-Identifier: MIT */
/* answer.c -- what the host does with an exchange, from any thread: reply, or stream … write … finish. */
#include "front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { STREAM_BLOCK = 1024 /* libmicrohttpd uses it for HTTP/1.0 only */ };

/* ---- under the lock ---- */

void answer_wake(web_exchange *x) {
    if (!x->suspended)
        return;
    x->suspended = false;
    MHD_resume_connection(x->connection);
}

/* shutdown() makes libmicrohttpd see the end of a connection that it waits for, and our watcher too. */
void answer_cut(web_exchange *x) {
    x->dead = true;
    shutdown(x->peer->fd, SHUT_RDWR);
    answer_wake(x);
    if (x->waiters)
        pthread_cond_broadcast(&x->room);
}

static bool reserve(web_exchange *x, size_t more) {
    if (x->out_from && x->out_len + more > x->out_size) {
        memmove(x->out, x->out + x->out_from, x->out_len -= x->out_from);
        x->out_from = 0;
    }
    if (x->out_len + more <= x->out_size)
        return true;
    size_t size = x->out_len + more > 2 * x->out_size ? x->out_len + more : 2 * x->out_size;
    char *grown = realloc(x->out, size);
    if (!grown)
        return false;
    x->out = grown;
    x->out_size = size;
    return true;
}

bool answer_append(web_exchange *x, const char *bytes, size_t len) {
    if (!reserve(x, len))
        return false;
    if (len)
        memcpy(x->out + x->out_len, bytes, len);
    x->out_len += len;
    x->written_ms = now_ms();
    answer_wake(x);
    return true;
}

/* ---- the reader: runs on the I/O thread when the socket takes more ---- */

static ssize_t take(web_exchange *x, char *to, size_t most) {
    size_t have = x->out_len - x->out_from, n = have < most ? have : most;
    memcpy(to, x->out + x->out_from, n);
    x->out_from += n;
    if (n == have) { /* idle streams hold no buffer */
        free(x->out);
        x->out = NULL;
        x->out_from = x->out_len = x->out_size = 0;
    }
    if (x->waiters)
        pthread_cond_broadcast(&x->room);
    return (ssize_t)n;
}

/* Where a connection ends from within the reader, libmicrohttpd 0.9.75 closes it only once it is the oldest of its thread's
 * timeouts: behind one idle connection the descriptor stays open, and the client waits. One that has a timeout of its own
 * is looked at in each turn, and the turn comes within that second. */
static void close_soon(web_exchange *x) {
    MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, 1U);
}

/* Nothing to say: suspends and returns 0, which without suspending would spin. Looking and suspending are one
 * step under the lock, so that no byte can fall between; suspending again also cancels a resume not yet seen.
 */
static ssize_t read_stream(void *cls, uint64_t at, char *to, size_t most) {
    (void)at;
    web_exchange *x = cls;
    ssize_t n = 0;
    pthread_mutex_lock(&x->lock);
    if (x->dead) {
        close_soon(x);
        n = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (x->out_len > x->out_from) {
        n = take(x, to, most);
    } else if (x->finished) {
        x->handed = true;
        peer_enter(x->peer, PHASE_SEND);
        if (x->old) { /* what came before has left: the client need not wait for the close */
            close_soon(x);
            shutdown(x->peer->fd, SHUT_WR);
        }
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    }
    pthread_mutex_unlock(&x->lock);
    return n;
}

/* ---- making an answer ---- */

/* The module's own headers, should the host give them. */
static bool is_ours(const char *name) {
    static const char *const ours[] = {"connection", "content-length", "date", "transfer-encoding"};
    if (!strchr("cCdDtT", name[0]))
        return false;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return false;
}

static bool add_headers(struct MHD_Response *r, const web_answer *a, bool last) {
    for (size_t i = 0; i < a->header_count; i++)
        if (!is_ours(a->headers[i].name) &&
            MHD_add_response_header(r, a->headers[i].name, a->headers[i].value) != MHD_YES)
            return false;
    return !last || MHD_add_response_header(r, "Connection", "close") == MHD_YES;
}

static struct MHD_Response *make(web_exchange *x, const web_answer *a, bool streaming, bool last) {
    struct MHD_Response *r =
        streaming ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, x, NULL)
                  : MHD_create_response_from_buffer(a->len, (void *)(uintptr_t)(a->len ? a->body : ""),
                                                    a->len ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
    if (r && !add_headers(r, a, last)) {
        MHD_destroy_response(r);
        r = NULL;
    }
    return r;
}

/* last: the connection ends after it. The server is there as long as the exchange is not dead. */
static bool may_answer(web_exchange *x, bool *ret_last) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->dead && !x->answered;
    *ret_last = x->last || (ok && atomic_load_explicit(&x->server->draining, memory_order_relaxed));
    pthread_mutex_unlock(&x->lock);
    return ok;
}

/* Without memory for the answer, or with a header that cannot be one, the client is cut off. */
static bool answer(web_exchange *x, const web_answer *a, bool streaming) {
    bool last;
    if (!may_answer(x, &last))
        return false;
    struct MHD_Response *r = make(x, a, streaming, last);
    pthread_mutex_lock(&x->lock);
    bool ok = !x->dead && !x->answered;
    if (ok && (!r || (streaming && !answer_append(x, a->body, a->len)))) {
        answer_cut(x);
        ok = false;
    }
    if (ok) {
        x->answered = true;
        x->streaming = streaming;
        x->response = r;
        x->status = a->status;
        answer_wake(x);
    }
    pthread_mutex_unlock(&x->lock);
    if (!ok && r)
        MHD_destroy_response(r);
    return ok;
}

bool answer_reply(web_exchange *x, const web_answer *a) {
    return answer(x, a, false);
}

bool answer_stream(web_exchange *x, const web_answer *a) {
    return answer(x, a, true);
}

/* ---- writing ---- */

static bool is_full(const web_exchange *x, size_t more) {
    size_t waiting = x->out_len - x->out_from;
    return waiting && waiting + more > x->server->config.queue_max;
}

static struct timespec after_ms(uint32_t ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* The lock is held. False: dead, or the queue stayed full. */
static bool wait_for_room(web_exchange *x, size_t more) {
    uint32_t stall = x->server->config.stall_ms;
    struct timespec until = after_ms(stall);
    int late = 0;
    x->waiters++;
    while (!x->dead && is_full(x, more) && !late)
        late = stall ? pthread_cond_timedwait(&x->room, &x->lock, &until)
                     : pthread_cond_wait(&x->room, &x->lock);
    x->waiters--;
    return !x->dead && !is_full(x, more);
}

bool answer_write(web_exchange *x, const char *bytes, size_t len, bool may_wait) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->dead && x->streaming && !x->finished;
    if (ok && is_full(x, len))
        ok = may_wait && wait_for_room(x, len) && !x->finished;
    if (ok)
        ok = !len || answer_append(x, bytes, len);
    if (!ok && !x->dead && x->streaming && !x->finished)
        answer_cut(x);
    pthread_mutex_unlock(&x->lock);
    return ok;
}

bool answer_finish(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->dead && x->streaming && !x->finished;
    if (ok) {
        x->finished = true;
        answer_wake(x);
    }
    pthread_mutex_unlock(&x->lock);
    return ok;
}

void answer_abort(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    if (!x->dead) {
        x->aborted = true;
        answer_cut(x);
    }
    pthread_mutex_unlock(&x->lock);
}

/* ---- the host's pointer ---- */

void answer_set_user(web_exchange *x, void *user) {
    x->user = user;
}

void *answer_user(const web_exchange *x) {
    return x->user;
}
