/* SPDX-License-Identifier: MIT */
/* The decision table over HTTP, a test a row (rNN), and the field cases of requests. */
#include "test_web.h"

/* ---- the door ---- */

static void r01_host_and_origin_are_judged_before_all_else(void) {
    static const char *const bad[] = {"Host: evil.example:8080\n", "Host:\n", "Host: localhost.evil.example\n", "+Host: 127.0.0.1\n",
                                      "Origin: http://evil.example\n", "Origin: null\n"};
    static const char *const methods[] = {"POST", "GET", "DELETE", "OPTIONS", "PUT"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(bad); i++)
        for (size_t m = 0; m < LASTRO_COUNT(methods); m++) {
            web_exchange *x = web_ask(methods[m], i % 2 ? "/mcp" : "/nowhere", bad[i], "no JSON");
            unit_check(x->status == 403 && !x->accepted, "%s with %s: %u", methods[m], bad[i], x->status);
            CU_ASSERT_PTR_NULL(AT(web_json(x), "id"));
        }
    web_finish();
}

static void r02_only_mcp_is_there(void) {
    static const char *const paths[] = {"/", "/mcp/", "/MCP", "/mcp%00x", "/mcpx", ""};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(paths); i++) {
        web_exchange *x = web_ask("POST", paths[i], "", REQUEST("1", "ping", ""));
        unit_check(x->status == 404, "%s: %u", paths[i], x->status);
    }
    EXPECT(web_ask("GET", "/health", "Host: anything.example\n", ""), 200, 0);
    web_finish();
}

static void r03_delete_ends_a_session(void) {
    web_start();
    const char *mine = web_session();
    EXPECT(web_ask("DELETE", "/mcp", "", ""), 400, -32600);
    EXPECT(web_ask("DELETE", "/mcp", "Mcp-Session-Id: dead\n", ""), 404, -32600);
    EXPECT(web_ask("DELETE", "/mcp", "Mcp-Session-Id: with blank\n", ""), 400, -32600);
    EXPECT(web_ask("DELETE", "/mcp", mine, ""), 200, 0);
    EXPECT(web_ask("DELETE", "/mcp", mine, ""), 404, -32600);
    EXPECT(web_post(mine, REQUEST("1", "tools/list", "")), 404, -32600);
    EXPECT(web_ask("GET", "/mcp", mine, ""), 404, -32600);
    web_finish();
}

static void r04_get_opens_a_stream_of_a_session(void) {
    web_start();
    const char *mine = web_session();
    web_exchange *none = web_ask("GET", "/mcp", "", "");
    EXPECT(none, 405, -32600);
    CU_ASSERT_STRING_EQUAL(web_answered(none, "Allow"), "POST");
    EXPECT(web_ask("GET", "/mcp", "Mcp-Session-Id: dead\n", ""), 404, -32600);
    EXPECT(web_ask("GET", "/mcp", arena_printf(&web_mem, "%sAccept: text/html, application/json\n", mine), ""), 406, -32600);
    web_exchange *x = web_ask("GET", "/mcp", arena_printf(&web_mem, "%sAccept: text/event-stream\n", mine), "");
    CU_ASSERT(x->status == 200 && x->streaming && !x->finished);
    CU_ASSERT_STRING_EQUAL(web_answered(x, "Content-Type"), "text/event-stream");
    CU_ASSERT_STRING_EQUAL(web_answered(x, "X-Accel-Buffering"), "no");
    web_finish();
}

static void r05_other_methods_are_not_allowed(void) {
    static const char *const methods[] = {"PUT", "PATCH", "HEAD", "TRACE", "post"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(methods); i++)
        EXPECT(web_ask(methods[i], "/mcp", "", ""), 405, -32600);
    web_finish();
}

static void r06_the_body_is_json_by_its_type(void) {
    static const struct {
        const char *type;
        unsigned status;
    } cases[] = {{"Content-Type:\n", 415},
                 {"Content-Type: text/plain\n", 415},
                 {"Content-Type: application/jsonx\n", 415},
                 {"Content-Type: application/json; charset=utf-8\n", 404},
                 {"Content-Type: Application/JSON;x=y\n", 404}};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        web_exchange *x = web_post(arena_printf(&web_mem, "%sMcp-Session-Id: dead\n", cases[i].type), REQUEST("1", "ping", ""));
        unit_check(x->status == cases[i].status, "%s: %u", cases[i].type, x->status);
    }
    web_finish();
}

/* ---- the body ---- */

static void r07_what_is_no_json_is_a_parse_error(void) {
    static const char *const bodies[] = {"", "  ", "{", "nonsense", "{'jsonrpc':'2.0','id':1,}"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(bodies); i++) {
        web_exchange *x = web_post("", bodies[i]);
        EXPECT(x, 400, -32700);
        CU_ASSERT_PTR_NULL(AT(web_json(x), "id"));
    }
    web_finish();
}

static void r08_batches_belong_to_2025_03_26(void) {
    web_start();
    const char *batch = "[" REQUEST("1", "ping", "") "," REQUEST("2", "tools/list", "") ",{'jsonrpc':'2.0','method':'x'}]";
    const char *old = web_session_of("2025-03-26", "");
    EXPECT(web_post("", "  []"), 400, -32600);
    EXPECT(web_post("", "[1]"), 400, -32600);
    EXPECT(web_post("", batch), 400, -32600);
    EXPECT(web_post(web_session(), batch), 400, -32600);
    EXPECT(web_post("Mcp-Session-Id: dead\n", batch), 404, -32600);
    EXPECT(web_post(old, "[]"), 400, -32600);
    EXPECT(web_post(old, "[" REQUEST("1", "ping", "") "," REQUEST("2", "ping", META) "]"), 400, -32600);
    web_exchange *x = web_post(old, batch);
    CU_ASSERT_EQUAL(x->status, 200);
    CU_ASSERT_EQUAL(json_count(web_json(x)), 2);
    EXPECT(web_post(old, "[{'jsonrpc':'2.0','method':'notifications/x'},{'jsonrpc':'2.0','id':9,'result':{}}]"), 202, 0);
    web_finish();
}

static void r09_what_is_no_message_is_refused(void) {
    static const char *const bodies[] = {"1", "'text'", "null", "{}", "{'id':1,'method':'ping'}", "{'jsonrpc':'1.0','id':1,'method':'ping'}",
                                         "{'jsonrpc':'2.0','id':true,'method':'ping'}", "{'jsonrpc':'2.0','id':1,'method':5}",
                                         "{'jsonrpc':'2.0','id':1}"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(bodies); i++)
        EXPECT(web_post("", bodies[i]), 400, -32600);
    web_exchange *x = web_post("", "{'jsonrpc':'2.0','id':'a','method':5}");
    CU_ASSERT(json_text_is(AT(web_json(x), "id"), "a"));
    web_finish();
}

static void r10_a_response_goes_to_its_session(void) {
    const char *response = "{'jsonrpc':'2.0','id':1,'result':{}}";
    web_start();
    EXPECT(web_post(web_session(), response), 202, 0);
    EXPECT(web_post("", response), 400, -32600);
    EXPECT(web_post("Mcp-Session-Id: dead\n", response), 404, -32600);
    web_finish();
}

static void r11_a_notification_is_accepted(void) {
    const char *note = "{'jsonrpc':'2.0','method':'notifications/x'}";
    web_start();
    web_exchange *x = web_post(web_session(), note);
    EXPECT(x, 202, 0);
    CU_ASSERT_EQUAL(x->len, 0);
    EXPECT(web_post("", note), 202, 0);
    EXPECT(web_post("Mcp-Session-Id: dead\n" VERSION, note), 202, 0);
    EXPECT(web_post("Mcp-Session-Id: dead\n", "{'jsonrpc':'2.0','method':'notifications/x','params':{" META "}}"), 202, 0);
    EXPECT(web_post("Mcp-Session-Id: dead\n", note), 404, -32600);
    EXPECT(web_post("Mcp-Session-Id: a b\n", note), 400, -32600);
    web_finish();
}

/* ---- the modern era ---- */

#define DISCOVER VERSION "Mcp-Method: server/discover\n"
#define CLAIMS(version, capabilities) \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':" version ",'io.modelcontextprotocol/clientCapabilities':" capabilities "}"

static void r12_the_envelope_must_be_whole(void) {
    static const char *const meta[] = {CLAIMS("5", "{}"), CLAIMS("'2026-07-28'", "[]"), CLAIMS("null", "{}"),
                                       "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(meta); i++) {
        web_exchange *x = web_post(DISCOVER, arena_printf(&web_mem, REQUEST("7", "server/discover", "%s"), meta[i]));
        EXPECT(x, 400, -32602);
        int64_t id = 0;
        CU_ASSERT(json_int64(AT(web_json(x), "id"), &id) && id == 7);
    }
    web_finish();
}

static void r13_a_differing_version_header_comes_before_support(void) {
    web_start();
    EXPECT(web_post(DISCOVER, REQUEST("1", "server/discover", CLAIMS("'v999.0.0'", "{}"))), 400, -32020);
    EXPECT(web_post("MCP-Protocol-Version: 2025-11-25\nMcp-Method: server/discover\n", REQUEST("1", "server/discover", META)), 400, -32020);
    EXPECT(web_post(DISCOVER "+" VERSION, REQUEST("1", "server/discover", META)), 400, -32020); /* said twice */
    web_finish();
}

static void r14_a_version_that_is_not_served_lists_those_that_are(void) {
    web_start();
    static const char *const versions[] = {"v999.0.0", "2025-11-25", "2027-01-01"};
    for (size_t i = 0; i < LASTRO_COUNT(versions); i++) {
        const char *headers = arena_printf(&web_mem, "MCP-Protocol-Version: %s\nMcp-Method: server/discover\n", versions[i]);
        web_exchange *x = web_post(headers, arena_printf(&web_mem, REQUEST("1", "server/discover", CLAIMS("'%s'", "{}")), versions[i]));
        EXPECT(x, 400, -32022);
        int64_t id = 0;
        CU_ASSERT(json_int64(AT(web_json(x), "id"), &id) && id == 1);
        CU_ASSERT(json_text_is(AT(web_json(x), "error", "data", "requested"), versions[i]));
        CU_ASSERT_EQUAL(json_count(AT(web_json(x), "error", "data", "supported")), 1);
        CU_ASSERT(json_text_is(AT(web_json(x), "error", "data", "supported", "0"), "2026-07-28"));
    }
    EXPECT(web_post("", REQUEST("1", "server/discover", CLAIMS("'v999.0.0'", "{}"))), 400, -32022); /* also without the header */
    web_finish();
}

static void r15_headers_repeat_the_body(void) {
    static const struct {
        const char *headers;
        unsigned status;
    } cases[] = {
        {VERSION "Mcp-Method: tools/call\nMcp-Name: echo\n", 200},
        {VERSION "mcp-method: tools/call\nMCP-NAME:    echo\n", 200},
        {VERSION "Mcp-Method: tools/call\nMcp-Name: =?base64?ZWNobw==?=\n", 200},
        {"Mcp-Method: tools/call\nMcp-Name: echo\n", 400},
        {VERSION "Mcp-Name: echo\n", 400},
        {VERSION "Mcp-Method: TOOLS/CALL\nMcp-Name: echo\n", 400},
        {VERSION "Mcp-Method: tools/list\nMcp-Name: echo\n", 400},
        {VERSION "Mcp-Method: =?base64?dG9vbHMvY2FsbA==?=\nMcp-Name: echo\n", 400}, /* only names are coded */
        {VERSION "Mcp-Method: tools/call\n+Mcp-Method: tools/call\nMcp-Name: echo\n", 400},
        {VERSION "Mcp-Method: tools/call\n", 400},
        {VERSION "Mcp-Method: tools/call\nMcp-Name: Echo\n", 400},
        {VERSION "Mcp-Method: tools/call\nMcp-Name: =?base64?ZWNobw?=\n", 400},
        {VERSION "Mcp-Method: tools/call\nMcp-Name: =?base64?ZWN!!w==?=\n", 400},
        {VERSION "Mcp-Method: tools/call\nMcp-Name: =?base64?ZWNobw==\n", 400},
    };
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        web_exchange *x = web_post(cases[i].headers, CALL("1", "echo", "'text':'a'", "," META));
        if (!web_is(x, cases[i].status, cases[i].status == 400 ? -32020 : 0, cases[i].headers))
            continue;
        CU_ASSERT(cases[i].status == 400 || json_text_is(AT(web_json(x), "result", "structuredContent", "text"), "a"));
    }
    EXPECT(web_post(VERSION "Mcp-Method: resources/read\nMcp-Name: inner://one\n", REQUEST("1", "resources/read", "'uri':'inner://one'," META)), 200, 0);
    EXPECT(web_post(VERSION "Mcp-Method: resources/read\nMcp-Name: one\n", REQUEST("1", "resources/read", "'uri':'inner://one'," META)), 400, -32020);
    EXPECT(web_post(VERSION "Mcp-Method: prompts/get\n", REQUEST("1", "prompts/get", "'name':'greet'," META)), 400, -32020);
    EXPECT(web_post(VERSION "Mcp-Method: tasks/get\nMcp-Name: b\n", REQUEST("1", "tasks/get", "'taskId':'a'," META)), 400, -32020);
    EXPECT(web_post(VERSION "Mcp-Method: tools/call\n", REQUEST("1", "tools/call", META)), 200, -32602); /* nothing to repeat */
    web_finish();
}

/* ---- row 16: a tool whose arguments are repeated in headers ---- */

static const lastro_tool region_tool = {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_echo, .contract =
    INNER_TOOL("region", INNER_OBJECT(",\"properties\":{\"text\":{\"type\":\"string\",\"x-mcp-header\":\"Text\"},\"n\":{\"type\":"
                                      "\"integer\",\"x-mcp-header\":\"N\"}}"), INNER_ANY)};
static lastro_status region_init(const lastro_host *h, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = inner_init(h, r, ret_self, err);
    return s ? s : lastro->add_tool(r, &region_tool, err);
}
static const lastro_plugin region_plugin = {LASTRO_PLUGIN_HEAD, .name = "inner", .version = "1", .init = region_init};

static void r16_headers_repeat_arguments(void) {
    static const struct {
        const char *headers, *args;
        bool agree;
    } cases[] = {
        {"Mcp-Param-Text: a\n", "'text':'a'", true},
        {"MCP-PARAM-TEXT: =?base64?YQ==?=\n", "'text':'a'", true},
        {"Mcp-Param-Text: =?base64?w6c=?=\nMcp-Param-N: 42.0\n", "'text':'ç','n':42", true},
        {"", "'n':null", true},
        {"", "", true},
        {"Mcp-Param-Other: x\n", "", true},
        {"", "'text':'a'", false},
        {"Mcp-Param-Text: b\n", "'text':'a'", false},
        {"Mcp-Param-Text: A\n", "'text':'a'", false},
        {"Mcp-Param-Text: =?base64?YQ?=\n", "'text':'a'", false},
        {"Mcp-Param-Text: a\n+Mcp-Param-Text: a\n", "'text':'a'", false},
        {"Mcp-Param-Text: a\nMcp-Param-N: 43\n", "'text':'a','n':42", false},
    };
    web_start_with(core_server_with(&region_plugin, "[\"region\"]", "{}"), true, NULL);
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        web_exchange *x = web_post(web_text(MODERN_CALL "region\n%s", cases[i].headers), web_text(CALL("1", "region", "%s", "," META), cases[i].args));
        web_is(x, cases[i].agree ? 200 : 400, cases[i].agree ? 0 : -32020, cases[i].headers);
    }
    EXPECT(web_post(web_session(), CALL("1", "region", "'text':'a'", "")), 200, 0); /* the legacy era knows nothing of it */
    EXPECT(web_post(MODERN_CALL "region\n", REQUEST("1", "tools/call", "'name':'region','arguments':5," META)), 200, -32602);
    web_finish();
}

static void r17_a_method_that_is_not_modern_is_not_found(void) {
    static const char *const methods[] = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
                                          "unknown/method"};
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(methods); i++)
        EXPECT(web_post(arena_printf(&web_mem, VERSION "Mcp-Method: %s\n", methods[i]),
                        arena_printf(&web_mem, REQUEST("1", "%s", META), methods[i])), 404, -32601);
    web_finish();
}

static void r18_a_missing_capability_is_named(void) {
    web_start();
    web_exchange *x = web_post(MODERN_CALL "ask\n", CALL("1", "ask", "", "," META));
    EXPECT(x, 400, -32021);
    CU_ASSERT(json_is(AT(web_json(x), "error", "data", "requiredCapabilities", "elicitation"), JSON_OBJECT));
    web_finish();
}

static void r19_the_modern_era_has_no_state(void) {
    web_start();
    web_exchange *x = web_post(DISCOVER "Mcp-Session-Id: a b\nLast-Event-ID: x\n", REQUEST("'d'", "server/discover", META));
    EXPECT(x, 200, 0);
    CU_ASSERT_STRING_EQUAL(web_answered(x, "Content-Type"), "application/json");
    CU_ASSERT_PTR_NULL(web_answered(x, "Mcp-Session-Id"));
    CU_ASSERT(json_text_is(AT(web_json(x), "result", "resultType"), "complete"));
    CU_ASSERT(json_text_is(AT(web_json(x), "result", "supportedVersions", "0"), "2026-07-28"));
    EXPECT(web_post(MODERN_CALL "nothing\n", CALL("1", "nothing", "", "," META)), 200, -32602);
    x = web_post(MODERN_CALL "talk\n", CALL("1", "talk", "", ",'_meta':{'progressToken':'p','io.modelcontextprotocol/protocolVersion':"
                 "'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}"));
    CU_ASSERT(web_wait(x, WEB_WHOLE, NULL));
    CU_ASSERT(x->status == 200 && x->streaming);
    CU_ASSERT_STRING_EQUAL(web_answered(x, "Content-Type"), "text/event-stream");
    CU_ASSERT_PTR_NULL(strstr(x->body, "id:")); /* a stream of this era cannot be taken up again */
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 0), "notifications/progress"));
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 3), "\"result\""));
    CU_ASSERT_PTR_NULL(web_event_data(x, 4));
    web_finish();
}

static void r19_listen_is_a_stream(void) {
    const char *headers = VERSION "Mcp-Method: subscriptions/listen\n";
    const char *body = REQUEST("'L'", "subscriptions/listen", "'notifications':{'toolsListChanged':true}," META);
    web_start();
    EXPECT(web_post(arena_printf(&web_mem, "%sAccept: application/json\n", headers), body), 406, -32600);
    web_exchange *x = web_post(headers, body);
    CU_ASSERT(x->status == 200 && x->streaming && !x->finished);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 0), "notifications/subscriptions/acknowledged"));
    web_host_end_streams(host);
    CU_ASSERT(x->finished);
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 1), "\"id\":\"L\",\"result\""));
    web_finish();
}

/* ---- the legacy era ---- */

static void r20_a_modern_header_without_the_claim(void) {
    web_start();
    EXPECT(web_post(VERSION, REQUEST("1", "initialize", "'protocolVersion':'2025-11-25'")), 400, -32020);
    EXPECT(web_post(VERSION, REQUEST("1", "tools/list", "")), 400, -32602);
    EXPECT(web_post(DISCOVER, REQUEST("1", "server/discover", "")), 400, -32602);
    web_finish();
}

static void r21_initialize_opens_a_session(void) {
    static const struct {
        const char *asked, *headers, *got;
    } cases[] = {{"2025-11-25", "MCP-Protocol-Version: 2025-11-25\nMcp-Method: initialize\n", "2025-11-25"},
                 {"2025-06-18", "", "2025-06-18"},
                 {"2025-03-26", "Mcp-Session-Id: of before\n", "2025-03-26"},
                 {"2024-11-05", "", "2024-11-05"},
                 {"2026-07-28", "", "2025-11-25"},
                 {"2099-01-01", "MCP-Protocol-Version: 2099-01-01\n", "2025-11-25"}};
    const char *before = "";
    web_start();
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        web_exchange *x = web_post(cases[i].headers, arena_printf(&web_mem, REQUEST("0", "initialize", "'protocolVersion':'%s'"), cases[i].asked));
        EXPECT(x, 200, 0);
        CU_ASSERT(json_text_is(AT(web_json(x), "result", "protocolVersion"), cases[i].got));
        const char *id = web_answered(x, "Mcp-Session-Id");
        CU_ASSERT_PTR_NOT_NULL_FATAL(id);
        CU_ASSERT(strlen(id) > 20 && strcmp(id, before) != 0);
        before = id;
    }
    web_exchange *bad = web_post("", REQUEST("0", "initialize", ""));
    EXPECT(bad, 200, -32602);
    CU_ASSERT_PTR_NULL(web_answered(bad, "Mcp-Session-Id"));
    web_finish();
}

static void r22_requests_need_a_session(void) {
    web_start();
    EXPECT(web_post("", REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_post("", REQUEST("1", "ping", "")), 400, -32600);
    EXPECT(web_post("", REQUEST("1", "server/discover", "")), 400, -32600);
    web_finish();
}

static void r23_an_unknown_session_is_not_found(void) {
    web_start();
    const char *mine = web_session();
    EXPECT(web_post("Mcp-Session-Id: dead\n", REQUEST("1", "tools/list", "")), 404, -32600);
    char *other = arena_strndup(&web_mem, mine, strlen(mine));
    other[strlen(other) - 2] = other[strlen(other) - 2] == 'A' ? 'B' : 'A';
    EXPECT(web_post(other, REQUEST("1", "tools/list", "")), 404, -32600);
    EXPECT(web_post(mine, REQUEST("1", "tools/list", "")), 200, 0);
    web_finish();
}

static void r24_a_version_that_no_session_has_is_refused(void) {
    web_start();
    const char *mine = web_session_of("2025-06-18", "");
    EXPECT(web_post(arena_printf(&web_mem, "%sMCP-Protocol-Version: 2099-01-01\n", mine), REQUEST("1", "tools/list", "")), 400, -32602);
    EXPECT(web_post(arena_printf(&web_mem, "%sMCP-Protocol-Version: 1999-01-01\n", mine), REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_ask("GET", "/mcp", arena_printf(&web_mem, "%sMCP-Protocol-Version: 1999-01-01\n", mine), ""), 400, -32600);
    EXPECT(web_ask("DELETE", "/mcp", arena_printf(&web_mem, "%sMCP-Protocol-Version: 1999-01-01\n", mine), ""), 400, -32600);
    EXPECT(web_post(arena_printf(&web_mem, "%sMCP-Protocol-Version: 2025-06-18\n", mine), REQUEST("1", "tools/list", "")), 200, 0);
    EXPECT(web_post(mine, REQUEST("1", "tools/list", "")), 200, 0);
    web_finish();
}

static void r25_errors_of_a_session_are_answers(void) {
    web_start();
    const char *mine = web_session();
    EXPECT(web_post(mine, REQUEST("1", "no/method", "")), 200, -32601);
    EXPECT(web_post(mine, CALL("1", "nothing", "", "")), 200, -32602);
    web_exchange *x = web_post(mine, CALL("1", "echo", "'text':'a'", ""));
    EXPECT(x, 200, 0);
    CU_ASSERT_PTR_NULL(AT(web_json(x), "result", "resultType"));
    x = web_post(mine, CALL("2", "talk", "", ",'_meta':{'progressToken':5}"));
    CU_ASSERT(web_wait(x, WEB_WHOLE, NULL));
    CU_ASSERT(x->status == 200 && x->streaming);
    CU_ASSERT_STRING_EQUAL(web_event_data(x, 0), ""); /* what primes the client */
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 1), "notifications/progress"));
    CU_ASSERT_PTR_NOT_NULL(strstr(web_event_data(x, 4), "\"result\""));
    web_finish();
}

/* ---- field cases ---- */

static void f049_an_id_that_is_none_is_never_a_notification(void) {
    static const char *const ids[] = {"null", "true", "[]", "{}"};
    web_start();
    int before = atomic_load(&inner_echoes);
    const char *mine = web_session();
    for (size_t i = 0; i < LASTRO_COUNT(ids); i++) {
        EXPECT(web_post(mine, arena_printf(&web_mem, CALL("%s", "echo", "'text':'a'", ""), ids[i])), 400, -32600);
        EXPECT(web_post(MODERN_CALL "echo\n", arena_printf(&web_mem, CALL("%s", "echo", "'text':'a'", "," META), ids[i])), 400, -32600);
    }
    CU_ASSERT_EQUAL(atomic_load(&inner_echoes), before);
    web_finish();
}

static void f050_ids_come_back_with_their_text(void) {
    static const char *const ids[] = {"3100.0", "1e2", "\"\"", "\"1\"", "1", "0", "-7"};
    web_start();
    const char *mine = web_session();
    for (size_t i = 0; i < LASTRO_COUNT(ids); i++) {
        web_exchange *x = web_post(mine, arena_printf(&web_mem, REQUEST("%s", "ping", ""), ids[i]));
        EXPECT(x, 200, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(x->body, arena_printf(&web_mem, "\"id\":%s,", ids[i])));
    }
    EXPECT(web_post(mine, REQUEST("1.5", "ping", "")), 400, -32600);
    web_finish();
}

static void f053_calls_without_id_do_not_run(void) {
    web_start();
    int before = atomic_load(&inner_echoes);
    const char *mine = web_session();
    EXPECT(web_post(mine, "{'jsonrpc':'2.0','method':'tools/call','params':{'name':'echo','arguments':{'text':'a'}}}"), 202, 0);
    EXPECT(web_post(VERSION, "{'jsonrpc':'2.0','method':'tools/call','params':{'name':'echo','arguments':{'text':'a'}," META "}}"), 202, 0);
    CU_ASSERT_EQUAL(atomic_load(&inner_echoes), before);
    web_finish();
}

static void f056_both_eras_at_once(void) {
    web_start();
    const char *mine = web_session();
    web_exchange *modern = web_post(VERSION "Mcp-Method: tools/list\n", REQUEST("1", "tools/list", META));
    EXPECT(modern, 200, 0);
    CU_ASSERT(json_is(AT(web_json(modern), "result", "ttlMs"), JSON_NUMBER));
    web_exchange *legacy = web_post(mine, REQUEST("1", "tools/list", ""));
    EXPECT(legacy, 200, 0);
    CU_ASSERT_PTR_NULL(AT(web_json(legacy), "result", "ttlMs"));
    EXPECT(web_post(arena_printf(&web_mem, "%s" MODERN_CALL "b\n", mine), CALL("1", "echo", "'text':'a'", "," META)), 400, -32020);
    web_finish();
}

static void f059_bad_arguments_are_told_in_the_result(void) {
    web_start();
    const char *mine = web_session();
    web_exchange *x = web_post(mine, CALL("1", "echo", "", ""));
    EXPECT(x, 200, 0);
    CU_ASSERT(json_bool(AT(web_json(x), "result", "isError")));
    EXPECT(web_post(mine, REQUEST("1", "tools/call", "'name':'echo','arguments':[]")), 200, -32602);
    EXPECT(web_post(mine, REQUEST("1", "tools/call", "'name':'none'")), 200, -32602);
    EXPECT(web_post(MODERN_CALL "none\n", REQUEST("1", "tools/call", "'name':'none'," META)), 200, -32602);
    web_finish();
}

static void f061_sessions_that_are_gone_are_not_found(void) {
    static char long_id[8300];
    web_start();
    memset(long_id, 'a', sizeof long_id - 1);
    EXPECT(web_post(arena_printf(&web_mem, "Mcp-Session-Id: %s\n", long_id), REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_post(arena_printf(&web_mem, "Mcp-Session-Id: %.257s\n", long_id), REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_post(arena_printf(&web_mem, "Mcp-Session-Id: %.256s\n", long_id), REQUEST("1", "tools/list", "")), 404, -32600);
    EXPECT(web_post("Mcp-Session-Id: a\rb\n", REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_post("Mcp-Session-Id: \xc3\xa7\n", REQUEST("1", "tools/list", "")), 400, -32600);
    EXPECT(web_post("Mcp-Session-Id: a\n+Mcp-Session-Id: a\n", REQUEST("1", "tools/list", "")), 400, -32600);
    web_finish();
}

static const unit_test tests[] = {
    UNIT_TEST(r01_host_and_origin_are_judged_before_all_else),
    UNIT_TEST(r02_only_mcp_is_there),
    UNIT_TEST(r03_delete_ends_a_session),
    UNIT_TEST(r04_get_opens_a_stream_of_a_session),
    UNIT_TEST(r05_other_methods_are_not_allowed),
    UNIT_TEST(r06_the_body_is_json_by_its_type),
    UNIT_TEST(r07_what_is_no_json_is_a_parse_error),
    UNIT_TEST(r08_batches_belong_to_2025_03_26),
    UNIT_TEST(r09_what_is_no_message_is_refused),
    UNIT_TEST(r10_a_response_goes_to_its_session),
    UNIT_TEST(r11_a_notification_is_accepted),
    UNIT_TEST(r12_the_envelope_must_be_whole),
    UNIT_TEST(r13_a_differing_version_header_comes_before_support),
    UNIT_TEST(r14_a_version_that_is_not_served_lists_those_that_are),
    UNIT_TEST(r15_headers_repeat_the_body),
    UNIT_TEST(r16_headers_repeat_arguments),
    UNIT_TEST(r17_a_method_that_is_not_modern_is_not_found),
    UNIT_TEST(r18_a_missing_capability_is_named),
    UNIT_TEST(r19_the_modern_era_has_no_state),
    UNIT_TEST(r19_listen_is_a_stream),
    UNIT_TEST(r20_a_modern_header_without_the_claim),
    UNIT_TEST(r21_initialize_opens_a_session),
    UNIT_TEST(r22_requests_need_a_session),
    UNIT_TEST(r23_an_unknown_session_is_not_found),
    UNIT_TEST(r24_a_version_that_no_session_has_is_refused),
    UNIT_TEST(r25_errors_of_a_session_are_answers),
    UNIT_TEST(f049_an_id_that_is_none_is_never_a_notification),
    UNIT_TEST(f050_ids_come_back_with_their_text),
    UNIT_TEST(f053_calls_without_id_do_not_run),
    UNIT_TEST(f056_both_eras_at_once),
    UNIT_TEST(f059_bad_arguments_are_told_in_the_result),
    UNIT_TEST(f061_sessions_that_are_gone_are_not_found),
};

int main(void) {
    return UNIT_RUN("web rules", tests);
}
