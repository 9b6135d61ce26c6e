/* SPDX-License-Identifier: MIT */
#include "canonical.h"
#include "sha256.h"
#include "unit.h"

#include <string.h>

static arena mem;

static const json_value *json(const char *text) {
    const json_value *v = json_read_copy(&mem, text, strlen(text), NULL, NULL);
    unit_check(v != NULL, "the test's own JSON: %s", text);
    return v;
}

static void test_canonical__sorts_members_at_every_level_and_keeps_the_rest(void) {
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"{ \"b\" : 1 , \"a\" : 2 }", "{\"a\":2,\"b\":1}"},
        {"{\"z\":{\"y\":[{\"b\":1,\"a\":2},3]},\"a\":null}", "{\"a\":null,\"z\":{\"y\":[{\"a\":2,\"b\":1},3]}}"},
        {"[3,1,2]", "[3,1,2]"},
        {"{\"ab\":1,\"a\":2,\"\":3,\"B\":4}", "{\"\":3,\"B\":4,\"a\":2,\"ab\":1}"},
        {"{\"\\u00e9\":1,\"z\":2,\"a\\u0000b\":3,\"a\":4}", "{\"a\":4,\"a\\u0000b\":3,\"z\":2,\"\xc3\xa9\":1}"},
        {"{\"n\":1.50,\"m\":1e2,\"l\":-0}", "{\"l\":-0,\"m\":1e2,\"n\":1.50}"},
        {"{}", "{}"},
        {"[]", "[]"},
        {"\"\\u00e7\"", "\"\xc3\xa7\""},
        {"true", "true"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_writer w;
        json_writer_init(&w, 0);
        canonical_write(&w, json(cases[i].text), &mem);
        CU_ASSERT(json_writer_finish(&w));
        unit_check(w.data && strcmp(w.data, cases[i].canonical) == 0, "%s became %s", cases[i].text, w.data ? w.data : "nothing");
        json_writer_free(&w);
    }
}

static void test_canonical__digests_tell_changes_from_order(void) {
    char a[72], b[72], hex[65];
    CU_ASSERT(canonical_digest(json("{\"a\":1,\"b\":[true,{\"c\":2,\"d\":3}]}"), a));
    CU_ASSERT(canonical_digest(json("{\"b\": [true, {\"d\": 3, \"c\": 2}], \"a\": 1}"), b));
    CU_ASSERT_STRING_EQUAL(a, b);
    CU_ASSERT(canonical_digest(json("{\"a\":1,\"b\":[true,{\"c\":2,\"d\":4}]}"), b));
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
    CU_ASSERT(canonical_digest(json("{ }"), a));
    sha256_text("{}", 2, hex);
    CU_ASSERT_NSTRING_EQUAL(a, "sha256:", 7);
    CU_ASSERT_STRING_EQUAL(a + 7, hex);
    CU_ASSERT_EQUAL(strlen(a), 71);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_canonical__sorts_members_at_every_level_and_keeps_the_rest),
        UNIT_TEST(test_canonical__digests_tell_changes_from_order),
    };
    arena_init(&mem, 0);
    int failed = UNIT_RUN("canonical", tests);
    arena_free(&mem);
    return failed;
}
