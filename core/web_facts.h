/* SPDX-License-Identifier: MIT */
/* web_facts.h -- what the decision table (web_rules.c) looks at, and what it does when a row fits. */
#ifndef LASTRO_CORE_WEB_FACTS_H
#define LASTRO_CORE_WEB_FACTS_H

#include "web_internal.h"

typedef enum { SESSION_NONE, SESSION_MALFORMED, SESSION_UNKNOWN, SESSION_LIVE } session_state;
typedef enum { VERSION_ABSENT, VERSION_LEGACY, VERSION_MODERN, VERSION_OTHER } version_kind;

/* All that the conditions look at. */
typedef struct {
    web_host *host;
    web_guest *guest;          /* while the head is judged */
    const web_head *head;
    /* headers */
    const char *method, *version;
    unsigned versions;         /* how often MCP-Protocol-Version was sent */
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

static inline const char *web_header_value(const facts *f, const char *name) {
    return f->head->header(f->head, name, NULL);
}

/* ---- web_facts.c ---- */
#define WEB_MODERN "2026-07-28" /* any later text in MCP-Protocol-Version claims the modern era too */

/* Reads Mcp-Session-Id; a live session is entered. */
void web_find_session(facts *f, const char *principal);
void web_read_version(facts *f);
/* Accept names this type, or a wider one; without it anything is taken. */
bool web_accepts(const web_head *h, const char *type);
/* How a request's headers disagree with its body, in the call's memory; NULL: they agree. */
const char *web_headers_fault(facts *f);
const char *web_parameters_fault(facts *f); /* the same, of those that repeat a tool's arguments */

/* ---- web_answers.c: each ends a row; true: the exchange goes on ---- */
typedef bool web_ending(facts *f);
web_ending web_end_preflight, web_end_key, web_end_session, web_open_stream, web_end_method, web_accept_post, web_end_nothing,
    web_end_invalid, web_end_drop, web_end_version, web_serve_modern, web_serve_legacy, web_begin_session;

#endif
