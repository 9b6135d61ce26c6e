/* SPDX-License-Identifier: MIT */
/* mcp_tasks.c -- the extension io.modelcontextprotocol/tasks: calls of tools that become tasks, and the three methods by
 * which their clients follow them. A call that became a task answers to it instead of its request: it has no id, no
 * session and no peer any more, but it is tracked like any other, so that the server's end waits for it or cancels it.
 * Locks, in this order: a call's own, then the server's or the store's. */
#include "fail.h"
#include "log.h"
#include "mcp_internal.h"
#include "mcp_question.h"
#include "mcp_state.h"
#include "tasks.h"
#include "text.h"

#include <string.h>

#define EXTENSION META_PREFIX "tasks"

static bool knows_tasks(lastro_call *c) {
    return c->era == LASTRO_ERA_MODERN && mcp_client_can(c, "extensions", EXTENSION);
}

/* ---- a call becomes a task ---- */

static bool write_created(lastro_call *c, task *t, json_writer *w) {
    rpc_begin_result(w, c->id);
    json_begin_object(w);
    surface_write_modern(c->srv->reg, w, c->rev, "task", CACHING_NONE);
    task_write(t, w, TASK_HANDLE);
    json_end_object(w);
    rpc_end(w);
    return json_writer_finish(w);
}

/* The request of c is answered with the task; its peer, or NULL: it was cancelled before. */
static peer *detach(lastro_call *c, task *t) {
    pthread_mutex_lock(&c->lock); /* progress and log of the call look at its peer under it */
    peer *p = server_detach(c);
    if (p)
        c->task = t;
    pthread_mutex_unlock(&c->lock);
    return p;
}

/* False: no task could be made. When the client has cancelled the request meanwhile nothing changes. */
static bool become(lastro_call *c, const char *message, lastro_error *err) {
    char *principal = arena_strndup(&c->mem, c->principal.name, strlen(c->principal.name)); /* it may be the peer's */
    if (!principal)
        return fail(err, LASTRO_ENOMEM, "out of memory"), false;
    task *t = tasks_open(c->srv->tasks, principal, message, err);
    if (!t)
        return false;
    json_writer w;
    json_writer_init(&w, 0);
    bool written = write_created(c, t, &w);
    peer *p = written ? detach(c, t) : NULL;
    if (p) {
        c->principal.name = principal;
        if (!c->tool->def->deadline_ms)
            c->deadline = task_deadline(t);
        task_run(t, &c->cancel);
        p->send(p, w.data, w.len, PEER_ANSWER);
        if (p->release)
            p->release(p);
    } else {
        task_forget(t);
    }
    json_writer_free(&w);
    return written || (fail(err, LASTRO_ENOMEM, "out of memory"), false);
}

void mcp_task(lastro_call *c, const char *message) {
    if (c->task) {
        task_say(c->task, message);
        return;
    }
    if (c->root != c || !c->tool || !(c->tool->def->flags & REGISTRY_TASK_FLAGS) || !knows_tasks(c))
        return;
    lastro_error err = {0};
    c->lent = pool_lend(c->srv->pool);
    if (!c->lent)
        fail(&err, LASTRO_ELIMIT, "as many tasks as there may be have taken a worker");
    if (!c->lent || !become(c, message, &err))
        log_notice("a call of %s is answered when it ends, not as a task: %s", c->tool->name, err.text);
    if (c->lent && !c->task) {
        pool_give_back(c->srv->pool);
        c->lent = false;
    }
}

/* The call ends with what a tool tells inside its result, or with an error. */
static void refuse(lastro_call *c, const lastro_error *err) {
    int code = status_describe(err->status)->rpc;
    if (code) {
        mcp_error(c, code, mcp_error_data(c, err->status), "%s", err->text);
        return;
    }
    rpc_begin_result(&c->out, c->id);
    mcp_write_tool_result(c, &c->out, RUN_TOLD, err->text);
    rpc_end(&c->out);
    mcp_answer(c);
}

bool mcp_start_task(lastro_call *c) {
    bool only = c->tool->def->flags & LASTRO_TOOL_TASK_ONLY;
    lastro_error err = {0};
    c->owner = c->tool->owner;
    c->language = c->tool->language;
    if (!knows_tasks(c)) {
        if (!only || mcp_need_client(c, "extensions", EXTENSION, &err) == LASTRO_OK)
            return true;
    } else if (become(c, NULL, &err)) {
        return true;
    } else {
        log_warning("a call of %s becomes no task: %s", c->tool->name, err.text);
        if (!only)
            return true; /* it is answered when it ends */
        if (err.status == LASTRO_ELIMIT)
            text_render(c->language, "tasks_full", err.text, sizeof err.text, TEXT_PAIRS("tool", c->tool->name));
    }
    refuse(c, &err);
    return false;
}

void mcp_task_progress(lastro_call *c, const char *message) {
    pthread_mutex_lock(&c->root->lock);
    task *t = c->root->task;
    pthread_mutex_unlock(&c->root->lock);
    if (t)
        task_say(t, message);
}

/* ---- the end of a run ---- */

/* What was written into w as the task's outcome; w is empty then. */
static void settle(task *t, task_state state, json_writer *w, const char *message) {
    static const char broken[] = "The outcome could not be written; the server's log says why.";
    if (!json_writer_finish(w)) {
        log_error("the outcome of a task could not be written: %s", json_fault_text(w->fault));
        json_writer_reset(w);
        rpc_write_error_object(w, RPC_INTERNAL, broken, NULL);
        state = TASK_FAILED;
        message = broken;
    }
    char *json = json_writer_finish(w) ? w->data : NULL;
    size_t len = w->len;
    if (json)
        json_writer_init(w, 0); /* handed over */
    task_settle(t, state, json, len, message);
}

static void put(json_writer *w, const char *key, const char *text) {
    json_key(w, key);
    json_write_string(w, text);
}

/* What the next run needs: {"params", "answers"}, and the trace, which may have come in a header. */
static void write_request(const lastro_call *c, json_writer *w) {
    json_begin_object(w);
    json_key(w, "params");
    json_write_value(w, c->params);
    json_key(w, "answers");
    mcp_write_answers(c, w);
    if (c->trace)
        put(w, "traceparent", c->trace);
    if (c->trace_state)
        put(w, "tracestate", c->trace_state);
    json_end_object(w);
}

static void park(lastro_call *c) {
    json_writer request;
    json_writer_init(&request, 0);
    write_request(c, &request);
    json_writer_reset(&c->structured); /* what was begun of the result */
    c->structured.limit = 0;
    mcp_write_input_requests(c, &c->structured);
    const json_value *questions = json_writer_finish(&c->structured)
                                      ? json_read_copy(&c->mem, c->structured.data, c->structured.len, NULL, NULL)
                                      : NULL;
    if (json_writer_finish(&request) && questions) {
        task_park(c->task, request.data, request.len, questions);
    } else {
        json_writer_reset(&c->out);
        rpc_write_error_object(&c->out, RPC_INTERNAL, "The questions of the tool could not be kept.", NULL);
        settle(c->task, TASK_FAILED, &c->out, NULL);
    }
    json_writer_free(&request);
}

void mcp_end_task_run(lastro_call *c, run_outcome outcome, const lastro_error *err) {
    json_writer *w = &c->out;
    task *t = c->task;
    json_writer_reset(w);
    if (outcome != RUN_RESULT && cancel_raised(&c->cancel))
        outcome = RUN_CANCELLED;
    switch (outcome) {
    case RUN_CANCELLED:
        task_settle(t, TASK_CANCELLED, NULL, 0, NULL);
        break;
    case RUN_ASK:
        park(c);
        break;
    case RUN_ERROR:
        rpc_write_error_object(w, status_describe(err->status)->rpc, err->text, mcp_error_data(c, err->status));
        settle(t, TASK_FAILED, w, err->text);
        break;
    case RUN_RESULT:
    case RUN_TOLD:
        mcp_write_tool_result(c, w, outcome, err->text);
        settle(t, TASK_COMPLETED, w, NULL);
        break;
    }
    c->task = NULL;
    if (c->lent)
        pool_give_back(c->srv->pool);
    mcp_drop(c);
}

/* ---- another run, when the questions are answered ---- */

/* The call as it was, with all answers. False with err: out of memory, or the tool is no more. */
static bool restore(lastro_call *c, lastro_error *err) {
    json_text kept = task_request(c->task);
    const json_value *request = json_read_copy(&c->mem, kept.at, kept.len, NULL, NULL);
    json_writer *w = &c->structured;
    json_begin_object(w);
    for (json_iter it = json_iterate(json_member(request, "answers")); json_next(&it);) {
        json_text key = json_text_of(it.key);
        json_key_n(w, key.at, key.len);
        json_write_value(w, it.value);
    }
    task_write_answers(c->task, w);
    json_end_object(w);
    c->params = json_member(request, "params");
    c->earlier = json_writer_finish(w) ? json_read_copy(&c->mem, w->data, w->len, NULL, NULL) : NULL;
    json_writer_reset(w);
    if (!c->params || !c->earlier)
        return fail(err, LASTRO_ENOMEM, "out of memory"), false;
    mcp_read_envelope(c);
    mcp_take_trace(c, json_str(json_member(request, "traceparent")), json_str(json_member(request, "tracestate")));
    return mcp_read_tool(c, err);
}

static void run_again(pool_job *job) {
    lastro_call *c = (lastro_call *)job;
    lastro_error err;
    if (restore(c, &err))
        mcp_run_tool(c);
    else
        mcp_end_task_run(c, RUN_ERROR, &err);
}

static void start_run(server *srv, task *t) {
    lastro_call *c = call_get(srv);
    if (!c) {
        task_settle(t, TASK_FAILED, NULL, 0, "out of memory");
        return;
    }
    c->task = t;
    c->era = LASTRO_ERA_MODERN;
    c->rev = REV_2026_07_28;
    c->method = "tools/call";
    c->deadline = task_deadline(t);
    server_principal(srv, task_principal(t), &c->principal);
    task_run(t, &c->cancel);
    server_track(c);
    c->job.run = run_again;
    pool_submit(srv->task_pool, &c->job);
}

/* ---- the methods ---- */

/* The task that the request names; NULL: the call has ended with an error. */
static task *named(lastro_call *c) {
    const json_value *id = json_member(c->params, "taskId");
    json_text text = json_text_of(id);
    lastro_error err = {0};
    if (mcp_need_client(c, "extensions", EXTENSION, &err) != LASTRO_OK) {
        mcp_error(c, RPC_CLIENT, mcp_error_data(c, err.status), "%s", err.text);
        return NULL;
    }
    if (!json_is(id, JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL, "%s needs taskId, a string.", c->method);
        return NULL;
    }
    task *t = tasks_find(c->srv->tasks, text.at, text.len, c->principal.name);
    if (!t)
        mcp_error(c, RPC_PARAMS, NULL,
                  "There is no task \"%.64s\": it never was, or it is over and was kept for as long as its ttlMs said. Call the "
                  "tool again if its result is still wanted.",
                  text.at);
    return t;
}

static void acknowledge(lastro_call *c) {
    mcp_begin_result(c, CACHING_NONE);
    mcp_end_result(c);
    mcp_answer(c);
}

void mcp_get_task(lastro_call *c) {
    task *t = named(c);
    if (!t)
        return;
    mcp_begin_result(c, CACHING_NONE);
    task_write(t, &c->out, TASK_FETCHED);
    mcp_end_result(c);
    task_release(t);
    mcp_answer(c);
}

void mcp_cancel_task(lastro_call *c) {
    task *t = named(c);
    if (!t)
        return;
    task_cancel(t);
    task_release(t);
    acknowledge(c);
}

/* What is wrong with the answer to an open question of t, in the call's memory; NULL: nothing, or none is open there. */
static const char *answer_fault(lastro_call *c, task *t, json_text key, const json_value *answer) {
    const json_value *open = task_question(t, key.at, key.len, &c->mem);
    lastro_error err;
    question q;
    if (!open)
        return NULL;
    lastro_question asked = {.size = sizeof asked,
                             .key = key.at,
                             .method = json_str(json_member(open, "method")),
                             .params = c->srv->host.to_json(c, json_member(open, "params")).at};
    const char *fault = question_read(c, &asked, &q, &err) == LASTRO_OK ? question_fault(c, &q, answer) : NULL;
    question_release(&q);
    return fault ? arena_printf(&c->mem, "is no answer to %s: %s", asked.method, fault) : NULL;
}

/* False: the call has ended with an error, and no answer is taken. */
static bool good_answers(lastro_call *c, task *t, const json_value *answers) {
    const char *fault = NULL;
    json_text key = {0};
    for (json_iter it = json_iterate(answers); !fault && json_next(&it);) {
        key = json_text_of(it.key);
        fault = answer_fault(c, t, key, it.value);
    }
    if (fault)
        mcp_error(c, RPC_PARAMS, NULL, "inputResponses.%.100s %s (No answer was taken: send them all again.)", key.at, fault);
    return !fault;
}

void mcp_update_task(lastro_call *c) {
    const json_value *answers = json_member(c->params, "inputResponses");
    lastro_error err = {0};
    bool run = false;
    task *t = named(c);
    if (!t)
        return;
    if (!json_is(answers, JSON_OBJECT)) {
        task_release(t);
        mcp_error(c, RPC_PARAMS, NULL, "tasks/update needs inputResponses, an object: an answer for each key of inputRequests.");
        return;
    }
    if (!good_answers(c, t, answers)) {
        task_release(t);
        return;
    }
    lastro_status s = task_answer(t, answers, &run, &err);
    if (run)
        start_run(c->srv, t);
    task_release(t);
    if (s)
        mcp_error(c, RPC_INTERNAL, NULL, "%s", err.text);
    else
        acknowledge(c);
}
