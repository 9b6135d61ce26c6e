/* SPDX-License-Identifier: MIT */
#include "rpc.h"
#include "unit.h"

#include <string.h>

static arena mem;

static const json_value *json(const char *text) {
    const json_value *v = json_read_copy(&mem, text, strlen(text), NULL, NULL);
    unit_check(v != NULL, "the test's own JSON: %s", text);
    return v;
}

static void test_rpc__tells_the_kinds_of_messages_apart(void) {
    static const struct {
        const char *text;
        rpc_kind kind;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", RPC_IS_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}}", RPC_IS_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}", RPC_IS_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":{}}", RPC_IS_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", RPC_IS_NOTIFICATION},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{}}", RPC_IS_NOTIFICATION},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_IS_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":null}", RPC_IS_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"\"}}", RPC_IS_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\"}", RPC_IS_INVALID},
        {"{\"id\":1,\"method\":\"ping\"}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_IS_INVALID},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,\"method\":\"ping\"}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\\u0000ng\"}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", RPC_IS_INVALID},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}", RPC_IS_INVALID},
        {"[]", RPC_IS_INVALID},
        {"\"x\"", RPC_IS_INVALID},
        {"null", RPC_IS_INVALID},
        {"1", RPC_IS_INVALID},
        {"{}", RPC_IS_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rpc_message m;
        rpc_read(json(cases[i].text), &m);
        unit_check(m.kind == cases[i].kind, "%s is of kind %d", cases[i].text, (int)m.kind);
        unit_check((m.fault != NULL) == (m.kind == RPC_IS_INVALID), "%s: fault %s", cases[i].text, m.fault ? m.fault : "none");
    }
    rpc_message m;
    rpc_read(NULL, &m);
    CU_ASSERT(m.kind == RPC_IS_INVALID);
}

/* Whatever is wrong with a notification, it is one: nobody waits for an answer. */
static void test_rpc__a_message_with_a_method_and_no_id_is_a_notification_whatever_its_params(void) {
    static const char *const params[] = {"[]", "null", "5", "\"x\""};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        char text[100];
        rpc_message m;
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":%s}", params[i]);
        rpc_read(json(text), &m);
        unit_check(m.kind == RPC_IS_NOTIFICATION, "%s is of kind %d", text, (int)m.kind);
    }
}

static void test_rpc__an_id_is_a_text_or_an_integer_and_keeps_its_own_text(void) {
    static const char *const good[] = {"0", "-1", "1e2", "3100.0", "9007199254740993", "123456789012345678901234567890", "\"\"",
                                       "\"1\"", "\"a\\u0000b\"", "-0", "1E+2"};
    static const char *const bad[] = {"null", "true", "false", "1.5", "1e-1", "[]", "{}", "[1]", "0.1"};
    rpc_message m;
    char text[200];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", good[i]);
        rpc_read(json(text), &m);
        unit_check(m.kind == RPC_IS_REQUEST && m.id, "id %s refused", good[i]);
        json_writer w;
        json_writer_init(&w, 0);
        rpc_begin_result(&w, m.id);
        json_write_null(&w);
        rpc_end(&w);
        CU_ASSERT(json_writer_finish(&w));
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":null}", good[i]);
        unit_check(strcmp(w.data, text) == 0, "%s instead of %s", w.data, text);
        json_writer_free(&w);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", bad[i]);
        rpc_read(json(text), &m);
        unit_check(m.kind == RPC_IS_INVALID && !m.id && m.fault, "id %s taken", bad[i]);
    }
}

static void test_rpc__ids_are_the_same_by_type_and_value(void) {
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"1", "1", true},     {"\"1\"", "\"1\"", true}, {"\"1\"", "1", false},       {"100", "1e2", true},
                 {"100", "100.0", true}, {"0", "-0", true},      {"0", "\"\"", false},        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
                 {"\"a\"", "\"a\\u0000\"", false}, {"9007199254740993", "9007199254740992", false},
                 {"null", "null", true}, {"1", "2", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool same = rpc_same_id(json(cases[i].a), json(cases[i].b));
        unit_check(same == cases[i].same, "%s and %s: %d", cases[i].a, cases[i].b, same);
    }
}

static void test_rpc__writes_errors_with_and_without_id_and_data(void) {
    json_writer w;
    json_writer_init(&w, 0);
    rpc_write_error(&w, NULL, RPC_PARSE, "no \"JSON\"", NULL);
    CU_ASSERT(json_writer_finish(&w));
    CU_ASSERT_STRING_EQUAL(w.data, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no \\\"JSON\\\"\"}}");
    json_writer_reset(&w);
    rpc_write_error(&w, json("\"x\""), RPC_CLIENT, "m", "{\"a\":1}");
    CU_ASSERT(json_writer_finish(&w));
    CU_ASSERT_STRING_EQUAL(w.data, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32021,\"message\":\"m\",\"data\":{\"a\":1}}}");
    json_writer_reset(&w);
    rpc_begin_notification(&w, "notifications/x");
    json_begin_object(&w);
    json_end_object(&w);
    rpc_end(&w);
    CU_ASSERT(json_writer_finish(&w));
    CU_ASSERT_STRING_EQUAL(w.data, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{}}");
    json_writer_free(&w);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_rpc__tells_the_kinds_of_messages_apart),
        UNIT_TEST(test_rpc__a_message_with_a_method_and_no_id_is_a_notification_whatever_its_params),
        UNIT_TEST(test_rpc__an_id_is_a_text_or_an_integer_and_keeps_its_own_text),
        UNIT_TEST(test_rpc__ids_are_the_same_by_type_and_value),
        UNIT_TEST(test_rpc__writes_errors_with_and_without_id_and_data),
    };
    arena_init(&mem, 0);
    int failed = UNIT_RUN("rpc", tests);
    arena_free(&mem);
    return failed;
}
