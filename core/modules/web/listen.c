/* SPDX-License-Identifier: MIT */
/* listen.c -- the listening socket: TCP over IPv4 or IPv6, a unix socket, or one inherited from whoever
 * started us. */
#include "front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, INHERITED_FD = 3 };

#define FORMS                                                                                                \
    "valid are \"127.0.0.1:8717\", \"[::1]:8717\", \"localhost:8717\" and \"unix:/path\"; port 0 takes a "   \
    "free one"

typedef struct {
    struct sockaddr_storage at;
    socklen_t len;
} address;

static bool fail(char *why, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fail(char *why, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (why && size)
        vsnprintf(why, size, fmt, ap);
    va_end(ap);
    return false;
}

static bool parse_port(const char *text, in_port_t *ret) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long port = strtoul(text, &end, 10);
    if (*end || port > 65535)
        return false;
    *ret = htons((uint16_t)port);
    return true;
}

/* "HOST:PORT" or "[HOST]:PORT" */
static bool parse_inet(const char *where, address *ret) {
    char host[64];
    const char *colon = strrchr(where, ':');
    bool bracket = where[0] == '[';
    const char *from = where + bracket, *end = colon ? colon - bracket : NULL;
    if (!colon || end < from || (size_t)(end - from) >= sizeof host || (bracket && *end != ']'))
        return false;
    memcpy(host, from, (size_t)(end - from));
    host[end - from] = '\0';
    struct sockaddr_in *v4 = (void *)&ret->at;
    struct sockaddr_in6 *v6 = (void *)&ret->at;
    memset(ret, 0, sizeof *ret);
    if (bracket && inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        ret->len = sizeof *v6;
        return parse_port(colon + 1, &v6->sin6_port);
    }
    v4->sin_family = AF_INET;
    ret->len = sizeof *v4;
    return !bracket &&
           inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4->sin_addr) == 1 &&
           parse_port(colon + 1, &v4->sin_port);
}

/* Writes the real address, port included. */
static void name_inet(listener *l, const struct sockaddr_storage *at) {
    char host[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in *v4 = (const void *)at;
    const struct sockaddr_in6 *v6 = (const void *)at;
    if (at->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(l->address, sizeof l->address, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(l->address, sizeof l->address, "%s:%u", host, ntohs(v4->sin_port));
    }
}

static bool bind_inet(listener *l, const char *where, char *why, size_t why_size) {
    address a;
    if (!parse_inet(where, &a))
        return fail(why, why_size, "'%s' is no address to listen on: %s", where, FORMS);
    int one = 1;
    l->fd = socket(a.at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd >= 0)
        setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&a.at, a.len) || listen(l->fd, BACKLOG))
        return fail(why, why_size, "%s%s", strerror(errno),
                    errno == EADDRINUSE
                        ? "; another program has that port: choose another, or 0 for a free one"
                        : "");
    socklen_t len = sizeof a.at;
    getsockname(l->fd, (struct sockaddr *)&a.at, &len);
    name_inet(l, &a.at);
    return true;
}

/* A socket file that nobody listens on is a dead server's: it goes. Anything else stays, and we say what it
 * is. */
static bool clear_path(const struct sockaddr_un *un, char *why, size_t why_size) {
    struct stat st;
    if (lstat(un->sun_path, &st))
        return true;
    if (!S_ISSOCK(st.st_mode))
        return fail(why, why_size, "a file that is no socket has that name");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool alive = fd >= 0 && (!connect(fd, (const struct sockaddr *)un, sizeof *un) || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    if (alive)
        return fail(why, why_size, "another program listens there");
    unlink(un->sun_path);
    return true;
}

static bool bind_unix(listener *l, const char *path, char *why, size_t why_size) {
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof un.sun_path)
        return fail(why, why_size, "the path must have 1 to %zu bytes", sizeof un.sun_path - 1);
    memcpy(un.sun_path, path, strlen(path) + 1);
    if (!clear_path(&un, why, why_size))
        return false;
    struct stat st;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&un, sizeof un) || listen(l->fd, BACKLOG))
        return fail(why, why_size, "%s", strerror(errno));
    memcpy(l->path, un.sun_path, sizeof l->path);
    l->inode = stat(path, &st) ? 0 : st.st_ino;
    snprintf(l->address, sizeof l->address, "unix:%s", path);
    return true;
}

/* The protocol of systemd's socket activation: LISTEN_PID says whom it is for, the sockets begin at 3. */
static bool take_inherited(listener *l, char *why, size_t why_size) {
    const char *count = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
    int listening = 0;
    socklen_t len = sizeof listening;
    struct sockaddr_storage at = {0};
    if (!count || !pid || strtol(pid, NULL, 10) != getpid())
        return fail(why, why_size,
                    "no socket was inherited (LISTEN_FDS and LISTEN_PID are not set for this process): "
                    "give an address to listen on");
    if (strcmp(count, "1") != 0)
        return fail(why, why_size, "LISTEN_FDS is %s: exactly one socket can be inherited", count);
    if (getsockopt(INHERITED_FD, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) || !listening)
        return fail(why, why_size, "the inherited descriptor %d is no listening stream socket", INHERITED_FD);
    l->fd = INHERITED_FD;
    l->inherited = true;
    fcntl(l->fd, F_SETFD, FD_CLOEXEC);
    fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
    len = sizeof at;
    getsockname(l->fd, (struct sockaddr *)&at, &len);
    if (at.ss_family == AF_UNIX)
        snprintf(l->address, sizeof l->address, "unix:%s", ((struct sockaddr_un *)&at)->sun_path);
    else
        name_inet(l, &at);
    return true;
}

bool listener_open(listener *l, const char *where, char *why, size_t why_size) {
    memset(l, 0, sizeof *l);
    l->fd = -1;
    if (!where                            ? take_inherited(l, why, why_size)
        : strncmp(where, "unix:", 5) == 0 ? bind_unix(l, where + 5, why, why_size)
                                          : bind_inet(l, where, why, why_size))
        return true;
    listener_close(l);
    return false;
}

void listener_refuse(listener *l) {
    if (!l->inherited)
        shutdown(l->fd, SHUT_RDWR);
}

/* The file goes only if it is still ours: a successor may have bound its own. */
void listener_close(listener *l) {
    struct stat st;
    if (l->path[0] && !stat(l->path, &st) && st.st_ino == l->inode)
        unlink(l->path);
    if (l->fd >= 0 && !l->inherited)
        close(l->fd);
    l->fd = -1;
    l->path[0] = '\0';
}
