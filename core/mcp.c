/* SPDX-License-Identifier: MIT */
/* mcp.c -- from a message to the method that answers it. The order of the checks is the stdio table of the protocol
 * notes: what the body says decides the era, and no state is kept for the modern one. */
#include "mcp_internal.h"
#include "clock.h"
#include "log.h"
#include "text.h"
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEGACY = 1, MODERN = 2, SLOW = 4, MESSAGE_DEPTH = 256 };
enum { NEEDS_NOTHING, NEEDS_RESOURCES, NEEDS_PROMPTS, NEEDS_COMPLETIONS, NEEDS_TASKS };

static const struct {
    const char *name;
    unsigned flags;
    int needs; /* a method of what is not offered does not exist */
    mcp_method *run;
} methods[] = {
    {"tools/call", LEGACY | MODERN, NEEDS_NOTHING, mcp_call_tool}, /* the hot one first */
    {"tools/list", LEGACY | MODERN, NEEDS_NOTHING, mcp_list_tools},
    {"initialize", LEGACY, NEEDS_NOTHING, mcp_initialize},
    {"ping", LEGACY, NEEDS_NOTHING, mcp_ping},
    {"server/discover", MODERN, NEEDS_NOTHING, mcp_discover},
    {"resources/list", LEGACY | MODERN, NEEDS_RESOURCES, mcp_list_resources},
    {"resources/templates/list", LEGACY | MODERN, NEEDS_RESOURCES, mcp_list_templates},
    {"resources/read", LEGACY | MODERN | SLOW, NEEDS_RESOURCES, mcp_read_resource},
    {"prompts/list", LEGACY | MODERN, NEEDS_PROMPTS, mcp_list_prompts},
    {"prompts/get", LEGACY | MODERN | SLOW, NEEDS_PROMPTS, mcp_get_prompt},
    {"completion/complete", LEGACY | MODERN | SLOW, NEEDS_COMPLETIONS, mcp_complete},
    {"logging/setLevel", LEGACY, NEEDS_NOTHING, mcp_set_level},
    {"resources/subscribe", LEGACY, NEEDS_RESOURCES, mcp_subscribe},
    {"resources/unsubscribe", LEGACY, NEEDS_RESOURCES, mcp_unsubscribe},
    {"subscriptions/listen", MODERN, NEEDS_NOTHING, mcp_listen},
    {"tasks/get", MODERN, NEEDS_TASKS, mcp_get_task},
    {"tasks/update", MODERN, NEEDS_TASKS, mcp_update_task},
    {"tasks/cancel", MODERN, NEEDS_TASKS, mcp_cancel_task},
};

/* ---- ending a call ---- */

void mcp_drop(lastro_call *c) {
    server *srv = c->srv;
    bool tracked = server_untrack(c);
    call_put(c); /* the last one of a batch sends here: only then may who waits for the end close the door */
    if (tracked)
        server_settle(srv);
}

void mcp_answer(lastro_call *c) {
    if (!json_writer_finish(&c->out)) {
        log_error("an answer to %s could not be written: %s", c->method ? c->method : "?", json_fault_text(c->out.fault));
        json_writer_reset(&c->out);
        rpc_write_error(&c->out, c->id, RPC_INTERNAL, "The answer could not be written; the server's log says why.", NULL);
    }
    if (json_writer_finish(&c->out) && c->peer && !atomic_load(&c->silent))
        c->peer->send(c->peer, c->out.data, c->out.len, c->ending ? c->ending : PEER_ANSWER);
    mcp_drop(c);
}

/* The errors by which a request is turned away as it stands, whatever found them. */
static peer_kind ending_of(const lastro_call *c, int code) {
    switch (code) {
    case RPC_PARSE:
    case RPC_REQUEST:
    case RPC_HEADER:
    case RPC_CLIENT:
    case RPC_VERSION:
        return PEER_REFUSED;
    case RPC_METHOD:
        return c->rev >= REV_2026_07_28 ? PEER_NO_METHOD : PEER_ANSWER;
    default:
        return PEER_ANSWER;
    }
}

void mcp_error(lastro_call *c, int code, const char *data, const char *fmt, ...) {
    char text[1400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_tidy(text); /* foreign text may have been cut in a character */
    json_writer_reset(&c->out);
    rpc_write_error(&c->out, c->id, code, text, data);
    if (!c->ending)
        c->ending = ending_of(c, code);
    mcp_answer(c);
}

void mcp_begin_result(lastro_call *c, caching hint) {
    rpc_begin_result(&c->out, c->id);
    json_begin_object(&c->out);
    surface_write_modern(c->srv->reg, &c->out, c->rev, "complete", hint);
}

void mcp_end_result(lastro_call *c) {
    json_end_object(&c->out);
    rpc_end(&c->out);
}

/* ---- a request ---- */

static bool offered(const registry *reg, int needs) {
    switch (needs) {
    case NEEDS_RESOURCES:
        return surface_has(reg, LIST_RESOURCES) || surface_has(reg, LIST_TEMPLATES);
    case NEEDS_PROMPTS:
        return surface_has(reg, LIST_PROMPTS);
    case NEEDS_COMPLETIONS:
        return surface_has(reg, LIST_PROMPTS) || surface_has(reg, LIST_TEMPLATES);
    case NEEDS_TASKS:
        return registry_makes_tasks(reg);
    default:
        return true;
    }
}

static void run_slow(pool_job *job) {
    lastro_call *c = (lastro_call *)job;
    log_trace before = log_trace_begin(c->trace);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, c->method) == 0) {
            methods[i].run(c); /* ends c */
            break;
        }
    log_trace_end(before);
}

/* A client that asks faster than we answer must not fill the memory with what waits. */
void mcp_submit(lastro_call *c) {
    int64_t most = c->srv->manifest->limits.waiting_calls;
    if (pool_waiting(c->srv->pool) < (uint64_t)most)
        pool_submit(c->srv->pool, &c->job);
    else
        mcp_error(c, RPC_INTERNAL, NULL, "The server is busy: %lld calls wait already. Nothing was done; try again in a moment.",
                  (long long)most);
}

static void run_method(lastro_call *c, unsigned era) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, c->method) != 0)
            continue;
        if (!(methods[i].flags & era) || !offered(c->srv->reg, methods[i].needs))
            break;
        if (methods[i].flags & SLOW) {
            c->job.run = run_slow;
            server_track(c);
            mcp_submit(c);
        } else {
            methods[i].run(c);
        }
        return;
    }
    mcp_error(c, RPC_METHOD, NULL, "Method \"%.100s\" is not offered here in protocol %s.", c->method,
              revision_name(c->rev));
}

bool mcp_serves(const json_value *claim) {
    return json_text_is(claim, revision_name(REV_2026_07_28));
}

void mcp_refuse_version(lastro_call *c, const json_value *claim) {
    json_text asked = json_text_of(claim);
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "supported");
    json_begin_array(&w);
    json_write_string(&w, revision_name(REV_2026_07_28));
    json_end_array(&w);
    json_key(&w, "requested");
    json_write_string_n(&w, asked.at, asked.len);
    json_end_object(&w);
    const char *data = json_writer_finish(&w) ? w.data : NULL;
    mcp_error(c, RPC_VERSION, data, "Protocol version \"%.*s\" is not served; \"%s\" is.", (int)(asked.len > 40 ? 40 : asked.len),
              asked.at, revision_name(REV_2026_07_28));
    json_writer_free(&w);
}

const json_value *mcp_claim(const json_value *params) {
    return json_member(json_member(params, "_meta"), META_PREFIX "protocolVersion");
}

const char *mcp_envelope_fault(const json_value *params) {
    const json_value *meta = json_member(params, "_meta");
    bool whole = json_is(mcp_claim(params), JSON_STRING) &&
                 json_is(json_member(meta, META_PREFIX "clientCapabilities"), JSON_OBJECT);
    return whole ? NULL
                 : "_meta needs " META_PREFIX "protocolVersion (a string) and " META_PREFIX
                   "clientCapabilities (an object).";
}

void mcp_take_trace(lastro_call *c, const char *traceparent, const char *tracestate) {
    size_t len = traceparent ? strlen(traceparent) : 0, state_len = tracestate ? strlen(tracestate) : 0;
    if (!trace_parent_valid(traceparent, len))
        return;
    c->trace = arena_strndup(&c->mem, traceparent, TRACE_PARENT);
    c->trace_state = trace_state_valid(tracestate, state_len) ? arena_strndup(&c->mem, tracestate, state_len) : NULL;
}

/* baggage is left alone: it is the user's, and what we ask is none of its addressees. */
static void read_trace(lastro_call *c) {
    const json_value *meta = json_member(c->params, "_meta");
    mcp_take_trace(c, json_str(json_member(meta, "traceparent")), json_str(json_member(meta, "tracestate")));
}

void mcp_read_envelope(lastro_call *c) {
    const json_value *meta = json_member(c->params, "_meta"), *level = json_member(meta, META_PREFIX "logLevel");
    read_trace(c);
    c->client = json_member(meta, META_PREFIX "clientCapabilities");
    if (level && log_level_of(json_str(level)) >= 0)
        c->log_level = log_level_of(json_str(level));
}

/* A request that carries its own envelope: served without state, before, after and between legacy traffic. */
static void serve_modern(lastro_call *c, const json_value *version) {
    const char *fault = mcp_envelope_fault(c->params);
    c->era = LASTRO_ERA_MODERN;
    c->rev = REV_2026_07_28;
    if (fault) {
        c->ending = PEER_REFUSED;
        mcp_error(c, RPC_PARAMS, NULL, "%s", fault);
        return;
    }
    if (!mcp_serves(version)) {
        mcp_refuse_version(c, version);
        return;
    }
    const json_value *level = json_member(json_member(c->params, "_meta"), META_PREFIX "logLevel");
    if (level && log_level_of(json_str(level)) < 0) {
        mcp_error(c, RPC_PARAMS, NULL, META_PREFIX "logLevel must be one of " LOG_LEVELS ".");
        return;
    }
    mcp_read_envelope(c);
    run_method(c, MODERN);
}

static void serve_legacy(lastro_call *c) {
    bool greets = strcmp(c->method, "initialize") == 0, pings = strcmp(c->method, "ping") == 0;
    read_trace(c);
    session_enter(c->session, c, greets || pings);
    if (greets || (c->rev == REV_NONE && pings)) {
        run_method(c, LEGACY);
    } else if (strcmp(c->method, "server/discover") == 0 && c->rev == REV_NONE) {
        mcp_error(c, RPC_PARAMS, NULL, "server/discover needs _meta with " META_PREFIX "protocolVersion and " META_PREFIX
                                       "clientCapabilities.");
    } else if (c->rev == REV_NONE) {
        mcp_error(c, RPC_REQUEST, NULL, "Send initialize first, or _meta with " META_PREFIX "protocolVersion \"%s\".",
                  revision_name(REV_2026_07_28));
    } else {
        run_method(c, LEGACY);
    }
}

static void serve_request(lastro_call *c, const rpc_message *m) {
    c->id = m->id;
    c->method = m->method;
    c->params = m->params;
    server_principal(c->srv, c->peer->principal ? c->peer->principal : c->session->principal, &c->principal);
    const json_value *meta = json_member(c->params, "_meta");
    const json_value *version = mcp_claim(c->params);
    const json_value *token = json_member(meta, "progressToken");
    if (json_is(token, JSON_STRING) || (json_is(token, JSON_NUMBER) && json_number_is_integer(token)))
        c->progress_token = token;
    if (version)
        serve_modern(c, version);
    else
        serve_legacy(c);
}

/* ---- other messages ---- */

static void take_notification(lastro_call *c, const rpc_message *m) {
    session *s = c->session;
    if (strcmp(m->method, "notifications/cancelled") == 0) {
        const json_value *id = json_member(m->params, "requestId");
        if (id && !server_cancel(c->srv, s, id))
            mcp_end_listener(s, id);
    } else if (strcmp(m->method, "notifications/initialized") == 0) {
        session_ready(s);
    }
    mcp_drop(c); /* whatever it was: notifications are never answered */
}

static void take_message(lastro_call *c, const json_value *v) {
    rpc_message m;
    rpc_read(v, &m);
    c->message = v;
    switch (m.kind) {
    case RPC_IS_REQUEST:
        serve_request(c, &m);
        break;
    case RPC_IS_NOTIFICATION:
        take_notification(c, &m);
        break;
    case RPC_IS_RESPONSE:
        mcp_take_response(c->session, &m);
        mcp_drop(c);
        break;
    case RPC_IS_INVALID:
        c->id = m.id;
        mcp_error(c, RPC_REQUEST, NULL, "Invalid request: %s.", m.fault);
        break;
    }
}

/* ---- batches, which only 2025-03-26 has ---- */

typedef struct {
    peer base; /* first */
    peer *outer;
    lastro_call *holder; /* owns the message's memory */
    pthread_mutex_t lock;
    json_writer out;
    unsigned users, answers;
} batch;

static void batch_send(peer *p, const char *json, size_t len, peer_kind kind) {
    batch *b = (batch *)p;
    if (kind == PEER_ASIDE) {
        b->outer->send(b->outer, json, len, PEER_ASIDE);
        return;
    }
    pthread_mutex_lock(&b->lock);
    if (b->answers++ == 0)
        json_begin_array(&b->out);
    json_write_raw(&b->out, json, len);
    pthread_mutex_unlock(&b->lock);
}

static bool batch_reaches(peer *p) {
    peer *outer = ((batch *)p)->outer;
    return !outer->reaches || outer->reaches(outer);
}

static void batch_retain(peer *p) {
    batch *b = (batch *)p;
    pthread_mutex_lock(&b->lock);
    b->users++;
    pthread_mutex_unlock(&b->lock);
}

static void batch_release(peer *p) {
    batch *b = (batch *)p;
    pthread_mutex_lock(&b->lock);
    bool last = --b->users == 0;
    pthread_mutex_unlock(&b->lock);
    if (!last)
        return;
    if (b->answers) {
        json_end_array(&b->out);
        if (json_writer_finish(&b->out))
            b->outer->send(b->outer, b->out.data, b->out.len, PEER_ANSWER);
    }
    mcp_drop(b->holder);
    json_writer_free(&b->out);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* Why nothing of a batch is run; NULL: it is. */
static const char *batch_fault(revision rev, const json_value *list) {
    if (rev != REV_2025_03_26)
        return "batches exist only in protocol 2025-03-26";
    if (!json_count(list))
        return "a batch must not be empty";
    for (json_iter it = json_iterate(list); json_next(&it);) {
        if (mcp_claim(json_member(it.value, "params"))) /* its subscription would keep the others' answers */
            return "a request with a protocol version of its own cannot be part of a batch";
        if (json_text_is(json_member(it.value, "method"), "initialize"))
            return "initialize cannot be part of a batch";
    }
    return NULL;
}

static void take_batch(lastro_call *holder, const json_value *list) {
    session *s = holder->session;
    pthread_mutex_lock(&s->lock);
    revision rev = s->rev;
    pthread_mutex_unlock(&s->lock);
    const char *fault = batch_fault(rev, list);
    batch *b = fault ? NULL : calloc(1, sizeof *b);
    if (!b) {
        mcp_error(holder, fault ? RPC_REQUEST : RPC_INTERNAL, NULL, "%s%s.", fault ? "Invalid request: " : "Out of memory",
                  fault ? fault : "");
        return;
    }
    *b = (batch){.base = {.send = batch_send, .retain = batch_retain, .release = batch_release, .reaches = batch_reaches, .principal = holder->peer->principal},
                 .outer = holder->peer, .holder = holder, .users = 1};
    pthread_mutex_init(&b->lock, NULL);
    json_writer_init(&b->out, 0);
    for (json_iter it = json_iterate(list); json_next(&it);) {
        lastro_call *c = call_get(s->srv);
        if (!c)
            break;
        c->session = s;
        c->peer = &b->base;
        c->trace = holder->trace; /* of the HTTP request; one of its own stands in _meta */
        c->trace_state = holder->trace_state;
        batch_retain(&b->base);
        take_message(c, it.value);
    }
    batch_release(&b->base);
}

/* ---- the door ---- */

static bool blank(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

lastro_call *mcp_begin(session *s, peer *p) {
    lastro_call *c = call_get(s->srv);
    if (!c) {
        log_error("out of memory: a message was dropped");
        return NULL;
    }
    c->session = s;
    c->peer = p;
    if (p->retain)
        p->retain(p);
    return c;
}

const json_value *mcp_parse(lastro_call *c, const char *text, size_t len) {
    json_limits limits = {.depth = MESSAGE_DEPTH, .last_wins = true}; /* as the clients' own JSON.parse */
    json_error err = {0};
    const json_value *v = json_read_copy(&c->mem, text, len, &limits, &err);
    if (!v)
        mcp_error(c, RPC_PARSE, NULL, "Parse error at byte %zu: %s", err.offset, err.text);
    return v;
}

void mcp_serve(lastro_call *c, const json_value *v) {
    if (json_is(v, JSON_ARRAY))
        take_batch(c, v);
    else
        take_message(c, v);
}

void mcp_receive(session *s, peer *p, const char *text, size_t len) {
    if (blank(text, len))
        return;
    lastro_call *c = mcp_begin(s, p);
    const json_value *v = c ? mcp_parse(c, text, len) : NULL;
    if (v)
        mcp_serve(c, v);
}

void mcp_refuse_long(session *s, peer *p, size_t limit) {
    lastro_call *c = mcp_begin(s, p);
    if (c)
        mcp_error(c, RPC_REQUEST, NULL, "Invalid request: the message is longer than %zu bytes.", limit);
}
