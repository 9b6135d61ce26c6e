/* SPDX-License-Identifier: MIT */
/* web_rules.c -- THE decision table: what a request over HTTP is and what it gets, row by row, first match first. The
 * numbers are those of the protocol notes (docs/http.md); 0 marks what they leave to the transport. The body decides the
 * era, headers only confirm it. */
#include "web_facts.h"

#include <string.h>

typedef enum { DOOR, HEAD, BODY } phase; /* before the path is looked at; before the body is read; with it */

typedef struct {
    int number;
    phase phase;
    bool (*when)(facts *f);
    web_ending *then; /* NULL: it is refused with the rest */
    unsigned status;
    int code;
    const char *text;
} row;

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

static bool get_takes_no_stream(facts *f) {
    return is_get(f) && !web_accepts(f->head, "text/event-stream");
}
static bool is_other_method(facts *f) {
    return strcmp(f->method, "POST") != 0 && !is_get(f) && !is_delete(f);
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
    return f->claim && f->version && (f->versions > 1 || !json_text_is(f->claim, f->version));
}
static bool version_is_not_served(facts *f) {
    return f->claim && !mcp_serves(f->claim);
}

static bool headers_differ(facts *f) {
    f->fault = f->claim ? web_headers_fault(f) : NULL;
    return f->fault != NULL;
}
static bool parameters_differ(facts *f) {
    f->fault = f->claim ? web_parameters_fault(f) : NULL;
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
    return is_initialize(f) && f->version && strcmp(f->version, WEB_MODERN) == 0;
}
static bool lacks_the_claim(facts *f) {
    return !is_initialize(f) && f->version_kind == VERSION_MODERN;
}
static bool lacks_session(facts *f) {
    return f->session_state == SESSION_NONE;
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
    {1, DOOR, host_is_foreign, NULL, 403, RPC_REQUEST,
     "The Host of this request is not one of this server's; http.allowedHosts of its manifest adds names."},
    {1, DOOR, origin_is_foreign, NULL, 403, RPC_REQUEST,
     "Pages of this Origin may not use this server; http.allowedOrigins of its manifest lists those that may."},
    {2, DOOR, nothing_is_there, NULL, 404, RPC_REQUEST, "Nothing is at this path; MCP is at /mcp."},
    {0, DOOR, is_options, WITH(web_end_preflight)},
    {0, DOOR, needs_a_key, WITH(web_end_key)},

    {3, HEAD, delete_lacks_session, NULL, 400, RPC_REQUEST, "DELETE ends a session: it needs Mcp-Session-Id."},
    {4, HEAD, get_lacks_session, WITH(web_end_method)},
    {5, HEAD, is_other_method, WITH(web_end_method)},
    {3, HEAD, session_is_malformed, MALFORMED_SESSION},
    {3, HEAD, session_is_unknown, UNKNOWN_SESSION},
    {24, HEAD, version_is_no_legacy_one, NO_LEGACY_VERSION},
    {3, HEAD, is_delete, WITH(web_end_session)},
    {4, HEAD, get_takes_no_stream, NULL, 406, RPC_REQUEST, "GET answers with text/event-stream, which Accept leaves out."},
    {4, HEAD, is_get, WITH(web_open_stream)},
    {6, HEAD, type_is_not_json, NULL, 415, RPC_REQUEST, "Content-Type must be application/json."},
    {0, HEAD, always, WITH(web_accept_post)},

    {7, BODY, is_no_json, WITH(web_end_nothing)}, /* the reader answered; 413 is the front's */
    {8, BODY, is_unfit_batch, NULL, 400, RPC_REQUEST, NULL},
    {8, BODY, is_batch_of_unknown_session, UNKNOWN_SESSION},
    {8, BODY, is_batch_out_of_place, NULL, 400, RPC_REQUEST, "Batches exist only in sessions of protocol 2025-03-26."},
    {8, BODY, is_array, WITH(web_serve_legacy)},
    {9, BODY, is_invalid, WITH(web_end_invalid)},
    {11, BODY, is_modern_notification, WITH(web_end_drop)},
    {10, BODY, is_message_of_malformed_session, MALFORMED_SESSION},
    {10, BODY, is_message_of_unknown_session, UNKNOWN_SESSION},
    {10, BODY, is_response_to_nobody, NULL, 400, RPC_REQUEST, "A response needs the Mcp-Session-Id of the session that asked."},
    {10, BODY, is_response, WITH(web_serve_legacy)},
    {11, BODY, is_notification_to_nobody, WITH(web_end_drop)},
    {11, BODY, is_notification, WITH(web_serve_legacy)},
    {12, BODY, envelope_is_bad, NULL, 400, RPC_PARAMS, NULL},
    {13, BODY, version_header_differs, NULL, 400, RPC_HEADER, "MCP-Protocol-Version is not the version that the body claims."},
    {14, BODY, version_is_not_served, WITH(web_end_version)},
    {15, BODY, headers_differ, NULL, 400, RPC_HEADER, NULL},
    {16, BODY, parameters_differ, NULL, 400, RPC_HEADER, NULL},
    {0, BODY, listens_without_stream, NULL, 406, RPC_REQUEST, "subscriptions/listen answers with text/event-stream, which Accept leaves out."},
    {19, BODY, is_modern, WITH(web_serve_modern)}, /* 17 and 18 are found on the way, and have their status by peer_kind */
    {20, BODY, is_initialize_with_modern_header, NULL, 400, RPC_HEADER,
     "initialize belongs to protocols before 2026-07-28, which MCP-Protocol-Version names; that one begins with server/discover."},
    {20, BODY, lacks_the_claim, NULL, 400, RPC_PARAMS,
     "MCP-Protocol-Version names a protocol whose requests carry _meta with " META_PREFIX "protocolVersion and " META_PREFIX
     "clientCapabilities."},
    {21, BODY, is_initialize, WITH(web_begin_session)},
    {22, BODY, lacks_session, NULL, 400, RPC_REQUEST,
     "Mcp-Session-Id is missing: send initialize first, or _meta with " META_PREFIX "protocolVersion \"2026-07-28\"."},
    {22, BODY, session_is_malformed, MALFORMED_SESSION},
    {23, BODY, session_is_unknown, UNKNOWN_SESSION},
    {24, BODY, version_is_no_legacy_one, NO_LEGACY_VERSION},
    {25, BODY, always, WITH(web_serve_legacy)},
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
        web_find_session(&f, g->principal);
        web_read_version(&f);
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
        web_find_session(&f, p->base.principal);
    web_read_version(&f);
    apply(&f, BODY);
    leave(&f);
}
