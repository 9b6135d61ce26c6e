/* SPDX-License-Identifier: MIT */
/* What may be asked of a client and what it may answer, in every revision. */
#include "test_asking.h"

#define FIELDS(list) "{'message':'Say','requestedSchema':{'type':'object','properties':{" list "}}}"
#define NAME "{'message':'Say','requestedSchema':{'type':'object','properties':{'name':{'type':'string','maxLength':5},'n':{'type':'integer'}}," \
             "'required':['name']}}"
#define SAMPLE "{'messages':[],'maxTokens':5}"
#define PAGE "{'mode':'url','message':'Go','url':'https://example.org/x'}"
#define WHOLE_CLAIM "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':" \
                    "{'elicitation':{'form':{},'url':{}},'sampling':{'tools':{}},'roots':{}}}"

static void hello(const char *version) {
    say("{'jsonrpc':'2.0','id':'i','method':'initialize','params':{'protocolVersion':'%s','capabilities':{'elicitation':{'form':{},'url':{}},"
        "'sampling':{'tools':{}},'roots':{}},'clientInfo':{'name':'t','version':'0'}}}", version);
    RESULT("'i'");
}
static void ask(const char *id, const char *how, const char *params, const char *more) {
    say("{'jsonrpc':'2.0','id':%s,'method':'tools/call','params':{'name':'ask','arguments':{'questions':[{'key':'k','method':'%s','params':%s}]}%s}}",
        id, how, params, more);
}

/* ---- answers ---- */

static const struct {
    const char *method, *params, *answer, *fault; /* fault: NULL when it is an answer */
} answers[] = {
    {"elicitation/create", NAME, "{'action':'accept','content':{'name':'Ana'}}", NULL},
    {"elicitation/create", NAME, "{'action':'accept','content':{'name':'Ana','n':3,'more':true}}", NULL},
    {"elicitation/create", NAME, "{'action':'decline'}", NULL},
    {"elicitation/create", NAME, "{'action':'cancel'}", NULL},
    {"elicitation/create", NAME, "{'action':'cancel','content':{'name':5}}", NULL}, /* nobody looks at it */
    {"elicitation/create", FIELDS(""), "{'action':'accept'}", NULL},
    {"elicitation/create", NAME, "{'action':'accept'}", "name"},
    {"elicitation/create", NAME, "{'action':'accept','content':{}}", "name"},
    {"elicitation/create", NAME, "{'action':'accept','content':{'name':5}}", "name"},
    {"elicitation/create", NAME, "{'action':'accept','content':{'name':'Anabela'}}", "name"},
    {"elicitation/create", NAME, "{'action':'accept','content':{'name':'Ana','n':1.5}}", "n"},
    {"elicitation/create", NAME, "{'action':'accept','content':['Ana']}", "content"},
    {"elicitation/create", NAME, "{'action':'accept','content':null}", "content"},
    {"elicitation/create", NAME, "{'action':'ok'}", "action"},
    {"elicitation/create", NAME, "{'action':5}", "action"},
    {"elicitation/create", NAME, "{}", "action"},
    {"elicitation/create", NAME, "12345", "object"},
    {"elicitation/create", NAME, "'Ana'", "object"},
    {"elicitation/create", NAME, "[]", "object"},
    {"elicitation/create", NAME, "null", "object"},
    {"elicitation/create", PAGE, "{'action':'accept'}", NULL},
    {"elicitation/create", PAGE, "{'action':'accept','content':5}", NULL},
    {"elicitation/create", PAGE, "{'action':'went'}", "action"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':{'type':'text','text':'x'},'model':'m','stopReason':'endTurn'}", NULL},
    {"sampling/createMessage", SAMPLE, "{'role':'user','content':{'type':'image','data':'','mimeType':'image/png'},'model':'m'}", NULL},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':[{'type':'text','text':'x'},{'type':'tool_use','id':'1'}],'model':'m'}", NULL},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':[{'type':'text'}],'model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':{'type':'text','text':5},'model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':{'type':'audio','data':'x'},'model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':{'text':'x'},'model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':'x','model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','model':'m'}", "content"},
    {"sampling/createMessage", SAMPLE, "{'role':'system','content':{'type':'text','text':'x'},'model':'m'}", "role"},
    {"sampling/createMessage", SAMPLE, "{'content':{'type':'text','text':'x'},'model':'m'}", "role"},
    {"sampling/createMessage", SAMPLE, "{'role':'assistant','content':{'type':'text','text':'x'}}", "model"},
    {"roots/list", "{}", "{'roots':[]}", NULL},
    {"roots/list", "{}", "{'roots':[{'uri':'file:///a','name':'a'},{'uri':'file:///b'}]}", NULL},
    {"roots/list", "{}", "{'roots':[{'uri':'file:///a'},{'name':'b'}]}", "uri"},
    {"roots/list", "{}", "{'roots':['file:///a']}", "uri"},
    {"roots/list", "{}", "{'roots':{}}", "roots"},
    {"roots/list", "{}", "{}", "roots"},
};

static void test_mcp_ask__a_wrong_answer_is_told_in_the_modern_era(void) {
    start_asking("{}");
    for (size_t i = 0; i < LASTRO_COUNT(answers); i++) {
        char more[800];
        snprintf(more, sizeof more, ",'inputResponses':{'k':%s}," WHOLE_CLAIM, answers[i].answer);
        ask("1", answers[i].method, answers[i].params, more);
        if (!answers[i].fault) {
            char expected[400];
            snprintf(expected, sizeof expected, "[%s]", answers[i].answer);
            IS(AT(RESULT("1"), "structuredContent", "answers"), expected);
            continue;
        }
        const json_value *e = ERROR_IS("1", -32602);
        const char *text = json_str(AT(e, "error", "message"));
        unit_check(text && strstr(text, "inputResponses.k ") && strstr(text, answers[i].fault), "%s gave \"%s\"", answers[i].answer, text);
    }
    finish();
}

static void test_mcp_ask__the_legacy_handler_is_told_of_a_wrong_answer(void) {
    start_asking("{}");
    hello("2025-11-25");
    for (size_t i = 0; i < LASTRO_COUNT(answers); i++) {
        ask("1", answers[i].method, answers[i].params, "");
        const json_value *q = hear();
        say("{'jsonrpc':'2.0','id':%s,'result':%s}", shown(AT(q, "id")), answers[i].answer);
        const json_value *r = RESULT("1");
        if (!answers[i].fault) {
            char expected[400];
            snprintf(expected, sizeof expected, "[%s]", answers[i].answer);
            IS(AT(r, "structuredContent", "answers"), expected);
            continue;
        }
        IS(AT(r, "isError"), "true");
        const char *text = json_str(AT(r, "content", "0", "text"));
        unit_check(text && strstr(text, "cannot be used") && strstr(text, answers[i].fault) && strstr(text, answers[i].method),
                   "%s gave \"%s\"", answers[i].answer, text);
    }
    hello("2025-06-18"); /* which has one piece of content, never several */
    ask("2", "sampling/createMessage", SAMPLE, "");
    say("{'jsonrpc':'2.0','id':%s,'result':{'role':'assistant','content':[{'type':'text','text':'x'}],'model':'m'}}", shown(AT(hear(), "id")));
    IS(AT(RESULT("2"), "isError"), "true");
    ask("3", "roots/list", "{}", "");
    say("{'jsonrpc':'2.0','id':%s,'error':{'code':-1,'message':'not today'}}", shown(AT(hear(), "id")));
    CU_ASSERT(says(AT(RESULT("3"), "content", "0", "text"), "not today"));
    finish();
}

/* ---- questions ---- */

static void test_mcp_ask__what_is_no_question_never_goes_out(void) {
    static const struct {
        const char *method, *params, *fault;
    } rows[] = {
        {"elicitation/create", "{}", "message"},
        {"elicitation/create", "{'message':5,'requestedSchema':{}}", "message"},
        {"elicitation/create", "{'message':'x'}", "requestedSchema"},
        {"elicitation/create", "{'message':'x','requestedSchema':{}}", "requestedSchema"},
        {"elicitation/create", "{'message':'x','requestedSchema':{'type':'object'}}", "properties"},
        {"elicitation/create", "{'message':'x','requestedSchema':{'type':'string','properties':{}}}", "object"},
        {"elicitation/create", FIELDS("'deep':{'type':'object'}"), "deep"},
        {"elicitation/create", FIELDS("'deep':{'type':'array','items':{'type':'object'}}"), "deep"},
        {"elicitation/create", FIELDS("'deep':{}"), "deep"},
        {"elicitation/create", FIELDS("'bad':{'type':'string','maxLength':'x'}"), "unusable"},
        {"elicitation/create", "{'mode':'voice','message':'x'}", "mode"},
        {"elicitation/create", "{'mode':'url','message':'x'}", "url"},
        {"elicitation/create", "{'mode':'url','message':'x','url':'not an address'}", "not an address"},
        {"elicitation/create", "{'mode':'url','message':'x','url':''}", "address"},
        {"elicitation/create", "[]", "object"},
        {"sampling/createMessage", "{}", "messages"},
        {"sampling/createMessage", "{'messages':[]}", "maxTokens"},
        {"tools/list", "{}", "tools/list"},
        {"", "{}", "nothing a client can be asked"},
    };
    start_asking("{}");
    hello("2025-11-25");
    for (size_t i = 0; i < LASTRO_COUNT(rows); i++)
        for (int modern = 0; modern < 2; modern++) {
            ask("1", rows[i].method, rows[i].params, modern ? "," WHOLE_CLAIM : "");
            const json_value *e = ERROR_IS("1", -32603);
            unit_check(says(AT(e, "error", "message"), rows[i].fault), "%s %s gave %s", rows[i].method, rows[i].params, shown(e));
        }
    finish();
}

#define TITLED "'a':{'type':'string','title':'A','oneOf':[{'const':'x','title':'The X'},{'const':'y','title':'The Y'}],'default':'x'}"
#define PLAIN "'b':{'type':'boolean','default':true},'c':{'type':'string','enum':['1','2']},'d':{'type':'integer','minimum':1}"
#define SEVERAL "'e':{'type':'array','items':{'type':'string','enum':['1','2']}}"
#define FORM_OF(mode, list) "{" mode "'message':'Say','requestedSchema':{'type':'object','properties':{" list "},'required':['d']}}"

static void test_mcp_ask__forms_read_as_their_revision_knows_them(void) {
    static const char asked[] = FORM_OF("'mode':'form',", TITLED "," PLAIN), all[] = FORM_OF("'mode':'form',", TITLED "," PLAIN "," SEVERAL),
                      older[] = FORM_OF("", "'a':{'type':'string','title':'A','default':'x','enum':['x','y'],'enumNames':['The X','The Y']}," PLAIN);
    start_asking("{}");
    hello("2025-06-18");
    ask("1", "elicitation/create", asked, "");
    const json_value *q = hear();
    IS(AT(q, "params"), older);
    say("{'jsonrpc':'2.0','id':%s,'result':{'action':'accept','content':{'a':'y','d':2}}}", shown(AT(q, "id")));
    IS(AT(RESULT("1"), "structuredContent", "answers", "0", "content", "a"), "'y'");
    ask("2", "elicitation/create", all, "");
    CU_ASSERT(says(AT(RESULT("2"), "content", "0", "text"), "2025-06-18"));
    hello("2025-11-25");
    ask("3", "elicitation/create", all, "");
    q = hear();
    IS(AT(q, "params"), all);
    say("{'jsonrpc':'2.0','id':%s,'result':{'action':'accept','content':{'a':'z','d':2}}}", shown(AT(q, "id")));
    IS(AT(RESULT("3"), "isError"), "true");
    ask("4", "elicitation/create", all, "," WHOLE_CLAIM);
    IS(AT(RESULT("4"), "inputRequests", "k", "params"), all);
    finish();
}

static void test_mcp_ask__pages_have_an_id_where_the_revision_has_one(void) {
    static const char named[] = "{'mode':'url','message':'Go','url':'https://example.org/x','elicitationId':'mine'}";
    const char *ids[2];
    start_asking("{}");
    hello("2025-11-25");
    for (int i = 0; i < 3; i++) {
        ask("1", "elicitation/create", i < 2 ? PAGE : named, "");
        const json_value *q = hear();
        if (i < 2)
            ids[i] = json_str(AT(q, "params", "elicitationId"));
        else
            IS(AT(q, "params"), named);
        IS(AT(q, "params", "url"), "'https://example.org/x'");
        say("{'jsonrpc':'2.0','id':%s,'result':{'action':'accept'}}", shown(AT(q, "id")));
        IS(AT(RESULT("1"), "structuredContent", "answers"), "[{'action':'accept'}]");
    }
    CU_ASSERT(ids[0] && ids[1] && strlen(ids[0]) == 32 && strcmp(ids[0], ids[1]) != 0);
    for (int i = 0; i < 2; i++) {
        ask("2", "elicitation/create", i ? PAGE : named, "," WHOLE_CLAIM);
        IS(AT(RESULT("2"), "inputRequests", "k", "params"), PAGE);
    }
    hello("2025-06-18"); /* which knows no pages, whatever the client says */
    ask("3", "elicitation/create", PAGE, "");
    IS(AT(RESULT("3"), "isError"), "true");
    ask("4", "elicitation/create", PAGE, "," CLAIM_ASKS); /* a client that has forms only */
    IS(AT(ERROR_IS("4", -32021), "error", "data"), "{'requiredCapabilities':{'elicitation':{'url':{}}}}");
    finish();
}

static void test_mcp_ask__a_model_with_tools_is_another_capability(void) {
    static const char tools[] = "{'messages':[],'maxTokens':5,'tools':[]}";
    start_asking("{}");
    ask("1", "sampling/createMessage", tools, "," WHOLE_CLAIM);
    IS(AT(RESULT("1"), "resultType"), "'input_required'");
    ask("2", "sampling/createMessage", tools, "," CLAIM_ASKS);
    IS(AT(ERROR_IS("2", -32021), "error", "data"), "{'requiredCapabilities':{'sampling':{'tools':{}}}}");
    hello("2025-06-18");
    ask("3", "sampling/createMessage", tools, "");
    IS(AT(RESULT("3"), "isError"), "true");
    finish();
}

/* ---- the end of a question ---- */

static void taken_back_at(int line, const json_value *q) {
    const json_value *n = hear();
    unit_check(json_text_is(AT(n, "method"), "notifications/cancelled") && json_equal(AT(n, "params", "requestId"), AT(q, "id")) &&
               json_str(AT(n, "params", "reason")), "line %d: %s", line, shown(n));
}

static void test_mcp_ask__a_question_of_a_call_that_ends_is_taken_back(void) {
    start_asking("{\"callMs\":60}");
    hello("2025-11-25");
    ask("1", "roots/list", "{}", "");
    const json_value *q = hear();
    taken_back_at(__LINE__, q);
    IS(AT(RESULT("1"), "isError"), "true");
    say("{'jsonrpc':'2.0','id':%s,'result':{'roots':[]}}", shown(AT(q, "id"))); /* too late */
    silence();
    finish();
    start_asking("{}");
    hello("2025-11-25");
    ask("2", "roots/list", "{}", "");
    q = hear();
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}");
    taken_back_at(__LINE__, q);
    silence();
    say("{'jsonrpc':'2.0','id':3,'method':'prompts/get','params':{'name':'ask'}}");
    q = hear();
    say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':3}}");
    taken_back_at(__LINE__, q);
    silence();
    CU_ASSERT_PTR_NULL(ses->asks);
    finish();
}

static void test_mcp_ask__who_waits_but_asked_nothing_is_a_defect(void) {
    static const char *const calls[] = {"tools/call','params':{'name':'early'", "prompts/get','params':{'name':'ask','arguments':{'early':'1'}",
                                        "resources/read','params':{'uri':'asking://early'"};
    start_asking("{}");
    hello("2025-11-25");
    for (size_t i = 0; i < LASTRO_COUNT(calls); i++)
        for (int modern = 0; modern < 2; modern++) {
            say("{'jsonrpc':'2.0','id':1,'method':'%s%s}}", calls[i], modern ? "," WHOLE_CLAIM : "");
            CU_ASSERT(says(AT(ERROR_IS("1", -32603), "error", "message"), "defect"));
        }
    finish();
}

static void test_mcp_ask__completion_asks_only_where_it_may(void) {
    static const char call[] = "'method':'completion/complete','params':{'ref':{'type':'ref/prompt','name':'ask'},'argument':{'name':'early','value':''}";
    start_asking("{}");
    say("{'jsonrpc':'2.0','id':1,%s," WHOLE_CLAIM "}}", call);
    ERROR_IS("1", -32603);
    hello("2025-11-25");
    say("{'jsonrpc':'2.0','id':2,%s}}", call);
    say("{'jsonrpc':'2.0','id':%s,'result':{'action':'decline'}}", shown(AT(hear(), "id")));
    IS(AT(RESULT("2"), "completion", "values"), "[]");
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp_ask__a_wrong_answer_is_told_in_the_modern_era),
        UNIT_TEST(test_mcp_ask__the_legacy_handler_is_told_of_a_wrong_answer),
        UNIT_TEST(test_mcp_ask__what_is_no_question_never_goes_out),
        UNIT_TEST(test_mcp_ask__forms_read_as_their_revision_knows_them),
        UNIT_TEST(test_mcp_ask__pages_have_an_id_where_the_revision_has_one),
        UNIT_TEST(test_mcp_ask__a_model_with_tools_is_another_capability),
        UNIT_TEST(test_mcp_ask__a_question_of_a_call_that_ends_is_taken_back),
        UNIT_TEST(test_mcp_ask__who_waits_but_asked_nothing_is_a_defect),
        UNIT_TEST(test_mcp_ask__completion_asks_only_where_it_may),
    };
    return UNIT_RUN("mcp_ask", tests);
}
