/* SPDX-License-Identifier: MIT */
/* call.h -- one request in progress: its memory, its client, its provenance, its answer. Calls are kept and used
 * again (call_get, call_put), so a cheap request allocates nothing.
 * A call belongs to one thread at a time; what others may touch: cancel, and the peer. */
#ifndef LASTRO_CORE_CALL_H
#define LASTRO_CORE_CALL_H

#include "cancel.h"
#include "fetch.h"
#include "json.h"
#include "pool.h"
#include "provenance.h"
#include "registry.h"

typedef enum { REV_NONE, REV_2024_11_05, REV_2025_03_26, REV_2025_06_18, REV_2025_11_25, REV_2026_07_28, REV_COUNT } revision;
const char *revision_name(revision r);           /* "" for REV_NONE */
revision revision_of(const char *name, size_t len); /* REV_NONE: unknown */

typedef struct server server;
typedef struct session session;
typedef struct task task;

/* What a message is to the one that it answers; transports with status codes tell them apart, and a batch collects
 * answers. */
typedef enum {
    PEER_ASIDE,    /* no answer: a notification, or a request of the server's */
    PEER_ANSWER,   /* a result, or an error that came of serving the request */
    PEER_REFUSED,  /* an error: the request cannot be served as it is (HTTP 400) */
    PEER_NO_METHOD /* an error: no such method in the modern era (HTTP 404) */
} peer_kind;

/* Where the answers to one message go. */
typedef struct peer {
    /* One whole message without a final newline. Any thread; with no lock of the core's but a subscription's own, so it may
     * call mcp_forget_peer. */
    void (*send)(struct peer *p, const char *json, size_t len, peer_kind kind);
    /* Another one who answers to this peer, or one less. NULL: the peer outlives all calls, and its session. The last
     * release without an answer means that there is none. retain may be called under locks of the core: it must take none
     * that is held while the core is called. */
    void (*retain)(struct peer *p);
    void (*release)(struct peer *p);
    /* The client need not wait on this stream; it asks again after that time. NULL: there is no such thing. */
    void (*let_go)(struct peer *p, uint32_t retry_ms);
    /* What answers nothing can get to the client as well. NULL: it always can. */
    bool (*reaches)(struct peer *p);
    const char *principal; /* who asks, when the transport knows; NULL: the session's, or the server's own */
    struct listener *listeners; /* mcp_listen.c's: its open subscriptions */
    lastro_call *calls;         /* the server's: tracked ones */
} peer;

enum { INFLIGHT_OF_SERVER, INFLIGHT_OF_PEER, INFLIGHT_OF_SESSION, INFLIGHT_LISTS }; /* lists of tracked calls */

typedef struct call_writer {
    struct call_writer *next;
    json_writer w;
} call_writer;

typedef struct call_pin {
    struct call_pin *next;
    void (*release)(void *pinned);
    void *pinned;
} call_pin;

typedef struct call_question {
    struct call_question *next;
    const char *key, *method;
    const json_value *params;
} call_question;

typedef struct call_answer {
    struct call_answer *next;
    const char *key;
    const json_value *value;
} call_answer;

struct lastro_call {
    pool_job job;                 /* first: the pool hands it back */
    server *srv;
    lastro_call *next_free;
    arena mem;
    json_writer out;              /* the message that answers */
    json_writer structured;       /* the handler's structured result */

    peer *peer;
    session *session;             /* NULL: no legacy session, or the shell */
    revision rev;
    int32_t era;
    const json_value *message;    /* the request */
    const json_value *id;         /* NULL: a notification */
    const json_value *params;
    const char *method;
    const json_value *client;     /* the client's capabilities; NULL: unknown */
    const json_value *progress_token;
    const json_value *answers, *earlier; /* to its questions, by key: those that came with it, and those of earlier rounds */
    call_answer *used;            /* of answers, what the handler took */
    int32_t log_level;            /* what the client wants to hear; above LASTRO_LOG_ERROR: nothing */
    atomic_bool silent;           /* cancelled by the client: no answer goes out */

    cancel_token cancel;
    cancel_token *cancel_of;      /* its own, or its root's */
    int64_t deadline;             /* monotonic ms */
    lastro_call *root;            /* the call this is a part of; itself when it is none */
    lastro_call *parts;           /* finished parts, whose memory lives as long as the root */
    plugin *owner;
    const tool *tool;
    const json_value *args;
    const char *language;
    provenance prov;
    call_writer *content, **content_end, *scratch;
    call_question *questions, **questions_end;
    const char *lacking, *lacking_part; /* the client capability that was missing; NULL: none */
    peer_kind ending;             /* of the answer */
    const char *trace, *trace_state; /* W3C trace context of the request; NULL: none */
    task *task;                   /* what it answers to instead of a request; NULL: it is none (mcp_tasks.c) */
    bool lent;                    /* the pool does not count its thread */
    call_pin *pins;
    double progress_told;         /* of the root, as the next two lines: the last progress the client heard of */
    double progress_room;         /* notifications it may get at once */
    int64_t progress_at;          /* monotonic ms of the last one; 0: there was none */
    fetch_budget *budget;         /* of the root; made when first needed */
    pthread_mutex_t lock;         /* of the root: budget, part numbers, log and progress */
    uint32_t part, next_part;
    lastro_principal principal;
    lastro_call *inflight_next[INFLIGHT_LISTS], *inflight_prev[INFLIGHT_LISTS];
    bool inflight;
};

lastro_call *call_get(server *srv); /* NULL: out of memory */
void call_put(lastro_call *c);      /* ends it: pins released, parts and memory given back; accepts NULL */

/* pinned stays until the call ends. False: out of memory, and nobody will release it. */
bool call_keep(lastro_call *c, void (*release)(void *pinned), void *pinned);

/* Frees a call that call_put kept. Only for the end of the server. */
void call_destroy(lastro_call *c);

/* A part of c for another plugin's method: own memory and thread, the root's cancellation, deadline and sources. */
lastro_call *call_part(lastro_call *c, plugin *owner);
/* Its provenance joins c's; its memory lives on until c's root ends. */
void call_join(lastro_call *c, lastro_call *part);

/* Runs call->tool on call->args, which passed or pass here the input schema. What came of it: */
typedef enum {
    RUN_RESULT,   /* structured (when the tool has it) and content are ready */
    RUN_TOLD,     /* err holds what to tell inside a result with isError */
    RUN_ERROR,    /* err holds a JSON-RPC error */
    RUN_ASK,      /* questions are waiting for the client */
    RUN_CANCELLED /* nobody wants the answer */
} run_outcome;
run_outcome call_run_tool(lastro_call *c, lastro_error *err);
/* Refuses arguments that break the input schema: err gets all the sentences. */
bool call_check_input(lastro_call *c, lastro_error *err);

/* Writes content, structuredContent and the _meta members of ours as members of an open result object.
 * text: for RUN_TOLD, the one text item. */
void call_write_result(lastro_call *c, json_writer *w, run_outcome outcome, const char *text);
/* The members of _meta that tell of the call: provenance, attribution, call. An object is open. */
void call_write_meta(lastro_call *c, json_writer *w, bool told);

#endif
