/* SPDX-License-Identifier: MIT */
/* lastro_jansson.h over the core's own JSON, put behind the border's table as the host does. */

/* core/json.h and jansson share a few names; the core's get others while its header is read. */
#define JSON_NULL CORE_JSON_NULL
#define JSON_STRING CORE_JSON_STRING
#define JSON_ARRAY CORE_JSON_ARRAY
#define JSON_OBJECT CORE_JSON_OBJECT
#define json_equal core_json_equal
#include "core/json.h"
#undef JSON_NULL
#undef JSON_STRING
#undef JSON_ARRAY
#undef JSON_OBJECT
#undef json_equal

#include "unit.h"

#include <CUnit/CUnit.h>
#include <lastro/lastro_jansson.h>
#include <stdlib.h>

/* ---- the part of the host's table that the header uses ---- */

static int32_t host_kind(const lastro_value *v) {
    return (int32_t)json_kind_of(v);
}
static void host_iterate(const lastro_value *v, lastro_iter *it) {
    json_iter i = json_iterate(v);
    *it = (lastro_iter){.host = {i.next, NULL}, .left = i.left, .flags = i.object};
}
static bool host_next(lastro_iter *it) {
    json_iter i = {.next = it->host[0], .left = it->left, .object = it->flags};
    if (!json_next(&i))
        return false;
    json_text key = json_text_of(i.key);
    *it = (lastro_iter){.key = {key.at, key.len}, .value = i.value, .host = {i.next, NULL}, .left = i.left, .flags = it->flags};
    return true;
}
static lastro_text host_text(const lastro_value *v) {
    json_text t = json_text_of(v);
    return (lastro_text){t.at, t.len};
}
static const lastro_host table = {
    .size = sizeof(lastro_host), .abi = LASTRO_ABI, .kind = host_kind, .iterate = host_iterate, .next = host_next,
    .text = host_text, .truth = json_bool, .int64 = json_int64, .number = json_double,
    .begin_object = json_begin_object, .end_object = json_end_object, .begin_array = json_begin_array,
    .end_array = json_end_array, .key = json_key_n, .write_text = json_write_string_n, .write_int = json_write_int,
    .write_double = json_write_double, .write_bool = json_write_bool, .write_null = json_write_null,
};
const lastro_host *lastro = &table;

/* text → value → json_t → writer; free the result */
static char *round_trip(const char *text) {
    arena a;
    json_writer w;
    arena_init(&a, 0);
    json_writer_init(&w, 0);
    const json_value *v = json_read_copy(&a, text, strlen(text), NULL, NULL);
    json_t *j = lastro_to_json(v);
    if (j)
        lastro_write_json(&w, j);
    char *ret = v && j && json_writer_finish(&w) ? strdup(w.data) : NULL;
    json_decref(j);
    json_writer_free(&w);
    arena_free(&a);
    return ret;
}

static void test_jansson__documents_come_back_as_documented(void) {
    static const struct {
        const char *in, *out; /* NULL: no conversion */
    } cases[] = {
        {"null", "null"},
        {"[true,false,null]", "[true,false,null]"},
        {"{\"a\":{\"b\":[]},\"c\":{}}", "{\"a\":{\"b\":[]},\"c\":{}}"},
        {"\"a\\u0000b \\ud83d\\ude00 ção\"", "\"a\\u0000b \xF0\x9F\x98\x80 ção\""},
        {"{\"a\\u0000b\":1}", "{\"a\\u0000b\":1}"},
        {"{\"\":1}", "{\"\":1}"},
        {"[0.42,0.1,-1.84,14.903333,35.9051127766]", "[0.42,0.1,-1.84,14.903333,35.9051127766]"},
        {"[433,433.0,4.33e2,-0]", "[433,433,433,0]"},                       /* integers by value */
        {"[6.60]", "[6.6]"},                                                /* digits are not kept */
        {"[9223372036854775807]", "[9223372036854775807]"},
        {"[9007199254740993.5]", "[9007199254740994]"},                     /* nearest double */
        {"[9223372036854775808]", "[9223372036854776000]"},                 /* past int64: a real, its shortest text */
        {"[0.1234567890123456789]", "[0.12345678901234568]"},
        {"1e999", NULL},
        {"[1,[2,{\"x\":1e999}]]", NULL},
    };
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        char *got = round_trip(cases[i].in);
        bool same = cases[i].out ? got && strcmp(got, cases[i].out) == 0 : !got;
        unit_check(same, "%s came back as %s", cases[i].in, got ? got : "(nothing)");
        free(got);
    }
}

static void test_jansson__members_keep_their_order(void) {
    char *got = round_trip("{\"z\":1,\"a\":2,\"m\":3}");
    CU_ASSERT_STRING_EQUAL(got, "{\"z\":1,\"a\":2,\"m\":3}");
    free(got);
}

static void test_jansson__absent_gives_nothing_and_null_writes_null(void) {
    json_writer w;
    CU_ASSERT_PTR_NULL(lastro_to_json(NULL));
    json_writer_init(&w, 0);
    lastro->begin_object(&w);
    lastro_put_json(&w, "none", NULL);
    json_t *half = json_real(0.5);
    lastro_put_json(&w, "half", half);
    json_decref(half);
    lastro->end_object(&w);
    CU_ASSERT_TRUE(json_writer_finish(&w));
    CU_ASSERT_STRING_EQUAL(w.data, "{\"none\":null,\"half\":0.5}");
    json_writer_free(&w);
}

/* No leak and no half document when memory runs out at any point (run under ASan to see leaks). */
static size_t fail_at, seen;
static void *failing_malloc(size_t n) {
    return ++seen == fail_at ? NULL : malloc(n);
}
static void test_jansson__survives_each_failed_allocation(void) {
    static const char text[] = "{\"a\":[1,0.5,\"x\"],\"b\":{\"c\":\"y\"}}";
    arena a;
    arena_init(&a, 0);
    const json_value *v = json_read_copy(&a, text, strlen(text), NULL, NULL);
    json_set_alloc_funcs(failing_malloc, free);
    bool done = false;
    for (fail_at = 1; !done && fail_at < 1000; fail_at++) {
        seen = 0;
        json_t *j = lastro_to_json(v);
        done = seen < fail_at;
        unit_check(done == (j != NULL), "allocation %zu failed: a document came all the same, or none when none failed", fail_at);
        json_decref(j);
    }
    CU_ASSERT_TRUE(done);
    json_set_alloc_funcs(malloc, free);
    arena_free(&a);
}

static const unit_test tests[] = {
    UNIT_TEST(test_jansson__documents_come_back_as_documented),
    UNIT_TEST(test_jansson__members_keep_their_order),
    UNIT_TEST(test_jansson__absent_gives_nothing_and_null_writes_null),
    UNIT_TEST(test_jansson__survives_each_failed_allocation),
};

int main(void) {
    return UNIT_RUN("sdk_jansson", tests);
}
