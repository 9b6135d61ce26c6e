/* SPDX-License-Identifier: MIT */
#include "fail.h"
#include "file.h"
#include "json.h"
#include "text.h"
#include "unit.h"

#include <string.h>

static const json_value *texts_of(arena *mem, const char *path) {
    size_t len = 0;
    char *text = file_read(mem, path, 1 << 20, &len, NULL);
    return text ? json_member(json_read(mem, text, len, NULL, NULL), "texts") : NULL;
}

/* The placeholders of a sentence, one bit each, by the table of the names the host fills. */
static unsigned placeholders(const char *text) {
    static const char *const names[] = {"{tool}", "{plugin}", "{version}", "{base}", "{canonical}", "{ms}",
                                        "{bytes}", "{limit}", "{method}", "{why}", "{revision}", "{mime}", "{uri}",
                                        "{description}"};
    unsigned found = 0;
    for (const char *p = text; (p = strchr(p, '{')); p++) {
        size_t i = 0;
        while (i < sizeof names / sizeof *names && strncmp(p, names[i], strlen(names[i])) != 0)
            i++;
        unit_check(i < sizeof names / sizeof *names, "unknown placeholder in \"%s\"", text);
        found |= 1u << i;
    }
    return found;
}

static void same_keys(const json_value *a, const json_value *b) {
    CU_ASSERT(json_count(a) > 0);
    for (json_iter it = json_iterate(a); json_next(&it);) {
        const char *key = json_str(it.key), *other = json_str(json_member(b, key));
        unit_check(other != NULL, "\"%s\" is in one table only", key);
        unit_check(other && placeholders(json_str(it.value)) == placeholders(other), "\"%s\" has other placeholders", key);
    }
}

static void test_text__both_languages_have_the_same_sentences(void) {
    arena mem;
    arena_init(&mem, 0);
    const json_value *en = texts_of(&mem, LASTRO_SOURCE_DIR "/schemas/messages/host-en.json");
    const json_value *pt = texts_of(&mem, LASTRO_SOURCE_DIR "/schemas/messages/host-pt-BR.json");
    same_keys(en, pt);
    same_keys(pt, en);
    arena_free(&mem);
}

static void test_text__fills_placeholders_in_the_language_asked_for(void) {
    char en[300], other[300];
    text_render("en", "client_lacks", en, sizeof en, TEXT_PAIRS("tool", "t", "method", "m"));
    CU_ASSERT_STRING_EQUAL(en, "t needs to ask the user (m), and this client does not offer that.");
    text_render("pt-BR", "client_lacks", other, sizeof other, TEXT_PAIRS("tool", "t", "method", "m"));
    CU_ASSERT_STRING_NOT_EQUAL(en, other);
    CU_ASSERT_PTR_NOT_NULL(strstr(other, "t precisa"));
    static const char *const like_pt[] = {"pt", "pt-PT"}, *const like_en[] = {"en-GB", "de", "", NULL};
    for (size_t i = 0; i < 2; i++) {
        char again[300];
        text_render(like_pt[i], "client_lacks", again, sizeof again, TEXT_PAIRS("tool", "t", "method", "m"));
        CU_ASSERT_STRING_EQUAL(again, other);
    }
    for (size_t i = 0; i < 4; i++) {
        char again[300];
        text_render(like_en[i], "client_lacks", again, sizeof again, TEXT_PAIRS("tool", "t", "method", "m"));
        CU_ASSERT_STRING_EQUAL(again, en);
    }
    text_render("en", "client_lacks", en, sizeof en, TEXT_PAIRS("method", "{tool}")); /* a value is not filled again */
    CU_ASSERT_STRING_EQUAL(en, "{tool} needs to ask the user ({tool}), and this client does not offer that.");
    text_render("en", "client_lacks", en, sizeof en, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(en, "{method}"));
    text_render("en", "no such key {a}", en, sizeof en, TEXT_PAIRS("a", "b"));
    CU_ASSERT_STRING_EQUAL(en, "no such key b");
}

/* For every size: valid, a prefix of the whole, and not one whole character shorter than it could be. */
static void test_text__is_cut_at_whole_characters(void) {
    static const char *const values[] = {"a\xc3\xa7\xc3\xa3o", "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
                                         "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "x\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9y"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t full = strlen(values[i]);
        for (size_t size = 1; size <= full + 2; size++) {
            char buf[64];
            memset(buf, '#', sizeof buf);
            text_render("en", "{v}", buf, size, TEXT_PAIRS("v", values[i]));
            size_t len = strlen(buf);
            unit_check(len < size && json_valid_utf8(buf, len) && strncmp(buf, values[i], len) == 0, "size %zu: \"%s\"", size, buf);
            unit_check(len == full || len + json_utf8_step(values[i] + len, values[i] + full) + 1 > size,
                       "size %zu holds more than \"%s\"", size, buf);
            unit_check(buf[size] == '#', "size %zu was passed", size);
        }
    }
}

static void test_text__tidy_drops_what_is_no_utf8(void) {
    static const struct {
        const char *text, *tidy;
    } cases[] = {{"", ""},
                 {"plain \xc3\xa7", "plain \xc3\xa7"},
                 {"cut \xc3", "cut "},
                 {"cut \xe2\x82", "cut "},
                 {"in \xc3 the middle", "in  the middle"},
                 {"\xff\xfe", ""},
                 {"a\xed\xa0\x80z", "az"},
                 {"a\xc0\xafz", "az"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[64];
        snprintf(buf, sizeof buf, "%s", cases[i].text);
        text_tidy(buf);
        unit_check(strcmp(buf, cases[i].tidy) == 0, "case %zu became \"%s\"", i, buf);
    }
}

static void test_fail__cuts_at_whole_characters(void) {
    char word[2000];
    for (size_t shift = 0; shift < 3; shift++) {
        lastro_error err;
        size_t len = shift;
        memset(word, 'a', shift);
        while (len + 3 < sizeof word)
            memcpy(word + len, "\xe2\x82\xac", 3), len += 3;
        word[len] = '\0';
        CU_ASSERT_EQUAL(fail(&err, LASTRO_EARGS, "%s", word), LASTRO_EARGS);
        CU_ASSERT_EQUAL(err.status, LASTRO_EARGS);
        CU_ASSERT(strlen(err.text) > sizeof err.text - 5);
        CU_ASSERT(json_valid_utf8(err.text, strlen(err.text)));
    }
    CU_ASSERT_EQUAL(fail(NULL, LASTRO_ENOMEM, "x"), LASTRO_ENOMEM);
}

static void test_fail__describes_each_status(void) {
    CU_ASSERT_STRING_EQUAL(status_describe(LASTRO_OK)->class_, "ok");
    CU_ASSERT_EQUAL(status_describe(LASTRO_ECLIENT)->rpc, -32021);
    CU_ASSERT_STRING_EQUAL(status_describe(-1)->name, "LASTRO_EINTERNAL");
    CU_ASSERT_STRING_EQUAL(status_describe(LASTRO_STATUS_COUNT)->name, "LASTRO_EINTERNAL");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_text__both_languages_have_the_same_sentences),
        UNIT_TEST(test_text__fills_placeholders_in_the_language_asked_for),
        UNIT_TEST(test_text__is_cut_at_whole_characters),
        UNIT_TEST(test_text__tidy_drops_what_is_no_utf8),
        UNIT_TEST(test_fail__cuts_at_whole_characters),
        UNIT_TEST(test_fail__describes_each_status),
    };
    return UNIT_RUN("text", tests);
}
