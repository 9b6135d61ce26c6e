/* SPDX-License-Identifier: MIT */
/* mcp_ask.c -- questions to the client while a call runs, and its answers. */
#include "fail.h"
#include "mcp_internal.h"
#include "mcp_question.h"
#include "mcp_state.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASKS_MOST = 16 }; /* questions to one client at once: more than people answer */

typedef struct pending_ask {
    struct pending_ask *next;
    int64_t number;
    char *answer;  /* JSON of the response; malloc'ed */
    size_t len;
    bool done, cancelled;
    session *session;
} pending_ask;

/* A client may declare what the revision that it speaks does not know. */
static revision known_since(const char *capability, const char *part) {
    if (strcmp(capability, "elicitation") != 0)
        return REV_2024_11_05;
    return part && strcmp(part, "url") == 0 ? REV_2025_11_25 : REV_2025_06_18;
}

/* Clients that write every member they know say null of what they have not. */
static const json_value *declared(const json_value *of, const char *name) {
    const json_value *v = json_member(of, name);
    return json_is(v, JSON_NULL) || (json_is(v, JSON_BOOL) && !json_bool(v)) ? NULL : v;
}

bool mcp_client_can(lastro_call *c, const char *capability, const char *part) {
    const json_value *has = declared(c->client, capability);
    if (c->era == LASTRO_ERA_SHELL || !has || c->rev < known_since(capability, part))
        return false;
    if (part && strcmp(capability, "elicitation") == 0 && strcmp(part, "form") == 0 && !declared(has, "url"))
        return true; /* before there were two kinds there was this one */
    return !part || declared(has, part);
}

/* What the client lacks for what is to be done (what: for people). */
static lastro_status lacks(lastro_call *c, const char *capability, const char *part, const char *what, lastro_error *err) {
    char buf[sizeof err->text];
    pthread_mutex_lock(&c->root->lock);
    c->root->lacking = arena_strndup(&c->mem, capability, strlen(capability)); /* a part's memory lives as long as its root */
    c->root->lacking_part = part ? arena_strndup(&c->mem, part, strlen(part)) : NULL;
    pthread_mutex_unlock(&c->root->lock);
    const char *key = strcmp(capability, "extensions") == 0 ? "client_lacks_extension" : "client_lacks";
    text_render(c->language, key, buf, sizeof buf,
                TEXT_PAIRS("tool", c->tool ? c->tool->name : c->method ? c->method : "", "method", what));
    /* before 2026 the protocol has no code for it, and a model can read a result better than a client an error */
    return fail(err, c->era == LASTRO_ERA_MODERN ? LASTRO_ECLIENT : LASTRO_EDENIED, "%s", buf);
}

lastro_status mcp_need_client(lastro_call *c, const char *capability, const char *part, lastro_error *err) {
    return mcp_client_can(c, capability, part) ? LASTRO_OK : lacks(c, capability, part, part ? part : capability, err);
}

static lastro_status check_askable(lastro_call *c, const question *q, lastro_error *err) {
    if (c->rev >= q->since && mcp_client_can(c, q->capability, q->part))
        return LASTRO_OK;
    bool plain = q->part && strcmp(q->part, "form") == 0; /* an elicitation without parts means it */
    return lacks(c, q->capability, plain ? NULL : q->part, q->method, err);
}

/* The modern era asks through the result: the handler runs again when the client has the answers. */
static lastro_status put_question(lastro_call *c, const char *name, const question *q, lastro_error *err) {
    lastro_call *root = c->root;
    const json_value *params = question_for(c, q, err);
    if (!params)
        return (lastro_status)err->status;
    call_question *k = arena_new(&c->mem, call_question); /* a part's memory lives as long as its root */
    const char *key = arena_strndup(&c->mem, name, strlen(name));
    if (!k || !key)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *k = (call_question){.key = key, .method = q->method, .params = params};
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

static lastro_status ask_modern(lastro_call *c, const char *key, const question *q, const json_value **ret, lastro_error *err) {
    bool fresh;
    if (c->root->method && strcmp(c->root->method, "completion/complete") == 0)
        return fail(err, LASTRO_EINTERNAL, "while it completes a word nothing can be asked in this protocol");
    const json_value *answer = mcp_answer_to(c->root, key, &fresh);
    const char *fault = answer ? question_fault(c, q, answer) : NULL;
    if (fault && fresh)
        return fail(err, LASTRO_EPARAMS, "inputResponses.%s is no answer to %s: %s", key, q->method, fault);
    if (!answer || fault) /* an earlier answer to what is another question by now is none */
        return put_question(c, key, q, err);
    if (fresh && !mcp_keep_answer(c->root, &c->mem, key, answer))
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *ret = answer;
    return LASTRO_OK;
}

void mcp_write_input_requests(lastro_call *c, json_writer *w) {
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
}

void mcp_write_questions(lastro_call *c) {
    json_writer *w = &c->out;
    lastro_error err;
    const char *state = mcp_make_state(c, &err);
    json_writer_reset(w);
    if (!state) {
        rpc_write_error(w, c->id, status_describe(err.status)->rpc, err.text, NULL);
        return;
    }
    rpc_begin_result(w, c->id);
    json_begin_object(w);
    surface_write_modern(c->srv->reg, w, c->rev, "input_required", CACHING_NONE);
    json_key(w, "inputRequests");
    mcp_write_input_requests(c, w);
    json_key(w, "requestState");
    json_write_string(w, state);
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

/* The client need not go on asking its user. It is told even when it has cancelled the call itself: that said nothing of
 * this request. */
static void take_back(lastro_call *c, int64_t number, const char *why) {
    json_writer w;
    json_writer_init(&w, 0);
    rpc_begin_notification(&w, "notifications/cancelled");
    json_begin_object(&w);
    json_key(&w, "requestId");
    json_write_int(&w, number);
    json_key(&w, "reason");
    json_write_string(&w, why);
    json_end_object(&w);
    rpc_end(&w);
    if (json_writer_finish(&w) && c->peer)
        c->peer->send(c->peer, w.data, w.len, PEER_ASIDE);
    json_writer_free(&w);
}

static void wake_ask(void *arg) {
    pending_ask *a = arg;
    pthread_mutex_lock(&a->session->lock);
    a->cancelled = true;
    pthread_cond_broadcast(&a->session->answered);
    pthread_mutex_unlock(&a->session->lock);
}

/* And gives back what begin_waiting took. */
static void wait_for_answer(lastro_call *c, pending_ask *a) {
    session *s = a->session;
    struct timespec until = {.tv_sec = (time_t)(c->deadline / 1000), .tv_nsec = (long)(c->deadline % 1000) * 1000000};
    int late = 0;
    pthread_mutex_lock(&s->lock);
    while (!a->done && !a->cancelled && !late)
        late = pthread_cond_timedwait(&s->answered, &s->lock, &until);
    for (pending_ask **at = &s->asks; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    pool_give_back(s->srv->pool);
}

static lastro_status refused(lastro_call *c, const question *q, const char *key, const char *why, lastro_error *err) {
    char buf[sizeof err->text];
    text_render(c->language, key, buf, sizeof buf,
                TEXT_PAIRS("tool", c->tool ? c->tool->name : c->method ? c->method : "", "method", q->method, "why", why));
    return fail(err, LASTRO_EDENIED, "%s", buf);
}

/* The response as an answer. */
static lastro_status read_answer(lastro_call *c, const question *q, const json_value *response, const json_value **ret,
                                 lastro_error *err) {
    const json_value *error = json_member(response, "error"), *result = json_member(response, "result");
    const char *said = json_str(json_member(error, "message"));
    if (error)
        return refused(c, q, "answer_error", said ? said : "?", err);
    const char *fault = question_fault(c, q, result);
    if (fault)
        return refused(c, q, "answer_unusable", fault, err);
    *ret = result;
    return LASTRO_OK;
}

/* A question that waits takes its worker from nobody: as many may wait as there are workers, and of one client a share. */
static bool begin_waiting(pending_ask *a) {
    session *s = a->session;
    bool lent = pool_lend(s->srv->pool);
    unsigned open = 0;
    pthread_mutex_lock(&s->lock);
    for (const pending_ask *other = s->asks; other; other = other->next)
        open++;
    bool ok = lent && open < ASKS_MOST;
    if (ok) {
        a->number = s->next_ask++;
        a->next = s->asks;
        s->asks = a;
    }
    pthread_mutex_unlock(&s->lock);
    if (lent && !ok)
        pool_give_back(s->srv->pool);
    return ok;
}

/* The legacy eras ask with a request of the server's own, on the same channel. */
static lastro_status ask_legacy(lastro_call *c, const question *q, const json_value **ret, lastro_error *err) {
    pending_ask a = {.session = c->session};
    cancel_waiter waiter = {.wake = wake_ask, .arg = &a};
    const json_value *params = question_for(c, q, err);
    if (!params)
        return (lastro_status)err->status;
    peer *p = c->root->peer;
    if (p && p->reaches && !p->reaches(p))
        return refused(c, q, "client_unreachable", "", err);
    if (!cancel_listen(c->cancel_of, &waiter))
        return LASTRO_ECANCELLED;
    if (!begin_waiting(&a)) {
        cancel_forget(c->cancel_of, &waiter);
        return refused(c, q, "too_many_questions", "", err);
    }
    send_question(c, a.number, q->method, params);
    wait_for_answer(c, &a);
    cancel_forget(c->cancel_of, &waiter);
    if (!a.done) {
        free(a.answer);
        take_back(c, a.number, a.cancelled ? "the call that asked was cancelled" : "the call that asked has no time left");
        return a.cancelled ? LASTRO_ECANCELLED : LASTRO_EDEADLINE;
    }
    const json_value *v = a.answer ? json_read_copy(&c->mem, a.answer, a.len, NULL, NULL) : NULL;
    free(a.answer);
    return v ? read_answer(c, q, v, ret, err) : fail(err, LASTRO_ENOMEM, "out of memory");
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

lastro_status mcp_ask(lastro_call *c, const lastro_question *asked, const json_value **ret, lastro_error *err) {
    question q;
    lastro_error own;
    if (!err)
        err = &own;
    lastro_status s = question_read(c, asked, &q, err);
    if (!s)
        s = check_askable(c, &q, err);
    if (!s)
        s = c->era == LASTRO_ERA_MODERN ? ask_modern(c, asked->key, &q, ret, err) : ask_legacy(c, &q, ret, err);
    question_release(&q);
    return s;
}
