/* SPDX-License-Identifier: MIT */
/* mcp_tools.c -- tools/call, and what goes to the client while a call runs: progress and log. */
#include "clock.h"
#include "fail.h"
#include "log.h"
#include "mcp_internal.h"
#include "mcp_state.h"

#include <math.h>

/* ---- tools/call ---- */

static void write_meta(lastro_call *c, json_writer *w, bool told) {
    json_key(w, "_meta");
    json_begin_object(w);
    if (c->rev >= REV_2026_07_28) {
        json_key(w, META_PREFIX "serverInfo");
        surface_write_identity(c->srv->reg, w, c->rev);
    }
    call_write_meta(c, w, told);
    json_end_object(w);
}

void mcp_write_tool_result(lastro_call *c, json_writer *w, run_outcome outcome, const char *text) {
    json_begin_object(w);
    if (c->rev >= REV_2026_07_28) {
        json_key(w, "resultType");
        json_write_string(w, "complete");
    }
    call_write_result(c, w, outcome, text);
    write_meta(c, w, outcome == RUN_TOLD);
    json_end_object(w);
}

/* {"requiredCapabilities": {NAME: {}}}, as -32021 wants it. */
const char *mcp_error_data(lastro_call *c, int32_t status) {
    if (status != LASTRO_ECLIENT || !c->lacking)
        return NULL;
    if (c->lacking_part)
        return arena_printf(&c->mem, "{\"requiredCapabilities\":{\"%s\":{\"%s\":{}}}}", c->lacking, c->lacking_part);
    return arena_printf(&c->mem, "{\"requiredCapabilities\":{\"%s\":{}}}", c->lacking);
}

static void answer(lastro_call *c, run_outcome outcome, const lastro_error *err) {
    switch (outcome) {
    case RUN_CANCELLED:
        mcp_drop(c);
        return;
    case RUN_ERROR:
        mcp_error(c, status_describe(err->status)->rpc, mcp_error_data(c, err->status), "%s", err->text);
        return;
    case RUN_ASK:
        mcp_write_questions(c);
        break;
    case RUN_RESULT:
    case RUN_TOLD:
        rpc_begin_result(&c->out, c->id);
        mcp_write_tool_result(c, &c->out, outcome, err->text);
        rpc_end(&c->out);
        break;
    }
    mcp_answer(c);
}

void mcp_run_tool(lastro_call *c) {
    bool unwanted = c->task ? cancel_raised(&c->cancel) : atomic_load(&c->silent); /* while it waited for a worker */
    lastro_error err;
    log_trace before = log_trace_begin(c->trace);
    run_outcome outcome = unwanted ? RUN_CANCELLED : call_run_tool(c, &err);
    if (c->task)
        mcp_end_task_run(c, outcome, &err);
    else
        answer(c, outcome, &err);
    log_trace_end(before);
}

static void run_job(pool_job *job) {
    mcp_run_tool((lastro_call *)job);
}

static const json_value *empty_object(void) {
    static const json_value empty = {.tag = JSON_OBJECT, .u.span = 1};
    return &empty;
}

bool mcp_read_tool(lastro_call *c, lastro_error *err) {
    const json_value *name = json_member(c->params, "name"), *args = json_member(c->params, "arguments");
    json_text n = json_text_of(name);
    if (!json_is(name, JSON_STRING))
        return fail(err, LASTRO_EPARAMS, "tools/call needs name, a string."), false;
    c->tool = registry_tool(c->srv->reg, n.at, n.len);
    if (!c->tool)
        return fail(err, LASTRO_EPARAMS, "Unknown tool \"%.128s\"%s; tools/list says which there are.", n.at,
                    registry_tool_is_disabled(c->srv->reg, n.at, n.len) ? " (it is not enabled here)" : ""),
               false;
    if (args && !json_is(args, JSON_OBJECT))
        return fail(err, LASTRO_EPARAMS, "arguments must be an object."), false;
    c->args = args ? args : empty_object();
    return true;
}

void mcp_call_tool(lastro_call *c) {
    lastro_error err;
    if (!mcp_read_tool(c, &err)) {
        mcp_error(c, RPC_PARAMS, NULL, "%s", err.text);
        return;
    }
    if (!mcp_take_answers(c))
        return;
    server_track(c);
    if (c->tool->def->flags & LASTRO_TOOL_QUICK) {
        mcp_run_tool(c);
        return;
    }
    if (c->tool->def->flags & (LASTRO_TOOL_TASK | LASTRO_TOOL_TASK_ONLY) && !mcp_start_task(c))
        return;
    c->job.run = run_job;
    if (c->task)
        pool_submit(c->srv->task_pool, &c->job); /* the store bounds those */
    else
        mcp_submit(c);
}

/* ---- while it runs ---- */

/* With the root's lock held: against its becoming a task, after which nothing more goes to that peer. */
static void send_from(lastro_call *root, json_writer *w) {
    if (json_writer_finish(w) && root->peer && !atomic_load(&root->silent))
        root->peer->send(root->peer, w->data, w->len, PEER_ASIDE);
}

void mcp_send_aside(lastro_call *c, json_writer *w) {
    pthread_mutex_lock(&c->root->lock);
    send_from(c->root, w);
    pthread_mutex_unlock(&c->root->lock);
    json_writer_free(w);
}

enum { PROGRESS_BURST = 32, PROGRESS_PER_SECOND = 20 };

/* Progress must grow with each notification, whichever part tells it; and more of them than anybody can look at are left
 * out, save what says that the end is reached. With the root's lock held. */
static bool is_worth_telling(lastro_call *root, double done, double total) {
    int64_t now = clock_mono_ms();
    bool first = root->progress_at == 0;
    double room = first ? PROGRESS_BURST
                        : root->progress_room + (double)(now - root->progress_at) * PROGRESS_PER_SECOND / 1000;
    if (!isfinite(done) || (!first && done <= root->progress_told) || (room < 1 && !(total > 0 && done >= total)))
        return false;
    root->progress_at = now;
    root->progress_told = done;
    root->progress_room = (room < PROGRESS_BURST ? room : PROGRESS_BURST) - 1;
    return true;
}

static void write_progress(const lastro_call *c, json_writer *w, double done, double total, const char *message) {
    rpc_begin_notification(w, "notifications/progress");
    json_begin_object(w);
    json_key(w, "progressToken");
    json_write_value(w, c->progress_token);
    json_key(w, "progress");
    json_write_double(w, done);
    if (total > 0 && isfinite(total)) {
        json_key(w, "total");
        json_write_double(w, total);
    }
    if (message && c->rev >= REV_2025_03_26) {
        json_key(w, "message");
        json_write_string(w, message);
    }
    json_end_object(w);
    rpc_end(w);
}

void mcp_notify_progress(lastro_call *c, double done, double total, const char *message) {
    if (c->tool && c->tool->def->flags & REGISTRY_TASK_FLAGS)
        mcp_task_progress(c, message);
    if (!c->progress_token)
        return;
    json_writer w;
    json_writer_init(&w, 0);
    pthread_mutex_lock(&c->root->lock); /* also while it is sent: a part must not overtake another one */
    if (c->root->peer && is_worth_telling(c->root, done, total)) {
        write_progress(c, &w, done, total, message);
        send_from(c->root, &w);
    }
    pthread_mutex_unlock(&c->root->lock);
    json_writer_free(&w);
}

void mcp_notify_log(lastro_call *c, int32_t level, const char *logger, const char *message) {
    if (c->log_level > LASTRO_LOG_ERROR || level < c->log_level)
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
    mcp_send_aside(c, &w);
}
