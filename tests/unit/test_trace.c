/* SPDX-License-Identifier: MIT */
/* The trace of a request: read strictly, told in log lines, carried to what is asked of sources. */
#include "fetch.h"
#include "log.h"
#include "mcp_internal.h"
#include "test_talk.h"
#include "trace.h"

#include <fcntl.h>

#define ID "0af7651916cd43dd8448eb211c80319c"
#define SPAN_ID "b7ad6b7169203331"
#define PARENT "00-" ID "-" SPAN_ID "-01"

static void test_trace__parents_are_read_strictly(void) {
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {PARENT, true},
        {"00-" ID "-" SPAN_ID "-00", true},
        {"00-" ID "-" SPAN_ID "-ff", true},
        {"01-" ID "-" SPAN_ID "-01", true},
        {"cc-" ID "-" SPAN_ID "-01-what the future will be like", true},
        {"cc-" ID "-" SPAN_ID "-01.what", false},
        {"ff-" ID "-" SPAN_ID "-01", false},
        {"00-" ID "-" SPAN_ID "-01-more", false},
        {"00-" ID "-" SPAN_ID "-01 ", false},
        {" " PARENT, false},
        {"00-" ID "-" SPAN_ID "-1", false},
        {"00-" ID "-" SPAN_ID, false},
        {"0-" ID "-" SPAN_ID "-01x", false},
        {"00-00000000000000000000000000000000-" SPAN_ID "-01", false},
        {"00-" ID "-0000000000000000-01", false},
        {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN_ID "-01", false},
        {"00-" ID "-" SPAN_ID "-0g", false},
        {"0x-" ID "-" SPAN_ID "-01", false},
        {"00_" ID "-" SPAN_ID "-01", false},
        {"00-" ID "_" SPAN_ID "-01", false},
        {"00-" ID "-" SPAN_ID "_01", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        unit_check(trace_parent_valid(rows[i].text, strlen(rows[i].text)) == rows[i].valid, "\"%s\"", rows[i].text);
    CU_ASSERT_FALSE(trace_parent_valid("00-" ID "-" SPAN_ID "-0\0", TRACE_PARENT));
}

static void test_trace__states_are_read_strictly(void) {
    static char keys[1200];
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true},
        {"a=1", true},
        {" a=1 ,\t b=2 ", true},
        {"a=1,,b=2", true},
        {"fw529a3039@dt=FfAQ", true},
        {"1tenant@sys=x", true},
        {"a_-*/9=!~", true},
        {"a=b c", true},
        {"", false},
        {",", false},
        {"a", false},
        {"a=", false},
        {"=1", false},
        {"A=1", false},
        {"1a=1", false},
        {"a@1=1", false},
        {"@a=1", false},
        {"a@=1", false},
        {"a@fifteen_letters=1", false},
        {"a=1=2", false},
        {"a=1,a=2", false},
        {"a=\x7f", false},
        {"a=\xc3\xa9", false},
        {"a b=1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        unit_check(trace_state_valid(rows[i].text, strlen(rows[i].text)) == rows[i].valid, "\"%s\"", rows[i].text);
    for (int n = 1; n <= 33; n++) {
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%sk%d=1", n > 1 ? "," : "", n);
        unit_check(trace_state_valid(keys, strlen(keys)) == (n <= 32), "%d members", n);
    }
    memset(keys, 'x', sizeof keys);
    keys[1] = '=';
    for (size_t len = 257; len < 261; len++) /* x= and the value */
        CU_ASSERT_EQUAL(trace_state_valid(keys, len), len <= 258);
    memcpy(keys + 258, ",y=", 3);
    CU_ASSERT_TRUE(trace_state_valid(keys, 512));
    CU_ASSERT_FALSE(trace_state_valid(keys, 513));
}

static void test_trace__a_child_has_its_own_span(void) {
    char child[TRACE_PARENT + 1];
    trace_child("cc-" ID "-" SPAN_ID "-ff-later", 0x0123456789abcdefu, child);
    CU_ASSERT_STRING_EQUAL(child, "00-" ID "-0123456789abcdef-03");
    trace_child("00-" ID "-" SPAN_ID "-00", 0, child);
    CU_ASSERT_STRING_EQUAL(child, "00-" ID "-0000000000000001-00");
    CU_ASSERT_TRUE(trace_parent_valid(child, strlen(child)));
}

/* ---- a transport that keeps the headers it is to send ---- */

static struct {
    int count;
    char parent[8][64], state[8][64];
    bool has_state[8];
} sent;

static void *keep_open(const char *user_agent) {
    (void)user_agent;
    return &sent;
}
static void keep_close(void *transport) {
    (void)transport;
}
static http_exchange *keep_start(void *transport, const http_request *request) {
    (void)transport;
    snprintf(sent.parent[sent.count], sizeof *sent.parent, "%s", request->traceparent ? request->traceparent : "none");
    snprintf(sent.state[sent.count], sizeof *sent.state, "%s", request->tracestate ? request->tracestate : "none");
    http_result result = {.end = HTTP_DONE, .status = ++sent.count % 2 ? 503 : 200, .body = strdup("{}"), .body_len = 2,
                          .content_type = "application/json", .retry_after_ms = -1, .error = ""};
    request->done(request->arg, &result);
    free(result.body);
    return (http_exchange *)&sent; /* never cancelled: it is done */
}
static void keep_cancel(void *transport, http_exchange *exchange) {
    (void)transport, (void)exchange;
}
static const http_transport *keep_transport(void *arg, lastro_error *err) {
    static const http_transport table = {HTTP_TRANSPORT_VERSION, keep_open, keep_close, keep_start, keep_cancel};
    (void)arg, (void)err;
    return &table;
}

/* ---- a tool that asks a source ---- */

static const lastro_request_class quick = {.size = sizeof quick, .name = "quick", .attempt_ms = 1000, .attempts = 2, .budget_ms = 2000, .wait_ms = 1, .wait_max_ms = 1};
static int32_t judge(void *self, const lastro_attempt *attempt, char *reason, size_t size) {
    (void)self, (void)reason, (void)size;
    return attempt->http_status == 200 ? LASTRO_BODY_OK : LASTRO_BODY_RETRY;
}
static const lastro_source far_away = {.size = sizeof far_away, .name = "far", .title = "Far", .base_url = "https://far.example.org",
                                       .license = "CC0-1.0", .citation = "Far.", .classify = judge,
                                       .classes = (const lastro_request_class *const[]){&quick, NULL}};

static lastro_status reach_target(lastro_call *call, const char *target, uint32_t fresh_ms, lastro_error *err) {
    lastro_request request = {.size = sizeof request, .source = "far", .target = target, .fresh_ms = fresh_ms};
    lastro_response response = {.size = sizeof response};
    lastro->log(call, LASTRO_LOG_ERROR, "asking");
    lastro_status s = lastro->fetch(call, &request, &response);
    return s ? lastro_fail(err, s, "%s", response.reason ? response.reason : "") : LASTRO_OK;
}
static lastro_status reach(lastro_call *call, lastro_error *err) {
    return reach_target(call, "/x", 0, err);
}
static lastro_status reach_kept(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out;
    return reach_target(call, "/kept", 60000, err);
}
static lastro_status reach_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out;
    return reach(call, err);
}
static lastro_status reach_part(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args;
    lastro->begin_object(out);
    lastro->end_object(out);
    return reach(call, err);
}
static lastro_status reach_through(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    lastro_service_call one = {.size = sizeof one, .service = "far", .version = 1, .method = "reach", .args = args};
    (void)self, (void)out;
    lastro_status s = lastro->service(call, &one);
    return s ? lastro_fail(err, s, "%s", one.error.text) : LASTRO_OK;
}
static lastro_status reach_read(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    (void)self;
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){"x", 1});
    return reach(call, err);
}
static const lastro_tool reach_tools[] = {
    {.size = sizeof(lastro_tool), .run = reach_run, .contract = INNER_TOOL("reach", INNER_NONE, )},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = reach_run, .contract = INNER_TOOL("quick", INNER_NONE, )},
    {.size = sizeof(lastro_tool), .run = reach_kept, .contract = INNER_TOOL("kept", INNER_NONE, )},
    {.size = sizeof(lastro_tool), .run = reach_through, .contract = INNER_TOOL("through", INNER_NONE, )},
};
static const lastro_resource reach_resource = {.size = sizeof(lastro_resource), .uri = "far://x", .name = "x", .read = reach_read};
static const lastro_method reach_method = {.size = sizeof(lastro_method), .name = "reach", .run = reach_part};
static const lastro_service reach_service = {.size = sizeof(lastro_service), .name = "far", .version = 1,
                                             .methods = (const lastro_method *const[]){&reach_method, NULL}};
static lastro_status reach_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro = host;
    *ret_self = NULL;
    lastro_status s = lastro->add_source(r, &far_away, err);
    for (size_t i = 0; !s && i < LASTRO_COUNT(reach_tools); i++)
        s = lastro->add_tool(r, &reach_tools[i], err);
    if (s || (s = lastro->add_resource(r, &reach_resource, err)))
        return s;
    return lastro->add_service(r, &reach_service, err);
}
static const lastro_plugin reach_plugin = {LASTRO_PLUGIN_HEAD, .name = "reach", .version = "1.0.0", .init = reach_init};

static int real_stderr, log_read;

/* Standard error goes to a pipe from now on. */
static void catch_log(void) {
    int fds[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    real_stderr = dup(STDERR_FILENO);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    log_read = fds[0];
}
/* What was logged so far. */
static const char *logged(void) {
    static char text[65536];
    ssize_t n = read(log_read, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}
static void release_log(void) {
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(log_read);
}

static void start_reach(void) {
    fetch_config config = {.cache_bytes = 1 << 20, .user_agent = "test", .transport = keep_transport, .seed = 7};
    start_plugin(&reach_plugin, NULL, "{}");
    srv->opts.offline = false;
    fetch_destroy(srv->fetch);
    srv->fetch = fetch_create(&config);
    CU_ASSERT_PTR_NOT_NULL_FATAL(srv->fetch);
    memset(&sent, 0, sizeof sent);
}

static const char *const reaches[] = {"tools/call','params':{'name':'reach'", "tools/call','params':{'name':'quick'",
                                      "tools/call','params':{'name':'through'", "resources/read','params':{'uri':'far://x'"};

static void test_trace__it_goes_to_the_log_and_to_the_sources(void) {
    static const char id[] = "trace " ID;
    catch_log();
    for (size_t i = 0; i < LASTRO_COUNT(reaches); i++)
        for (int modern = 0; modern < 2; modern++) {
            start_reach();
            if (!modern)
                greet("2025-11-25");
            logged();
            say("{'jsonrpc':'2.0','id':1,'method':'%s,'_meta':{%s'traceparent':'" PARENT "','tracestate':'a=1,b=2','baggage':'user=me'}}}", reaches[i],
                modern ? "'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}," : "");
            RESULT("1");
            const char *lines = logged();
            const char *own = strstr(lines, "reach: asking [" );
            unit_check(own && strncmp(strchr(own, '[') + 1, id, strlen(id)) == 0, "%s: log %s", reaches[i], lines);
            unit_check(sent.count == 2, "%d attempts", sent.count); /* 503, then 200 */
            for (int n = 0; n < sent.count; n++) {
                unit_check(strncmp(sent.parent[n], "00-" ID "-", 36) == 0 && !strstr(sent.parent[n], SPAN_ID) &&
                           trace_parent_valid(sent.parent[n], strlen(sent.parent[n])), "sent %s", sent.parent[n]);
                CU_ASSERT_STRING_EQUAL(sent.state[n], "a=1,b=2");
            }
            CU_ASSERT_STRING_NOT_EQUAL(sent.parent[0], sent.parent[1]); /* each attempt is a span */
            /* the next call of this thread has none */
            say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'quick'%s}}", modern ? "," CLAIM : "");
            RESULT("2");
            CU_ASSERT(!strstr(logged(), "trace"));
            CU_ASSERT_STRING_EQUAL(sent.parent[3], "none");
            CU_ASSERT_STRING_EQUAL(sent.state[3], "none");
            finish();
        }
    release_log();
}

static void test_trace__what_is_not_well_formed_is_not_there(void) {
    static const struct {
        const char *meta, *parent, *state;
    } rows[] = {
        {"'traceparent':'00-" ID "-" SPAN_ID "-1'", "none", "none"},
        {"'traceparent':5", "none", "none"},
        {"'traceparent':'" PARENT "\\u0000'", "none", "none"},
        {"'tracestate':'a=1'", "none", "none"},
        {"'traceparent':'" PARENT "','tracestate':'A=1'", "00-" ID, "none"},
        {"'traceparent':'" PARENT "','tracestate':['a=1']", "00-" ID, "none"},
    };
    for (size_t i = 0; i < LASTRO_COUNT(rows); i++) {
        start_reach();
        greet("2025-11-25");
        say("{'jsonrpc':'2.0','id':1,'method':'%s,'_meta':{%s}}}", reaches[0], rows[i].meta);
        RESULT("1");
        unit_check(strncmp(sent.parent[0], rows[i].parent, strlen(rows[i].parent)) == 0, "%s sent %s", rows[i].meta, sent.parent[0]);
        CU_ASSERT_STRING_EQUAL(sent.state[0], rows[i].state);
        finish();
    }
}

/* As a transport does that has the headers. */
static void say_with(const char *parent, const char *state, const char *message) {
    lastro_call *c = mcp_begin(ses, &peer_.base);
    const char *json = quoted(message);
    const json_value *v = mcp_parse(c, json, strlen(json));
    mcp_take_trace(c, parent, state);
    mcp_serve(c, v);
}

static void test_trace__headers_serve_where_the_message_says_nothing(void) {
#define OTHER "00-11111111111111111111111111111111-2222222222222222-00"
#define REACH "'id':1,'jsonrpc':'2.0','method':'tools/call','params':{'name':'reach'"
    start_reach();
    greet("2025-03-26");
    say_with(OTHER, "h=1", "{" REACH "}}");
    RESULT("1");
    CU_ASSERT(strncmp(sent.parent[0], OTHER, 36) == 0 && strcmp(sent.state[0], "h=1") == 0);
    say_with(OTHER, "h=1", "{" REACH ",'_meta':{'traceparent':'" PARENT "'}}}"); /* its own, and no state of another */
    RESULT("1");
    CU_ASSERT(strncmp(sent.parent[2], PARENT, 36) == 0 && strcmp(sent.state[2], "none") == 0);
    say_with(OTHER, NULL, "{" REACH ",'_meta':{'traceparent':'bad'}}}");
    RESULT("1");
    CU_ASSERT(strncmp(sent.parent[4], OTHER, 36) == 0);
    say_with(OTHER, "h=1", "[{" REACH "}}]");
    CU_ASSERT_PTR_NOT_NULL(AT(client_hear(&peer_), "0", "result"));
    CU_ASSERT(strncmp(sent.parent[6], OTHER, 36) == 0 && strcmp(sent.state[6], "h=1") == 0);
    finish();
}

static void test_trace__answers_are_kept_for_every_trace(void) {
    start_reach();
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'kept','_meta':{'traceparent':'" PARENT "'}}}");
    RESULT("1");
    CU_ASSERT_EQUAL(sent.count, 2);
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'kept','_meta':{'traceparent':'" OTHER "'}}}");
    RESULT("2");
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'kept'}}");
    RESULT("3");
    CU_ASSERT_EQUAL(sent.count, 2); /* the cache knows nothing of traces */
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_trace__parents_are_read_strictly),
        UNIT_TEST(test_trace__states_are_read_strictly),
        UNIT_TEST(test_trace__a_child_has_its_own_span),
        UNIT_TEST(test_trace__it_goes_to_the_log_and_to_the_sources),
        UNIT_TEST(test_trace__what_is_not_well_formed_is_not_there),
        UNIT_TEST(test_trace__headers_serve_where_the_message_says_nothing),
        UNIT_TEST(test_trace__answers_are_kept_for_every_trace),
    };
    return UNIT_RUN("trace", tests);
}
