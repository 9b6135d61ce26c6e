/* SPDX-License-Identifier: MIT */
/* What the validator is made of: ECMA-262 patterns, URIs, formats, hashes. */
#include "ecma_regex.h"
#include "schema_nodes.h"
#include "unit.h"
#include "uri.h"

#include <string.h>

static void patterns_mean_what_ecma_262_says(void) {
    static const struct {
        const char *pattern, *text;
        regex_verdict want;
    } rows[] = {
        {"^\\d+$", "0123", REGEX_YES},
        {"^\\d+$", "\u0967", REGEX_NO},
        {"^\\w$", "\u00e9", REGEX_NO},
        {"^\\s$", "\u00a0", REGEX_YES},
        {"^\\s$", "\ufeff", REGEX_YES},
        {"^[\\s]$", "\u2028", REGEX_YES},
        {"^\\S$", "\u00a0", REGEX_NO},
        {"^[\\S]$", "\u2003", REGEX_NO},
        {"^[\\S]$", "x", REGEX_YES},
        {"^[^\\S]$", " ", REGEX_YES},
        {"^[\\s-x]$", "-", REGEX_YES},
        {"^a$", "a\n", REGEX_NO},
        {"^.$", "\r", REGEX_NO},
        {"^.$", "\U0001f432", REGEX_YES},
        {"^[^]$", "\n", REGEX_YES},
        {"a[]b", "ab", REGEX_NO},
        {"^\\cC$", "\x03", REGEX_YES},
        {"^\\cc$", "\x03", REGEX_YES},
        {"^\\v$", "\x0b", REGEX_YES},
        {"^\\v$", "\n", REGEX_NO},
        {"^[\\b]$", "\b", REGEX_YES},
        {"^\\u00e7$", "ç", REGEX_YES},
        {"^\\u{1F432}$", "\U0001f432", REGEX_YES},
        {"^\\ud83d\\udc32*$", "\U0001f432\U0001f432", REGEX_YES},
        {"^[\\ud83d\\udc32a]+$", "a\U0001f432", REGEX_YES},
        {"^\\x41$", "A", REGEX_YES},
        {"^\\p{Letter}+$", "ação", REGEX_YES},
        {"^\\p{L}+$", "a1", REGEX_NO},
        {"^\\P{Lu}$", "a", REGEX_YES},
        {"^\\p{General_Category=Uppercase_Letter}$", "Ç", REGEX_YES},
        {"^\\p{Script=Greek}$", "\u03b1", REGEX_YES},
        {"^\\p{digit}$", "\u0967", REGEX_YES},
        {"^(?<ano>\\d{4})-\\k<ano>$", "2024-2024", REGEX_YES},
        {"^(a)\\1$", "aa", REGEX_YES},
        {"^(?:(a)|b)\\1c$", "bc", REGEX_YES},
        {"^(?=a)a(?!b)", "ab", REGEX_NO},
        {"(?<=R\\$ )\\d", "R$ 5", REGEX_YES},
        {"[[:alpha:]]", "x]", REGEX_NO},
        {"^[[]$", "[", REGEX_YES},
        {"^a{2}$", "aa", REGEX_YES},
        {"^a{,2}$", "a{,2}", REGEX_YES},
        {"^{$", "{", REGEX_YES},
        {"^\\/\\-\\@$", "/-@", REGEX_YES},
        {"b", "abc", REGEX_YES},
        {"", "abc", REGEX_YES},
        {"^\\d{4}-(?:0[1-9]|1[0-2])$", "2024-13", REGEX_NO},
        {"^[a-z]+\\d*$", "abc12", REGEX_YES},
        {"^[a-z]+\\d*$", "abc12x", REGEX_NO},
        {"^[a-z]+a$", "xya", REGEX_YES},
        {"^a?a$", "a", REGEX_YES},
        {"^a?b?a$", "a", REGEX_YES},
        {"^\\d{1,3}(\\.\\d{3})*,\\d{2}$", "1.234.567,89", REGEX_YES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char err[200] = "";
        regex *re = regex_compile(rows[i].pattern, strlen(rows[i].pattern), 0, 0, err, sizeof err);
        unit_check(re != NULL, "%s: %s", rows[i].pattern, err);
        if (re)
            unit_check(regex_search(re, rows[i].text, strlen(rows[i].text)) == rows[i].want, "%s on %s",
                       rows[i].pattern, rows[i].text);
        regex_free(re);
    }
}

static void other_dialects_are_refused(void) {
    static const char *const patterns[] = {
        "\\a",      "\\Z",   "\\A",     "\\z",  "\\Q.\\E", "\\R",         "\\K",       "(?i)a",   "(?>a)",
        "(?P<n>a)", "(?#x)", "(*UTF)a", "a++",  "a**",     "*a",          "(",         ")",       "[a",
        "a\\",      "\\u12", "\\x4",    "\\c1", "\\ud83d", "\\u{110000}", "\\p{Nada}", "\\p",     "\\k",
        "\\07",     "(?R)",  "(?1)",    "\\N",  "[z-a]",   "\\p{^L}",     "\\g{1}",    "x{2}{3}", "^*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char err[200] = "";
        regex *re = regex_compile(patterns[i], strlen(patterns[i]), 0, 0, err, sizeof err);
        unit_check(re == NULL && *err, "%s compiles", patterns[i]);
        regex_free(re);
    }
}

static void plain_shapes_skip_pcre2(void) {
    static const struct {
        const char *pattern;
        bool plain;
    } rows[] = {
        {"^\\d{4}-\\d{2}-\\d{2}$", true},
        {"^[A-Z]{3}$", true},
        {"^[a-z][a-z0-9_]*$", true},
        {"^abc", true},
        {"^[a-z]+a$", false},
        {"^(a|b)$", false},
        {"a$", false},
        {"^[^a]$", false},
        {"^a+?$", false},
        {"^é$", false},
        {"^\\d+(\\.\\d+)?$", false},
        {"^[0-9]*\\.?[0-9]*$", false},
        {"^\\d+\\.?x$", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        regex *re = regex_compile(rows[i].pattern, strlen(rows[i].pattern), 0, 0, NULL, 0);
        unit_check(re && regex_is_plain(re) == rows[i].plain, "%s", rows[i].pattern);
        regex_free(re);
    }
}

static void a_search_has_limits(void) {
    regex *re = regex_compile("(a+)+$", 6, 0, 0, NULL, 0);
    CU_ASSERT_EQUAL(regex_search(re, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 47), REGEX_LIMIT);
    CU_ASSERT_EQUAL(regex_search(re, "aaaa", 4), REGEX_YES);
    regex_free(re);
}

/* RFC 3986, 5.4 */
static void references_resolve_as_rfc_3986_says(void) {
    static const char base[] = "http://a/b/c/d;p?q";
    static const struct {
        const char *ref, *want;
    } rows[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };
    arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = uri_resolve(&a, base, rows[i].ref, strlen(rows[i].ref));
        unit_check(!strcmp(got, rows[i].want), "%s: %s, not %s", rows[i].ref, got, rows[i].want);
    }
    CU_ASSERT_STRING_EQUAL(uri_resolve(&a, "", "x/../y.json#a", 13), "y.json#a");
    CU_ASSERT_STRING_EQUAL(uri_resolve(&a, "urn:uuid:1", "#a", 2), "urn:uuid:1#a");
    CU_ASSERT_STRING_EQUAL(uri_resolve(&a, "http://a", "b", 1), "http://a/b");
    size_t len;
    CU_ASSERT_STRING_EQUAL(uri_decode(&a, "a%25%C3%A7", 10, &len), "a%ç");
    CU_ASSERT_EQUAL(len, 4);
    CU_ASSERT_PTR_NULL(uri_decode(&a, "%4", 2, &len));
    CU_ASSERT_PTR_NULL(uri_decode(&a, "%zz", 3, &len));
    arena_free(&a);
}

static void equal_values_have_equal_hashes(void) {
    static const char *const same[] = {
        "[1, 1.0, 1e0, 10e-1, 0.1e1, 100E-2]",
        "[0, -0, 0.0, 0e99, -0.000]",
        "[1e400, 10e399, 0.001e403]",
        "[120, 12e1, 1.2e2, 1200e-1]",
        "[{\"a\":1,\"b\":[2]}, {\"b\":[2.0],\"a\":1.0}]",
        "[\"ç\", \"\\u00e7\"]",
        "[1e999999999999999999999, 10e999999999999999999998]",
        "[1e100000000000001, 10e100000000000000, 100e99999999999999]",
    };
    static const char other[] = "[0, 1, -1, 10, 0.1, 1.1, 11, 101, 1001, \"1\", true, false, null, [], {}, "
                                "[1], [[1]], {\"a\":1}, {\"a\":2}, {\"b\":1}, \"\", \"a\"]";
    arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const json_value *list = json_read_copy(&a, same[i], strlen(same[i]), NULL, NULL);
        for (json_iter it = json_iterate(list); json_next(&it);)
            unit_check(schema_hash(it.value) == schema_hash(list + 1), "%s", same[i]);
    }
    const json_value *list = json_read_copy(&a, other, strlen(other), NULL, NULL);
    for (json_iter x = json_iterate(list); json_next(&x);)
        for (json_iter y = json_iterate(list); json_next(&y);)
            CU_ASSERT_EQUAL(x.value == y.value, schema_hash(x.value) == schema_hash(y.value));
    arena_free(&a);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(patterns_mean_what_ecma_262_says),
        UNIT_TEST(other_dialects_are_refused),
        UNIT_TEST(plain_shapes_skip_pcre2),
        UNIT_TEST(a_search_has_limits),
        UNIT_TEST(references_resolve_as_rfc_3986_says),
        UNIT_TEST(equal_values_have_equal_hashes),
    };
    return UNIT_RUN("schema parts", tests);
}
