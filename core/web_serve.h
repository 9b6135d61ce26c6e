/* SPDX-License-Identifier: MIT */
/* web_serve.h -- a server over HTTP from its start to its end: the module that speaks HTTP is loaded, keys and rules are
 * put before the server, and it serves until a signal comes; then it stops in order. One a process, main thread only. */
#ifndef LASTRO_CORE_WEB_SERVE_H
#define LASTRO_CORE_WEB_SERVE_H

#include "server.h"
#include "web.h"

typedef enum {
    WEB_UNREADABLE, /* no address that can be listened at */
    WEB_UNIX,       /* a socket in the file system: its permissions say who may */
    WEB_LOOPBACK,   /* programs of this machine alone */
    WEB_BEYOND      /* other machines too */
} web_reach;
/* Who reaches an address of web_config.listen. NULL: the inherited socket. */
web_reach web_serve_reach(const char *listen);
/* The service manager passed a socket to this process (LISTEN_PID, LISTEN_FDS). */
bool web_serve_inherits(void);

/* Before any thread is made: the signals that end the server wait for web_serve, a reader that left ends nothing, and
 * no connection can become standard output. */
void web_serve_prepare(void);
/* modules/web.so beside the executable; never unloaded. NULL: err tells why not. */
const web_front *web_serve_load(const server *srv, lastro_error *err);

/* Listens (NULL: at the inherited socket) and serves by srv->manifest->http until SIGTERM or SIGINT, tells the address on
 * standard error, then lets running calls end for drain_ms at most. A second signal ends the process at once; so does a
 * handler that does not end when it is cancelled. LASTRO_EARGS, LASTRO_ENOMEM: it could not start, err tells. */
lastro_status web_serve(server *srv, const web_front *front, const char *listen, lastro_error *err);

#endif
