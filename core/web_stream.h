/* SPDX-License-Identifier: MIT */
/* web_stream.h -- the event streams of legacy sessions and the connections that carry them: a POST begins one, a GET
 * takes it up again, at most one carries it at a time. What is sent goes to the log and to that connection, in order.
 * Any thread; only workers wait for slow readers. */
#ifndef LASTRO_CORE_WEB_STREAM_H
#define LASTRO_CORE_WEB_STREAM_H

#include "web_sessions.h"

enum { WEB_RETRY_MS = 1000 }; /* what a client is told to wait before it takes a stream up again */

/* How an answer begins that is a stream. */
typedef struct {
    web_exchange *x;
    const char *origin; /* of the page that asks; NULL: none */
    bool prime;         /* the client knows events without data (since 2025-11-25) */
    uint32_t retry_ms;
} web_start;

/* The connection begins with what primes it, and carries the stream from now on. */
void web_stream_begin(web_session *w, web_stream *s, const web_start *start);
/* One message. last: nothing comes after it. */
void web_stream_send(web_session *w, web_stream *s, const char *json, size_t len, bool last);
/* The connection ends, the stream does not: the rest waits for a GET. The client should ask after
 * retry_ms; say: it was not told yet. */
void web_stream_let_go(web_session *w, web_stream *s, uint32_t retry_ms, bool say);
/* Nothing more comes. */
void web_stream_end(web_session *w, web_stream *s);
/* That connection carries it no more. */
void web_stream_leave(web_session *w, web_stream *s, const web_exchange *x);

typedef enum {
    WEB_TAKEN,  /* the connection carries it */
    WEB_OVER,   /* all of it was sent and nothing comes */
    WEB_LOST,   /* it has no event of that number */
    WEB_CLOSED  /* the session ended */
} web_taking;
#define WEB_UNSENT UINT32_MAX /* in place of a number: what no connection got yet */
/* What came after event number, as far as it is kept, goes out first. Another connection that carried it is finished. */
web_taking web_stream_take_up(web_session *w, web_stream *s, uint32_t number, const web_start *start);

/* Connections of the session's own stream end; the session goes on. */
void web_stream_finish_own(web_session *w);

#endif
