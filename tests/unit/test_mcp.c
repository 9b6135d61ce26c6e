/* SPDX-License-Identifier: MIT */
/* The protocol without a transport: messages go in through mcp_receive, a client of the test's own hears what comes out. */
#include "fail.h"
#include "test_talk.h"
#include "unit.h"

/* ---- the stdio table, row by row ---- */

static void test_mcp__what_is_no_message_is_an_error_without_running_anything(void) {
    static const struct {
        const char *text, *id;
        int code;
    } cases[] = {
        {"{", NULL, -32700},
        {"Content-Length: 5", NULL, -32700},
        {"{'jsonrpc':'2.0','id':1,'method':'ping'} x", NULL, -32700},
        {"'\xff'", NULL, -32700},
        {"'\\ud83d'", NULL, -32700},
        {"[]", NULL, -32600},
        {"[{'jsonrpc':'2.0','id':1,'method':'ping'}]", NULL, -32600},
        {"5", NULL, -32600},
        {"{'jsonrpc':'2.0','id':null,'method':'ping'}", NULL, -32600},
        {"{'jsonrpc':'2.0','id':1.5,'method':'ping'}", NULL, -32600},
        {"{'jsonrpc':'2.0','id':7}", "7", -32600},
        {"{'jsonrpc':'2.0','id':'x','method':5}", "'x'", -32600},
        {"{'jsonrpc':'2.0','id':'x','method':'ping','params':[]}", "'x'", -32600},
        {"{'id':1,'method':'ping'}", "1", -32600},
    };
    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say("%s", cases[i].text);
        ERROR_IS(cases[i].id, cases[i].code);
    }
    say(" \t\r");
    say("%s", "");
    silence();
    say("{'jsonrpc':'2.0','id':1,'id':2,'method':'ping'}"); /* as the clients' own JSON.parse reads it */
    RESULT("2");
    char deep[700];
    memset(deep, '[', 300);
    memset(deep + 300, ']', 300);
    deep[600] = '\0';
    say("%s", deep);
    ERROR_IS(NULL, -32700);
    mcp_refuse_long(ses, &peer_.base, 99);
    CU_ASSERT(says(AT(ERROR_IS(NULL, -32600), "error", "message"), "99 bytes"));
    finish();
}

static void test_mcp__before_initialize_only_ping_and_the_modern_era_are_served(void) {
    start();
    say("{'jsonrpc':'2.0','id':0,'method':'ping'}");
    IS(RESULT("0"), "{}");
    say("{'jsonrpc':'2.0','id':1,'method':'server/discover'}");
    ERROR_IS("1", -32602);
    say("{'jsonrpc':'2.0','id':2,'method':'tools/list'}");
    ERROR_IS("2", -32600);
    say("{'jsonrpc':'2.0','id':3,'method':'no/such'}");
    ERROR_IS("3", -32600);
    say("{'jsonrpc':'2.0','id':4,'method':'tools/list','params':{" CLAIM "}}");
    CU_ASSERT_EQUAL(json_count(AT(RESULT("4"), "tools")), 9);
    finish();
}

static void test_mcp__initialize_negotiates_a_legacy_version_and_never_the_modern_one(void) {
    static const char *const cases[][2] = {{"2024-11-05", "'2024-11-05'"}, {"2025-03-26", "'2025-03-26'"}, {"2025-06-18", "'2025-06-18'"},
                                           {"2025-11-25", "'2025-11-25'"}, {"2026-07-28", "'2025-11-25'"}, {"2099-01-01", "'2025-11-25'"},
                                           {"", "'2025-11-25'"},           {"x", "'2025-11-25'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        say("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'%s','capabilities':{}}}", cases[i][0]);
        const json_value *r = RESULT("1");
        IS(AT(r, "protocolVersion"), cases[i][1]);
        IS(AT(r, "serverInfo", "name"), "'test'");
        IS(AT(r, "serverInfo", "version"), "'9.8.7'");
        IS(AT(r, "instructions"), "'Be kind.\\n\\nEcho answers.'");
        CU_ASSERT(json_is(AT(r, "capabilities", "tools"), JSON_OBJECT));
        CU_ASSERT_EQUAL(json_member(r, "resultType") != NULL, false);
        CU_ASSERT_EQUAL(AT(r, "serverInfo", "title") != NULL, i >= 2);
        CU_ASSERT_EQUAL(AT(r, "serverInfo", "description") != NULL, i >= 3);
        CU_ASSERT_EQUAL(AT(r, "capabilities", "completions") != NULL, i >= 1);
        finish();
    }
    start();
    say("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':5}}");
    ERROR_IS("1", -32602);
    say("{'jsonrpc':'2.0','id':2,'method':'initialize'}");
    ERROR_IS("2", -32602);
    say("{'jsonrpc':'2.0','id':3,'method':'tools/list'}"); /* still nothing negotiated */
    ERROR_IS("3", -32600);
    greet("2025-06-18");
    greet("2024-11-05"); /* once more: the last one holds */
    say("{'jsonrpc':'2.0','id':4,'method':'tools/list'}");
    CU_ASSERT_PTR_NULL(AT(RESULT("4"), "tools", "0", "annotations"));
    finish();
}

static void test_mcp__the_modern_envelope_is_checked_and_needs_no_state(void) {
#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':"
#define CAPS ",'io.modelcontextprotocol/clientCapabilities':"
    static const struct {
        const char *meta;
        int code;
    } bad[] = {{META "5" CAPS "{}}", -32602}, {META "null" CAPS "{}}", -32602}, {META "'2026-07-28'}", -32602},
               {META "'2026-07-28'" CAPS "[]}", -32602}, {META "'2025-11-25'" CAPS "{}}", -32022}, {META "'2099-01-01'" CAPS "{}}", -32022},
               {META "''" CAPS "{}}", -32022}};
    start();
    for (int legacy = 0; legacy < 2; legacy++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            say("{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{%s}}", bad[i].meta);
            const json_value *e = ERROR_IS("1", bad[i].code);
            if (bad[i].code == -32022)
                IS(AT(e, "error", "data", "supported"), "['2026-07-28']");
        }
        say("{'jsonrpc':'2.0','id':2,'method':'server/discover','params':{" CLAIM "}}");
        const json_value *r = RESULT("2");
        IS(AT(r, "supportedVersions"), "['2026-07-28']");
        IS(AT(r, "resultType"), "'complete'");
        IS(AT(r, "_meta", "io.modelcontextprotocol/serverInfo", "name"), "'test'");
        CU_ASSERT(AT(r, "ttlMs") && AT(r, "cacheScope") && AT(r, "capabilities", "tools"));
        static const char *const not_there[] = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such", ""};
        for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++) {
            say("{'jsonrpc':'2.0','id':3,'method':'%s','params':{" CLAIM ",'protocolVersion':'2025-11-25','level':'info'}}", not_there[i]);
            ERROR_IS("3", -32601);
        }
        if (!legacy)
            greet("2025-11-25");
    }
    say("{'jsonrpc':'2.0','id':4,'method':'tools/list'}"); /* the legacy session goes on beside it */
    CU_ASSERT_PTR_NULL(AT(RESULT("4"), "resultType"));
    static const char *const modern_only[] = {"server/discover", "subscriptions/listen"};
    for (size_t i = 0; i < 2; i++) {
        say("{'jsonrpc':'2.0','id':5,'method':'%s','params':{'notifications':{}}}", modern_only[i]);
        ERROR_IS("5", -32601);
    }
    say("{'jsonrpc':'2.0','id':'v','method':'tools/list','params':{" META "'%s\xc3\xa9\xc3\xa9\xc3\xa9'" CAPS "{}}}}",
        "123456789012345678901234567890123456789");
    CU_ASSERT(says(AT(ERROR_IS("'v'", -32022), "error", "message"), "2026-07-28")); /* a cut character does not cost the rest */
    finish();
}

static void test_mcp__notifications_are_never_answered_and_never_run_anything(void) {
    static const char *const quiet[] = {
        "{'jsonrpc':'2.0','method':'notifications/initialized'}",
        "{'jsonrpc':'2.0','method':'notifications/none/such','params':{'a':1}}",
        "{'jsonrpc':'2.0','method':'notifications/initialized','params':null}",
        "{'jsonrpc':'2.0','method':'tools/call','params':{'name':'echo','arguments':{'text':'x'}}}",
        "{'jsonrpc':'2.0','method':'tools/call','params':{'name':'echo','arguments':{'text':'x'}," CLAIM "}}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled'}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':null}}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'none'}}",
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':[1.5]}}",
        "{'jsonrpc':'2.0','id':5,'result':{}}", /* answers to what was never asked */
        "{'jsonrpc':'2.0','id':'x','result':{}}",
        "{'jsonrpc':'2.0','id':5,'error':{'code':1,'message':''}}",
    };
    start();
    int before = inner_echoes;
    for (int legacy = 0; legacy < 2; legacy++) {
        for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
            say("%s", quiet[i]);
        silence();
        if (!legacy)
            greet("2025-11-25");
    }
    CU_ASSERT_EQUAL(inner_echoes, before);
    finish();
}

static void test_mcp__ids_come_back_with_their_own_text(void) {
    static const char *const ids[] = {"0", "-5", "1e2", "3.0", "9007199254740993", "''", "'1'", "'a\\u0000b'"};
    start();
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        say("{'jsonrpc':'2.0','id':%s,'method':'ping'}", ids[i]);
        RESULT(ids[i]);
    }
    finish();
}

/* ---- lists ---- */

static void test_mcp__a_revision_sees_only_the_members_it_knows(void) {
    static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    for (size_t i = 0; i < 4; i++) {
        start();
        greet(versions[i]);
        say("{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
        const json_value *r = RESULT("1"), *t = AT(r, "tools", "0");
        CU_ASSERT_EQUAL(json_count(AT(r, "tools")), 9); /* not the one that is switched off */
        IS(AT(t, "name"), "'echo'");
        CU_ASSERT_EQUAL(AT(t, "annotations") != NULL, i >= 1);
        CU_ASSERT_EQUAL(AT(t, "title") != NULL, i >= 2);
        CU_ASSERT_EQUAL(AT(t, "outputSchema") != NULL, i >= 2);
        CU_ASSERT(AT(t, "inputSchema") && AT(t, "description") && json_count(r) == 1);
        say("{'jsonrpc':'2.0','id':2,'method':'prompts/list','params':{}}");
        r = RESULT("2");
        CU_ASSERT_EQUAL(json_count(AT(r, "prompts")), 1); /* its tool is off: it is hidden */
        IS(AT(r, "prompts", "0", "name"), "'greet'");
        CU_ASSERT_EQUAL(AT(r, "prompts", "0", "title") != NULL, i >= 2);
        IS(AT(r, "prompts", "0", "arguments", "0", "required"), "true");
        say("{'jsonrpc':'2.0','id':3,'method':'resources/list'}");
        IS(AT(RESULT("3"), "resources", "0", "uri"), "'inner://one'");
        say("{'jsonrpc':'2.0','id':4,'method':'resources/templates/list'}");
        IS(AT(RESULT("4"), "resourceTemplates", "0", "uriTemplate"), "'inner://item/{id}'");
        finish();
    }
    static const char *const lists[] = {"tools/list", "prompts/list", "resources/list", "resources/templates/list"};
    start();
    for (size_t i = 0; i < 4; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{" CLAIM "}}", lists[i]);
        const json_value *r = RESULT("1");
        IS(AT(r, "resultType"), "'complete'");
        CU_ASSERT(json_is(AT(r, "ttlMs"), JSON_NUMBER) && json_is(AT(r, "cacheScope"), JSON_STRING));
        CU_ASSERT_PTR_NULL(AT(r, "nextCursor"));
        static const char *const cursors[] = {"''", "5", "'bogus'", "null"};
        for (size_t k = 0; k < 4; k++) {
            say("{'jsonrpc':'2.0','id':2,'method':'%s','params':{'cursor':%s," CLAIM "}}", lists[i], cursors[k]);
            ERROR_IS("2", -32602);
        }
    }
    finish();
}

static void test_mcp__what_is_not_offered_has_no_methods(void) {
    lastro_error err;
    srv = core_server_of("{\"manifest\":1,\"name\":\"bare\",\"version\":\"1\",\"plugins\":[]}", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(srv);
    ses = session_create(srv);
    client_open(&peer_);
    say("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}");
    const json_value *r = RESULT("1");
    IS(AT(r, "capabilities"), "{'tools':{'listChanged':true},'logging':{}}");
    CU_ASSERT_PTR_NULL(AT(r, "instructions"));
    static const char *const methods[] = {"resources/list", "resources/templates/list", "resources/read", "prompts/list",
                                          "prompts/get", "completion/complete"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        say("{'jsonrpc':'2.0','id':2,'method':'%s'}", methods[i]);
        ERROR_IS("2", -32601);
    }
    say("{'jsonrpc':'2.0','id':3,'method':'tools/list'}");
    IS(RESULT("3"), "{'tools':[]}");
    finish();
}

/* ---- tools/call ---- */

static void test_mcp__a_call_answers_in_the_form_of_its_revision(void) {
    static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    for (size_t i = 0; i < 4; i++) {
        start();
        greet(versions[i]);
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':'h\xc3\xa9'}}}");
        const json_value *r = RESULT("1");
        IS(AT(r, "content"), "[{'type':'text','text':'{\\'text\\':\\'h\xc3\xa9\\'}'}]");
        CU_ASSERT_EQUAL(AT(r, "structuredContent") != NULL, i >= 2);
        IS(AT(r, "_meta", "org.example/call", "tool"), "'echo'");
        IS(AT(r, "_meta", "org.example/call", "plugin"), "{'name':'inner','version':'1.2.3'}");
        CU_ASSERT(!AT(r, "isError") && !AT(r, "resultType") && !AT(r, "_meta", "io.modelcontextprotocol/serverInfo"));
        finish();
    }
    start();
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':'a'}," CLAIM "}}");
    const json_value *r = RESULT("1");
    IS(AT(r, "structuredContent"), "{'text':'a'}");
    IS(AT(r, "resultType"), "'complete'");
    CU_ASSERT_PTR_NOT_NULL(AT(r, "_meta", "io.modelcontextprotocol/serverInfo"));
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'talk'," CLAIM "}}"); /* arguments may be absent */
    r = RESULT("2");
    IS(AT(r, "content"), "[{'type':'text','text':'first'},{'type':'text','text':'second'}]");
    CU_ASSERT_PTR_NULL(AT(r, "structuredContent"));
    finish();
}

static void test_mcp__malformed_calls_are_errors_and_bad_arguments_are_results(void) {
    static const struct {
        const char *params, *what;
    } errors[] = {{"{}", "name"},
                  {"{'name':5}", "name"},
                  {"{'name':'none'}", "\"none\""},
                  {"{'name':'Echo'}", "Unknown"},
                  {"{'name':'echo\\u0000zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'}", "Unknown"},
                  {"{'name':'switched_off'}", "not enabled"},
                  {"{'name':'echo','arguments':[]}", "arguments"},
                  {"{'name':'echo','arguments':null}", "arguments"},
                  {"{'name':'echo','arguments':'x'}", "arguments"}};
    static const char *const told[] = {"{}", "{'text':5}", "{'text':'x','more':1}", "{'text':null}"};
    start();
    greet("2025-11-25");
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':%s}", errors[i].params);
        CU_ASSERT(says(AT(ERROR_IS("1", -32602), "error", "message"), errors[i].what));
    }
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call'}");
    ERROR_IS("1", -32602);
    int before = inner_echoes;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':%s}}", told[i]);
        const json_value *r = RESULT("1");
        IS(AT(r, "isError"), "true");
        CU_ASSERT(says(AT(r, "content", "0", "text"), "echo"));
        CU_ASSERT(says(AT(r, "content", "0", "text"), "\n- "));
        CU_ASSERT_PTR_NULL(AT(r, "structuredContent"));
    }
    CU_ASSERT_EQUAL(inner_echoes, before);
    finish();
}

static void test_mcp__each_status_of_a_handler_has_its_place(void) {
    start();
    greet("2025-11-25");
    for (int status = 1; status <= LASTRO_STATUS_COUNT; status++) {
        bool unasked = status == LASTRO_EASK; /* nothing was asked: a defect, whatever it says */
        int code = unasked ? -32603 : status_describe(status)->rpc;
        for (int with_text = 0; with_text < 2; with_text++) {
            say("{'jsonrpc':'2.0','id':%d,'method':'tools/call','params':{'name':'fail','arguments':{'status':%d,'text':'%s'}}}",
                status, status, with_text ? "so it is" : "");
            char id[16];
            snprintf(id, sizeof id, "%d", status);
            if (code) {
                const json_value *e = ERROR_IS(id, code);
                CU_ASSERT_EQUAL(says(AT(e, "error", "message"), "so it is"), with_text == 1 && !unasked);
                CU_ASSERT(says(AT(e, "error", "message"), "fail") || with_text);
            } else {
                const json_value *r = RESULT(id);
                IS(AT(r, "isError"), "true");
                CU_ASSERT_EQUAL(says(AT(r, "content", "0", "text"), "so it is"), with_text == 1);
                CU_ASSERT(says(AT(r, "content", "0", "text"), "fail") || with_text);
            }
        }
    }
    say("{'jsonrpc':'2.0','id':'ok','method':'tools/call','params':{'name':'fail','arguments':{'status':0,'text':'left over'}}}");
    CU_ASSERT(!says(AT(ERROR_IS("'ok'", -32603), "error", "message"), "left over")); /* half a result is a defect, whatever it says */
    say("{'jsonrpc':'2.0','id':'b','method':'tools/call','params':{'name':'bad'}}");
    CU_ASSERT(says(AT(ERROR_IS("'b'", -32603), "error", "message"), "contract"));
    say("{'jsonrpc':'2.0','id':'e','method':'tools/call','params':{'name':'echo','arguments':{'text':'still'}}}");
    IS(AT(RESULT("'e'"), "structuredContent", "text"), "'still'");
    finish();
}

static void test_mcp__too_much_is_told_and_the_session_lives(void) {
    start_with("{\"resultBytes\":20000}");
    greet("2025-11-25");
    static const struct {
        const char *arguments;
        bool fits;
    } cases[] = {{"{'bytes':9900}", true},   {"{'bytes':10100}", false}, {"{'bytes':10000000}", false},
                 {"{'bytes':19000,'content':true}", true}, {"{'bytes':19990,'content':true}", false},
                 {"{'bytes':10000000,'content':true}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'big','arguments':%s}}", cases[i].arguments);
        const json_value *r = RESULT("1");
        const char *text = json_str(AT(r, "content", "0", "text"));
        unit_check(!AT(r, "isError") == cases[i].fits, "%s: %.100s", cases[i].arguments, text ? text : "");
        unit_check(cases[i].fits || (text && strstr(text, "20000")), "%s: %.200s", cases[i].arguments, text ? text : "");
    }
    finish();
    start_with("{\"resultBytes\":600}");
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}}");
    RESULT("1");
    say("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{'ref':{'type':'ref/prompt','name':'greet'},"
        "'argument':{'name':'who','value':''}}}"); /* the limit of the call before does not stick to its memory */
    IS(AT(RESULT("2"), "completion", "total"), "150");
    finish();
}

static void test_mcp__provenance_comes_with_the_result(void) {
    start();
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'origin'}}");
    const json_value *r = RESULT("1"), *p = AT(r, "structuredContent", "provenance");
    IS(AT(r, "structuredContent", "text"), "'42'");
    IS(AT(r, "structuredContent", "attribution"), "['book://1']");
    IS(AT(p, "citation"), "'The Book, page 1, 02/01/1970.'");
    IS(AT(p, "derived"), "true");
    CU_ASSERT(json_equal(p, AT(r, "_meta", "org.example/provenance")));
    finish();
}

/* ---- while a call runs ---- */

static void test_mcp__progress_goes_to_who_asked_for_it_before_the_result(void) {
    static const char *const tokens[] = {"'t'", "7", "0", "'a\\u0000b'"};
    start();
    greet("2024-11-05");
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        for (int modern = 0; modern < 2; modern++) {
            say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk','_meta':{'progressToken':%s%s}}}", tokens[i],
                modern ? ",'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}" : "");
            for (int step = 0; step < 3; step++) {
                const json_value *n = hear();
                IS(AT(n, "method"), "'notifications/progress'");
                IS(AT(n, "params", "progressToken"), tokens[i]);
                IS(AT(n, "params", "progress"), step == 0 ? "0" : step == 1 ? "0.5" : "1");
                CU_ASSERT_EQUAL(AT(n, "params", "total") != NULL, step < 2);
                CU_ASSERT_EQUAL(AT(n, "params", "message") != NULL, step == 1 && modern);
                CU_ASSERT_PTR_NULL(AT(n, "id"));
            }
            RESULT("1");
        }
    static const char *const none[] = {"null", "true", "{}", "[1]"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk','_meta':{'progressToken':%s}}}", none[i]);
        RESULT("1");
    }
    finish();
}

static void test_mcp__log_lines_are_those_the_client_wants(void) {
    static const struct {
        const char *level;
        int lines;
    } cases[] = {{"debug", 5}, {"info", 4}, {"notice", 3}, {"warning", 2}, {"error", 1}, {"critical", 0}, {"alert", 0}, {"emergency", 0}};
    start();
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk'}}");
    RESULT("1"); /* none until they are asked for */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int modern = 0; modern < 2; modern++) {
            if (modern) {
                say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk','_meta':{'io.modelcontextprotocol/protocolVersion':"
                    "'2026-07-28','io.modelcontextprotocol/clientCapabilities':{},'io.modelcontextprotocol/logLevel':'%s'}}}", cases[i].level);
            } else {
                say("{'jsonrpc':'2.0','id':0,'method':'logging/setLevel','params':{'level':'%s'}}", cases[i].level);
                IS(RESULT("0"), "{}");
                say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk'}}");
            }
            for (int n = 0; n < cases[i].lines; n++) {
                const json_value *v = hear();
                IS(AT(v, "method"), "'notifications/message'");
                IS(AT(v, "params", "logger"), "'inner'");
                IS(AT(v, "params", "data"), "'a line'");
            }
            RESULT("1");
        }
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk'," CLAIM "}}");
    RESULT("1"); /* what the session wants is not what this request wants */
    static const char *const unknown[] = {"'loud'", "'Debug'", "''", "3", "null", "'info\\u0000'"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'talk','_meta':{'io.modelcontextprotocol/protocolVersion':"
            "'2026-07-28','io.modelcontextprotocol/clientCapabilities':{},'io.modelcontextprotocol/logLevel':%s}}}", unknown[i]);
        CU_ASSERT(says(AT(ERROR_IS("1", -32602), "error", "message"), "logLevel"));
    }
    static const char *const bad[] = {"{}", "{'level':'loud'}", "{'level':3}", "{'level':'info\\u0000'}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        say("{'jsonrpc':'2.0','id':2,'method':'logging/setLevel','params':%s}", bad[i]);
        ERROR_IS("2", -32602);
    }
    finish();
}

static bool runs(int calls) {
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&srv->lock);
        bool there = srv->inflight_count == (unsigned)calls;
        pthread_mutex_unlock(&srv->lock);
        if (there)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static void test_mcp__a_cancelled_call_is_stopped_and_never_answered(void) {
    start();
    greet("2025-11-25");
    session *other = session_create(srv);
    int begun = inner_begun, stopped = inner_stopped;
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}}}");
    say("{'jsonrpc':'2.0','id':'1','method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}}}");
    say("{'jsonrpc':'2.0','id':100,'method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}," CLAIM "}}");
    const char *text = quoted("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    mcp_receive(other, &peer_.base, text, strlen(text)); /* another client's 1 is another call */
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");
    for (int i = 0; i < 5000 && inner_begun < begun + 3; i++) /* what no worker has taken yet ends without running */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CU_ASSERT(runs(3));
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'1','reason':'enough'}}");
    CU_ASSERT(runs(2));
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1e2}}"); /* the same number, written differently */
    CU_ASSERT(runs(1));
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    CU_ASSERT(runs(0));
    silence();
    CU_ASSERT_EQUAL(inner_stopped, stopped + 3);
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}");
    IS(AT(RESULT("1"), "structuredContent", "text"), "'waited'"); /* the id may be used again */
    session_destroy(other);
    finish();
}

/* Whatever would come of it: refused arguments, an error, a resource. */
static void test_mcp__what_is_cancelled_while_it_waits_for_a_worker_is_not_answered(void) {
    static const char *const waiting[] = {
        "'method':'tools/call','params':{'name':'wait','arguments':{'ms':'x'}}",
        "'method':'tools/call','params':{'name':'parts','arguments':{'items':[5]}}",
        "'method':'tools/call','params':{'name':'big','arguments':{'bytes':1}}",
        "'method':'resources/read','params':{'uri':'inner://one'}",
        "'method':'resources/read','params':{'uri':'inner://none'}",
        "'method':'prompts/get','params':{'name':'none'}",
        "'method':'completion/complete','params':{}",
    };
    start_with("{\"workers\":1}");
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':'first','method':'tools/call','params':{'name':'wait','arguments':{'ms':100}}}");
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        say("{'jsonrpc':'2.0','id':%zu,%s}", i, waiting[i]);
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':%zu}}", i);
    RESULT("'first'");
    silence();
    finish();
}

static void test_mcp__more_than_may_wait_are_turned_away_at_once(void) {
    start_with("{\"workers\":1,\"waitingCalls\":2}");
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':'first','method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}}}");
    for (int i = 0; i < 500 && pool_waiting(srv->pool); i++)
        usleep(1000); /* until the worker has it */
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}");
    say("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{}}");
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}");
    ERROR_IS("3", -32603);
    say("{'jsonrpc':'2.0','id':4,'method':'completion/complete','params':{}}");
    ERROR_IS("4", -32603);
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'first'}}");
    RESULT("1");
    ERROR_IS("2", -32602);
    finish();
}

static void test_mcp__the_shutdown_s_cancellation_is_answered(void) {
    start();
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}}}");
    CU_ASSERT(!server_wait_idle(srv, 10));
    server_cancel_all(srv);
    CU_ASSERT(server_wait_idle(srv, 5000));
    const json_value *r = RESULT("1");
    IS(AT(r, "isError"), "true");
    finish();
}

static void test_mcp__subscriptions_stay_open_until_one_side_ends_them(void) {
    start();
    say("{'jsonrpc':'2.0','id':'s1','method':'subscriptions/listen','params':{'notifications':{'toolsListChanged':true}," CLAIM "}}");
    const json_value *n = hear();
    IS(AT(n, "method"), "'notifications/subscriptions/acknowledged'");
    IS(AT(n, "params", "_meta", "io.modelcontextprotocol/subscriptionId"), "'s1'");
    CU_ASSERT(json_is(AT(n, "params", "notifications"), JSON_OBJECT) && !AT(n, "id"));
    say("{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{'notifications':{}," CLAIM "}}");
    IS(AT(hear(), "params", "_meta", "io.modelcontextprotocol/subscriptionId"), "2");
    say("{'jsonrpc':'2.0','id':3,'method':'subscriptions/listen','params':{" CLAIM "}}");
    ERROR_IS("3", -32602);
    CU_ASSERT_EQUAL(peer_.held, 2);
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'2'}}");
    CU_ASSERT_EQUAL(peer_.held, 2);
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'s1'}}");
    CU_ASSERT_EQUAL(peer_.held, 1);
    silence();
    mcp_end_listeners(ses, true);
    const json_value *r = RESULT("2");
    IS(AT(r, "resultType"), "'complete'");
    IS(AT(r, "_meta", "io.modelcontextprotocol/subscriptionId"), "2");
    say("{'jsonrpc':'2.0','id':4,'method':'subscriptions/listen','params':{'notifications':{}," CLAIM "}}");
    hear();
    finish(); /* one that is open when the client leaves */
}

/* ---- questions ---- */

#define NO_FIELDS "'requestedSchema':{'type':'object','properties':{}}"

static void test_mcp__the_legacy_eras_ask_with_a_request(void) {
    static const struct {
        const char *answer, *result; /* result: of structuredContent; NULL: isError */
    } cases[] = {{"'result':{'action':'accept','content':{'n':1}}", "{'answer':{'action':'accept','content':{'n':1}}}"},
                 {"'result':{'action':'decline'}", "{'answer':{'action':'decline'}}"},
                 {"'result':null", NULL},
                 {"'result':{'action':'perhaps'}", NULL},
                 {"'error':{'code':-1,'message':'no thanks'}", NULL},
                 {"'error':5", NULL}};
    start();
    greet("2025-11-25");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'}}");
        const json_value *q = hear();
        IS(AT(q, "method"), "'elicitation/create'");
        IS(AT(q, "params"), "{'message':'Who?'," NO_FIELDS "}");
        say("{'jsonrpc':'2.0','id':'%s','result':{'wrong':1}}", shown(AT(q, "id"))); /* a text is another id */
        say("{'jsonrpc':'2.0','id':999,'result':{'wrong':2}}");
        say("{'jsonrpc':'2.0','id':%s,%s}", shown(AT(q, "id")), cases[i].answer);
        say("{'jsonrpc':'2.0','id':%s,%s}", shown(AT(q, "id")), cases[i].answer); /* once too often */
        const json_value *r = RESULT("1");
        if (cases[i].result)
            IS(AT(r, "structuredContent"), cases[i].result);
        else
            IS(AT(r, "isError"), "true");
    }
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask','arguments':{'message':'a\\\"b\\n'}}}");
    IS(AT(hear(), "params"), "{'message':'a\\\"b\\n'," NO_FIELDS "}"); /* written as JSON, not pasted */
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");
    IS(AT(hear(), "method"), "'notifications/cancelled'"); /* of the question */
    silence();
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'ask','arguments':{'method':'sampling/createMessage'}}}");
    IS(AT(RESULT("3"), "isError"), "true"); /* this client said nothing of sampling */
    say("{'jsonrpc':'2.0','id':4,'method':'tools/call','params':{'name':'ask','arguments':{'method':'no/such'}}}");
    ERROR_IS("4", -32603);
    greet("2025-03-26"); /* which knows no elicitation */
    say("{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'name':'ask'}}");
    IS(AT(RESULT("5"), "isError"), "true");
    CU_ASSERT_PTR_NULL(ses->asks);
    finish();
}

static void test_mcp__who_waits_for_an_answer_keeps_no_worker_from_others(void) {
    start_with("{\"workers\":1}");
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'}}");
    const json_value *q = hear();
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}");
    RESULT("2");
    say("{'jsonrpc':'2.0','id':%s,'result':{'action':'decline'}}", shown(AT(q, "id")));
    RESULT("1");
    finish();
}

static void test_mcp__questions_without_end_are_turned_away(void) {
    start_with("{\"workers\":64}");
    greet("2025-11-25");
    for (int i = 0; i < 16; i++) {
        say("{'jsonrpc':'2.0','id':%d,'method':'tools/call','params':{'name':'ask'}}", i);
        IS(AT(hear(), "method"), "'elicitation/create'");
    }
    say("{'jsonrpc':'2.0','id':'more','method':'tools/call','params':{'name':'ask'}}");
    const json_value *r = RESULT("'more'");
    IS(AT(r, "isError"), "true");
    say("{'jsonrpc':'2.0','id':'else','method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}");
    RESULT("'else'");
    for (int i = 0; i < 16; i++) {
        say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':%d}}", i);
        IS(AT(hear(), "method"), "'notifications/cancelled'");
    }
    CU_ASSERT(server_wait_idle(srv, 5000));
    CU_ASSERT_PTR_NULL(ses->asks);
    silence();
    finish();
}

static void test_mcp__a_question_nobody_answers_ends_with_the_call_s_time(void) {
    start_with("{\"callMs\":50}");
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'}}");
    const json_value *q = hear(), *gone = hear();
    IS(AT(gone, "method"), "'notifications/cancelled'");
    CU_ASSERT(json_equal(AT(gone, "params", "requestId"), AT(q, "id")));
    const json_value *r = RESULT("1");
    IS(AT(r, "isError"), "true");
    CU_ASSERT(says(AT(r, "content", "0", "text"), "50 ms"));
    finish();
}

static void test_mcp__the_modern_era_asks_through_the_result(void) {
    start();
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'," CLAIM_ASKS "}}");
    const json_value *r = RESULT("1");
    IS(AT(r, "resultType"), "'input_required'");
    IS(AT(r, "inputRequests"), "{'user_name':{'method':'elicitation/create','params':{'message':'Who?'," NO_FIELDS "}}}");
    CU_ASSERT(!AT(r, "content") && !AT(r, "ttlMs"));
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask','inputResponses':{'user_name':{'action':'accept'}}," CLAIM_ASKS "}}");
    IS(AT(RESULT("2"), "structuredContent"), "{'answer':{'action':'accept'}}");
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'ask','inputResponses':[]," CLAIM_ASKS "}}");
    ERROR_IS("3", -32602);
    say("{'jsonrpc':'2.0','id':4,'method':'tools/call','params':{'name':'ask'," CLAIM "}}");
    IS(AT(ERROR_IS("4", -32021), "error", "data"), "{'requiredCapabilities':{'elicitation':{}}}");
    static const char *const without[] = {"null", "false", "{'form':null,'url':{}}"}; /* as clients write who write all they know */
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        say("{'jsonrpc':'2.0','id':4,'method':'tools/call','params':{'name':'ask','_meta':{'io.modelcontextprotocol/protocolVersion':"
            "'2026-07-28','io.modelcontextprotocol/clientCapabilities':{'elicitation':%s}}}}", without[i]);
        ERROR_IS("4", -32021);
    }
    say("{'jsonrpc':'2.0','id':5,'method':'resources/read','params':{'uri':'inner://item/ask'," CLAIM "}}");
    IS(AT(ERROR_IS("5", -32021), "error", "data"), "{'requiredCapabilities':{'sampling':{}}}");
    say("{'jsonrpc':'2.0','id':6,'method':'resources/read','params':{'uri':'inner://item/ask'," CLAIM_ASKS "}}");
    r = RESULT("6");
    IS(AT(r, "inputRequests"), "{'which':{'method':'sampling/createMessage','params':{'messages':[],'maxTokens':9}}}");
    CU_ASSERT_PTR_NULL(AT(r, "contents"));
    finish();
}

static void test_mcp__parts_of_a_call_run_side_by_side_and_end_in_order(void) {
    start();
    greet("2025-11-25");
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'parts','arguments':{'items':[{'n':30},{'n':1},{'n':10},{'n':2}]}}}");
    const json_value *r = RESULT("1");
    IS(AT(r, "structuredContent", "results"), "[{'n':30},{'n':1},{'n':10},{'n':2}]");
    IS(AT(r, "structuredContent", "provenance", "retrieved_at"), "'1970-01-01T00:00:01+00:00'"); /* what the parts read counts */
    say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'parts','arguments':{'items':[]}}}");
    IS(AT(RESULT("2"), "structuredContent", "results"), "[]");
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'parts','arguments':{'items':[{'n':1},5]}}}");
    ERROR_IS("3", -32603); /* the second breaks the method's schema */
    say("{'jsonrpc':'2.0','id':4,'method':'tools/call','params':{'name':'parts','arguments':{'items':[{'ask':'k'},{'ask':'k'},{'ask':'m'}]},"
        CLAIM_ASKS "}}");
    r = RESULT("4");
    IS(AT(r, "resultType"), "'input_required'");
    CU_ASSERT_EQUAL(json_count(AT(r, "inputRequests")), 2); /* the same question of two parts is one */
    say("{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'name':'parts','arguments':{'items':[{'ask':'k'},{'ask':'m'}]},"
        "'inputResponses':{'k':{'action':'cancel'},'m':{'action':'accept','content':{}}}," CLAIM_ASKS "}}");
    IS(AT(RESULT("5"), "structuredContent", "results"), "[{'answer':{'action':'cancel'}},{'answer':{'action':'accept','content':{}}}]");
    finish();
}

/* ---- resources, prompts, completion ---- */

static void test_mcp__resources_are_read_by_address_or_template(void) {
    start();
    for (int modern = 0; modern < 2; modern++) {
        const char *claim = modern ? "," CLAIM : "";
        if (!modern)
            greet("2025-11-25");
        static const char *const there[] = {"inner://one", "inner://item/7", "inner://item/%C3%A9"};
        for (size_t i = 0; i < 3; i++) {
            char expected[200];
            say("{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'%s'%s}}", there[i], claim);
            const json_value *r = RESULT("1");
            snprintf(expected, sizeof expected, "[{'uri':'%s','mimeType':'text/plain','text':'content'}]", there[i]);
            IS(AT(r, "contents"), expected);
            CU_ASSERT_EQUAL(AT(r, "resultType") && AT(r, "ttlMs"), modern);
        }
        static const char *const absent[] = {"inner://none", "inner://item/", "inner://item/a/b", "inner://item/none", "", "inner://one\\u0000zzzz"};
        for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
            say("{'jsonrpc':'2.0','id':2,'method':'resources/read','params':{'uri':'%s'%s}}", absent[i], claim);
            const json_value *e = ERROR_IS("2", modern ? -32602 : -32002);
            CU_ASSERT(json_is(AT(e, "error", "data", "uri"), JSON_STRING));
        }
        say("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{'uri':5%s}}", claim);
        ERROR_IS("3", -32602);
        say("{'jsonrpc':'2.0','id':4,'method':'resources/read','params':{'uri':'inner://item/bad'%s}}", claim);
        CU_ASSERT(says(AT(ERROR_IS("4", -32603), "error", "message"), "the shelf is closed"));
    }
    finish();
}

static void test_mcp__prompts_check_their_arguments(void) {
    static const struct {
        const char *params, *what;
    } bad[] = {{"{}", "no prompt"}, {"{'name':5}", "no prompt"}, {"{'name':'hidden'}", "no prompt"}, {"{'name':'greet'}", "\"who\""},
               {"{'name':'greet','arguments':{}}", "\"who\""}, {"{'name':'greet','arguments':[]}", "object"},
               {"{'name':'greet','arguments':{'who':5}}", "\"who\""}, {"{'name':'greet','arguments':{'who':'x','n':1}}", "\"n\""}};
    start();
    greet("2025-11-25");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'prompts/get','params':%s}", bad[i].params);
        CU_ASSERT(says(AT(ERROR_IS("1", -32602), "error", "message"), bad[i].what));
    }
    say("{'jsonrpc':'2.0','id':2,'method':'prompts/get','params':{'name':'greet','arguments':{'who':'you'}}}");
    const json_value *r = RESULT("2");
    IS(r, "{'description':'Says hello.','messages':[{'role':'user','content':{'type':'text','text':'you'}}]}");
    say("{'jsonrpc':'2.0','id':3,'method':'prompts/get','params':{'name':'greet','arguments':{'who':'you'}," CLAIM "}}");
    IS(AT(RESULT("3"), "resultType"), "'complete'");
    finish();
}

static void test_mcp__completion_gives_the_first_hundred_and_says_how_many_there_are(void) {
    static const char *const refs[] = {"{'type':'ref/prompt','name':'greet'}", "{'type':'ref/resource','uri':'inner://item/{id}'}"};
    static const char *const bad[] = {"{'type':'ref/prompt','name':'none'}", "{'type':'ref/prompt','name':'hidden'}",
                                      "{'type':'ref/resource','uri':'inner://one'}", "{'type':'ref/other','name':'greet'}", "5", "{}"};
    start();
    greet("2025-11-25");
    for (size_t i = 0; i < 2; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'completion/complete','params':{'ref':%s,'argument':{'name':'who','value':'ab'}}}", refs[i]);
        const json_value *k = AT(RESULT("1"), "completion");
        CU_ASSERT_EQUAL(json_count(AT(k, "values")), 100);
        IS(AT(k, "values", "99"), "'ab99'");
        IS(AT(k, "total"), "150");
        IS(AT(k, "hasMore"), "true");
        say("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{'ref':%s,'argument':{'name':'nothing','value':''}}}", refs[i]);
        IS(AT(RESULT("2"), "completion"), "{'values':[],'total':0,'hasMore':false}");
        say("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{'ref':%s,'argument':{'name':'few','value':''}}}", refs[i]);
        IS(AT(RESULT("2"), "completion"), "{'values':['0','1','2'],'total':3,'hasMore':false}");
        static const char *const arguments[] = {"{'name':'who'}", "{'value':''}", "{'name':1,'value':''}", "[]"};
        for (size_t j = 0; j < 4; j++) {
            say("{'jsonrpc':'2.0','id':3,'method':'completion/complete','params':{'ref':%s,'argument':%s}}", refs[i], arguments[j]);
            ERROR_IS("3", -32602);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        say("{'jsonrpc':'2.0','id':4,'method':'completion/complete','params':{'ref':%s,'argument':{'name':'who','value':''}}}", bad[i]);
        ERROR_IS("4", -32602);
    }
    finish();
}

/* ---- batches ---- */

static const json_value *by_id(const json_value *list, const char *id) {
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (strcmp(shown(json_member(it.value, "id")), quoted(id)) == 0)
            return it.value;
    return NULL;
}

static void test_mcp__a_batch_is_answered_when_all_of_it_is(void) {
    start();
    greet("2025-03-26");
    say("[{'jsonrpc':'2.0','id':1,'method':'ping'},"
        "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'wait','arguments':{'ms':30}}},"
        "{'jsonrpc':'2.0','method':'notifications/x'},"
        "{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'talk','_meta':{'progressToken':'p'}}},"
        "{'jsonrpc':'2.0','id':4,'method':'no/such'},5,"
        "{'jsonrpc':'2.0','id':77,'result':{}}]");
    for (int i = 0; i < 3; i++)
        IS(AT(hear(), "params", "progressToken"), "'p'"); /* at once, not with the answers */
    const json_value *list = client_hear(&peer_);
    CU_ASSERT_EQUAL(json_count(list), 5);
    IS(AT(by_id(list, "1"), "result"), "{}");
    CU_ASSERT_PTR_NOT_NULL(AT(by_id(list, "2"), "result", "content"));
    CU_ASSERT_PTR_NOT_NULL(AT(by_id(list, "3"), "result", "content"));
    IS(AT(by_id(list, "4"), "error", "code"), "-32601");
    IS(AT(by_id(list, "nothing"), "error", "code"), "-32600");
    say("[{'jsonrpc':'2.0','method':'notifications/x'},{'jsonrpc':'2.0','method':'notifications/y'}]");
    silence();
    say("[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':20000}}},"
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}},{'jsonrpc':'2.0','id':2,'method':'ping'}]");
    list = client_hear(&peer_);
    CU_ASSERT_EQUAL(json_count(list), 1);
    finish();
}

static void test_mcp__a_batch_is_refused_whole_where_it_has_no_place(void) {
    static const struct {
        const char *version, *batch;
    } cases[] = {
        {"2024-11-05", "[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}}]"},
        {"2025-06-18", "[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}}]"},
        {"2025-11-25", "[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}}]"},
        {"2025-03-26", "[]"},
        {"2025-03-26", "[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}},"
                       "{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{'notifications':{}," CLAIM "}}]"},
        {"2025-03-26", "[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'echo','arguments':{'text':''}}},"
                       "{'jsonrpc':'2.0','id':2,'method':'initialize','params':{'protocolVersion':'2025-06-18'}}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        int before = inner_echoes;
        greet(cases[i].version);
        say("%s", cases[i].batch);
        ERROR_IS(NULL, -32600);
        CU_ASSERT_EQUAL(inner_echoes, before);
        finish();
    }
}

/* Who waits for the end must find the batch's answer sent: on stdio the next step closes the pipe. */
static void test_mcp__idle_means_that_all_answers_are_out(void) {
    start();
    greet("2025-03-26");
    for (int i = 0; i < 200; i++) {
        size_t before = peer_.count;
        say("[{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}},"
            "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'wait','arguments':{'ms':1}}}]");
        CU_ASSERT(server_wait_idle(srv, 5000));
        pthread_mutex_lock(&peer_.lock);
        size_t after = peer_.count;
        int held = peer_.held;
        pthread_mutex_unlock(&peer_.lock);
        unit_check(after == before + 1 && held == 0, "round %d: %zu answers, held %d", i, after - before, held);
    }
    peer_.heard = peer_.count;
    finish();
}

/* ---- plugins from files ---- */

static void test_mcp__plugins_from_their_libraries(void) {
    lastro_error err;
    srv = core_server_of("{\"manifest\":1,\"name\":\"t\",\"version\":\"1\",\"plugins\":["
                         "{\"name\":\"template\",\"library\":\"" LASTRO_BINARY_DIR "/template/template.so\"},"
                         "{\"name\":\"fixture\",\"library\":\"" LASTRO_BINARY_DIR "/test-plugins/fixture.so\",\"tools\":[\"fx_echo\",\"fx_slow\"]},"
                         "{\"name\":\"abi0\",\"library\":\"" LASTRO_BINARY_DIR "/test-plugins/abi0.so\"}]}", &err);
    unit_check(srv != NULL, "%s", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(srv);
    ses = session_create(srv);
    client_open(&peer_);
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'compound_interest','arguments':{'principal':1000,'rate':1,'periods':12}," CLAIM "}}");
    IS(AT(RESULT("1"), "structuredContent", "amount"), "1126.83");
    say("{'jsonrpc':'2.0','id':2,'method':'tools/list','params':{" CLAIM "}}");
    CU_ASSERT_EQUAL(json_count(AT(RESULT("2"), "tools")), 3);
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'fx_slow','arguments':{'ms':20000}," CLAIM "}}");
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':3}}");
    say("{'jsonrpc':'2.0','id':4,'method':'resources/read','params':{'uri':'interest://growth/1'," CLAIM "}}");
    CU_ASSERT_PTR_NOT_NULL(AT(RESULT("4"), "contents", "0", "text"));
    say("{'jsonrpc':'2.0','id':5,'method':'prompts/get','params':{'name':'compare_rates','arguments':{'rate':'2'}," CLAIM "}}");
    CU_ASSERT_PTR_NOT_NULL(AT(RESULT("5"), "messages", "0"));
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp__what_is_no_message_is_an_error_without_running_anything),
        UNIT_TEST(test_mcp__before_initialize_only_ping_and_the_modern_era_are_served),
        UNIT_TEST(test_mcp__initialize_negotiates_a_legacy_version_and_never_the_modern_one),
        UNIT_TEST(test_mcp__the_modern_envelope_is_checked_and_needs_no_state),
        UNIT_TEST(test_mcp__notifications_are_never_answered_and_never_run_anything),
        UNIT_TEST(test_mcp__ids_come_back_with_their_own_text),
        UNIT_TEST(test_mcp__a_revision_sees_only_the_members_it_knows),
        UNIT_TEST(test_mcp__what_is_not_offered_has_no_methods),
        UNIT_TEST(test_mcp__a_call_answers_in_the_form_of_its_revision),
        UNIT_TEST(test_mcp__malformed_calls_are_errors_and_bad_arguments_are_results),
        UNIT_TEST(test_mcp__each_status_of_a_handler_has_its_place),
        UNIT_TEST(test_mcp__too_much_is_told_and_the_session_lives),
        UNIT_TEST(test_mcp__provenance_comes_with_the_result),
        UNIT_TEST(test_mcp__progress_goes_to_who_asked_for_it_before_the_result),
        UNIT_TEST(test_mcp__log_lines_are_those_the_client_wants),
        UNIT_TEST(test_mcp__a_cancelled_call_is_stopped_and_never_answered),
        UNIT_TEST(test_mcp__what_is_cancelled_while_it_waits_for_a_worker_is_not_answered),
        UNIT_TEST(test_mcp__more_than_may_wait_are_turned_away_at_once),
        UNIT_TEST(test_mcp__the_shutdown_s_cancellation_is_answered),
        UNIT_TEST(test_mcp__subscriptions_stay_open_until_one_side_ends_them),
        UNIT_TEST(test_mcp__the_legacy_eras_ask_with_a_request),
        UNIT_TEST(test_mcp__who_waits_for_an_answer_keeps_no_worker_from_others),
        UNIT_TEST(test_mcp__questions_without_end_are_turned_away),
        UNIT_TEST(test_mcp__a_question_nobody_answers_ends_with_the_call_s_time),
        UNIT_TEST(test_mcp__the_modern_era_asks_through_the_result),
        UNIT_TEST(test_mcp__parts_of_a_call_run_side_by_side_and_end_in_order),
        UNIT_TEST(test_mcp__resources_are_read_by_address_or_template),
        UNIT_TEST(test_mcp__prompts_check_their_arguments),
        UNIT_TEST(test_mcp__completion_gives_the_first_hundred_and_says_how_many_there_are),
        UNIT_TEST(test_mcp__a_batch_is_answered_when_all_of_it_is),
        UNIT_TEST(test_mcp__a_batch_is_refused_whole_where_it_has_no_place),
        UNIT_TEST(test_mcp__idle_means_that_all_answers_are_out),
        UNIT_TEST(test_mcp__plugins_from_their_libraries),
    };
    clock_init();
    return UNIT_RUN("mcp", tests);
}
