/* SPDX-License-Identifier: MIT */
/* web_rules.c -- THE decision table: what a request over HTTP is and what it gets, row by row, first match first. The
 * numbers are those of the protocol notes (docs/http.md); 0 marks what they leave to the transport. The body decides the
 * era, headers only confirm it. */
#include "header_params.h"
#include "web_internal.h"
#include "web_stream.h"

#include <string.h>
#include <strings.h>

typedef enum { SESSION_NONE, SESSION_MALFORMED, SESSION_UNKNOWN, SESSION_LIVE } session_state;
typedef enum { VERSION_ABSENT, VERSION_LEGACY, VERSION_MODERN, VERSION_OTHER } version_kind;

/* All that the conditions look at. */
typedef struct {
    web_host *host;
    web_guest *guest;          /* while the head is judged */
    const web_head *head;
    /* headers */
    const char *method, *version;
    version_kind version_kind;
    session_state session_state;
    web_session *session;      /* live: entered */
    revision session_rev;
    /* the body */
    web_peer *peer;
    lastro_call *call;
    const json_value *body;    /* NULL: no JSON, and already answered */
    rpc_message msg;
    const json_value *claim;
    const char *fault;         /* what is wrong, when a condition knows better than its row */
} facts;

typedef enum { DOOR, HEAD, BODY } phase; /* before the path is looked at; before the body is read; with it */

typedef struct {
    int number;
    phase phase;
    bool (*when)(facts *f);
    bool (*then)(facts *f);    /* true: the exchange goes on. NULL: it is refused with the rest */
    unsigned status;
    int code;
    const char *text;
} row;

static const char *header(const facts *f, const char *name) {
    return f->head->header(f->head, name, NULL);
}

/* ---- gathering facts ---- */

static const char modern_name[] = "2026-07-28"; /* any later text claims the modern era */

static version_kind kind_of_version(const char *version) {
    if (!version)
        return VERSION_ABSENT;
    if (strcmp(version, modern_name) >= 0)
        return VERSION_MODERN;
    return revision_of(version, strlen(version)) != REV_NONE ? VERSION_LEGACY : VERSION_OTHER;
}

static bool good_session_id(const char *id) {
    size_t len = 0;
    while (id[len] >= 0x21 && id[len] <= 0x7e)
        len++;
    return len && !id[len] && len <= WEB_SESSION_ID_MAX;
}

static void find_session(facts *f, const char *principal) {
    unsigned count = 0;
    const char *id = f->head->header(f->head, "Mcp-Session-Id", &count);
    if (!id)
        return;
    if (count > 1 || !good_session_id(id)) {
        f->session_state = SESSION_MALFORMED;
        return;
    }
    f->session = f->host->store->find(f->host->store, id, principal);
    f->session_state = f->session ? SESSION_LIVE : SESSION_UNKNOWN;
    if (!f->session)
        return;
    session *core = f->session->core;
    pthread_mutex_lock(&core->lock);
    f->session_rev = core->rev;
    pthread_mutex_unlock(&core->lock);
}

static void read_version(facts *f) {
    f->version = header(f, "MCP-Protocol-Version");
    f->version_kind = kind_of_version(f->version);
}

/* ---- conditions: at the door ---- */

static bool host_is_foreign(facts *f) {
    unsigned count = 0;
    const char *name = f->head->header(f->head, "Host", &count);
    bool watched = f->guest->route && f->guest->route->open;
    return !watched && (count > 1 || !web_host_is_allowed(f->host, name));
}

static bool origin_is_foreign(facts *f) {
    unsigned count = 0;
    const char *origin = f->head->header(f->head, "Origin", &count);
    if (!origin)
        return false;
    if (count > 1 || !web_origin_is_allowed(f->host, origin))
        return true;
    f->guest->origin = origin;
    return false;
}

static bool nothing_is_there(facts *f) {
    return !f->guest->route;
}
static bool is_options(facts *f) {
    return strcmp(f->method, "OPTIONS") == 0;
}
static bool needs_a_key(facts *f) {
    return !f->guest->route->open && !web_identify(f->guest);
}

/* ---- conditions: DELETE, GET, and what else is no POST ---- */

static bool is_delete(facts *f) {
    return strcmp(f->method, "DELETE") == 0;
}
static bool is_get(facts *f) {
    return strcmp(f->method, "GET") == 0;
}
static bool delete_lacks_session(facts *f) {
    return is_delete(f) && f->session_state == SESSION_NONE;
}
static bool get_lacks_session(facts *f) {
    return is_get(f) && f->session_state == SESSION_NONE;
}
static bool session_is_malformed(facts *f) {
    return f->session_state == SESSION_MALFORMED;
}
static bool session_is_unknown(facts *f) {
    return f->session_state == SESSION_UNKNOWN;
}
static bool version_is_no_legacy_one(facts *f) {
    return f->version_kind == VERSION_MODERN || f->version_kind == VERSION_OTHER;
}

/* A list of media types names this one, or a wider one. */
static bool accepts(const char *accept, const char *type) {
    size_t major = strcspn(type, "/") + 1;
    if (!accept)
        return true;
    for (const char *at = accept; *at;) {
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ",; \t");
        if ((len == strlen(type) && strncasecmp(at, type, len) == 0) || (len == 3 && strncmp(at, "*/*", 3) == 0) ||
            (len == major + 1 && strncasecmp(at, type, major) == 0 && at[major] == '*'))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

static bool get_takes_no_stream(facts *f) {
    return is_get(f) && !accepts(header(f, "Accept"), "text/event-stream");
}
static bool is_other_method(facts *f) {
    return strcmp(f->method, "POST") != 0 && !is_get(f) && !is_delete(f);
}
bool web_is_json(const web_head *h) {
    static const char json[] = "application/json";
    const char *type = h->header(h, "Content-Type", NULL);
    size_t len = type ? strcspn(type, "; \t") : 0;
    return len == sizeof json - 1 && strncasecmp(type, json, len) == 0;
}
static bool type_is_not_json(facts *f) {
    return !web_is_json(f->head);
}
static bool always(facts *f) {
    (void)f;
    return true;
}

/* ---- conditions: the body ---- */

static bool is_no_json(facts *f) {
    return !f->body;
}
static bool is_array(facts *f) {
    return json_is(f->body, JSON_ARRAY);
}
static bool is_unfit_batch(facts *f) {
    if (!is_array(f))
        return false;
    f->fault = !json_count(f->body) ? "A batch must not be empty." : NULL;
    for (json_iter it = json_iterate(f->body); !f->fault && json_next(&it);)
        if (mcp_claim(json_member(it.value, "params")))
            f->fault = "A request with a protocol version of its own cannot be part of a batch.";
    return f->fault != NULL;
}
static bool is_batch_of_unknown_session(facts *f) {
    return is_array(f) && session_is_unknown(f);
}
static bool is_batch_out_of_place(facts *f) {
    return is_array(f) && (f->session_state != SESSION_LIVE || f->session_rev != REV_2025_03_26);
}
static bool is_invalid(facts *f) {
    return f->msg.kind == RPC_IS_INVALID;
}
static bool is_response(facts *f) {
    return f->msg.kind == RPC_IS_RESPONSE;
}
static bool is_response_to_nobody(facts *f) {
    return is_response(f) && f->session_state == SESSION_NONE;
}
static bool is_notification(facts *f) {
    return f->msg.kind == RPC_IS_NOTIFICATION;
}
static bool is_modern_notification(facts *f) {
    return is_notification(f) && (f->claim || f->version_kind == VERSION_MODERN);
}
static bool is_notification_to_nobody(facts *f) {
    return is_notification(f) && f->session_state == SESSION_NONE;
}
/* Responses and notifications of which the session is in doubt. */
static bool is_message_of_malformed_session(facts *f) {
    return (is_notification(f) || is_response(f)) && session_is_malformed(f);
}
static bool is_message_of_unknown_session(facts *f) {
    return (is_notification(f) || is_response(f)) && session_is_unknown(f);
}

/* ---- conditions: requests of the modern era (all of them have the claim) ---- */

static bool envelope_is_bad(facts *f) {
    f->fault = f->claim ? mcp_envelope_fault(f->msg.params) : NULL;
    return f->fault != NULL;
}
static bool version_header_differs(facts *f) {
    return f->claim && f->version && !json_text_is(f->claim, f->version);
}
static bool version_is_not_served(facts *f) {
    return f->claim && !mcp_serves(f->claim);
}

/* Why that header does not say what the body says; NULL: it does. */
static const char *header_differs(facts *f, const char *name, const json_value *says, bool coded) {
    unsigned count = 0;
    const char *value = f->head->header(f->head, name, &count);
    size_t len = value ? strlen(value) : 0;
    json_text text = json_text_of(says);
    if (!value)
        return arena_printf(&f->call->mem, "The header %s is missing; the body says \"%.100s\".", name, text.at);
    if (count > 1)
        return arena_printf(&f->call->mem, "The header %s stands there more than once.", name);
    const char *said = coded ? header_value_decode(&f->call->mem, value, &len) : value;
    if (!said)
        return arena_printf(&f->call->mem, "The header %s cannot be read: between =?base64? and ?= stands strict base64 of UTF-8 text.", name);
    if (len != text.len || memcmp(said, text.at, len) != 0)
        return arena_printf(&f->call->mem, "The header %s says \"%.100s\", the body \"%.100s\".", name, value, text.at);
    return NULL;
}

/* The member of params that Mcp-Name repeats; NULL: none, or the body lacks it, which the method will tell. */
static const json_value *named_by(const facts *f) {
    static const struct {
        const char *method, *member;
    } named[] = {
        {"tools/call", "name"},   {"resources/read", "uri"},     {"prompts/get", "name"},
        {"tasks/get", "taskId"},  {"tasks/update", "taskId"},    {"tasks/cancel", "taskId"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].method, f->msg.method) == 0) {
            const json_value *v = json_member(f->msg.params, named[i].member);
            return json_is(v, JSON_STRING) ? v : NULL;
        }
    return NULL;
}

static bool headers_differ(facts *f) {
    if (!f->claim)
        return false;
    const json_value *name = named_by(f);
    f->fault = !f->version ? "The header MCP-Protocol-Version is missing."
                           : header_differs(f, "Mcp-Method", json_member(f->body, "method"), false);
    if (!f->fault && name)
        f->fault = header_differs(f, "Mcp-Name", name, true);
    return f->fault != NULL;
}
static const char *look_up(void *arg, const char *name, unsigned *count) {
    const web_head *h = arg;
    return h->header(h, name, count);
}
/* Arguments that are none, or of a tool that is none, are the method's to refuse. */
static bool parameters_differ(facts *f) {
    if (!f->claim || strcmp(f->msg.method, "tools/call") != 0)
        return false;
    json_text name = json_text_of(json_member(f->msg.params, "name"));
    const tool *t = name.at ? registry_tool(f->host->srv->reg, name.at, name.len) : NULL;
    const json_value *args = json_member(f->msg.params, "arguments");
    if (t && (!args || json_is(args, JSON_OBJECT)))
        f->fault = header_params_fault(&f->call->mem, t, args, look_up, (void *)f->head);
    return f->fault != NULL;
}
static bool is_listen(const facts *f) {
    return f->claim && strcmp(f->msg.method, "subscriptions/listen") == 0;
}
static bool listens_without_stream(facts *f) {
    return is_listen(f) && !f->peer->takes_stream;
}
static bool is_modern(facts *f) {
    return f->claim != NULL;
}

/* ---- conditions: requests without the claim ---- */

static bool is_initialize(facts *f) {
    return strcmp(f->msg.method, "initialize") == 0;
}
/* A later version than we know may stand there: initialize negotiates. */
static bool is_initialize_with_modern_header(facts *f) {
    return is_initialize(f) && f->version && strcmp(f->version, modern_name) == 0;
}
static bool lacks_the_claim(facts *f) {
    return !is_initialize(f) && f->version_kind == VERSION_MODERN;
}
static bool lacks_session(facts *f) {
    return f->session_state == SESSION_NONE;
}

/* ---- answers ---- */

static bool answer_preflight(facts *f) {
    web_answer_preflight(f->guest);
    return false;
}
static bool refuse_key(facts *f) {
    bool tried = header(f, "Authorization") != NULL;
    web_header how = {"WWW-Authenticate", tried ? "Bearer realm=\"lastro\", error=\"invalid_token\"" : "Bearer realm=\"lastro\""};
    web_refuse(f->guest, 401, RPC_REQUEST,
               tried ? "The key in Authorization is not known here."
                     : "A key is needed: send Authorization: Bearer KEY with one of the server's keys.",
               &how);
    return false;
}

/* The session's reference of this request goes; the end is seen by whoever comes later. */
static bool end_session(facts *f) {
    web_store *st = f->host->store;
    if (st->remove(st, f->session))
        web_session_end(f->session);
    web_reply_empty(f->guest, 200);
    return false;
}
static bool open_stream(facts *f) {
    return web_get_accept(f->guest, f->session);
}
static bool refuse_method(facts *f) {
    web_header allow = {"Allow", is_get(f) ? "POST" : "POST, GET, DELETE, OPTIONS"};
    web_refuse(f->guest, 405, RPC_REQUEST,
               is_get(f) ? "GET opens the event stream of a session: it needs Mcp-Session-Id. Messages are sent with POST."
                         : "Messages are sent with POST.",
               &allow);
    return false;
}
static bool accept_post(facts *f) {
    const char *accept = header(f, "Accept");
    bool stream = accepts(accept, "text/event-stream"), json = accepts(accept, "application/json");
    web_peer *p = web_peer_create(f->guest, json || !stream, stream);
    if (p)
        f->guest->host->front->set_user(f->guest->x, p);
    else
        web_refuse(f->guest, 503, RPC_INTERNAL, "Out of memory.", NULL);
    return p != NULL;
}

static bool nothing_more(facts *f) {
    (void)f;
    return false;
}
static bool serve_invalid(facts *f) {
    mcp_serve(f->call, f->body);
    return false;
}
static bool drop(facts *f) {
    mcp_drop(f->call);
    return false;
}
static bool refuse_version(facts *f) {
    f->call->id = f->msg.id;
    mcp_refuse_version(f->call, f->claim);
    return false;
}

/* On a session of its own, entered by this request. */
static void serve_on(facts *f, web_session *w, revision rev) {
    web_peer *p = f->peer;
    pthread_mutex_lock(&p->lock);
    p->session = w;
    p->primes = rev >= REV_2025_11_25;
    pthread_mutex_unlock(&p->lock);
    f->session = NULL; /* the peer's now */
    f->call->session = w->core;
    mcp_serve(f->call, f->body);
}

static bool serve_modern(facts *f) {
    pthread_mutex_lock(&f->peer->lock);
    f->peer->listens = is_listen(f);
    pthread_mutex_unlock(&f->peer->lock);
    mcp_serve(f->call, f->body);
    if (atomic_load(&f->peer->gone)) /* it left before there was something to cancel */
        web_peer_gone(f->peer);
    return false;
}
static bool serve_legacy(facts *f) {
    serve_on(f, f->session, f->session_rev);
    return false;
}
static bool begin_session(facts *f) {
    web_host *h = f->host;
    web_session *w = web_session_create(h->srv, h->front, h->log, f->peer->base.principal);
    if (!w || !h->store->add(h->store, w)) {
        web_session_release(w);
        f->peer->status = 503;
        mcp_error(f->call, RPC_INTERNAL, NULL, "No session can be opened now: too many are in use. Try again later.");
        return false;
    }
    f->peer->fresh = true;
    serve_on(f, w, REV_NONE);
    if (w->core->rev == REV_NONE && h->store->remove(h->store, w)) /* it was refused */
        web_session_end(w);
    return false;
}

/* ---- the table ---- */

#define MALFORMED_SESSION NULL, 400, RPC_REQUEST, "Mcp-Session-Id must be 1 to 256 visible ASCII characters, and stand there once."
#define UNKNOWN_SESSION                                                                                                  \
    NULL, 404, RPC_REQUEST, "There is no such session: it has ended, or never was here. Send initialize without Mcp-Session-Id."
#define NO_LEGACY_VERSION                                                                                                \
    NULL, 400, RPC_REQUEST,                                                                                              \
        "MCP-Protocol-Version names none of the versions that a session can have: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05."
#define WITH(function) function, 0, 0, NULL

static const row rows[] = {
    {1, DOOR, host_is_foreign, NULL, 403, RPC_REQUEST, "The Host of this request is not one of this server's."},
    {1, DOOR, origin_is_foreign, NULL, 403, RPC_REQUEST, "Pages of this Origin may not use this server."},
    {2, DOOR, nothing_is_there, NULL, 404, RPC_REQUEST, "Nothing is at this path; MCP is at /mcp."},
    {0, DOOR, is_options, WITH(answer_preflight)},
    {0, DOOR, needs_a_key, WITH(refuse_key)},

    {3, HEAD, delete_lacks_session, NULL, 400, RPC_REQUEST, "DELETE ends a session: it needs Mcp-Session-Id."},
    {4, HEAD, get_lacks_session, WITH(refuse_method)},
    {5, HEAD, is_other_method, WITH(refuse_method)},
    {3, HEAD, session_is_malformed, MALFORMED_SESSION},
    {3, HEAD, session_is_unknown, UNKNOWN_SESSION},
    {24, HEAD, version_is_no_legacy_one, NO_LEGACY_VERSION},
    {3, HEAD, is_delete, WITH(end_session)},
    {4, HEAD, get_takes_no_stream, NULL, 406, RPC_REQUEST, "GET answers with text/event-stream, which Accept leaves out."},
    {4, HEAD, is_get, WITH(open_stream)},
    {6, HEAD, type_is_not_json, NULL, 415, RPC_REQUEST, "Content-Type must be application/json."},
    {0, HEAD, always, WITH(accept_post)},

    {7, BODY, is_no_json, WITH(nothing_more)}, /* the reader answered; 413 is the front's */
    {8, BODY, is_unfit_batch, NULL, 400, RPC_REQUEST, NULL},
    {8, BODY, is_batch_of_unknown_session, UNKNOWN_SESSION},
    {8, BODY, is_batch_out_of_place, NULL, 400, RPC_REQUEST, "Batches exist only in sessions of protocol 2025-03-26."},
    {8, BODY, is_array, WITH(serve_legacy)},
    {9, BODY, is_invalid, WITH(serve_invalid)},
    {11, BODY, is_modern_notification, WITH(drop)},
    {10, BODY, is_message_of_malformed_session, MALFORMED_SESSION},
    {10, BODY, is_message_of_unknown_session, UNKNOWN_SESSION},
    {10, BODY, is_response_to_nobody, NULL, 400, RPC_REQUEST, "A response needs the Mcp-Session-Id of the session that asked."},
    {10, BODY, is_response, WITH(serve_legacy)},
    {11, BODY, is_notification_to_nobody, WITH(drop)},
    {11, BODY, is_notification, WITH(serve_legacy)},
    {12, BODY, envelope_is_bad, NULL, 400, RPC_PARAMS, NULL},
    {13, BODY, version_header_differs, NULL, 400, RPC_HEADER, "MCP-Protocol-Version is not the version that the body claims."},
    {14, BODY, version_is_not_served, WITH(refuse_version)},
    {15, BODY, headers_differ, NULL, 400, RPC_HEADER, NULL},
    {16, BODY, parameters_differ, NULL, 400, RPC_HEADER, NULL},
    {0, BODY, listens_without_stream, NULL, 406, RPC_REQUEST, "subscriptions/listen answers with text/event-stream, which Accept leaves out."},
    {19, BODY, is_modern, WITH(serve_modern)}, /* 17 and 18 are found on the way, and have their status by peer_kind */
    {20, BODY, is_initialize_with_modern_header, NULL, 400, RPC_HEADER,
     "initialize belongs to protocols before 2026-07-28, which MCP-Protocol-Version names; that one begins with server/discover."},
    {20, BODY, lacks_the_claim, NULL, 400, RPC_PARAMS,
     "MCP-Protocol-Version names a protocol whose requests carry _meta with " META_PREFIX "protocolVersion and " META_PREFIX
     "clientCapabilities."},
    {21, BODY, is_initialize, WITH(begin_session)},
    {22, BODY, lacks_session, NULL, 400, RPC_REQUEST,
     "Mcp-Session-Id is missing: send initialize first, or _meta with " META_PREFIX "protocolVersion \"2026-07-28\"."},
    {22, BODY, session_is_malformed, MALFORMED_SESSION},
    {23, BODY, session_is_unknown, UNKNOWN_SESSION},
    {24, BODY, version_is_no_legacy_one, NO_LEGACY_VERSION},
    {25, BODY, always, WITH(serve_legacy)},
};

static bool refuse(facts *f, const row *r) {
    const char *text = r->text ? r->text : f->fault;
    if (!f->call) {
        web_refuse(f->guest, r->status, r->code, text, NULL);
        return false;
    }
    f->call->id = f->msg.id;
    f->peer->status = r->status;
    mcp_error(f->call, r->code, NULL, "%s", text);
    return false;
}

/* The first row of the phase that fits. True: none of them ends the exchange. */
static bool apply(facts *f, phase p) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].phase == p && rows[i].when(f))
            return rows[i].then ? rows[i].then(f) : refuse(f, &rows[i]);
    return true;
}

static void leave(facts *f) {
    if (f->session)
        f->host->store->leave(f->host->store, f->session);
}

bool web_rules_door(web_guest *g) {
    facts f = {.host = g->host, .guest = g, .head = g->head, .method = g->head->method};
    return apply(&f, DOOR);
}

bool web_rules_head(web_guest *g) {
    facts f = {.host = g->host, .guest = g, .head = g->head, .method = g->head->method};
    if (is_get(&f) || is_delete(&f)) {
        find_session(&f, g->principal);
        read_version(&f);
    }
    bool on = apply(&f, HEAD);
    leave(&f);
    return on;
}

void web_rules_post(web_peer *p, const web_head *h, const char *body, size_t len) {
    web_host *host = p->user.host;
    facts f = {.host = host, .head = h, .method = h->method, .peer = p, .call = mcp_begin(host->modern, &p->base)};
    if (!f.call) {
        web_guest g = {.host = host, .x = p->x, .origin = p->origin};
        web_refuse(&g, 503, RPC_INTERNAL, "Out of memory.", NULL);
        return;
    }
    f.body = mcp_parse(f.call, body, len);
    if (f.body)
        mcp_take_trace(f.call, h->header(h, "traceparent", NULL), h->header(h, "tracestate", NULL));
    if (f.body && !is_array(&f)) {
        rpc_read(f.body, &f.msg);
        f.claim = mcp_claim(f.msg.params);
    }
    if (f.body && !f.claim)
        find_session(&f, p->base.principal);
    read_version(&f);
    apply(&f, BODY);
    leave(&f);
}
