/* SPDX-License-Identifier: MIT */
/* Legacy sessions over HTTP: how long they live, whose they are, their streams and how those are taken up again; what a
 * client that leaves means in each era. */
#include "test_web.h"
#include "web_events.h"

/* ---- a plugin whose calls go as far as the test lets them ---- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate_open; /* how many steps may be taken */

static void open_gate(int steps) {
    pthread_mutex_lock(&gate_lock);
    gate_open = steps;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

static void pass_gate(int step) {
    pthread_mutex_lock(&gate_lock);
    while (gate_open < step)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

/* Progress 1, 2, … "steps", each when the gate is open for it; the result when it is open for one more. "let_go": after
 * that step. */
static lastro_status steps(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)out, (void)err;
    int n = (int)lastro_get_int(args, "steps", 0), let_go = (int)lastro_get_int(args, "let_go", -1);
    for (int i = 1; i <= n; i++) {
        pass_gate(i);
        if (i == let_go)
            lastro->let_go(call, 77);
        lastro->progress(call, i, 0, NULL);
    }
    if (let_go == 0)
        lastro->let_go(call, 77);
    pass_gate(n + 1);
    lastro_content_text(call, "arrived");
    return LASTRO_OK;
}

static const lastro_tool gate_tool = {.size = sizeof(lastro_tool), .run = steps, .contract = INNER_TOOL("steps",
    INNER_OBJECT(",\"properties\":{\"steps\":{\"type\":\"integer\"},\"let_go\":{\"type\":\"integer\"}}"), )};

/* Says that it has begun, then waits for its cancellation, ten seconds at the most. */
static atomic_int held_begun, held_stopped;
static lastro_status held(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out;
    atomic_fetch_add(&held_begun, 1);
    for (int i = 0; i < 10000 && !lastro->cancelled(call); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (!lastro->cancelled(call))
        return LASTRO_OK;
    atomic_fetch_add(&held_stopped, 1);
    return lastro_fail(err, LASTRO_ECANCELLED, "stopped");
}
static const lastro_tool held_tool = {.size = sizeof(lastro_tool), .run = held, .contract = INNER_TOOL("held", INNER_NONE, )};

/* So many of them have begun. */
static bool wait_for_held(int count) {
    for (int i = 0; i < 5000 && atomic_load(&held_begun) < count; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return atomic_load(&held_begun) == count;
}

static lastro_status gate_init(const lastro_host *h, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = inner_init(h, r, ret_self, err);
    if (!s)
        s = lastro->add_tool(r, &gate_tool, err);
    return s ? s : lastro->add_tool(r, &held_tool, err);
}
static const lastro_plugin gate_plugin = {LASTRO_PLUGIN_HEAD, .name = "inner", .version = "1", .init = gate_init};

static void start_gated(void) {
    open_gate(0);
    atomic_store(&held_begun, 0);
    atomic_store(&held_stopped, 0);
    web_start_with(core_server_with(&gate_plugin, "[\"held\",\"echo\",\"wait\",\"ask\",\"talk\",\"steps\"]", "{}"), true, NULL);
}

#define PROGRESS ",'_meta':{'progressToken':'p'}"
#define STEPS(args) CALL("7", "steps", args, PROGRESS)

static web_exchange *get(const char *session_line, const char *last) {
    return web_ask("GET", "/mcp", last ? web_text("%sLast-Event-ID: %s\n", session_line, last) : session_line, "");
}

/* The id of the n-th event; NULL: none. */
static const char *event_id(web_exchange *x, size_t n) {
    char *all = web_body(x), *found = NULL;
    for (char *end; !found && (end = strstr(all, "\n\n")); all = end + 2) {
        *end = '\0';
        if (strstr(all, "id: ") && !n--)
            found = web_copy(strstr(all, "id: ") + 4, strcspn(strstr(all, "id: ") + 4, "\n"));
    }
    return found;
}

static size_t events(web_exchange *x) {
    size_t n = 0;
    while (web_event_data(x, n))
        n++;
    return n;
}

#define HAS(x, text) unit_check(web_wait((x), WEB_TEXT, (text)), "\"%s\" does not come: %s", (text), web_body(x))
#define WHOLE(x) unit_check(web_wait_whole(x), "no end: %s", web_body(x))

/* ---- ids and ends ---- */

static void ids_are_long_and_never_the_same(void) {
    web_start();
    const char *before = "";
    for (int i = 0; i < 50; i++) {
        const char *id = strchr(web_session(), ' ') + 1;
        unit_check(strlen(id) > 60 && strcmp(id, before) != 0, "%s", id);
        for (const char *c = id; *c && *c != '\n'; c++)
            CU_ASSERT(*c >= 0x21 && *c <= 0x7e);
        before = id;
    }
    web_finish();
}

static void the_longest_idle_session_gives_way(void) {
    web_start_with(core_inner_server("{}"), true, NULL);
    srv->manifest->http.sessions = 3;
    web_host_destroy(host);
    host = web_host_create(srv, &fake_front, &(web_host_options){.loopback = true});
    const char *a = web_session(), *b = web_session(), *c = web_session();
    EXPECT(web_post(a, REQUEST("1", "ping", "")), 200, 0); /* b is the longest idle now */
    const char *d = web_session();
    EXPECT(web_post(b, REQUEST("1", "ping", "")), 404, -32600);
    EXPECT(web_post(a, REQUEST("1", "ping", "")), 200, 0);
    web_exchange *listening = get(c, NULL);
    EXPECT(web_post(d, REQUEST("1", "ping", "")), 200, 0);
    const char *e = web_session(); /* c is the longest idle, but somebody listens */
    EXPECT(web_post(a, REQUEST("1", "ping", "")), 404, -32600);
    EXPECT(web_post(c, REQUEST("1", "ping", "")), 200, 0);
    CU_ASSERT(!listening->finished);
    web_exchange *calls[] = {web_post(c, CALL("1", "wait", "'ms':10000", "")), web_post(d, CALL("1", "wait", "'ms':10000", "")),
                             web_post(e, CALL("1", "wait", "'ms':10000", ""))};
    web_exchange *full = web_post("", REQUEST("1", "initialize", "'protocolVersion':'2025-11-25'"));
    EXPECT(full, 503, -32603);
    CU_ASSERT_PTR_NOT_NULL(web_answered(full, "Retry-After"));
    EXPECT(web_ask("DELETE", "/mcp", d, ""), 200, 0);
    EXPECT(calls[1], 404, 0); /* it is answered by the end of its session */
    web_session();
    EXPECT(web_ask("DELETE", "/mcp", c, ""), 200, 0);
    EXPECT(web_ask("DELETE", "/mcp", e, ""), 200, 0);
    WHOLE(calls[0]);
    WHOLE(calls[2]);
    web_finish();
}

static void a_session_that_is_idle_too_long_ends(void) {
    web_start_with(core_inner_server("{}"), true, NULL);
    srv->manifest->http.session_ms = 300;
    web_host_destroy(host);
    host = web_host_create(srv, &fake_front, &(web_host_options){.loopback = true});
    const char *idle = web_session(), *listening = web_session(), *busy = web_session();
    web_exchange *stream = get(listening, NULL), *call = web_post(busy, CALL("1", "wait", "'ms':600", ""));
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
    EXPECT(web_post(idle, REQUEST("1", "ping", "")), 404, -32600);
    EXPECT(web_post(listening, REQUEST("1", "ping", "")), 200, 0);
    EXPECT(web_post(busy, REQUEST("1", "ping", "")), 200, 0);
    EXPECT(call, 200, 0);
    CU_ASSERT(!stream->finished);
    web_finish();
}

static void delete_ends_calls_and_streams(void) {
    start_gated();
    const char *mine = web_session(), *other = web_session();
    web_exchange *stream = get(mine, NULL), *pending = web_post(mine, CALL("1", "held", "", ""));
    web_exchange *begun = web_post(mine, CALL("2", "ask", "", "")), *foreign = web_post(other, CALL("1", "wait", "'ms':150", ""));
    HAS(begun, "elicitation/create");
    CU_ASSERT(wait_for_held(1)); /* what no worker has taken yet ends without running */
    EXPECT(web_ask("DELETE", "/mcp", mine, ""), 200, 0);
    CU_ASSERT(stream->finished);
    EXPECT(pending, 404, 0);
    WHOLE(begun);
    CU_ASSERT_PTR_NULL(strstr(begun->body, "\"result\""));
    EXPECT(foreign, 200, 0);
    CU_ASSERT_EQUAL(atomic_load(&held_stopped), 1);
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','id':1,'result':{}}"), 404, -32600);
    web_finish();
}

/* ---- streams of calls ---- */

static void who_takes_no_stream_is_asked_only_where_one_is_open(void) {
    start_gated();
    const char *mine = web_session();
    const char *plain = arena_printf(&web_mem, "Accept: application/json\n%s", mine);
    web_exchange *deaf = web_post(plain, CALL("1", "ask", "", ""));
    EXPECT(deaf, 200, 0);
    HAS(deaf, "nothing can reach this client");
    web_exchange *own = get(mine, NULL), *asked = web_post(plain, CALL("2", "ask", "", ""));
    HAS(own, "elicitation/create");
    CU_ASSERT(!asked->status);
    EXPECT(web_ask("DELETE", "/mcp", mine, ""), 200, 0);
    web_finish();
}

static void a_question_is_answered_by_another_post(void) {
    start_gated();
    const char *mine = web_session();
    web_exchange *x = web_post(mine, CALL("'c'", "ask", "", ""));
    HAS(x, "elicitation/create");
    CU_ASSERT(x->streaming && !x->finished);
    CU_ASSERT_STRING_EQUAL(web_event_data(x, 0), "");
    EXPECT(web_post(web_session(), "{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':{'a':1}}}"), 202, 0); /* not theirs */
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':{'a':'mine'}}}"), 202, 0);
    WHOLE(x);
    HAS(x, "\"id\":\"c\",\"result\"");
    HAS(x, "mine");
    web_finish();
}

static void priming_is_for_2025_11_25_alone(void) {
    static const struct {
        const char *version;
        bool primed;
    } cases[] = {{"2025-11-25", true}, {"2025-06-18", false}, {"2025-03-26", false}, {"2024-11-05", false}};
    start_gated();
    open_gate(10);
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        const char *mine = web_session_of(cases[i].version, "");
        web_exchange *x = web_post(mine, STEPS("'steps':1"));
        WHOLE(x);
        CU_ASSERT_EQUAL(events(x), cases[i].primed ? 3 : 2);
        CU_ASSERT_EQUAL(strstr(x->body, "retry: ") != NULL, cases[i].primed);
        CU_ASSERT_EQUAL(strstr(x->body, "data: \n") != NULL, cases[i].primed);
        web_exchange *own = get(mine, NULL);
        unit_check((own->len != 0) == cases[i].primed, "%s: %s", cases[i].version, own->body);
        web_close(own);
    }
    web_finish();
}

static void a_broken_stream_is_taken_up_where_it_broke(void) {
    start_gated();
    const char *mine = web_session();
    web_exchange *x = web_post(mine, STEPS("'steps':4"));
    open_gate(2);
    HAS(x, "\"progress\":2");
    const char *last = event_id(x, 1); /* the client got 1 */
    web_close(x);
    open_gate(3);
    web_exchange *y = get(mine, last);
    CU_ASSERT(y->status == 200 && y->streaming);
    HAS(y, "\"progress\":3");
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 0), "\"progress\":2")); /* nothing before it, nothing left out */
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 1), "\"progress\":3"));
    open_gate(5);
    WHOLE(y);
    CU_ASSERT_EQUAL(events(y), 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 3), "arrived"));
    web_exchange *z = get(mine, last); /* once more, all of it */
    WHOLE(z);
    CU_ASSERT_EQUAL(events(z), 4);
    CU_ASSERT_STRING_EQUAL(z->body, y->body);
    web_exchange *over = get(mine, event_id(y, 3));
    EXPECT(over, 204, 0); /* do not come back */
    web_finish();
}

static void a_stream_is_taken_over_while_it_runs(void) {
    start_gated();
    const char *mine = web_session();
    web_exchange *x = web_post(mine, STEPS("'steps':2"));
    open_gate(1);
    HAS(x, "\"progress\":1");
    web_exchange *y = get(mine, event_id(x, 0));
    CU_ASSERT(x->finished && !y->finished);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 0), "\"progress\":1"));
    open_gate(3);
    WHOLE(y);
    CU_ASSERT_EQUAL(events(y), 3);
    CU_ASSERT_PTR_NULL(strstr(x->body, "\"progress\":2"));
    web_finish();
}

static void a_call_can_let_its_client_go(void) {
    static const char *const args[] = {"'steps':1,'let_go':1", "'steps':0,'let_go':0", "'steps':2,'let_go':2"};
    static const int before[] = {1, 0, 2};
    start_gated();
    for (size_t i = 0; i < LASTRO_COUNT(args); i++) {
        const char *mine = web_session();
        open_gate(before[i]);
        web_exchange *x = web_post(mine, web_text(CALL("7", "steps", "%s", PROGRESS), args[i]));
        WHOLE(x);
        CU_ASSERT(x->streaming && x->finished);
        HAS(x, "retry: 77\n");
        CU_ASSERT_STRING_EQUAL(web_event_data(x, 0), "");
        CU_ASSERT_PTR_NULL(strstr(x->body, "arrived"));
        web_close(x);
        web_exchange *y = i % 2 ? NULL : get(mine, event_id(x, 0)); /* before or after there is something */
        open_gate(before[i] + 1);
        if (!y) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
            y = get(mine, event_id(x, 0));
        }
        WHOLE(y);
        HAS(y, "arrived");
    }
    web_finish();
}

static void letting_go_is_nothing_for_others(void) {
    start_gated();
    open_gate(10);
    web_exchange *x = web_post(web_session_of("2025-06-18", ""), STEPS("'steps':1,'let_go':1"));
    WHOLE(x);
    HAS(x, "arrived");
    x = web_post(MODERN_CALL "steps\n", CALL("1", "steps", "'steps':0,'let_go':0", "," META));
    EXPECT(x, 200, 0);
    HAS(x, "arrived");
    web_exchange *y = web_post(web_text("%sAccept: application/json\n", web_session()), STEPS("'steps':1,'let_go':1"));
    EXPECT(y, 200, 0);
    HAS(y, "arrived");
    web_finish();
}

static void an_id_of_another_stream_leads_nowhere(void) {
    static const char *const bad[] = {"x", "-", "1", "1-", "-1", "1-1-1", "99-0", "1-999", "4294967296-0", "1-4294967296", "0-4294967295", "01x-1", "1 -1",
                                      "00000000001-1"};
    start_gated();
    open_gate(10);
    const char *mine = web_session(), *other = web_session();
    web_exchange *x = web_post(mine, STEPS("'steps':1"));
    WHOLE(x);
    for (size_t i = 0; i < LASTRO_COUNT(bad); i++)
        EXPECT(get(mine, bad[i]), 400, -32600);
    EXPECT(get(other, event_id(x, 1)), 400, -32600);
    EXPECT(get(mine, event_id(x, 1)), 200, 0);
    web_finish();
}

static void clients_with_one_type_get_that_one(void) {
    start_gated();
    open_gate(10);
    const char *mine = web_session();
    web_exchange *x = web_post(web_text("%sAccept: application/json\n", mine), STEPS("'steps':3"));
    EXPECT(x, 200, 0);
    HAS(x, "arrived");
    x = web_post(web_text("%sAccept: application/json\n+Accept: text/event-stream\n", mine), STEPS("'steps':3")); /* a list cut in two */
    WHOLE(x);
    CU_ASSERT(x->streaming);
    x = web_post(web_text("%sAccept: text/event-stream\n", mine), REQUEST("1", "ping", ""));
    WHOLE(x);
    CU_ASSERT(x->streaming && strstr(web_event_data(x, 1), "\"result\":{}"));
    x = web_post(VERSION "Mcp-Method: tools/list\nAccept: text/event-stream\n", REQUEST("1", "tools/list", META));
    CU_ASSERT(x->finished && strstr(web_event_data(x, 0), "\"result\""));
    x = web_post(MODERN_CALL "steps\nAccept: */*\n", CALL("1", "steps", "'steps':1", ",'_meta':{'progressToken':1,"
                 "'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}"));
    WHOLE(x);
    CU_ASSERT(x->streaming);
    x = web_post(MODERN_CALL "steps\nAccept: application/json\n", CALL("1", "steps", "'steps':1", ",'_meta':{'progressToken':1,"
                 "'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}"));
    EXPECT(x, 200, 0);
    HAS(x, "arrived");
    web_finish();
}

static void without_a_stream_of_its_own_a_call_speaks_on_the_sessions(void) {
    start_gated();
    const char *mine = web_session();
    web_exchange *own = get(mine, NULL), *x = web_post(web_text("%sAccept: application/json\n", mine), CALL("1", "ask", "", ""));
    HAS(own, "elicitation/create");
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':{'a':1}}}"), 202, 0);
    EXPECT(x, 200, 0);
    web_finish();
}

/* ---- the session's own stream ---- */

static void what_nobody_heard_waits_for_a_get(void) {
    start_gated();
    const char *mine = web_session();
    EXPECT(web_post(mine, REQUEST("1", "ping", "")), 200, 0);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    web_exchange *x = get(mine, NULL);
    CU_ASSERT_STRING_EQUAL(web_event_data(x, 0), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 1), "tools/list_changed"));
    lastro->changed(LASTRO_CHANGED_PROMPTS, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 2), "prompts/list_changed"));
    const char *last = event_id(x, 1);
    web_close(x);
    lastro->changed(LASTRO_CHANGED_RESOURCES, NULL);
    web_exchange *y = get(mine, last);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 0), "prompts/list_changed"));
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(y, 1), "resources/list_changed"));
    CU_ASSERT_EQUAL(events(y), 2);
    web_close(y);
    web_exchange *z = get(mine, NULL); /* all was heard */
    CU_ASSERT_EQUAL(events(z), 1);
    web_finish();
}

static void a_second_get_takes_over(void) {
    start_gated();
    const char *mine = web_session();
    EXPECT(web_post(mine, REQUEST("1", "ping", "")), 200, 0);
    web_exchange *x = get(mine, NULL), *y = get(mine, NULL);
    CU_ASSERT(x->finished && !y->finished);
    web_close(x);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    HAS(y, "tools/list_changed");
    CU_ASSERT_PTR_NULL(strstr(x->body, "tools/list_changed"));
    web_host_end_streams(host);
    CU_ASSERT(y->finished);
    EXPECT(web_post(mine, REQUEST("1", "ping", "")), 200, 0);
    web_finish();
}

static void what_is_kept_is_bounded_and_replayed(void) {
    start_gated();
    const char *mine = web_session();
    EXPECT(web_post(mine, REQUEST("1", "ping", "")), 200, 0);
    for (int i = 0; i < 300; i++)
        lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    static const struct {
        const char *last;
        size_t events;
    } cases[] = {{"0-1", 256}, {"0-100", 200}, {"0-299", 1}, {"0-300", 0}, {NULL, 1}};
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        web_exchange *x = get(mine, cases[i].last);
        CU_ASSERT(x->status == 200 && !x->finished);
        unit_check(events(x) == cases[i].events, "after %s: %zu events", cases[i].last ? cases[i].last : "all", events(x));
        web_close(x);
    }
    EXPECT(get(mine, "0-301"), 400, -32600);
    for (int i = 0; i < 1000; i++)
        lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    CU_ASSERT_EQUAL(events(get(mine, NULL)), 257); /* what nobody heard is bounded too */
    web_finish();
}

/* ---- who leaves ---- */

static void f064_a_legacy_client_that_leaves_cancels_nothing(void) {
    start_gated();
    const char *mine = web_session();
    int stopped = atomic_load(&inner_stopped);
    web_exchange *x = web_post(mine, CALL("1", "wait", "'ms':60", "")), *y = web_post(mine, STEPS("'steps':1"));
    web_close(x);
    open_gate(1);
    HAS(y, "\"progress\":1");
    web_close(y);
    open_gate(2);
    CU_ASSERT(server_wait_idle(srv, 5000));
    CU_ASSERT_EQUAL(atomic_load(&inner_stopped), stopped);
    web_exchange *z = get(mine, event_id(y, 0));
    WHOLE(z);
    HAS(z, "arrived");
    web_finish();
}

static void f064_a_modern_client_that_leaves_cancels(void) {
    start_gated();
    for (int i = 1; i <= 20; i++) {
        web_exchange *x = web_post(MODERN_CALL "held\n", CALL("1", "held", "", "," META));
        CU_ASSERT(wait_for_held(i));
        web_close(x);
        CU_ASSERT(server_wait_idle(srv, 5000));
        CU_ASSERT_EQUAL(atomic_load(&held_stopped), i);
        CU_ASSERT(web_wait(x, WEB_FREE, NULL));
        CU_ASSERT_EQUAL(x->status, 0);
    }
    for (int i = 0; i < 20; i++) { /* it may not have begun */
        web_exchange *x = web_post(MODERN_CALL "held\n", CALL("1", "held", "", "," META));
        web_close(x);
        CU_ASSERT(server_wait_idle(srv, 5000));
        CU_ASSERT(web_wait(x, WEB_FREE, NULL));
    }
    CU_ASSERT_EQUAL(atomic_load(&held_stopped), atomic_load(&held_begun));
    web_finish();
}

static void a_client_that_left_before_its_request_was_read_is_noticed(void) {
    web_start();
    const web_handler *h = web_host_handler(host);
    web_exchange *x = web_open();
    web_test_head head = {.base = {.method = "POST", .path = "/mcp", .remote = "", .header = web_header_of}};
    web_read_headers(&head, WEB_USUAL MODERN_CALL "wait\n");
    x->accepted = h->head(h->arg, x, &head.base);
    CU_ASSERT_FATAL(x->accepted);
    x->gone = true;
    h->gone(h->arg, x);
    const char *body = web_quoted(CALL("1", "wait", "'ms':10000", "," META));
    h->request(h->arg, x, &head.base, body, strlen(body));
    CU_ASSERT(server_wait_idle(srv, 2000));
    x->done = true;
    h->done(h->arg, x);
    web_finish();
}

static void *tell_of_tools(void *arg) {
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    return arg;
}

static void a_listener_that_leaves_is_forgotten(void) {
    web_start();
    for (int i = 0; i < 1200; i++) { /* more than one client of another transport may have open */
        web_exchange *x = web_post(VERSION "Mcp-Method: subscriptions/listen\n",
                                   REQUEST("1", "subscriptions/listen", "'notifications':{'toolsListChanged':true}," META));
        unit_check(x->streaming && !x->finished, "listener %d: %s", i, x->body);
    }
    size_t told = 0;
    pthread_t worker;
    CU_ASSERT_FATAL(pthread_create(&worker, NULL, tell_of_tools, NULL) == 0);
    pthread_join(worker, NULL);
    for (web_exchange *x = exchanges; x; x = x->next) {
        told += events(x) == 2;
        web_close(x);
        CU_ASSERT(web_wait(x, WEB_FREE, NULL));
    }
    CU_ASSERT_EQUAL(told, 1200);
    CU_ASSERT_EQUAL(web_waited, 0); /* who tells many waits for none of them */
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    web_finish();
}

static void a_cancelled_call_ends_its_exchange(void) {
    start_gated();
    const char *mine = web_session();
    web_exchange *x = web_post(mine, CALL("'a'", "wait", "'ms':10000", "")), *y = web_post(mine, CALL("5", "ask", "", ""));
    HAS(y, "elicitation/create");
    EXPECT(web_post(web_session(), "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'a'}}"), 202, 0);
    CU_ASSERT_EQUAL(x->status, 0);
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'a'}}"), 202, 0);
    EXPECT(x, 202, 0);
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':5}}"), 202, 0);
    WHOLE(y);
    EXPECT(get(mine, event_id(y, events(y) - 1)), 204, 0);
    web_finish();
}

static void a_batch_streams_when_something_comes_before(void) {
    start_gated();
    open_gate(10);
    const char *mine = web_session_of("2025-03-26", "");
    web_exchange *x = web_post(mine, "[" STEPS("'steps':2") "," REQUEST("8", "ping", "") "]");
    WHOLE(x);
    CU_ASSERT_EQUAL(events(x), 3);
    CU_ASSERT_EQUAL(web_event_data(x, 2)[0], '[');
    web_finish();
}

/* ---- the log by itself ---- */

static void the_log_is_bounded_by_session_and_in_all(void) {
    web_log *l = web_log_create(1000, 500, 5);
    web_history a = {0}, b = {0};
    web_stream *sa = web_log_open(l, &a), *sb = web_log_open(l, &b);
    char *text, big[400];
    size_t len;
    bool open;
    for (int i = 0; i < 8; i++)
        web_event_release(web_log_add(l, sa, "1", 1));
    CU_ASSERT_EQUAL(a.events, 5);
    CU_ASSERT(web_log_after(l, sa, 2, &text, &len, &open) && open);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(strncmp(text, "id: 0-4\ndata: 1\n\nid: 0-5\n", 25), 0);
    free(text);
    CU_ASSERT(web_log_after(l, sa, 8, &text, &len, &open) && !text && !len);
    CU_ASSERT(!web_log_after(l, sa, 9, &text, &len, &open));
    memset(big, 'x', sizeof big);
    for (int i = 0; i < 3; i++)
        web_event_release(web_log_add(l, sb, big, sizeof big));
    CU_ASSERT(b.events == 1 && a.events == 5);
    web_stream *sc = web_log_open(l, &a); /* the oldest of all go first, whosever they are */
    web_event_release(web_log_add(l, sc, big, sizeof big));
    web_event_release(web_log_add(l, sc, big, sizeof big));
    CU_ASSERT(a.events == 1 && b.events == 1);
    CU_ASSERT(web_log_after(l, sa, 7, &text, &len, &open) && !text);
    web_log_close(l, sa);
    CU_ASSERT_PTR_NULL(web_log_find(l, &a, 0)); /* nothing of it is kept, nothing comes */
    web_log_close(l, sc);
    web_stream *found = web_log_find(l, &a, 1);
    CU_ASSERT_PTR_EQUAL(found, sc);
    web_stream_release(found);
    web_log_clear(l, &a);
    CU_ASSERT(!a.events && !a.bytes && !a.streams && b.events == 1);
    web_event *e = web_log_add(l, sc, "late", 4); /* after the end: it has a text and is not kept */
    CU_ASSERT(e && !a.events);
    web_event_release(e);
    web_stream_release(sa);
    web_stream_release(sc);
    web_log_close(l, sb);
    web_log_clear(l, &b);
    web_stream_release(sb);
    web_log_destroy(l);
}

/* ---- many at once ---- */

enum { CLIENTS = 8, ROUNDS = 60 };

static void *busy_client(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        const char *mine = web_session();
        web_exchange *own = get(mine, NULL), *x = web_post(mine, CALL("1", "ask", "", "")), *y = web_post(mine, CALL("2", "talk", "", PROGRESS));
        web_exchange *m = web_post(MODERN_CALL "wait\n", CALL("1", "wait", "'ms':5", "," META));
        web_exchange *l = web_post(VERSION "Mcp-Method: subscriptions/listen\n",
                                   REQUEST("1", "subscriptions/listen", "'notifications':{'toolsListChanged':true}," META));
        if (rand_r(&seed) % 4 == 0)
            lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
        web_wait(x, WEB_TEXT, "elicitation");
        if (rand_r(&seed) % 2) {
            web_close(x);
            web_close(get(mine, "1-0"));
        }
        if (rand_r(&seed) % 2)
            web_post(mine, "{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':{'a':1}}}");
        if (rand_r(&seed) % 2)
            web_close(y);
        if (rand_r(&seed) % 2)
            web_close(m);
        if (rand_r(&seed) % 2)
            web_close(own);
        web_ask("DELETE", "/mcp", mine, "");
        web_close(l);
    }
    return NULL;
}

static void many_clients_at_once(void) {
    pthread_t threads[CLIENTS];
    web_start_with(core_inner_server("{}"), true, NULL);
    for (size_t i = 0; i < CLIENTS; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, busy_client, (void *)(uintptr_t)(i + 1)) == 0);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    for (web_exchange *x = exchanges; x; x = x->next)
        web_close(x);
    CU_ASSERT(server_wait_idle(srv, 5000));
    for (web_exchange *x = exchanges; x; x = x->next)
        CU_ASSERT(web_wait(x, WEB_FREE, NULL));
    web_finish();
}

static const unit_test tests[] = {
    UNIT_TEST(ids_are_long_and_never_the_same),
    UNIT_TEST(the_longest_idle_session_gives_way),
    UNIT_TEST(a_session_that_is_idle_too_long_ends),
    UNIT_TEST(delete_ends_calls_and_streams),
    UNIT_TEST(who_takes_no_stream_is_asked_only_where_one_is_open),
    UNIT_TEST(a_question_is_answered_by_another_post),
    UNIT_TEST(priming_is_for_2025_11_25_alone),
    UNIT_TEST(a_broken_stream_is_taken_up_where_it_broke),
    UNIT_TEST(a_stream_is_taken_over_while_it_runs),
    UNIT_TEST(a_call_can_let_its_client_go),
    UNIT_TEST(letting_go_is_nothing_for_others),
    UNIT_TEST(an_id_of_another_stream_leads_nowhere),
    UNIT_TEST(clients_with_one_type_get_that_one),
    UNIT_TEST(without_a_stream_of_its_own_a_call_speaks_on_the_sessions),
    UNIT_TEST(what_nobody_heard_waits_for_a_get),
    UNIT_TEST(a_second_get_takes_over),
    UNIT_TEST(what_is_kept_is_bounded_and_replayed),
    UNIT_TEST(f064_a_legacy_client_that_leaves_cancels_nothing),
    UNIT_TEST(f064_a_modern_client_that_leaves_cancels),
    UNIT_TEST(a_client_that_left_before_its_request_was_read_is_noticed),
    UNIT_TEST(a_listener_that_leaves_is_forgotten),
    UNIT_TEST(a_cancelled_call_ends_its_exchange),
    UNIT_TEST(a_batch_streams_when_something_comes_before),
    UNIT_TEST(the_log_is_bounded_by_session_and_in_all),
    UNIT_TEST(many_clients_at_once),
};

int main(void) {
    return UNIT_RUN("web sessions", tests);
}
