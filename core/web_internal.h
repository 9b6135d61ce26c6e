/* SPDX-License-Identifier: MIT */
/* web_internal.h -- what the web_*.c files share. */
#ifndef LASTRO_CORE_WEB_INTERNAL_H
#define LASTRO_CORE_WEB_INTERNAL_H

#include "mcp_internal.h"
#include "web_host.h"
#include "web_sessions.h"

enum { WEB_HEADERS = 8 }; /* headers of an answer at the most */

typedef struct web_route web_route;
typedef struct web_pairs web_pairs; /* web_sse2024.h */

/* Who is at the door: known while the head of a request is judged. */
typedef struct {
    web_host *host;
    web_exchange *x;
    const web_head *head;
    const web_route *route; /* NULL: nothing is at that path */
    const char *origin;     /* of the page that asks, if it may; NULL: no page */
    const char *principal;  /* NULL: nobody needs a key */
} web_guest;

/* What is at a path. An object that begins with a web_user is set as the user of an exchange that head accepts. */
typedef struct {
    const web_route *route;
    web_host *host;
} web_user;
struct web_route {
    const char *path;
    bool open; /* for whoever watches the process: any Host, no key */
    bool sse;  /* there only with http.sse */
    bool (*head)(web_guest *g);
    void (*request)(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len);
    void (*gone)(web_user *u, web_exchange *x);
    void (*done)(web_user *u, web_exchange *x);
};

struct web_host {
    server *srv;
    const web_front *front;
    web_host_options options;
    web_handler handler;
    session *modern; /* of all requests that bring their own envelope: no state but open subscriptions */
    web_store *store;
    web_log *log;
    web_pairs *pairs; /* sessions of the transport of 2024-11-05 */
};

/* False on the front's threads. */
bool web_may_wait(void);

/* ---- web_access.c ---- */
bool web_host_is_allowed(const web_host *h, const char *host_header);
bool web_origin_is_allowed(const web_host *h, const char *origin);
/* What a page of that origin (NULL: no page) may see of an answer; how many were added. */
size_t web_cors_headers(const char *origin, web_header *ret);
void web_answer_preflight(web_guest *g);
/* False: no key, or none that we know. */
bool web_identify(web_guest *g);

/* ---- answers ---- */
size_t web_stream_headers(const char *origin, web_header *ret);
/* A whole answer: a JSON-RPC error without an id. more: one header of its own, or NULL. */
void web_refuse(const web_guest *g, unsigned status, int code, const char *text, const web_header *more);
void web_reply_empty(const web_guest *g, unsigned status);

/* ---- web_peer.c: one POST to /mcp ---- */
typedef struct {
    web_user user; /* first */
    peer base;
    web_exchange *x;
    const char *origin;       /* a copy, or NULL */
    atomic_uint refs, calls;  /* calls: who may still answer */
    pthread_mutex_t lock;     /* session until it is served; started, answered, listens, stream */
    atomic_bool gone;
    bool started, answered;   /* the answer is a stream; it is whole */
    bool takes_json, takes_stream, primes; /* primes: it knows events without data */
    bool listens;             /* subscriptions/listen: nobody waits for its reader */
    bool fresh;               /* initialize: the answer names the session */
    unsigned status;          /* 0: by the kind of the answer */
    web_session *session;     /* legacy; entered */
    web_stream *stream;       /* of the session */
    char text[];              /* origin */
} web_peer;
web_peer *web_peer_create(const web_guest *g, bool takes_json, bool takes_stream); /* NULL: out of memory */
void web_peer_release(web_peer *p);
void web_peer_gone(web_peer *p);

/* ---- web_rules.c: the decision table ---- */
/* True: the exchange goes on to the request. */
bool web_rules_door(web_guest *g);
bool web_rules_head(web_guest *g);
/* Content-Type says JSON. */
bool web_is_json(const web_head *h);
void web_rules_post(web_peer *p, const web_head *h, const char *body, size_t len);

/* ---- web_get.c: GET on /mcp ---- */
typedef struct {
    web_user user; /* first */
    web_exchange *x;
    web_session *session;
    web_stream *stream;
    const char *origin;
    char text[];
} web_getter;
bool web_get_accept(web_guest *g, web_session *w);

#endif
