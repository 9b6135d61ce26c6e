/* SPDX-License-Identifier: MIT */
/* mcp.h -- the protocol above any transport: classifies a message, answers it in its era and revision. */
#ifndef LASTRO_CORE_MCP_H
#define LASTRO_CORE_MCP_H

#include "server.h"
#include "text_set.h"

/* What a client declared when it initialized. Counted: calls read it while the client initializes anew. */
typedef struct {
    atomic_uint users;
    arena mem;
    const json_value *capabilities;
} client_doc;

/* What a legacy client negotiated. One a connection; begins with nothing. Fields are mcp.c's. */
struct session {
    server *srv;
    session *next, *prev;     /* of the server's; under its sessions_lock */
    pthread_mutex_t lock;     /* everything below */
    pthread_cond_t answered;  /* a question was; or pins is 0 */
    revision rev;             /* REV_NONE: not initialized */
    bool ready;               /* the client took the answer to initialize: it may be told things */
    int32_t log_level;
    const char *principal;    /* NULL: the server's own */
    client_doc *client;       /* NULL: it declared nothing */
    struct pending_ask *asks;
    int64_t next_ask;
    struct listener *listeners;
    uint32_t listener_count;
    uint32_t listeners_most;  /* open subscriptions; 0: connections bound them. The transport's, as aside */
    text_set watched;         /* URIs of resources/subscribe */
    lastro_call *calls;       /* tracked ones; under the server's lock */
    unsigned pins;            /* what is being sent to its peers that are not counted (peer.retain is NULL) */
    /* Where what answers nothing goes; NULL: nowhere. The transport's: set before the first message; one that is counted is
     * cleared, under the lock, before the transport gives up its own reference. */
    peer *aside;
};

session *session_create(server *srv);   /* NULL: out of memory */
/* No call of it is running. A change that is just being told to a peer of it which is not counted is waited for.
 * Accepts NULL. */
void session_destroy(session *s);

/* One message (the bytes of one JSON text) from a client with a session. Answers go to p, now or later from a worker.
 * text is copied. Blank text is ignored. */
void mcp_receive(session *s, peer *p, const char *text, size_t len);
/* A message that was too long to be kept. */
void mcp_refuse_long(session *s, peer *p, size_t limit);
/* The client is gone or going: open subscriptions get their final result when answer. */
void mcp_end_listeners(session *s, bool answer);
/* The client of that peer is gone: its open subscriptions end without an answer. */
void mcp_forget_peer(session *s, const peer *p);

/* ---- for host.c ---- */
void mcp_notify_progress(lastro_call *c, double done, double total, const char *message);
void mcp_notify_log(lastro_call *c, int32_t level, const char *logger, const char *message);
bool mcp_client_can(lastro_call *c, const char *capability, const char *part);
lastro_status mcp_need_client(lastro_call *c, const char *capability, const char *part, lastro_error *err);
void mcp_task(lastro_call *c, const char *message);
lastro_status mcp_ask(lastro_call *c, const lastro_question *q, const json_value **ret, lastro_error *err);

#endif
