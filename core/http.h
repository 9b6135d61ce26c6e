/* SPDX-License-Identifier: MIT */
/* http.h -- the border between the fetch engine and the host module that moves bytes (core/modules/fetch).
 * The module is a shared library with one symbol, http_transport_entry, loaded on first use. */
#ifndef LASTRO_CORE_HTTP_H
#define LASTRO_CORE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_TRANSPORT_VERSION 2u /* 2: traceparent, tracestate */

typedef enum {
    HTTP_DONE = 0,
    HTTP_TIMEOUT,
    HTTP_NETWORK,
    HTTP_TOO_LARGE,
    HTTP_CANCELLED,
    HTTP_BAD_URL
} http_end;

/* The outcome of one attempt. Memory belongs to the transport until done returns, save body, which done may
 * take (set body to NULL after taking it; it is malloc'ed, NUL-terminated). */
typedef struct {
    http_end end;
    unsigned status; /* HTTP status; 0: no answer */
    char *body;
    size_t body_len;
    const char *content_type; /* "" when there was none */
    int64_t retry_after_ms;   /* -1: none given; dates are already turned into a wait */
    const char *error;        /* English, for the log; "" when all is well */
} http_result;

typedef struct {
    const char *url; /* https, or http to a loopback address only: anything else ends as HTTP_BAD_URL */
    const char *accept;
    const char *traceparent, *tracestate; /* headers of these names; NULL: not sent */
    uint32_t timeout_ms; /* whole attempt */
    size_t body_max;     /* bytes after decompression */
    /* Called exactly once, from the transport's thread (also for cancelled ones). Must not block. */
    void (*done)(void *arg, http_result *result);
    void *arg;
} http_request;

typedef struct http_exchange http_exchange;

typedef struct http_transport {
    uint32_t version; /* HTTP_TRANSPORT_VERSION */
    /* Starts the thread. NULL: it cannot be started. user_agent is copied. */
    void *(*open)(const char *user_agent);
    void (*close)(void *transport); /* ends all exchanges as cancelled, joins the thread */
    /* The struct and its texts are copied. NULL: out of memory (done is not called). */
    http_exchange *(*start)(void *transport, const http_request *request);
    /* Asks for an early end (the socket is closed); done still comes. The handle is dead once done returned:
     * the caller makes sure not to cancel after that, by a lock of its own that done takes first. So cancel
     * never calls done itself and waits for nothing that runs during done. */
    void (*cancel)(void *transport, http_exchange *exchange);
} http_transport;

typedef const http_transport *(*http_transport_entry_fn)(void);
#define HTTP_TRANSPORT_ENTRY "http_transport_entry"

#endif
