/* SPDX-License-Identifier: MIT */
#include "transport_stdio.h"
#include "clock.h"
#include "log.h"
#include "mcp.h"
#include "outlet.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 << 10,
    WAITING_MOST = 32 << 20, /* answers the client does not fetch; beyond that we stop reading its requests */
    EOF_GRACE_MS = 1000,     /* what was read may still be answered */
    CANCEL_GRACE_MS = 500    /* what was cancelled may still tidy up */
};

static int own_stdout = -1;

typedef struct {
    peer base; /* first */
    outlet out;
} stdio_peer;

typedef struct {
    server *srv;
    session *session;
    stdio_peer peer;
    char *line; /* what was read and is not yet a whole line */
    size_t len, cap, scanned;
    bool skipping; /* the line is too long: thrown away up to its end */
    bool eof;
    int wake, parent, signals;
} channel;

int stdio_claim_output(void) {
    if (own_stdout >= 0)
        return own_stdout;
    own_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (own_stdout >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC); /* standard error is closed */
        if (null >= 0 && null != STDOUT_FILENO)
            dup3(null, STDOUT_FILENO, 0), close(null);
    }
    return own_stdout;
}

static void send_line(peer *p, const char *json, size_t len, peer_kind kind) {
    (void)kind;
    outlet_line(&((stdio_peer *)p)->out, json, len);
}

/* The parent's end is seen even while somebody else keeps the pipe open. -1: cannot be watched, or no parent to lose. */
static int watch_parent(void) {
#ifdef SYS_pidfd_open
    pid_t parent = getppid();
    return parent > 1 ? (int)syscall(SYS_pidfd_open, parent, 0) : -1;
#else
    return -1;
#endif
}

static int watch_signals(void) {
    sigset_t set = signals_ending();
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- from bytes to lines ---- */

static void take_line(channel *ch, const char *text, size_t len) {
    if (len && text[len - 1] == '\r')
        len--;
    mcp_receive(ch->session, &ch->peer.base, text, len);
}

static void take_lines(channel *ch) {
    size_t limit = (size_t)ch->srv->manifest->limits.message_bytes, begin = 0;
    for (;;) {
        char *end = memchr(ch->line + ch->scanned, '\n', ch->len - ch->scanned);
        if (!end)
            break;
        size_t at = (size_t)(end - ch->line);
        if (ch->skipping)
            ch->skipping = false;
        else if (at - begin > limit)
            mcp_refuse_long(ch->session, &ch->peer.base, limit);
        else
            take_line(ch, ch->line + begin, at - begin);
        begin = ch->scanned = at + 1;
    }
    memmove(ch->line, ch->line + begin, ch->len - begin);
    ch->len -= begin;
    ch->scanned = ch->len;
    if (ch->skipping || ch->len > limit) {
        if (!ch->skipping)
            mcp_refuse_long(ch->session, &ch->peer.base, limit);
        ch->skipping = true;
        ch->len = ch->scanned = 0;
    }
}

static bool make_room(channel *ch) {
    if (ch->cap - ch->len >= READ_SIZE)
        return true;
    size_t cap = ch->cap ? ch->cap * 2 : READ_SIZE * 2;
    char *p = realloc(ch->line, cap);
    if (!p)
        return false;
    ch->line = p;
    ch->cap = cap;
    return true;
}

/* One read, and everything whole in it answered before the answers are written. */
static void read_input(channel *ch) {
    if (!make_room(ch)) {
        log_error("out of memory while reading");
        ch->eof = true;
        return;
    }
    ssize_t n = read(STDIN_FILENO, ch->line + ch->len, ch->cap - ch->len);
    if (n < 0) {
        ch->eof = errno != EINTR && errno != EAGAIN;
        return;
    }
    outlet_hold(&ch->peer.out, true);
    if (n == 0) {
        ch->eof = true;
        if (ch->len && !ch->skipping)
            take_line(ch, ch->line, ch->len); /* the last line may lack its newline */
        ch->len = 0;
    } else {
        ch->len += (size_t)n;
        take_lines(ch);
    }
    outlet_hold(&ch->peer.out, false);
}

/* ---- the loop ---- */

static void empty_wake(int fd) {
    uint64_t n;
    ssize_t ignored = read(fd, &n, sizeof n);
    (void)ignored;
}

/* Reads until end of input; false: nobody is there to be answered any more. */
static bool pump(channel *ch) {
    while (!ch->eof) {
        size_t waiting = outlet_flush(&ch->peer.out);
        struct pollfd fds[] = {
            {.fd = waiting < WAITING_MOST ? STDIN_FILENO : -1, .events = POLLIN},
            {.fd = ch->peer.out.fd, .events = (short)(waiting ? POLLOUT : 0)}, /* POLLERR: the reader is gone */
            {.fd = ch->wake, .events = POLLIN},
            {.fd = ch->parent, .events = POLLIN},
            {.fd = ch->signals, .events = POLLIN},
        };
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0 && errno != EINTR)
            return false;
        if (fds[2].revents)
            empty_wake(ch->wake);
        if (fds[3].revents || fds[4].revents || outlet_broken(&ch->peer.out))
            return false;
        if (fds[1].revents & (POLLERR | POLLNVAL))
            return false;
        if (fds[0].revents)
            read_input(ch);
    }
    return true;
}

/* Waits for the pipe to take what was answered: for as long as its reader goes on reading, and at most ms more when it
 * does not. A parent's death or a signal ends the wait. */
static void drain_output(channel *ch, int64_t ms) {
    int64_t until = clock_mono_ms() + ms, now;
    for (size_t before = SIZE_MAX, left; (left = outlet_flush(&ch->peer.out)); before = left) {
        now = clock_mono_ms();
        if (left < before)
            until = now + ms;
        struct pollfd fds[] = {{.fd = ch->peer.out.fd, .events = POLLOUT},
                               {.fd = ch->parent, .events = POLLIN},
                               {.fd = ch->signals, .events = POLLIN}};
        if (now >= until || (poll(fds, 3, (int)(until - now)) < 0 && errno != EINTR) ||
            (fds[0].revents & (POLLERR | POLLNVAL)) || fds[1].revents || fds[2].revents)
            return;
    }
}

static bool open_channel(channel *ch, server *srv) {
    *ch = (channel){.srv = srv, .parent = watch_parent(), .signals = watch_signals()};
    ch->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ch->session = session_create(srv);
    ch->peer.base.send = send_line;
    if (ch->session)
        ch->session->aside = &ch->peer.base;
    outlet_init(&ch->peer.out, own_stdout, ch->wake);
    return ch->wake >= 0 && ch->session;
}

static void close_channel(channel *ch) {
    session_destroy(ch->session);
    outlet_destroy(&ch->peer.out);
    free(ch->line);
    if (ch->parent >= 0)
        close(ch->parent);
    if (ch->signals >= 0)
        close(ch->signals);
    if (ch->wake >= 0)
        close(ch->wake);
}

int stdio_serve(server *srv) {
    channel ch;
    if (!open_channel(&ch, srv)) {
        log_error("cannot start: out of memory or descriptors");
        return 1;
    }
    bool listening = pump(&ch);
    if (listening && !server_wait_idle(srv, EOF_GRACE_MS))
        log_info("calls still running one second after the end of input are cancelled");
    server_cancel_all(srv);
    bool idle = server_wait_idle(srv, CANCEL_GRACE_MS);
    mcp_end_listeners(ch.session, listening);
    if (listening)
        drain_output(&ch, EOF_GRACE_MS);
    if (!idle) { /* a handler that does not listen: nothing it touches may be freed */
        log_warning("a call did not end when it was cancelled; leaving without it");
        _exit(0);
    }
    close_channel(&ch);
    return 0;
}
