/* SPDX-License-Identifier: MIT */
/* web.h -- the border between the host and the module that speaks HTTP to clients (core/modules/web, over libmicrohttpd,
 * loaded by `lastro serve` alone). The module knows connections, bytes, time and limits; it knows nothing of MCP. The
 * host (web_host.h) knows MCP and nothing of sockets. The module has one symbol, web_front_entry.
 *
 * An exchange is one request and its answer. The module gives it to the handler's functions; the handler answers once:
 * with reply (a whole body), or with stream … write … finish. Answering from within head or request is the fast way and
 * never leaves the I/O thread; answering later from any thread is as good.
 */
#ifndef LASTRO_CORE_WEB_H
#define LASTRO_CORE_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_FRONT_VERSION 1u

typedef struct web_server web_server;     /* the module's: one listening socket and its threads */
typedef struct web_exchange web_exchange; /* the module's; counted: see retain and release */

typedef struct {
    const char *name, *value;
} web_header;

/* The head of a request, as it was sent: nothing is decoded. Lives until head and request returned. */
typedef struct web_head {
    const char *method, *path;
    const char *query;  /* without '?'; NULL: none */
    const char *remote; /* numeric address of the client; "" over a unix socket */
    /* Value of that header (name in any case), without blanks around it; NULL: absent. Of several: the first, and
     * *ret_count (may be NULL) how many there are. */
    const char *(*header)(const struct web_head *h, const char *name, unsigned *ret_count);
} web_head;

typedef struct {
    unsigned status;
    const web_header *headers; /* Content-Length, Date and Connection are the module's */
    size_t header_count;
    const char *body; /* copied */
    size_t len;
} web_answer;

/* The host's side. Nothing here may wait: head, request and gone run on the module's threads. */
typedef struct web_handler {
    void *arg;
    /* The head is whole and sound (else the module answered 400, 411, 503 or 505 by itself); the body is not read. False: it
     * was answered, and the body is thrown away; nothing more is told of this exchange. True: request comes, or for a body
     * that is too long or is not finished, done alone. */
    bool (*head)(void *arg, web_exchange *x, const web_head *h);
    /* The whole request. body (NUL-terminated, "" when there is none) is borrowed until it returns. */
    void (*request)(void *arg, web_exchange *x, const web_head *h, const char *body, size_t len);
    /* The client left before it had the whole answer: what it asked for may be stopped. At most once an exchange, never
     * after done; may run while request does. */
    void (*gone)(void *arg, web_exchange *x);
    /* The last word on an exchange, answered or not: the handler forgets its user pointer. Exactly once for each exchange
     * that head accepted. No other function of the handler runs for it then or later. */
    void (*done)(void *arg, web_exchange *x);
} web_handler;

typedef struct {
    const char *listen;      /* "127.0.0.1:8717", "[::1]:0", "unix:/path"; NULL: the inherited socket (LISTEN_FDS) */
    unsigned io_threads;     /* 0: one a core, at most 8 */
    unsigned connections;    /* at once, at most; 0: 1024. The next ones wait in the backlog */
    size_t body_max;         /* of a request; longer ones get 413 when head took them, and request is not called */
    /* absolute, 0: for ever: a head, a body must be whole by then; an idle connection is closed */
    uint32_t head_ms, body_ms, idle_ms;
    uint32_t keepalive_ms;   /* a stream on which nothing was written for so long gets keepalive_text */
    const char *keepalive_text;
    uint32_t stall_ms;       /* a reader that takes nothing for so long while bytes wait for it is cut; 0: never */
    size_t queue_max;        /* bytes that may wait on one stream before write refuses or waits; 0: 256 KiB */
    /* What is said before the handler is reached. NULL: the module's own plain text. */
    const char *too_large_body, *busy_body; /* JSON of 413 and 503 */
} web_config;

typedef struct web_front {
    uint32_t version; /* WEB_FRONT_VERSION */
    /* Binds and starts. NULL: it cannot, and why (English) is in why. config and handler are copied; their texts live on. */
    web_server *(*open)(const web_config *config, const web_handler *handler, char *why, size_t why_size);
    /* "127.0.0.1:8717" with the real port, or "unix:/path". Lives as long as the server. */
    const char *(*address)(web_server *s);
    /* No new connection is taken (refused, not left waiting), new requests on old ones get 503. What runs goes on. */
    void (*drain)(web_server *s);
    /* Exchanges that are not done yet. */
    unsigned (*open_exchanges)(web_server *s);
    /* Ends everything: exchanges still open see gone, then done. No call of the handler runs after it returns. */
    void (*close)(web_server *s);

    /* ---- on an exchange; any thread. After gone all of them do nothing and return false. ---- */
    void (*set_user)(web_exchange *x, void *user); /* from head or request only */
    void *(*user)(const web_exchange *x);
    void (*retain)(web_exchange *x);  /* its memory stays: x may be passed to these functions */
    void (*release)(web_exchange *x);
    /* The whole answer. */
    bool (*reply)(web_exchange *x, const web_answer *a);
    /* Begins an answer of unknown length (a->body, if any, is its first part). It leaves at once. */
    bool (*stream)(web_exchange *x, const web_answer *a);
    /* More of it: leaves at once or waits in the queue. When the queue is full: may_wait (never on the module's threads)
     * waits for room at most stall_ms; else, or then, the client is cut off and false comes back. One piece may be larger
     * than the queue. */
    bool (*write)(web_exchange *x, const char *bytes, size_t len, bool may_wait);
    /* Nothing more comes; the connection stays usable. */
    bool (*finish)(web_exchange *x);
    /* Cuts the connection. */
    void (*abort)(web_exchange *x);
} web_front;

typedef const web_front *(*web_front_entry_fn)(void);
#define WEB_FRONT_ENTRY "web_front_entry"

#endif
