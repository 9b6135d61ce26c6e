/* SPDX-License-Identifier: MIT */
/* The extension io.modelcontextprotocol/tasks over the protocol without a transport. */
#include "tasks.h"
#include "test_talk.h"

#define META_BEGIN "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{"
#define TASKS "'extensions':{'io.modelcontextprotocol/tasks':{}}"
#define CLAIM_TASKS META_BEGIN "'elicitation':{}," TASKS "}}"
#define CLAIM_PROGRESS META_BEGIN TASKS "},'progressToken':'p','io.modelcontextprotocol/logLevel':'debug'}"

/* ---- the plugin ---- */

static atomic_int runs_of_ask, deaf_ones;
static atomic_bool hold; /* gated runs until it is false */
static lastro_status quick_task_status;

static bool waited(lastro_call *call, int64_t ms) {
    for (; ms > 0 && !lastro->cancelled(call); ms--)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return !lastro->cancelled(call);
}

/* Waits, as long as it may. */
static lastro_status slow(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)err;
    int64_t ms = lastro_get_int(args, "ms", 0), left = lastro->time_left(call);
    if (!waited(call, ms < left ? ms : left))
        return LASTRO_ECANCELLED;
    if (ms >= left)
        return LASTRO_EDEADLINE;
    lastro->begin_object(out);
    lastro_put_int(out, "waited", ms);
    lastro_put_bool(out, "long", left > 1000000);
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status gated(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out, (void)err;
    while (atomic_load(&hold) && waited(call, 1))
        continue;
    return lastro->cancelled(call) ? LASTRO_ECANCELLED : LASTRO_OK;
}

/* Ends well, whoever wants it stopped. */
static lastro_status deaf(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out, (void)err;
    for (atomic_fetch_add(&deaf_ones, 1); atomic_load(&hold);)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    lastro_content_text(call, "done");
    return LASTRO_OK;
}

static lastro_status broken(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args;
    lastro->begin_object(out); /* half a result, and a text that is cut in a character */
    lastro->task(call, NULL);
    return lastro_fail(err, (lastro_status)lastro_get_int(args, "status", LASTRO_EPARAMS), "not so\xc3");
}

/* A form that asks for a text. */
#define FORM "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}}"
static lastro_status ask_for(lastro_call *call, const char *key, lastro_writer *out, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_question q = {.size = sizeof q, .key = key, .method = "elicitation/create", .params = FORM};
    lastro_status s = lastro->ask(call, &q, &answer, err);
    if (!s)
        lastro_put_value(out, key, answer);
    return s;
}

/* Asks in rounds: each an array of keys that are asked at once. */
static lastro_status ask(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self;
    atomic_fetch_add(&runs_of_ask, 1);
    lastro->begin_object(out);
    lastro_iter round, key;
    for (lastro->iterate(lastro_get(args, "rounds"), &round); lastro->next(&round);) {
        lastro_status all = LASTRO_OK;
        for (lastro->iterate(round.value, &key); lastro->next(&key);) {
            lastro_status s = ask_for(call, lastro_copy(call, lastro->text(key.value)), out, err);
            all = all ? all : s;
        }
        if (all)
            return all;
    }
    lastro->end_object(out);
    return LASTRO_OK;
}

/* Asks first, then goes on as a task, tells, and asks again. */
static lastro_status later(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self;
    lastro->begin_object(out);
    lastro_status s = lastro_get_bool(args, "before", false) ? ask_for(call, "before", out, err) : LASTRO_OK;
    if (s)
        return s;
    lastro->progress(call, 1, 3, "before");
    lastro->log(call, LASTRO_LOG_INFO, "before");
    lastro->task(call, "at leisure");
    lastro->progress(call, 2, 3, lastro_get_bool(args, "after", false) ? NULL : "nearly done");
    lastro->log(call, LASTRO_LOG_INFO, "after");
    if (lastro_get_bool(args, "after", false) && (s = ask_for(call, "after", out, err)))
        return s;
    while (atomic_load(&hold) && waited(call, 1))
        continue;
    lastro_put_text(out, "who", lastro->principal(call)->name);
    lastro->end_object(out);
    return LASTRO_OK;
}

/* A part of another plugin's (here: its own) method asks; parts make no tasks. */
static lastro_status part(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args;
    lastro->task(call, "a part");
    lastro->begin_object(out);
    lastro_status s = ask_for(call, "part", out, err);
    lastro->end_object(out);
    return s;
}
static lastro_status parts(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    lastro_service_call request = {.size = sizeof request, .service = "work", .version = 1, .method = "part", .args = args};
    (void)self;
    lastro_status s = lastro->service(call, &request);
    if (s)
        return lastro_fail(err, s, "%s", request.error.text);
    lastro->write_value(out, request.result);
    return LASTRO_OK;
}

#define OBJECT "{\"type\":\"object\"}"
#define STRUCTURED ",\"outputSchema\":" OBJECT
#define TOOL(n, f, more, function) \
    {.size = sizeof(lastro_tool), .flags = (f), .run = (function), \
     .contract = "{\"name\":\"" n "\",\"description\":\"" n "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":" \
                 "\"integer\"}}}" more "}"}
static const lastro_tool tools[] = {
    TOOL("quick", LASTRO_TOOL_QUICK, "", gated),
    TOOL("plain", 0, STRUCTURED, slow),
    TOOL("slow", LASTRO_TOOL_TASK, STRUCTURED, slow),
    TOOL("gated", LASTRO_TOOL_TASK, "", gated),
    TOOL("gated_later", LASTRO_TOOL_MAY_TASK, STRUCTURED, later),
    TOOL("only", LASTRO_TOOL_TASK_ONLY, STRUCTURED, slow),
    TOOL("deaf", LASTRO_TOOL_TASK, "", deaf),
    TOOL("broken", LASTRO_TOOL_MAY_TASK, STRUCTURED, broken),
    TOOL("ask", LASTRO_TOOL_TASK, STRUCTURED, ask),
    TOOL("later", LASTRO_TOOL_MAY_TASK, STRUCTURED, later),
    TOOL("unmarked", 0, STRUCTURED, later),
    TOOL("parts", LASTRO_TOOL_TASK, STRUCTURED, parts),
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_TASK, .run = slow, .deadline_ms = 20,
     .contract = "{\"name\":\"short\",\"description\":\"short\",\"inputSchema\":" OBJECT STRUCTURED "}"},
};
static const lastro_tool quick_task = TOOL("quick_task", LASTRO_TOOL_QUICK | LASTRO_TOOL_MAY_TASK, "", slow);
static const lastro_method part_method = {.size = sizeof(lastro_method), .name = "part", .run = part};
static const lastro_service work_service = {.size = sizeof(lastro_service), .name = "work", .version = 1,
                                       .methods = (const lastro_method *const[]){&part_method, NULL}};

static lastro_status init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_error refusal = {0};
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; i < LASTRO_COUNT(tools); i++)
        if (lastro->add_tool(r, &tools[i], err))
            return LASTRO_EARGS;
    quick_task_status = lastro->add_tool(r, &quick_task, &refusal);
    return lastro->add_service(r, &work_service, err);
}
static const lastro_plugin tasks_plugin = {LASTRO_PLUGIN_HEAD, .name = "work", .version = "1.0.0", .init = init};

static void begin_with(const char *limits) {
    runs_of_ask = deaf_ones = 0;
    hold = true;
    start_plugin(&tasks_plugin, NULL, limits);
}
static void begin(void) {
    begin_with("{}");
}

/* ---- the client ---- */

/* Nothing holds it any more; what sends to it may still be about to let go. */
static bool let_go(client *c) {
    int held = 1;
    for (int i = 0; i < 5000 && held; i++) {
        pthread_mutex_lock(&c->lock);
        held = c->held;
        pthread_mutex_unlock(&c->lock);
        if (held)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return !held;
}

static void call_tool(const char *id, const char *name, const char *arguments, const char *more) {
    say("{'jsonrpc':'2.0','id':%s,'method':'tools/call','params':{'name':'%s','arguments':%s,%s}}", id, name, arguments, more);
}
/* The task that a call became; its id lives as long as the client. */
static const char *task_of_call(int line, const char *name, const char *arguments, const char *more) {
    call_tool("'t'", name, arguments, more);
    const json_value *r = result_at(line, "'t'");
    unit_check(json_text_is(json_member(r, "resultType"), "task"), "line %d: %s", line, shown(r));
    const char *id = json_str(json_member(r, "taskId"));
    return id ? id : "none";
}
#define TASK_OF(name, arguments) task_of_call(__LINE__, (name), (arguments), CLAIM_TASKS)
static void ask_task(const char *what, const char *id, const char *more) {
    say("{'jsonrpc':'2.0','id':7,'method':'tasks/%s','params':{'taskId':'%s'%s," CLAIM_TASKS "}}", what, id, more);
}
static const json_value *got(int line, const char *id) {
    ask_task("get", id, "");
    return result_at(line, "7");
}
#define GET(id) got(__LINE__, (id))
/* The task when it has that status; asks again for up to five seconds. */
static const json_value *when(int line, const char *id, const char *status) {
    const json_value *v = got(line, id);
    for (int i = 0; i < 2500 && !json_text_is(json_member(v, "status"), status); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        v = got(line, id);
    }
    unit_check(json_text_is(json_member(v, "status"), status), "line %d: %s instead of %s", line, shown(v), status);
    return v;
}
#define WHEN(id, status) when(__LINE__, (id), (status))
static void acked(int line, const char *what, const char *id, const char *more) {
    ask_task(what, id, more);
    const json_value *r = result_at(line, "7");
    unit_check(json_text_is(json_member(r, "resultType"), "complete") && json_member(r, "_meta") && json_count(r) == 2,
               "line %d: %s", line, shown(r));
}
#define CANCEL(id) acked(__LINE__, "cancel", (id), "")
#define UPDATE(id, responses) acked(__LINE__, "update", (id), ",'inputResponses':" responses)

/* ---- whether there are tasks at all ---- */

static void test_mcp_tasks__are_declared_and_served_where_a_tool_makes_some(void) {
    static const char *const methods[] = {"get", "update", "cancel", "list", "result"};
    for (int with = 0; with < 2; with++) {
        with ? begin() : start();
        say("{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" CLAIM "}}");
        const json_value *capabilities = AT(RESULT("1"), "capabilities");
        if (with)
            IS(AT(capabilities, "extensions"), "{'io.modelcontextprotocol/tasks':{}}");
        else
            CU_ASSERT_PTR_NULL(AT(capabilities, "extensions"));
        CU_ASSERT_PTR_NULL(AT(capabilities, "tasks"));
        for (size_t i = with ? 3 : 0; i < 5; i++) {
            ask_task(methods[i], "x", ",'inputResponses':{}");
            ERROR_IS("7", -32601);
        }
        greet("2025-11-25");
        for (size_t i = 0; i < 5; i++) { /* no legacy revision has these */
            say("{'jsonrpc':'2.0','id':2,'method':'tasks/%s','params':{'taskId':'x'}}", methods[i]);
            ERROR_IS("2", -32601);
        }
        finish();
    }
    CU_ASSERT_EQUAL(quick_task_status, LASTRO_EARGS); /* never waits, and takes long: one of the two is wrong */
}

static void test_mcp_tasks__clients_that_declare_nothing_get_none(void) {
    static const char *const undeclared[] = {CLAIM, META_BEGIN "'extensions':{}}}", META_BEGIN "'extensions':{'other':{}}}}",
                                             META_BEGIN "'elicitation':{},'tasks':{}}}",
                                             META_BEGIN "'extensions':{'io.modelcontextprotocol/tasks':null}}}"};
    static const char *const methods[] = {"get", "update", "cancel"};
    static const char needed[] = "{'requiredCapabilities':{'extensions':{'io.modelcontextprotocol/tasks':{}}}}";
    begin();
    hold = false;
    for (size_t i = 0; i < sizeof undeclared / sizeof *undeclared; i++) {
        for (size_t k = 0; k < 3; k++) {
            say("{'jsonrpc':'2.0','id':1,'method':'tasks/%s','params':{%s%s}}", methods[k], k ? "" : "'taskId':'x',", undeclared[i]);
            const json_value *e = ERROR_IS("1", -32021);
            IS(AT(e, "error", "data"), needed);
            CU_ASSERT(says(AT(e, "error", "message"), "io.modelcontextprotocol/tasks"));
        }
        call_tool("2", "slow", "{'ms':1}", undeclared[i]);
        const json_value *r = RESULT("2");
        IS(AT(r, "structuredContent"), "{'waited':1,'long':false}"); /* the time of a call, not of a task */
        IS(AT(r, "resultType"), "'complete'");
        CU_ASSERT_PTR_NULL(AT(r, "taskId"));
        call_tool("3", "later", "{}", undeclared[i]);
        IS(AT(RESULT("3"), "structuredContent", "who"), "'local'");
        call_tool("4", "only", "{'ms':1}", undeclared[i]);
        IS(AT(ERROR_IS("4", -32021), "error", "data"), needed);
    }
    greet("2025-11-25");
    call_tool("5", "slow", "{'ms':1}", "'task':{'ttl':60000}");
    CU_ASSERT_PTR_NOT_NULL(AT(RESULT("5"), "structuredContent"));
    call_tool("6", "only", "{'ms':1}", "'task':{'ttl':60000}");
    const json_value *r = RESULT("6");
    IS(AT(r, "isError"), "true");
    CU_ASSERT(says(AT(r, "content", "0", "text"), "only needs"));
    call_tool("7", "quick", "{}", "'task':{'ttl':60000}," CLAIM_TASKS); /* what clients once asked with changes nothing */
    IS(AT(RESULT("7"), "resultType"), "'complete'");
    call_tool("8", "plain", "{'ms':1}", "'task':{'ttl':60000}," CLAIM_TASKS);
    IS(AT(RESULT("8"), "resultType"), "'complete'");
    call_tool("9", "unmarked", "{}", CLAIM_TASKS); /* a handler may say so, its tool did not */
    IS(AT(RESULT("9"), "resultType"), "'complete'");
    finish();
}

/* ---- the wire ---- */

/* What each form of a task has: members, their kinds, and whether they must be there. Nothing else may be. */
static const struct {
    const char *form, *member;
    json_kind kind;
    bool required;
} wire[] = {
    {"", "resultType", JSON_STRING, true},
    {"", "_meta", JSON_OBJECT, false},
    {"", "taskId", JSON_STRING, true},
    {"", "status", JSON_STRING, true},
    {"", "statusMessage", JSON_STRING, false},
    {"", "createdAt", JSON_STRING, true},
    {"", "lastUpdatedAt", JSON_STRING, true},
    {"", "ttlMs", JSON_NUMBER, true},
    {"", "pollIntervalMs", JSON_NUMBER, false},
    {"input_required", "inputRequests", JSON_OBJECT, true},
    {"completed", "result", JSON_OBJECT, true},
    {"failed", "error", JSON_OBJECT, true},
};

static void has_form(int line, const json_value *v, const char *type, const char *status, bool created) {
    int64_t ms;
    size_t known = 0;
    for (size_t i = 0; i < sizeof wire / sizeof *wire; i++) {
        if (*wire[i].form && (created || strcmp(wire[i].form, status) != 0))
            continue;
        const json_value *m = json_member(v, wire[i].member);
        known += m != NULL;
        unit_check(m ? json_is(m, wire[i].kind) : !wire[i].required, "line %d: %s in %s", line, wire[i].member, shown(v));
        if (m && wire[i].kind == JSON_NUMBER)
            unit_check(json_int64(m, &ms) && ms > 0, "line %d: %s in %s", line, wire[i].member, shown(v));
    }
    unit_check(known == json_count(v), "line %d: a member that has no place in %s", line, shown(v));
    unit_check(json_text_is(json_member(v, "resultType"), type) && json_text_is(json_member(v, "status"), status), "line %d: %s", line,
               shown(v));
    for (int i = 0; i < 2; i++)
        unit_check(clock_parse_iso(json_text_of(json_member(v, i ? "createdAt" : "lastUpdatedAt")).at, &ms), "line %d: %s", line, shown(v));
}
#define HAS_FORM(v, type, status, created) has_form(__LINE__, (v), (type), (status), (created))

static void test_mcp_tasks__each_status_has_its_form(void) {
    begin();
    call_tool("1", "gated", "{}", CLAIM_TASKS);
    const json_value *r = RESULT("1");
    HAS_FORM(r, "task", "working", true);
    const char *id = json_str(AT(r, "taskId"));
    HAS_FORM(GET(id), "complete", "working", false); /* it is there before its client can know of it */
    CANCEL(id);
    HAS_FORM(WHEN(id, "cancelled"), "complete", "cancelled", false);
    id = TASK_OF("ask", "{'rounds':[['a']]}");
    HAS_FORM(WHEN(id, "input_required"), "complete", "input_required", false);
    id = TASK_OF("broken", "{}");
    r = WHEN(id, "failed");
    HAS_FORM(r, "complete", "failed", false);
    IS(AT(r, "error"), "{'code':-32602,'message':'not so'}");
    IS(AT(r, "statusMessage"), "'not so'");
    id = TASK_OF("broken", "{'status':12}"); /* one with a code of the protocol's */
    CU_ASSERT_EQUAL(LASTRO_ENOMEM, 12);
    IS(AT(WHEN(id, "failed"), "error", "code"), "-32603");
    id = TASK_OF("slow", "{'ms':1}");
    HAS_FORM(WHEN(id, "completed"), "complete", "completed", false);
    finish();
}

static void test_mcp_tasks__the_result_is_what_the_call_would_have_returned(void) {
    static const struct {
        const char *tool, *arguments;
    } calls[] = {{"slow", "{'ms':-1}"}, {"slow", "{'ms':'x'}"}, {"broken", "{'status':3}"}};
    begin();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        call_tool("1", calls[i].tool, calls[i].arguments, CLAIM);
        const json_value *plain = RESULT("1");
        const json_value *t = WHEN(TASK_OF(calls[i].tool, calls[i].arguments), "completed");
        if (i) {
            IS(AT(t, "result", "isError"), "true");
            unit_check(json_equal(AT(t, "result"), plain), "%s instead of %s", shown(AT(t, "result")), shown(plain));
        } else { /* it has more time */
            IS(AT(t, "result", "structuredContent"), "{'waited':-1,'long':true}");
            IS(AT(t, "result", "resultType"), "'complete'");
            CU_ASSERT(json_equal(AT(t, "result", "_meta"), AT(plain, "_meta")));
        }
    }
    finish();
}

/* ---- whose it is ---- */

static void test_mcp_tasks__what_is_asked_of_them_must_be_well_formed(void) {
    static const struct {
        const char *method, *params;
    } bad[] = {{"get", ""}, {"get", "'taskId':5,"}, {"get", "'taskId':null,"}, {"get", "'taskId':'',"}, {"get", "'taskId':'none',"},
               {"get", "'taskId':'00000000000000000000000000000000',"}, {"cancel", ""}, {"cancel", "'taskId':'none',"},
               {"update", "'inputResponses':{},"}, {"update", "'taskId':'none','inputResponses':{},"}};
    static const char *const responses[] = {"", ",'inputResponses':null", ",'inputResponses':[]", ",'inputResponses':'x'"};
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tasks/%s','params':{%s" CLAIM_TASKS "}}", bad[i].method, bad[i].params);
        ERROR_IS("1", -32602);
    }
    const char *id = TASK_OF("ask", "{'rounds':[['a']]}");
    WHEN(id, "input_required");
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        ask_task("update", id, responses[i]);
        CU_ASSERT(says(AT(ERROR_IS("7", -32602), "error", "message"), "inputResponses"));
    }
    finish();
}

static void test_mcp_tasks__somebody_else_s_task_is_as_none(void) {
    static const char *const methods[] = {"get", "update", "cancel"};
    begin();
    char name[] = "ana"; /* of a client whose name goes with it */
    peer_.base.principal = name;
    const char *id = TASK_OF("gated_later", "{'after':true}");
    WHEN(id, "input_required");
    peer_.base.principal = "bia";
    for (int i = 0; i < 3; i++) {
        ask_task(methods[i], id, ",'inputResponses':{'after':{'action':'decline'}}");
        CU_ASSERT(says(AT(ERROR_IS("7", -32602), "error", "message"), "There is no task"));
    }
    peer_.base.principal = NULL;
    ask_task("get", id, "");
    ERROR_IS("7", -32602);
    memset(name, 'x', 3);
    peer_.base.principal = "ana";
    UPDATE(id, "{'after':{'action':'decline'}}");
    hold = false;
    IS(AT(WHEN(id, "completed"), "result", "structuredContent", "who"), "'ana'");
    finish();
}

/* ---- cancelling, and what does not cancel ---- */

static void test_mcp_tasks__a_task_outlives_its_request_its_client_and_its_session(void) {
    begin();
    const char *id = TASK_OF("deaf", "{}"), *other = TASK_OF("gated_later", "{}");
    CU_ASSERT(let_go(&peer_));
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'t'}}"); /* that request was answered */
    server_cancel_peer(srv, &peer_.base);
    session_destroy(ses);
    ses = session_create(srv);
    IS(AT(GET(id), "status"), "'working'");
    IS(AT(GET(other), "status"), "'working'");
    CU_ASSERT(!server_wait_idle(srv, 1)); /* the server's end waits for them */
    hold = false;
    IS(AT(WHEN(id, "completed"), "result", "content"), "[{'type':'text','text':'done'}]");
    WHEN(other, "completed");
    finish();
}

static void test_mcp_tasks__cancelling_is_acknowledged_whatever_comes_of_it(void) {
    begin();
    const char *id = TASK_OF("deaf", "{}");
    for (int i = 0; i < 5000 && !deaf_ones; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CANCEL(id);
    CANCEL(id);
    IS(AT(GET(id), "status"), "'working'");
    hold = false;
    WHEN(id, "completed"); /* it did not listen */
    CANCEL(id);
    IS(AT(GET(id), "status"), "'completed'");
    id = TASK_OF("slow", "{'ms':20000}");
    CANCEL(id);
    WHEN(id, "cancelled");
    CANCEL(id);
    id = TASK_OF("ask", "{'rounds':[['a']]}");
    WHEN(id, "input_required");
    CANCEL(id);
    IS(AT(GET(id), "status"), "'cancelled'");
    UPDATE(id, "{'a':{'action':'decline'}}");
    IS(AT(GET(id), "status"), "'cancelled'");
    finish();
}

static void test_mcp_tasks__what_is_cancelled_before_a_worker_is_free_never_runs(void) {
    begin_with("{\"workers\":1}");
    const char *first = TASK_OF("gated", "{}"), *ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = TASK_OF("ask", "{'rounds':[]}");
    CANCEL(ids[1]);
    IS(AT(GET(ids[1]), "status"), "'working'");
    hold = false;
    WHEN(ids[0], "completed");
    WHEN(ids[2], "completed");
    WHEN(ids[1], "cancelled");
    WHEN(first, "completed");
    CU_ASSERT_EQUAL(runs_of_ask, 2);
    finish();
}

static void test_mcp_tasks__the_server_s_end_stops_them(void) {
    begin();
    const char *running = TASK_OF("gated", "{}"), *dynamic = TASK_OF("gated_later", "{}"), *waiting = TASK_OF("ask", "{'rounds':[['a']]}");
    WHEN(waiting, "input_required");
    server_cancel_all(srv);
    CU_ASSERT(server_wait_idle(srv, 5000));
    IS(AT(GET(running), "status"), "'cancelled'");
    CU_ASSERT(!json_text_is(AT(GET(dynamic), "status"), "working"));
    finish(); /* the one that waits goes with the server */
}

/* ---- questions ---- */

static void test_mcp_tasks__questions_are_answered_one_by_one_and_in_rounds(void) {
    static const char question[] = "{'method':'elicitation/create','params':{'message':'Who?','requestedSchema':{'type':'object',"
                                   "'properties':{'name':{'type':'string'}}}}}";
    char both[600];
    begin();
    snprintf(both, sizeof both, "{'a':%s,'b':%s}", question, question);
    const char *id = TASK_OF("ask", "{'rounds':[['a','b'],['c']]}");
    IS(AT(WHEN(id, "input_required"), "inputRequests"), both);
    CU_ASSERT(server_wait_idle(srv, 5000)); /* nothing runs while it waits */
    UPDATE(id, "{'other':5}");
    UPDATE(id, "{'b':{'action':'accept','content':{'name':'B'}}}");
    const json_value *t = GET(id);
    IS(AT(t, "status"), "'input_required'");
    snprintf(both, sizeof both, "{'a':%s}", question);
    IS(AT(t, "inputRequests"), both);
    CU_ASSERT_EQUAL(runs_of_ask, 1);
    UPDATE(id, "{'a':{'action':'decline'},'b':{'action':'cancel'}}"); /* b was answered */
    for (int i = 0; i < 2500 && !AT(GET(id), "inputRequests", "c"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    UPDATE(id, "{'c':{'action':'accept','content':{}}}");
    IS(AT(WHEN(id, "completed"), "result", "structuredContent"),
       "{'a':{'action':'decline'},'b':{'action':'accept','content':{'name':'B'}},'c':{'action':'accept','content':{}}}");
    CU_ASSERT_EQUAL(runs_of_ask, 3);
    finish();
}

static void test_mcp_tasks__an_answer_of_the_wrong_form_costs_nothing(void) {
    static const char *const bad[] = {"5", "null", "{}", "{'action':'maybe'}", "{'action':'accept','content':{'name':5}}",
                                      "{'action':'accept','content':[]}"};
    begin();
    const char *id = TASK_OF("ask", "{'rounds':[['a','b']]}");
    WHEN(id, "input_required");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char more[200];
        snprintf(more, sizeof more, ",'inputResponses':{'b':{'action':'decline'},'a':%s}", bad[i]);
        ask_task("update", id, more);
        CU_ASSERT(says(AT(ERROR_IS("7", -32602), "error", "message"), "inputResponses.a"));
        CU_ASSERT_EQUAL(json_count(AT(GET(id), "inputRequests")), 2);
    }
    UPDATE(id, "{'b':{'action':'decline'},'a':{'action':'decline'}}");
    WHEN(id, "completed");
    finish();
}

static void test_mcp_tasks__what_was_asked_before_is_not_asked_again(void) {
    begin();
    hold = false;
    call_tool("1", "later", "{'before':true,'after':true}", CLAIM_TASKS);
    const json_value *r = RESULT("1");
    IS(AT(r, "resultType"), "'input_required'");
    CU_ASSERT(AT(r, "inputRequests", "before") && !AT(r, "taskId"));
    const char *state = json_str(AT(r, "requestState"));
    for (int with_state = 0; with_state < 2; with_state++) {
        char more[2000];
        snprintf(more, sizeof more, "'inputResponses':{'before':{'action':'accept','content':{'name':'Alice'}},'never':1}%s%s%s," CLAIM_TASKS,
                 with_state ? ",'requestState':'" : "", with_state ? state : "", with_state ? "'" : "");
        const char *id = task_of_call(__LINE__, "later", "{'before':true,'after':true}", more);
        r = WHEN(id, "input_required");
        CU_ASSERT(AT(r, "inputRequests", "after") && !AT(r, "inputRequests", "before") && !AT(r, "requestState"));
        IS(AT(r, "statusMessage"), "'at leisure'");
        UPDATE(id, "{'after':{'action':'decline'}}");
        IS(AT(WHEN(id, "completed"), "result", "structuredContent"),
           "{'before':{'action':'accept','content':{'name':'Alice'}},'after':{'action':'decline'},'who':'local'}");
    }
    finish();
}

static void test_mcp_tasks__parts_of_a_task_may_ask(void) {
    begin();
    const char *id = TASK_OF("parts", "{}");
    CU_ASSERT_PTR_NULL(AT(WHEN(id, "input_required"), "statusMessage"));
    UPDATE(id, "{'part':{'action':'decline'}}");
    IS(AT(WHEN(id, "completed"), "result", "structuredContent"), "{'part':{'action':'decline'}}");
    finish();
}

/* ---- while it runs ---- */

static void test_mcp_tasks__progress_and_log_end_with_the_request(void) {
    begin();
    call_tool("1", "later", "{}", CLAIM_PROGRESS);
    IS(AT(hear(), "params", "message"), "'before'");
    IS(AT(hear(), "params", "data"), "'before'");
    const char *id = json_str(AT(RESULT("1"), "taskId"));
    for (int i = 0; i < 2500 && !json_text_is(AT(GET(id), "statusMessage"), "nearly done"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    IS(AT(GET(id), "statusMessage"), "'nearly done'"); /* for who looks in */
    hold = false;
    CU_ASSERT_PTR_NULL(AT(WHEN(id, "completed"), "statusMessage"));
    silence();
    finish();
}

static void test_mcp_tasks__its_time_is_not_that_of_a_call(void) {
    begin_with("{\"callMs\":30}");
    const char *id = TASK_OF("slow", "{'ms':60}"), *shorter = TASK_OF("short", "{'ms':60000}");
    IS(AT(WHEN(id, "completed"), "result", "structuredContent"), "{'waited':60,'long':true}");
    const json_value *t = WHEN(shorter, "completed"); /* a tool's own limit stays */
    IS(AT(t, "result", "isError"), "true");
    CU_ASSERT(says(AT(t, "result", "content", "0", "text"), "20 ms"));
    finish();
}

static void test_mcp_tasks__it_is_stopped_when_its_own_time_is_over(void) {
    begin_with("{\"taskMs\":150}");
    const char *slow_one = TASK_OF("slow", "{'ms':60000}");
    CU_ASSERT(server_wait_idle(srv, 5000));
    const json_value *t = GET(slow_one); /* it looks at its clock */
    CU_ASSERT(says(AT(t, "result", "content", "0", "text"), "150 ms"));
    const char *gated_one = TASK_OF("gated", "{}"), *asks = TASK_OF("ask", "{'rounds':[['a']]}");
    t = WHEN(gated_one, "failed"); /* it looks at no clock: looking at the task stops it */
    IS(AT(t, "error", "code"), "-32603");
    CU_ASSERT(says(AT(t, "error", "message"), "150 ms"));
    ask_task("get", asks, "");
    CU_ASSERT(says(AT(ERROR_IS("7", -32602), "error", "message"), "kept for as long as"));
    finish();
}

static void test_mcp_tasks__long_ones_keep_no_worker_from_others(void) {
    begin_with("{\"workers\":1}");
    const char *started = TASK_OF("gated", "{}"), *became = TASK_OF("gated_later", "{}");
    call_tool("2", "plain", "{'ms':1}", CLAIM_TASKS);
    CU_ASSERT_PTR_NOT_NULL(AT(RESULT("2"), "structuredContent"));
    call_tool("3", "gated_later", "{}", CLAIM_TASKS); /* no second worker may be lent: it stays a call */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    hold = false;
    IS(AT(RESULT("3"), "resultType"), "'complete'");
    WHEN(started, "completed");
    WHEN(became, "completed");
    finish();
}

static void test_mcp_tasks__when_no_more_are_kept_calls_stay_calls_or_are_refused(void) {
    enum { MOST = 1024 };
    begin();
    hold = false;
    for (int i = 0; i < MOST; i++) {
        call_tool("1", "ask", "{'rounds':[['a']]}", CLAIM_TASKS);
        CU_ASSERT_PTR_NOT_NULL_FATAL(AT(RESULT("1"), "taskId"));
    }
    CU_ASSERT(server_wait_idle(srv, 5000));
    call_tool("2", "slow", "{'ms':1}", CLAIM_TASKS);
    IS(AT(RESULT("2"), "resultType"), "'complete'");
    call_tool("3", "later", "{}", CLAIM_TASKS);
    IS(AT(RESULT("3"), "resultType"), "'complete'");
    call_tool("4", "only", "{'ms':1}", CLAIM_TASKS);
    const json_value *r = RESULT("4");
    IS(AT(r, "isError"), "true");
    CU_ASSERT(says(AT(r, "content", "0", "text"), "only"));
    CU_ASSERT(says(AT(r, "content", "0", "text"), "try again"));
    finish();
}

/* ---- news ---- */

#define STAMP "io.modelcontextprotocol/subscriptionId"
static void listen_to(const char *id, const char *task_ids) {
    say("{'jsonrpc':'2.0','id':%s,'method':'subscriptions/listen','params':{'notifications':{'taskIds':%s}," CLAIM_TASKS "}}", id, task_ids);
}
/* n tells of that task: what tasks/get says of it, and whose news it is. */
static void tells_of(int line, const json_value *n, const char *id, const char *status) {
    const json_value *p = json_member(n, "params"), *t = got(line, id);
    unit_check(json_text_is(json_member(n, "method"), "notifications/tasks") && !json_member(n, "id"), "line %d: %s", line, shown(n));
    unit_check(json_text_is(json_member(p, "status"), status), "line %d: %s instead of %s", line, shown(p), status);
    is_at(line, AT(p, "_meta"), "{'" STAMP "':'s'}");
    for (json_iter it = json_iterate(t); json_next(&it);)
        if (!json_text_is(it.key, "_meta") && !json_text_is(it.key, "resultType"))
            unit_check(json_equal(json_member(p, json_str(it.key)), it.value), "line %d: %s in %s, not as in %s", line, json_str(it.key),
                       shown(p), shown(t));
    unit_check(json_count(p) + 1 == json_count(t), "line %d: %s, and %s", line, shown(p), shown(t));
}
#define TELLS_OF(n, id, status) tells_of(__LINE__, (n), (id), (status))

static void test_mcp_tasks__who_listens_hears_of_each_change(void) {
    char ids[300];
    begin();
    const char *asks = TASK_OF("ask", "{'rounds':[['a']]}"), *works = TASK_OF("gated", "{}");
    WHEN(asks, "input_required");
    snprintf(ids, sizeof ids, "['none','%s','%s','%s']", asks, works, asks);
    listen_to("'s'", ids);
    const json_value *ack = hear();
    IS(AT(ack, "method"), "'notifications/subscriptions/acknowledged'");
    snprintf(ids, sizeof ids, "{'taskIds':['%s','%s']}", asks, works);
    IS(AT(ack, "params", "notifications"), ids);
    const json_value *first = hear(), *second = hear(); /* how they are, in case that it changed since they were looked at */
    TELLS_OF(first, asks, "input_required");
    TELLS_OF(second, works, "working");
    const char *deaf_to = TASK_OF("slow", "{'ms':1}"); /* nobody listens to this one */
    WHEN(deaf_to, "completed");
    ask_task("cancel", works, "");
    first = hear(), second = hear(); /* in either order */
    CU_ASSERT_EQUAL(json_member(first, "id") != NULL, json_member(second, "id") == NULL);
    TELLS_OF(json_member(first, "id") ? second : first, works, "cancelled");
    ask_task("update", asks, ",'inputResponses':{'other':5}");
    RESULT("7");
    ask_task("cancel", asks, "");
    const json_value *n = hear(); /* what is sent on the way comes first */
    IS(AT(n, "params", "status"), "'cancelled'");
    RESULT("7");
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'s'}}");
    CU_ASSERT_EQUAL(srv->task_watchers, 0);
    finish();
}

static void test_mcp_tasks__who_listens_hears_how_it_ends(void) {
    char ids[100];
    begin();
    const char *id = TASK_OF("gated_later", "{'after':true}");
    WHEN(id, "input_required");
    snprintf(ids, sizeof ids, "['%s']", id);
    listen_to("'s'", ids);
    hear();
    TELLS_OF(hear(), id, "input_required");
    ask_task("update", id, ",'inputResponses':{'after':{'action':'decline'}}");
    IS(AT(hear(), "params", "status"), "'working'");
    RESULT("7");
    hold = false;
    TELLS_OF(hear(), id, "completed");
    listen_to("'s2'", ids); /* too late for a change, not for the outcome */
    hear();
    const json_value *n = hear();
    IS(AT(n, "params", "_meta", STAMP), "'s2'");
    IS(AT(n, "params", "result", "structuredContent", "who"), "'local'");
    mcp_end_listeners(ses, true);
    hear(), hear();
    finish();
}

static void test_mcp_tasks__nobody_listens_to_what_is_not_his(void) {
    static const char *const bad[] = {"null", "'x'", "[5]", "{}"};
    char ids[100];
    begin();
    const char *id = TASK_OF("gated", "{}");
    snprintf(ids, sizeof ids, "['%s']", id);
    peer_.base.principal = "bia";
    listen_to("'s'", ids);
    IS(AT(hear(), "params", "notifications"), "{'taskIds':[]}");
    peer_.base.principal = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        listen_to("'x'", bad[i]);
        CU_ASSERT(says(AT(ERROR_IS("'x'", -32602), "error", "message"), "taskIds"));
    }
    say("{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{'notifications':{'taskIds':%s}," CLAIM "}}", ids);
    ERROR_IS("1", -32021);
    CU_ASSERT_EQUAL(srv->task_watchers, 0);
    hold = false;
    WHEN(id, "completed");
    finish();
}

/* ---- from many sides at once ---- */

enum { SIDES = 4, EACH = 60 };
__attribute__((format(printf, 3, 4))) static void hurry(client *c, session *s, const char *fmt, ...) {
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    mcp_receive(s, &c->base, text, strlen(text));
}
typedef struct {
    client c; /* first */
    int failures;
} side;
static void *one_side(void *arg) {
    client *c = arg;
    side *own = arg;
    session *s = session_create(srv);
    client_open(c);
    for (int i = 0; i < EACH; i++) {
        hurry(c, s, "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'%s','arguments':{'ms':1,'rounds':[['a']]}," CLAIM_TASKS "}}",
              i % 3 ? "ask" : "slow");
        const char *id = json_str(AT(client_hear(c), "result", "taskId"));
        if (!id)
            continue;
        if (i % 16 == 7) { /* a second client of its, which listens and hardly ever hears all */
            client listens;
            session *own_session = session_create(srv);
            client_open(&listens);
            hurry(&listens, own_session, "{'jsonrpc':'2.0','id':9,'method':'subscriptions/listen','params':{'notifications':{'taskIds':['%s']},"
                  CLAIM_TASKS "}}", id);
            own->failures += !client_hear(&listens) || !client_hear(&listens);
            session_destroy(own_session);
            own->failures += !let_go(&listens);
            client_close(&listens);
        }
        for (int k = 0; k < 3; k++)
            hurry(c, s, k == i % 3 ? "{'jsonrpc':'2.0','id':2,'method':'tasks/cancel','params':{'taskId':'%s'," CLAIM_TASKS "}}"
                                   : "{'jsonrpc':'2.0','id':2,'method':'tasks/update','params':{'taskId':'%s','inputResponses':{'a':{"
                                     "'action':'decline'}}," CLAIM_TASKS "}}", id);
        for (int k = 0; k < 3; k++)
            if (!json_member(client_hear(c), "result"))
                own->failures++;
        hurry(c, s, "{'jsonrpc':'2.0','id':3,'method':'tasks/get','params':{'taskId':'%s'," CLAIM_TASKS "}}", id);
        if (!AT(client_hear(c), "result", "status"))
            own->failures++;
        if (i % 16 == 15)
            hurry(c, s, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    }
    session_destroy(s); /* though some of its tasks run */
    return NULL;
}

static void test_mcp_tasks__many_clients_at_once(void) {
    pthread_t threads[SIDES];
    static side sides[SIDES];
    begin();
    for (int i = 0; i < SIDES; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, one_side, &sides[i]) == 0);
    for (int i = 0; i < SIDES; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(sides[i].failures, 0);
        CU_ASSERT(let_go(&sides[i].c));
        CU_ASSERT_EQUAL(sides[i].c.count, EACH * 5);
        client_close(&sides[i].c);
    }
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp_tasks__are_declared_and_served_where_a_tool_makes_some),
        UNIT_TEST(test_mcp_tasks__clients_that_declare_nothing_get_none),
        UNIT_TEST(test_mcp_tasks__each_status_has_its_form),
        UNIT_TEST(test_mcp_tasks__the_result_is_what_the_call_would_have_returned),
        UNIT_TEST(test_mcp_tasks__what_is_asked_of_them_must_be_well_formed),
        UNIT_TEST(test_mcp_tasks__somebody_else_s_task_is_as_none),
        UNIT_TEST(test_mcp_tasks__a_task_outlives_its_request_its_client_and_its_session),
        UNIT_TEST(test_mcp_tasks__cancelling_is_acknowledged_whatever_comes_of_it),
        UNIT_TEST(test_mcp_tasks__what_is_cancelled_before_a_worker_is_free_never_runs),
        UNIT_TEST(test_mcp_tasks__the_server_s_end_stops_them),
        UNIT_TEST(test_mcp_tasks__questions_are_answered_one_by_one_and_in_rounds),
        UNIT_TEST(test_mcp_tasks__an_answer_of_the_wrong_form_costs_nothing),
        UNIT_TEST(test_mcp_tasks__what_was_asked_before_is_not_asked_again),
        UNIT_TEST(test_mcp_tasks__parts_of_a_task_may_ask),
        UNIT_TEST(test_mcp_tasks__progress_and_log_end_with_the_request),
        UNIT_TEST(test_mcp_tasks__its_time_is_not_that_of_a_call),
        UNIT_TEST(test_mcp_tasks__it_is_stopped_when_its_own_time_is_over),
        UNIT_TEST(test_mcp_tasks__long_ones_keep_no_worker_from_others),
        UNIT_TEST(test_mcp_tasks__when_no_more_are_kept_calls_stay_calls_or_are_refused),
        UNIT_TEST(test_mcp_tasks__who_listens_hears_of_each_change),
        UNIT_TEST(test_mcp_tasks__who_listens_hears_how_it_ends),
        UNIT_TEST(test_mcp_tasks__nobody_listens_to_what_is_not_his),
        UNIT_TEST(test_mcp_tasks__many_clients_at_once),
    };
    return UNIT_RUN("mcp_tasks", tests);
}
