/* SPDX-License-Identifier: MIT */
/* mcp.h -- the protocol above any transport: classifies a message, answers it in its era and revision. */
#ifndef LASTRO_CORE_MCP_H
#define LASTRO_CORE_MCP_H

#include "server.h"

/* What a legacy client negotiated. One a connection; begins with nothing. Fields are mcp.c's. */
struct session {
    server *srv;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    revision rev;             /* REV_NONE: not initialized */
    bool ready;               /* initialize was answered */
    int32_t log_level;
    const char *principal;    /* NULL: the server's own */
    arena mem;                /* what lives as long as the session */
    const json_value *client; /* capabilities of the client */
    struct pending_ask *asks;
    int64_t next_ask;
    struct listener *listeners;
    peer *aside;              /* where what answers nothing goes; NULL: nowhere. The transport's; set before the first message */
};

session *session_create(server *srv);   /* NULL: out of memory */
void session_destroy(session *s);       /* no call of it is running; accepts NULL */

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
lastro_status mcp_ask(lastro_call *c, const lastro_question *q, const json_value **ret, lastro_error *err);

#endif
