/* SPDX-License-Identifier: MIT */
/* mcp_tools.c -- tools/call, and what goes to the client while a call runs: progress, log, questions. */
#include "clock.h"
#include "fail.h"
#include "log.h"
#include "mcp_internal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- tools/call ---- */

static void write_meta(lastro_call *c, bool told) {
    json_writer *w = &c->out;
    json_key(w, "_meta");
    json_begin_object(w);
    if (c->rev >= REV_2026_07_28) {
        json_key(w, META_PREFIX "serverInfo");
        surface_write_identity(c->srv->reg, w, c->rev);
    }
    call_write_meta(c, w, told);
    json_end_object(w);
}

static void write_outcome(lastro_call *c, run_outcome outcome, const char *text) {
    json_writer *w = &c->out;
    rpc_begin_result(w, c->id);
    json_begin_object(w);
    if (c->rev >= REV_2026_07_28) {
        json_key(w, "resultType");
        json_write_string(w, "complete");
    }
    call_write_result(c, w, outcome, text);
    write_meta(c, outcome == RUN_TOLD);
    mcp_end_result(c);
}

/* {"requiredCapabilities": {NAME: {}}}, as -32021 wants it. */
const char *mcp_error_data(lastro_call *c, int32_t status) {
    if (status != LASTRO_ECLIENT || !c->lacking)
        return NULL;
    if (c->lacking_part)
        return arena_printf(&c->mem, "{\"requiredCapabilities\":{\"%s\":{\"%s\":{}}}}", c->lacking, c->lacking_part);
    return arena_printf(&c->mem, "{\"requiredCapabilities\":{\"%s\":{}}}", c->lacking);
}

static void run(lastro_call *c) {
    if (atomic_load(&c->silent)) { /* cancelled while it waited for a worker */
        mcp_drop(c);
        return;
    }
    lastro_error err;
    run_outcome outcome = call_run_tool(c, &err);
    switch (outcome) {
    case RUN_CANCELLED:
        mcp_drop(c);
        return;
    case RUN_ERROR:
        mcp_error(c, status_describe(err.status)->rpc, mcp_error_data(c, err.status), "%s", err.text);
        return;
    case RUN_ASK:
        mcp_write_questions(c);
        break;
    case RUN_RESULT:
    case RUN_TOLD:
        write_outcome(c, outcome, err.text);
        break;
    }
    mcp_answer(c);
}

static void run_job(pool_job *job) {
    run((lastro_call *)job);
}

static const json_value *empty_object(void) {
    static const json_value empty = {.tag = JSON_OBJECT, .u.span = 1};
    return &empty;
}

void mcp_call_tool(lastro_call *c) {
    const json_value *name = json_member(c->params, "name"), *args = json_member(c->params, "arguments");
    json_text n = json_text_of(name);
    if (!json_is(name, JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL, "tools/call needs name, a string.");
        return;
    }
    c->tool = registry_tool(c->srv->reg, n.at, n.len);
    if (!c->tool) {
        mcp_error(c, RPC_PARAMS, NULL, "Unknown tool \"%.128s\"%s; tools/list says which there are.", n.at,
                  registry_tool_is_disabled(c->srv->reg, n.at, n.len) ? " (it is not enabled here)" : "");
        return;
    }
    if (args && !json_is(args, JSON_OBJECT)) {
        mcp_error(c, RPC_PARAMS, NULL, "arguments must be an object.");
        return;
    }
    c->args = args ? args : empty_object();
    server_track(c);
    if (c->tool->def->flags & LASTRO_TOOL_QUICK) {
        run(c);
        return;
    }
    c->job.run = run_job;
    pool_submit(c->srv->pool, &c->job);
}

/* ---- while it runs ---- */

static void send_and_free(lastro_call *c, json_writer *w) {
    if (json_writer_finish(w) && c->peer && !atomic_load(&c->root->silent))
        c->peer->send(c->peer, w->data, w->len, PEER_ASIDE);
    json_writer_free(w);
}

void mcp_notify_progress(lastro_call *c, double done, double total, const char *message) {
    if (!c->progress_token || !c->peer)
        return;
    json_writer w;
    json_writer_init(&w, 0);
    rpc_begin_notification(&w, "notifications/progress");
    json_begin_object(&w);
    json_key(&w, "progressToken");
    json_write_value(&w, c->progress_token);
    json_key(&w, "progress");
    json_write_double(&w, done);
    if (total > 0) {
        json_key(&w, "total");
        json_write_double(&w, total);
    }
    if (message && c->rev >= REV_2025_03_26) {
        json_key(&w, "message");
        json_write_string(&w, message);
    }
    json_end_object(&w);
    rpc_end(&w);
    send_and_free(c, &w);
}

void mcp_notify_log(lastro_call *c, int32_t level, const char *logger, const char *message) {
    if (c->log_level > LASTRO_LOG_ERROR || level < c->log_level || !c->peer)
        return;
    json_writer w;
    json_writer_init(&w, 0);
    rpc_begin_notification(&w, "notifications/message");
    json_begin_object(&w);
    json_key(&w, "level");
    json_write_string(&w, log_level_name(level));
    json_key(&w, "logger");
    json_write_string(&w, logger);
    json_key(&w, "data");
    json_write_string(&w, message);
    json_end_object(&w);
    rpc_end(&w);
    send_and_free(c, &w);
}

/* ---- questions to the client ---- */

static const struct {
    const char *method, *capability;
    revision since;
} askable[] = {
    {"elicitation/create", "elicitation", REV_2025_06_18},
    {"sampling/createMessage", "sampling", REV_2024_11_05},
    {"roots/list", "roots", REV_2024_11_05},
};

typedef struct pending_ask {
    struct pending_ask *next;
    int64_t number;
    char *answer;  /* JSON of the response; malloc'ed */
    size_t len;
    bool done, cancelled;
    session *session;
} pending_ask;

bool mcp_client_can(lastro_call *c, const char *capability, const char *part) {
    const json_value *has = json_member(c->client, capability);
    if (c->era == LASTRO_ERA_SHELL || !has)
        return false;
    if (part && strcmp(capability, "elicitation") == 0 && strcmp(part, "form") == 0 && !json_member(has, "url"))
        return true; /* before there were two kinds there was this one */
    return !part || json_member(has, part);
}

/* What the client lacks for what is to be done (what: for people). */
static lastro_status lacks(lastro_call *c, const char *capability, const char *part, const char *what, lastro_error *err) {
    char buf[sizeof err->text];
    pthread_mutex_lock(&c->root->lock);
    c->root->lacking = arena_strndup(&c->mem, capability, strlen(capability)); /* a part's memory lives as long as its root */
    c->root->lacking_part = part ? arena_strndup(&c->mem, part, strlen(part)) : NULL;
    pthread_mutex_unlock(&c->root->lock);
    text_render(c->language, "client_lacks", buf, sizeof buf,
                TEXT_PAIRS("tool", c->tool ? c->tool->name : c->method ? c->method : "", "method", what));
    /* before 2026 the protocol has no code for it, and a model can read a result better than a client an error */
    return fail(err, c->era == LASTRO_ERA_MODERN ? LASTRO_ECLIENT : LASTRO_EDENIED, "%s", buf);
}

lastro_status mcp_need_client(lastro_call *c, const char *capability, const char *part, lastro_error *err) {
    return mcp_client_can(c, capability, part) ? LASTRO_OK : lacks(c, capability, part, part ? part : capability, err);
}

static lastro_status check_askable(lastro_call *c, const lastro_question *q, const json_value *params, lastro_error *err) {
    for (size_t i = 0; i < sizeof askable / sizeof *askable; i++) {
        if (strcmp(askable[i].method, q->method) != 0)
            continue;
        const char *part = strcmp(q->method, "elicitation/create") != 0         ? NULL
                           : json_text_is(json_member(params, "mode"), "url") ? "url"
                                                                               : "form";
        if (c->rev >= askable[i].since && mcp_client_can(c, askable[i].capability, part))
            return LASTRO_OK;
        return lacks(c, askable[i].capability, part && strcmp(part, "url") == 0 ? part : NULL, q->method, err);
    }
    return fail(err, LASTRO_EINTERNAL, "\"%s\" is nothing a client can be asked", q->method);
}

/* The modern era asks through the result: the handler runs again when the client has the answers. */
static lastro_status ask_modern(lastro_call *c, const lastro_question *q, const json_value *params,
                                const json_value **ret, lastro_error *err) {
    lastro_call *root = c->root;
    const json_value *answer = json_member(root->answers, q->key);
    if (answer) {
        *ret = answer;
        return LASTRO_OK;
    }
    call_question *k = arena_new(&c->mem, call_question); /* a part's memory lives as long as its root */
    const char *key = arena_strndup(&c->mem, q->key, strlen(q->key));
    const char *how = arena_strndup(&c->mem, q->method, strlen(q->method));
    if (!k || !key || !how)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *k = (call_question){.key = key, .method = how, .params = params};
    pthread_mutex_lock(&root->lock);
    const call_question *other = root->questions;
    while (other && strcmp(other->key, key) != 0)
        other = other->next;
    if (!other) { /* parts may ask the same: it is one question */
        *root->questions_end = k;
        root->questions_end = &k->next;
    }
    pthread_mutex_unlock(&root->lock);
    return LASTRO_EASK;
}

void mcp_write_questions(lastro_call *c) {
    json_writer *w = &c->out;
    json_writer_reset(w);
    rpc_begin_result(w, c->id);
    json_begin_object(w);
    surface_write_modern(c->srv->reg, w, c->rev, "input_required", false);
    json_key(w, "inputRequests");
    json_begin_object(w);
    for (call_question *q = c->questions; q; q = q->next) {
        json_key(w, q->key);
        json_begin_object(w);
        json_key(w, "method");
        json_write_string(w, q->method);
        json_key(w, "params");
        json_write_value(w, q->params);
        json_end_object(w);
    }
    json_end_object(w);
    mcp_end_result(c);
}

static void send_question(lastro_call *c, int64_t number, const char *how, const json_value *params) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "jsonrpc");
    json_write_string(&w, "2.0");
    json_key(&w, "id");
    json_write_int(&w, number);
    json_key(&w, "method");
    json_write_string(&w, how);
    json_key(&w, "params");
    json_write_value(&w, params);
    json_end_object(&w);
    send_and_free(c, &w);
}

static void wake_ask(void *arg) {
    pending_ask *a = arg;
    pthread_mutex_lock(&a->session->lock);
    a->cancelled = true;
    pthread_cond_broadcast(&a->session->answered);
    pthread_mutex_unlock(&a->session->lock);
}

static void wait_for_answer(lastro_call *c, pending_ask *a) {
    session *s = a->session;
    struct timespec until = {.tv_sec = (time_t)(c->deadline / 1000), .tv_nsec = (long)(c->deadline % 1000) * 1000000};
    int late = 0;
    while (!a->done && !a->cancelled && !late)
        late = pthread_cond_timedwait(&s->answered, &s->lock, &until);
    for (pending_ask **at = &s->asks; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
}

/* The legacy eras ask with a request of the server's own, on the same channel. */
static lastro_status ask_legacy(lastro_call *c, const lastro_question *q, const json_value *params,
                                const json_value **ret, lastro_error *err) {
    session *s = c->session;
    pending_ask a = {.session = s};
    cancel_waiter waiter = {.wake = wake_ask, .arg = &a};
    if (!cancel_listen(c->cancel_of, &waiter))
        return LASTRO_ECANCELLED;
    pthread_mutex_lock(&s->lock);
    a.number = s->next_ask++;
    a.next = s->asks;
    s->asks = &a;
    pthread_mutex_unlock(&s->lock);
    send_question(c, a.number, q->method, params);
    pthread_mutex_lock(&s->lock);
    wait_for_answer(c, &a);
    pthread_mutex_unlock(&s->lock);
    cancel_forget(c->cancel_of, &waiter);
    if (!a.done) {
        free(a.answer);
        return a.cancelled ? LASTRO_ECANCELLED : LASTRO_EDEADLINE;
    }
    const json_value *v = a.answer ? json_read_copy(&c->mem, a.answer, a.len, NULL, NULL) : NULL;
    free(a.answer);
    if (!v)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    const char *refusal = json_str(json_member(json_member(v, "error"), "message"));
    if (json_member(v, "error"))
        return fail(err, LASTRO_EDENIED, "the client answered %s with an error: %s", q->method, refusal ? refusal : "");
    *ret = json_member(v, "result");
    return LASTRO_OK;
}

void mcp_take_response(session *s, const rpc_message *m) {
    int64_t number;
    if (!json_int64(m->id, &number))
        return;
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, m->error ? "error" : "result");
    json_write_value(&w, m->error ? m->error : m->result);
    json_end_object(&w);
    bool ok = json_writer_finish(&w);
    pthread_mutex_lock(&s->lock);
    for (pending_ask *a = s->asks; a; a = a->next)
        if (a->number == number && !a->done) {
            a->done = true;
            if (ok) {
                a->answer = w.data;
                a->len = w.len;
                w.data = NULL; /* handed over */
            }
            pthread_cond_broadcast(&s->answered);
            break;
        }
    pthread_mutex_unlock(&s->lock);
    json_writer_free(&w);
}

lastro_status mcp_ask(lastro_call *c, const lastro_question *q, const json_value **ret, lastro_error *err) {
    json_error at;
    if (!q->key || !q->method)
        return fail(err, LASTRO_EINTERNAL, "a question needs key and method");
    const char *text = q->params ? q->params : "{}";
    const json_value *params = json_read_copy(&c->mem, text, strlen(text), NULL, &at);
    if (!params)
        return fail(err, LASTRO_EINTERNAL, "params of the question \"%s\": %s", q->key, at.text);
    lastro_status s = check_askable(c, q, params, err);
    if (s)
        return s;
    return c->era == LASTRO_ERA_MODERN ? ask_modern(c, q, params, ret, err) : ask_legacy(c, q, params, ret, err);
}
