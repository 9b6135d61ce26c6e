/* SPDX-License-Identifier: MIT */
/* What a call keeps from round to round in the modern era. */
#include "mcp_state.h"
#include "test_asking.h"

#define FORM(name) "{'message':'Say','requestedSchema':{'type':'object','properties':{'" name "':{'type':'string'}},'required':['" name "']}}"
#define QUESTION(key) "{'key':'" key "','params':" FORM("name") "}"
#define THREE "'arguments':{'rounds':true,'questions':[" QUESTION("a") "," QUESTION("b") "," QUESTION("c") "]}"
#define ANSWER(text) "{'action':'accept','content':{'name':'" text "'}}"

/* tools/call of "ask" with those members of params; the result. */
static const json_value *call_at(int line, const char *members) {
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask',%s," CLAIM_ASKS "}}", members);
    return result_at(line, "1");
}
#define CALL(members) call_at(__LINE__, (members))

#define WITH(literal, state) arena_printf(&peer_.mem, literal, (state))
static const char *state_of(const json_value *result) {
    const char *state = json_str(AT(result, "requestState"));
    unit_check(state && *state, "no requestState in %s", shown(result));
    return state ? state : "";
}

static void test_mcp_state__earlier_answers_need_not_be_repeated(void) {
    start_asking("{}");
    const json_value *r = CALL(THREE);
    IS(AT(r, "resultType"), "'input_required'");
    CU_ASSERT(AT(r, "inputRequests", "a") && json_count(AT(r, "inputRequests")) == 1);
    const char *first = state_of(r);
    r = CALL(WITH(THREE ",'inputResponses':{'a':" ANSWER("Ana") "},'requestState':'%s'", first));
    CU_ASSERT(AT(r, "inputRequests", "b") && json_count(AT(r, "inputRequests")) == 1);
    const char *second = state_of(r);
    CU_ASSERT_STRING_NOT_EQUAL(first, second);
    r = CALL(WITH(THREE ",'inputResponses':{'b':" ANSWER("Bia") "},'requestState':'%s'", second));
    CU_ASSERT(AT(r, "inputRequests", "c") && json_count(AT(r, "inputRequests")) == 1);
    const char *third = state_of(r);
    r = CALL(WITH(THREE ",'inputResponses':{'c':" ANSWER("Caio") "},'requestState':'%s'", third));
    IS(AT(r, "resultType"), "'complete'");
    IS(AT(r, "structuredContent", "answers"), "[" ANSWER("Ana") "," ANSWER("Bia") "," ANSWER("Caio") "]");
    CU_ASSERT_PTR_NULL(AT(r, "requestState"));
    /* an older state knows what was answered until then */
    r = CALL(WITH(THREE ",'inputResponses':{'c':" ANSWER("Caio") "},'requestState':'%s'", second));
    CU_ASSERT(AT(r, "inputRequests", "b") && json_count(AT(r, "inputRequests")) == 1);
    /* and two rounds without any answer still give different ones */
    CU_ASSERT_STRING_NOT_EQUAL(state_of(CALL(THREE)), state_of(CALL(THREE)));
    finish();
}

static void test_mcp_state__nobody_has_to_send_it(void) {
    start_asking("{}");
    const json_value *r = CALL(THREE ",'inputResponses':{'a':" ANSWER("Ana") ",'b':" ANSWER("Bia") ",'c':" ANSWER("Caio")
                               ",'unknown':{'action':5},'more':12345}");
    IS(AT(r, "structuredContent", "answers"), "[" ANSWER("Ana") "," ANSWER("Bia") "," ANSWER("Caio") "]");
    r = CALL(THREE ",'inputResponses':{'b':" ANSWER("Bia") "}"); /* the one that is due is missing: asked again, no error */
    CU_ASSERT(AT(r, "inputRequests", "a") && json_count(AT(r, "inputRequests")) == 1);
    r = CALL(THREE ",'inputResponses':{'wrong_key':" ANSWER("x") "}");
    CU_ASSERT_PTR_NOT_NULL(AT(r, "inputRequests", "a"));
    r = CALL(THREE ",'inputResponses':null,'requestState':null");
    CU_ASSERT_PTR_NOT_NULL(AT(r, "inputRequests", "a"));
    r = CALL(THREE ",'inputResponses':{}");
    CU_ASSERT_PTR_NOT_NULL(AT(r, "inputRequests", "a"));
    static const char *const wrong[] = {"[]", "5", "'x'", "true"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask'," THREE ",'inputResponses':%s," CLAIM_ASKS "}}", wrong[i]);
        CU_ASSERT(says(AT(ERROR_IS("2", -32602), "error", "message"), "inputResponses"));
    }
    finish();
}

static void test_mcp_state__a_new_answer_wins(void) {
    start_asking("{}");
    const char *state = state_of(CALL(THREE ",'inputResponses':{'a':" ANSWER("Ana") ",'b':" ANSWER("Bia") "}"));
    const json_value *r = CALL(WITH(THREE ",'inputResponses':{'a':" ANSWER("Alba") ",'c':" ANSWER("Caio") "},'requestState':'%s'", state));
    IS(AT(r, "structuredContent", "answers"), "[" ANSWER("Alba") "," ANSWER("Bia") "," ANSWER("Caio") "]");
    r = CALL(WITH(THREE ",'inputResponses':{'a':" ANSWER("Alba") "},'requestState':'%s'", state));
    r = CALL(WITH(THREE ",'inputResponses':{'c':" ANSWER("Caio") "},'requestState':'%s'", state_of(r))); /* the new one was kept */
    IS(AT(r, "structuredContent", "answers"), "[" ANSWER("Alba") "," ANSWER("Bia") "," ANSWER("Caio") "]");
    finish();
}

static void refused_at(int line, const char *name_and_arguments, const char *state_json) {
    say("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{%s,'requestState':%s," CLAIM_ASKS "}}", name_and_arguments, state_json);
    const json_value *e = error_is_at(line, "3", -32602);
    unit_check(says(AT(e, "error", "message"), "without requestState"), "line %d: said %s", line, shown(e));
}
#define REFUSED(name_and_arguments, state_json) refused_at(__LINE__, (name_and_arguments), (state_json))

static void test_mcp_state__a_changed_one_is_refused_to_the_last_character(void) {
    start_asking("{}");
    char *state = arena_printf(&peer_.mem, "%s", state_of(CALL(THREE ",'inputResponses':{'a':" ANSWER("Ana") "}")));
    size_t len = strlen(state);
    REFUSED("'name':'ask'," THREE, WITH("'%s-TAMPERED'", state));
    REFUSED("'name':'ask'," THREE, WITH("'%s='", state));
    REFUSED("'name':'ask'," THREE, WITH("'%s '", state));
    REFUSED("'name':'ask'," THREE, WITH("'%s\\u0000'", state));
    REFUSED("'name':'ask'," THREE, WITH("' %s'", state));
    for (size_t i = 0; i < len; i++) {
        char was = state[i];
        state[i] = was == 'A' ? 'B' : 'A';
        REFUSED("'name':'ask'," THREE, WITH("'%s'", state));
        state[i] = was;
    }
    state[len - 1] = '\0';
    REFUSED("'name':'ask'," THREE, WITH("'%s'", state));
    static const char *const none[] = {"''", "'x'", "5", "{}", "[]", "true"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        REFUSED("'name':'ask'," THREE, none[i]);
    /* another purpose, the same key */
    char *cursor = seal_make(&srv->seal, &peer_.mem, "cursor", "", 0, "{\"answers\":{}}", 14);
    REFUSED("'name':'ask'," THREE, WITH("'%s'", cursor));
    finish();
}

static void test_mcp_state__it_belongs_to_one_request_of_one_principal(void) {
    static const char args[] = "'arguments':{'rounds':true,'n':1.0,'questions':[" QUESTION("a") "]}";
    start_asking("{}");
    char *members = arena_printf(&peer_.mem, "%s,'inputResponses':{'b':" ANSWER("x") "}", args);
    const char *state = WITH("'%s'", state_of(CALL(members)));
    REFUSED("'name':'ask_too','arguments':{'rounds':true,'n':1.0,'questions':[" QUESTION("a") "]}", state);
    REFUSED("'name':'ask','arguments':{'rounds':true,'n':1.5,'questions':[" QUESTION("a") "]}", state);
    REFUSED("'name':'ask','arguments':{}", state);
    REFUSED("'name':'ask'", state);
    say("{'jsonrpc':'2.0','id':4,'method':'prompts/get','params':{'name':'ask','requestState':%s," CLAIM_ASKS "}}", state);
    ERROR_IS("4", -32602);
    say("{'jsonrpc':'2.0','id':5,'method':'resources/read','params':{'uri':'asking://a','requestState':%s," CLAIM_ASKS "}}", state);
    ERROR_IS("5", -32602);
    peer_.base.principal = "somebody else";
    say("{'jsonrpc':'2.0','id':6,'method':'tools/call','params':{'name':'ask',%s,'requestState':%s," CLAIM_ASKS "}}", args, state);
    ERROR_IS("6", -32602);
    peer_.base.principal = NULL;
    /* the order of members is nobody's business, nor are other members of params */
    say("{'jsonrpc':'2.0','id':'other','method':'tools/call','params':{'requestState':%s,'arguments':{'questions':[" QUESTION("a") "],'n':1.0,"
        "'rounds':true},'name':'ask','inputResponses':{'a':" ANSWER("Ana") "}," CLAIM_ASKS "}}", state);
    IS(AT(RESULT("'other'"), "structuredContent", "answers"), "[" ANSWER("Ana") "]");
    /* arguments that are absent and arguments that are empty are the same */
    say("{'jsonrpc':'2.0','id':7,'method':'prompts/get','params':{'name':'ask'," CLAIM_ASKS "}}");
    state = WITH("'%s'", state_of(RESULT("7")));
    say("{'jsonrpc':'2.0','id':8,'method':'prompts/get','params':{'name':'ask','arguments':{},'requestState':%s,"
        "'inputResponses':{'first':" ANSWER("Ana") "}," CLAIM_ASKS "}}", state);
    IS(AT(RESULT("8"), "messages", "0", "content", "text"), "'{\\\"name\\\":\\\"Ana\\\"}'");
    finish();
}

static void test_mcp_state__it_lasts_ten_minutes(void) {
    setenv("LASTRO_CLOCK", "2026-12-01T10:00:00Z", 1);
    CU_ASSERT(clock_init());
    start_asking("{}");
    const char *state = state_of(CALL(THREE ",'inputResponses':{'a':" ANSWER("Ana") "}"));
    setenv("LASTRO_CLOCK", "2026-12-01T10:10:00Z", 1);
    CU_ASSERT(clock_init());
    CU_ASSERT_PTR_NOT_NULL(AT(CALL(WITH(THREE ",'requestState':'%s'", state)), "inputRequests", "b"));
    setenv("LASTRO_CLOCK", "2026-12-01T10:10:01Z", 1);
    CU_ASSERT(clock_init());
    REFUSED("'name':'ask'," THREE, WITH("'%s'", state));
    finish();
}

static void test_mcp_state__all_that_asks_keeps_answers(void) {
    start_asking("{}");
    say("{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'asking://a','inputResponses':{'first':" ANSWER("1") "}," CLAIM_ASKS "}}");
    const json_value *r = RESULT("1");
    CU_ASSERT(AT(r, "inputRequests", "second") && json_count(AT(r, "inputRequests")) == 1);
    CU_ASSERT(!AT(r, "contents") && !AT(r, "ttlMs") && !AT(r, "cacheScope"));
    const char *state = state_of(r);
    say("{'jsonrpc':'2.0','id':2,'method':'resources/read','params':{'uri':'asking://b','requestState':'%s'," CLAIM_ASKS "}}", state);
    ERROR_IS("2", -32602);
    say("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{'uri':'asking://a','requestState':'%s','inputResponses':{'second':" ANSWER("2")
        "}," CLAIM_ASKS "}}", state);
    r = RESULT("3");
    IS(AT(r, "contents", "0", "text"), "'{\\\"name\\\":\\\"1\\\"}{\\\"name\\\":\\\"2\\\"}'");
    CU_ASSERT(AT(r, "ttlMs") && AT(r, "cacheScope"));
    /* what cannot ask does not look at it */
    say("{'jsonrpc':'2.0','id':4,'method':'tools/list','params':{'requestState':5,'inputResponses':5," CLAIM_ASKS "}}");
    IS(AT(RESULT("4"), "resultType"), "'complete'");
    finish();
}

static void test_mcp_state__an_earlier_answer_to_another_question_is_asked_anew(void) {
    static const char *const kept = ASKING_FORM("\"name\":{\"type\":\"string\"}");
    start_asking("{}");
    say("{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'asking://a','inputResponses':{'first':" ANSWER("1") "}," CLAIM_ASKS "}}");
    const char *state = state_of(RESULT("1"));
    asking_params = "{\"message\":\"Say\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}}";
    say("{'jsonrpc':'2.0','id':2,'method':'resources/read','params':{'uri':'asking://a','requestState':'%s'," CLAIM_ASKS "}}", state);
    CU_ASSERT_PTR_NOT_NULL(AT(RESULT("2"), "inputRequests", "first"));
    asking_params = kept;
    finish();
}

static void test_mcp_state__answers_have_a_bound(void) {
    static char big[STATE_ANSWERS_MAX + 1];
    start_asking("{}");
    memset(big, 'x', sizeof big - 1);
    for (int fits = 1; fits >= 0; fits--) { /* just fits, and does not */
        size_t spare = fits ? 200 : 0;
        char *message = arena_printf(&peer_.mem, "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'," THREE
                                     ",'inputResponses':{'a':" ANSWER("%s") "}," CLAIM_ASKS "}}", big + spare);
        const char *json = quoted(message);
        mcp_receive(ses, &peer_.base, json, strlen(json));
        if (spare)
            state_of(RESULT("1"));
        else
            CU_ASSERT(says(AT(ERROR_IS("1", -32602), "error", "message"), "262144 bytes"));
    }
    /* all at once it is no matter of state */
    char *message = arena_printf(&peer_.mem, "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask'," THREE ",'inputResponses':{'a':"
                                 ANSWER("%s") ",'b':" ANSWER("b") ",'c':" ANSWER("c") "}," CLAIM_ASKS "}}", big);
    const char *json = quoted(message);
    mcp_receive(ses, &peer_.base, json, strlen(json));
    IS(AT(RESULT("2"), "resultType"), "'complete'");
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp_state__earlier_answers_need_not_be_repeated),
        UNIT_TEST(test_mcp_state__nobody_has_to_send_it),
        UNIT_TEST(test_mcp_state__a_new_answer_wins),
        UNIT_TEST(test_mcp_state__a_changed_one_is_refused_to_the_last_character),
        UNIT_TEST(test_mcp_state__it_belongs_to_one_request_of_one_principal),
        UNIT_TEST(test_mcp_state__it_lasts_ten_minutes),
        UNIT_TEST(test_mcp_state__all_that_asks_keeps_answers),
        UNIT_TEST(test_mcp_state__an_earlier_answer_to_another_question_is_asked_anew),
        UNIT_TEST(test_mcp_state__answers_have_a_bound),
    };
    return UNIT_RUN("mcp_state", tests);
}
