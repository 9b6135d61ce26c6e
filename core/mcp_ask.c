/* SPDX-License-Identifier: MIT */
/* mcp_ask.c -- questions to the client while a call runs, and its answers. */
#include "fail.h"
#include "mcp_internal.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    mcp_send_aside(c, &w);
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
