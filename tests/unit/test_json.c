/* SPDX-License-Identifier: MIT */
/* The rules of core/json.h: what is read, what is refused, and that nothing written is ever broken. */
#include "decimal.h"
#include "json.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LEN(table) (sizeof(table) / sizeof *(table))

/* ---- help ---- */

typedef struct {
    const char *text;
    size_t len;
} bytes;
#define BYTES(literal)                                                                                       \
    { literal, sizeof(literal) - 1 }

/* Reads from memory of exactly len + 1 bytes, so that a sanitizer sees any step beyond. */
static const json_value *read_exact(arena *a, const char *text, size_t len, const json_limits *limits,
                                    json_error *err, char **ret_memory) {
    char *memory = malloc(len + 1);
    if (len)
        memcpy(memory, text, len);
    memory[len] = '"'; /* the worst that can stand there */
    *ret_memory = memory;
    return json_read(a, memory, len, limits, err);
}

static bool accepted(const char *text, size_t len, const json_limits *limits, json_error *err) {
    arena a;
    char *memory;
    arena_init(&a, 0);
    bool ok = read_exact(&a, text, len, limits, err, &memory) != NULL;
    arena_free(&a);
    free(memory);
    return ok;
}

static const json_value *parsed(arena *a, const char *text) {
    json_error err;
    const json_value *v = json_read_copy(a, text, strlen(text), NULL, &err);
    unit_check(v != NULL, "%s: %s", text, v ? "" : err.text);
    return v;
}

/* What w wrote, checked to be one readable value. */
static const char *written(json_writer *w) {
    if (!json_writer_finish(w))
        return json_fault_text(w->fault);
    unit_check(accepted(w->data, w->len, NULL, NULL), "written, but not readable: %s", w->data);
    return w->data;
}

static void check_text(const char *got, const char *want) {
    unit_check(!strcmp(got, want), "got %s, want %s", got, want);
}

static uint64_t random_state = 20260712;
static uint64_t random64(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- reading ---- */

static void read__refuses_what_the_policy_refuses(void) {
    static const struct {
        bytes text;
        size_t offset;
        unsigned line, column;
        const char *says;
    } rows[] = {
        {BYTES(""), 0, 1, 1, "expected a value, found end of text"},
        {BYTES(" \n "), 3, 2, 2, "expected a value, found end of text"},
        {BYTES("\xEF\xBB\xBF{}"), 0, 1, 1, "expected a value, found a byte order mark"},
        {BYTES("\xFF\xFE{"), 0, 1, 1, "expected a value, found byte 0xFF"},
        {BYTES("{\"a\":1,\n\"a\":2}"), 8, 2, 1, "member \"a\" appears twice in one object"},
        {BYTES("{\"a\":1,\"\\u0061\":2}"), 7, 1, 8, "member \"a\" appears twice in one object"},
        {BYTES("\"\\ud83d\""), 1, 1, 2, "half of a surrogate pair alone: no character"},
        {BYTES("\"\\udcaf\""), 1, 1, 2, "half of a surrogate pair alone: no character"},
        {BYTES("\"\\ud83dx\\ude00\""), 1, 1, 2, "half of a surrogate pair alone: no character"},
        {BYTES("\"\\ud83d\\ud83d\""), 1, 1, 2, "half of a surrogate pair alone: no character"},
        {BYTES("\"\\ud83d\\u00\""), 1, 1, 2, "half of a surrogate pair alone: no character"},
        {BYTES("\"\\u12g4\""), 1, 1, 2, "expected four hexadecimal digits after \\u"},
        {BYTES("\"\\u12"), 1, 1, 2, "expected four hexadecimal digits after \\u"},
        {BYTES("\"\\x\""), 2, 1, 3, "expected one of \"\\/bfnrtu after a backslash, found 'x'"},
        {BYTES("\"\\"), 2, 1, 3, "expected one of \"\\/bfnrtu after a backslash, found end of text"},
        {BYTES("\"\xC0\xAF\""), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"\xFF\""), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"\xED\xA0\x80\""), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"\xF4\x90\x80\x80\""), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"\xC3"), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"\xC3\""), 1, 1, 2, "bytes that are not UTF-8 in a string"},
        {BYTES("\"a\nb\""), 2, 1, 3, "control character in a string: write it as an escape"},
        {BYTES("\"a\0b\""), 2, 1, 3, "control character in a string: write it as an escape"},
        {BYTES("\"ab"), 3, 1, 4, "expected the closing quote of a string, found end of text"},
        {BYTES("[1\0]"), 2, 1, 3, "expected ',' or ']' after an item, found byte 0x00"},
        {BYTES("[1,]"), 3, 1, 4, "expected a value, found ']'"},
        {BYTES("[1 2]"), 3, 1, 4, "expected ',' or ']' after an item, found '2'"},
        {BYTES("[1}"), 2, 1, 3, "expected ',' or ']' after an item, found '}'"},
        {BYTES("{\"a\" 1}"), 5, 1, 6, "expected ':' after a member name, found '1'"},
        {BYTES("{\"a\":1,}"), 7, 1, 8, "expected a member name in quotes, found '}'"},
        {BYTES("{a:1}"), 1, 1, 2, "expected a member name in quotes or '}', found 'a'"},
        {BYTES("{\"a\":1]"), 6, 1, 7, "expected ',' or '}' after a member, found ']'"},
        {BYTES("{} {}"), 3, 1, 4, "expected the end of the text after the value, found '{'"},
        {BYTES("01"), 0, 1, 1, "a number must not begin with 0 before other digits"},
        {BYTES("-"), 1, 1, 2, "expected a digit, found end of text"},
        {BYTES("1."), 2, 1, 3, "expected a digit after the decimal point, found end of text"},
        {BYTES("1e+"), 3, 1, 4, "expected a digit of the exponent, found end of text"},
        {BYTES("+1"), 0, 1, 1, "expected a value, found '+'"},
        {BYTES("NaN"), 0, 1, 1, "expected a value, found 'N'"},
        {BYTES("truE"), 0, 1, 1, "expected a value, found 't'"},
        {BYTES("tru"), 0, 1, 1, "expected a value, found 't'"},
        {BYTES("nul"), 0, 1, 1, "expected a value, found 'n'"},
        /* a newline that was decoded inside a string is not one of the text */
        {BYTES("{\"a\\n\\n\":\"\\n\",\n \"b\":x}"), 20, 2, 6, "expected a value, found 'x'"},
        {BYTES("[\"\\n\",\n\"\\n\\q\"]"), 11, 2, 5,
         "expected one of \"\\/bfnrtu after a backslash, found 'q'"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        json_error err = {0};
        unit_check(!accepted(rows[i].text.text, rows[i].text.len, NULL, &err), "row %zu accepted", i);
        unit_check(!strcmp(err.text, rows[i].says), "row %zu says: %s", i, err.text);
        unit_check(err.offset == rows[i].offset && err.line == rows[i].line && err.column == rows[i].column,
                   "row %zu (%s) at %zu, %u:%u", i, rows[i].says, err.offset, err.line, err.column);
        unit_check(!accepted(rows[i].text.text, rows[i].text.len, NULL, NULL), "row %zu without err", i);
    }
}

static void read__decodes_strings(void) {
    static const struct {
        bytes text, decoded;
    } rows[] = {
        {BYTES("\"\""), BYTES("")},
        {BYTES("\"\\u0000\""), BYTES("\0")},
        {BYTES("\"a\\u0000b\""), BYTES("a\0b")},
        {BYTES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), BYTES("\"\\/\b\f\n\r\t")},
        {BYTES("\"\\ud83d\\ude00\""), BYTES("\xF0\x9F\x98\x80")},
        {BYTES("\"\\uD834\\uDD1E\""), BYTES("\xF0\x9D\x84\x9E")},
        {BYTES("\"\\u00e7\\u20AC\\uffff\""), BYTES("\xC3\xA7\xE2\x82\xAC\xEF\xBF\xBF")},
        {BYTES("\"\xE2\x80\xA8\xE2\x80\xA9\""), BYTES("\xE2\x80\xA8\xE2\x80\xA9")},
        {BYTES("\"\x7F\""), BYTES("\x7F")},
        {BYTES("\"\xEF\xBB\xBF\""), BYTES("\xEF\xBB\xBF")},
        {BYTES("\"\xF4\x8F\xBF\xBF\xC3\xA7 a\xC3\xA7\xC3\xA3o de \xC3\xADndices\""),
         BYTES("\xF4\x8F\xBF\xBF\xC3\xA7 a\xC3\xA7\xC3\xA3o de \xC3\xADndices")},
        {BYTES("\"0123456789abcde\\n0123456789abcdef0123456789abcdef\\t\xC3\xA7tail of the text\\u0041\""),
         BYTES("0123456789abcde\n0123456789abcdef0123456789abcdef\t\xC3\xA7tail of the textA")},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        char *memory;
        arena_init(&a, 0);
        const json_value *v = read_exact(&a, rows[i].text.text, rows[i].text.len, NULL, NULL, &memory);
        json_text t = json_text_of(v);
        unit_check(v && t.len == rows[i].decoded.len && !memcmp(t.at, rows[i].decoded.text, t.len), "row %zu",
                   i);
        unit_check(v && t.at[t.len] == '\0', "row %zu: no NUL after it", i);
        arena_free(&a);
        free(memory);
    }
}

/* Each position of the special byte against each length, so that every step width meets it. */
static void read__finds_specials_at_every_position(void) {
    static const char *const specials[] = {"\\n",  "\xC3\xA7", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                           "\x1f", "\x80"};
    for (size_t s = 0; s < LEN(specials); s++)
        for (size_t len = 0; len < 40; len++)
            for (size_t at = 0; at <= len; at++) {
                char text[64];
                size_t n = strlen(specials[s]);
                memset(text, 'x', sizeof text);
                text[0] = text[len + n + 1] = '"';
                memcpy(text + 1 + at, specials[s], n);
                unit_check(accepted(text, len + n + 2, NULL, NULL) == (s < 4), "%zu: %zu of %zu", s, at, len);
                unit_check(!accepted(text, len + n + 1, NULL, NULL), "%zu: %zu of %zu, unclosed", s, at, len);
            }
}

/* The text cut anywhere is refused, never read beyond, and a second part completes it (F074). */
static void read__every_prefix_is_refused_cleanly(void) {
    static const char text[] =
        "{\"a\xC3\xA2\\ud83d\\ude00\":[1.5e-3,true,false,null,{\"b\":{}},\"\xE2\x82\xAC\"],\"c\":-0}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        json_error err = {0};
        unit_check(!accepted(text, n, NULL, &err), "prefix of %zu bytes accepted", n);
        unit_check(err.line == 1 && err.offset <= n && err.text[0], "prefix of %zu bytes: %zu", n,
                   err.offset);
    }
    unit_check(accepted(text, sizeof text - 1, NULL, NULL), "the whole text");
}

static void read__bounds_depth_bytes_and_nodes(void) {
    char text[3000];
    json_error err;
    memset(text, '[', 1500);
    memset(text + 1500, ']', 1500);
    CU_ASSERT(accepted(text + 1500 - 512, 1024, NULL, NULL));
    CU_ASSERT(!accepted(text + 1500 - 513, 1026, NULL, &err));
    CU_ASSERT_STRING_EQUAL(err.text, "nested deeper than 512 levels");
    CU_ASSERT_EQUAL(err.offset, 512);
    CU_ASSERT(accepted(text, 3000, &(json_limits){.depth = 1500}, NULL));
    CU_ASSERT(!accepted(text, 3000, &(json_limits){.depth = 1499}, NULL));
    CU_ASSERT(accepted("[]", 2, &(json_limits){.depth = 1}, NULL));
    CU_ASSERT(!accepted("[{}]", 4, &(json_limits){.depth = 1}, NULL));
    CU_ASSERT(accepted("[1]", 3, &(json_limits){.bytes = 3}, NULL));
    CU_ASSERT(!accepted("[1] ", 4, &(json_limits){.bytes = 3}, &err));
    CU_ASSERT_STRING_EQUAL(err.text, "text longer than 3 bytes");
    static const char doc[] = "{\"a\":[1,2],\"b\":{}}"; /* seven nodes */
    CU_ASSERT(accepted(doc, sizeof doc - 1, &(json_limits){.nodes = 7}, NULL));
    CU_ASSERT(!accepted(doc, sizeof doc - 1, &(json_limits){.nodes = 6}, &err));
    CU_ASSERT_STRING_EQUAL(err.text, "more than 6 values");
}

/* count members named by number; twice is a member that repeats another's name (count: none). */
static size_t write_members(char *text, size_t count, size_t twice, bool nested) {
    char *p = text;
    *p++ = '{';
    for (size_t i = 0; i < count; i++)
        p += sprintf(p, "%s\"name%zu\":%s", i ? "," : "", i == twice ? i / 2 : i,
                     nested ? "[{\"a\":1,\"b\":[2]}]" : "0");
    *p++ = '}';
    return (size_t)(p - text);
}

static void read__finds_duplicate_names_in_objects_of_any_size(void) {
    char *text = malloc(4000000);
    static const size_t counts[] = {2, 3, 15, 16, 17, 18, 31, 33, 64, 100, 1000, 60000};
    for (size_t i = 0; i < LEN(counts); i++)
        for (int nested = 0; nested < 2; nested++) {
            size_t n = counts[i];
            unit_check(accepted(text, write_members(text, n, n, nested), NULL, NULL), "%zu names", n);
            for (size_t twice = 1; twice<n; twice += n> 100 ? n / 7 : 1) {
                json_error err = {0};
                unit_check(!accepted(text, write_members(text, n, twice, nested), NULL, &err), "%zu: %zu", n,
                           twice);
                unit_check(strstr(err.text, "appears twice") != NULL, "%zu: %s", n, err.text);
            }
        }
    free(text);
}

static void read__keeps_the_last_of_equal_names_where_asked(void) {
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1,\"b\":[{\"x\":1,\"x\":{\"y\":[1,2]}}],\"a\":{\"c\":3},\"d\":4}",
         "{\"b\":[{\"x\":{\"y\":[1,2]}}],\"a\":{\"c\":3},\"d\":4}"},
        {"[{\"a\":1,\"\\u0061\":2,\"a\":3},{\"a\":4}]", "[{\"a\":3},{\"a\":4}]"},
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}"},
    };
    json_limits wire = {.last_wins = true};
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        json_writer w;
        arena_init(&a, 0);
        json_writer_init(&w, 0);
        json_write_value(&w, json_read_copy(&a, rows[i].text, strlen(rows[i].text), &wire, NULL));
        unit_check(json_writer_finish(&w) && strcmp(w.data, rows[i].want) == 0, "%s gave %s", rows[i].text, w.data);
        json_writer_free(&w);
        arena_free(&a);
    }
    char *text = malloc(4000000);
    static const size_t counts[] = {2, 16, 17, 1000, 60000};
    for (size_t i = 0; i < LEN(counts); i++) {
        size_t n = counts[i];
        arena a;
        arena_init(&a, 0);
        const json_value *v = json_read_copy(&a, text, write_members(text, n, n - 1, 1), &wire, NULL);
        unit_check(json_count(v) == n - 1, "%zu names, one twice: %zu left", n, json_count(v));
        arena_free(&a);
    }
    free(text);
}

/* As core/json_read.c hashes names of eight bytes; should it change, this test only loses its point. */
static uint32_t hash_of_eight(const char *name) {
    uint64_t h = 8 * UINT64_C(0x9E3779B97F4A7C15), w;
    memcpy(&w, name, 8);
    h = (h ^ w) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 29;
    return (uint32_t)(h * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* Names chosen to share one slot of the table: still told apart, still found when there are two of one. */
static void read__names_made_to_collide_are_no_way_around(void) {
    enum { NAMES = 400, SLOTS = 1024 };
    char *text = malloc(NAMES * 16 + 64), *p = text, name[24];
    size_t found = 0;
    *p++ = '{';
    for (unsigned i = 0; found < NAMES; i++) {
        snprintf(name, sizeof name, "%08u", i);
        if (hash_of_eight(name) % SLOTS == 0)
            p += sprintf(p, "%s\"%s\":1", found++ ? "," : "", name);
    }
    strcpy(p, "}");
    json_error err = {0};
    CU_ASSERT(accepted(text, strlen(text), NULL, NULL));
    sprintf(p, ",\"%.8s\":2}", text + 2 + 13 * 7);
    CU_ASSERT(!accepted(text, strlen(text), NULL, &err));
    unit_check(strstr(err.text, "appears twice") && err.offset == (size_t)(p + 1 - text), "%s", err.text);
    free(text);
}

static void read__grows_its_nodes_and_gives_room_back(void) {
    size_t items = 100000;
    char *text = malloc(items * 2 + 2000), *p = text;
    *p++ = '[';
    *p++ = '"';
    memset(p, 'x', 1500); /* few nodes first, so that the guess is too low */
    p += 1500;
    *p++ = '"';
    for (size_t i = 0; i < items; i++) {
        *p++ = ',';
        *p++ = '7';
    }
    *p++ = ']';
    arena a;
    arena_init(&a, 0);
    const json_value *v = json_read(&a, text, (size_t)(p - text), NULL, NULL);
    CU_ASSERT_EQUAL(json_count(v), items + 1);
    CU_ASSERT_EQUAL(v ? v->u.span : 0, items + 2);
    CU_ASSERT_EQUAL(json_text_of(json_at(v, items)).len, 1);
    unit_check(a.used < (items + 2) * sizeof *v * 3, "%zu bytes used", a.used);
    CU_ASSERT_PTR_EQUAL(a.at, v + items + 2);
    arena_free(&a);
    free(text);
}

/* Every budget from nothing up: refused with a text, or read whole; what is refused leaves no room taken. */
static void read__survives_each_failed_allocation(void) {
    char text[3000], copy[3001];
    size_t n = write_members(text, 150, 150, false), refused = 0;
    bool done = false;
    for (size_t limit = 16; !done; limit += 16) {
        arena a;
        json_error err = {0};
        arena_init(&a, limit);
        memcpy(copy, text, n);
        const json_value *v = json_read(&a, copy, n, NULL, &err);
        done = v != NULL;
        if (!done) {
            unit_check(!strcmp(err.text, "out of memory"), "limit %zu: %s", limit, err.text);
            refused++;
        }
        json_error again = {0};
        if (!json_read_copy(&a, "[1]", 3, NULL, &again))
            unit_check(!strcmp(again.text, "out of memory"), "limit %zu: %s", limit, again.text);
        arena_free(&a);
    }
    CU_ASSERT(refused > 100);
}

/* ---- asking ---- */

static void ask__absent_is_harmless(void) {
    int64_t n;
    json_iter it = json_iterate(NULL);
    CU_ASSERT_EQUAL(json_kind_of(NULL), JSON_ABSENT);
    CU_ASSERT_EQUAL(json_count(NULL), 0);
    CU_ASSERT(!json_next(&it));
    CU_ASSERT_PTR_NULL(json_member(NULL, "a"));
    CU_ASSERT_PTR_NULL(json_at(NULL, 0));
    CU_ASSERT_PTR_NULL(json_pointer(NULL, "/a", 2));
    CU_ASSERT_PTR_NULL(json_str(NULL));
    CU_ASSERT_PTR_NULL(json_text_of(NULL).at);
    CU_ASSERT(!json_bool(NULL) && !json_int64(NULL, &n) && !json_text_is(NULL, ""));
    CU_ASSERT(json_double(NULL) == 0.0 && !json_number_is_integer(NULL) &&
              !json_number_is_multiple(NULL, NULL));
    CU_ASSERT(json_equal(NULL, NULL));
}

static void ask__members_and_items(void) {
    arena a;
    arena_init(&a, 0);
    const json_value *v =
        parsed(&a, "{\"\":0,\"a\":[1,[2,3],{\"x\":4},5],\"b\":true,\"a\\u0000b\":\"c\\u0000d\",\"s\":\"t\"}");
    CU_ASSERT_EQUAL(json_count(v), 5);
    CU_ASSERT(json_is(json_member(v, ""), JSON_NUMBER));
    CU_ASSERT(json_bool(json_member(v, "b")));
    CU_ASSERT_PTR_NULL(json_member(v, "c"));
    CU_ASSERT_PTR_NULL(json_member(json_member(v, "a"), "0"));
    CU_ASSERT(json_is(json_member_n(v, "a\0b", 3), JSON_STRING));
    CU_ASSERT_PTR_NULL(json_str(json_member_n(v, "a\0b", 3)));
    CU_ASSERT_EQUAL(json_text_of(json_member_n(v, "a\0b", 3)).len, 3);
    CU_ASSERT_STRING_EQUAL(json_str(json_member(v, "s")), "t");
    CU_ASSERT(json_text_is(json_member(v, "s"), "t") && !json_text_is(json_member(v, "s"), "tt"));
    const json_value *items = json_member(v, "a");
    CU_ASSERT_EQUAL(json_text_of(json_at(items, 3)).at[0], '5');
    CU_ASSERT_PTR_NULL(json_at(items, 4));
    CU_ASSERT_PTR_NULL(json_at(v, 0));
    size_t n = 0;
    for (json_iter it = json_iterate(v); json_next(&it); n++)
        CU_ASSERT(json_is(it.key, JSON_STRING));
    CU_ASSERT_EQUAL(n, 5);
    arena_free(&a);
}

/* RFC 6901, section 5, and its refusals. */
static void ask__pointers(void) {
    static const struct {
        const char *pointer, *found; /* NULL: nothing there */
    } rows[] = {
        {"/foo/0", "\"bar\""},
        {"/foo/1", "\"baz\""},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/g|h", "4"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/~01", "9"},
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/2", NULL},
        {"/foo/-", NULL},
        {"/foo/00", NULL},
        {"/foo/01", NULL},
        {"/foo/", NULL},
        {"/foo/1x", NULL},
        {"/foo/18446744073709551616", NULL},
        {"/foo/0/x", NULL},
        {"foo", NULL},
        {"/m~n", NULL},
        {"/m~", NULL},
        {"/m~2n", NULL},
        {"/none", NULL},
        {"//", NULL},
    };
    arena a;
    arena_init(&a, 0);
    const json_value *v =
        parsed(&a, "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
                   "\"k\\\"l\":6,\" \":7,\"m~n\":8,\"~1\":9}");
    CU_ASSERT_PTR_EQUAL(json_pointer(v, "", 0), v);
    for (size_t i = 0; i < LEN(rows); i++) {
        const json_value *found = json_pointer(v, rows[i].pointer, strlen(rows[i].pointer));
        json_writer w;
        json_writer_init(&w, 0);
        unit_check(!found == !rows[i].found, "%s", rows[i].pointer);
        json_write_value(&w, found);
        check_text(written(&w), rows[i].found ? rows[i].found : "null");
        json_writer_free(&w);
    }
    arena_free(&a);
}

/* ---- numbers ---- */

static void number__int64_takes_any_spelling_of_an_integer(void) {
    static const struct {
        const char *text;
        bool fits;
        int64_t value;
    } rows[] = {
        {"433", true, 433},
        {"433.0", true, 433},
        {"4.33e2", true, 433},
        {"43300e-2", true, 433},
        {"-0", true, 0},
        {"0.000e99999999999999999999", true, 0},
        {"-0.0", true, 0},
        {"433.5", false, 0},
        {"4.335e2", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"9.223372036854775807e18", true, INT64_MAX},
        {"92233720368547758070e-1", true, INT64_MAX},
        {"1e18", true, 1000000000000000000},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"1e-400", false, 0},
        {"1e99999999999999999999999", false, 0},
        {"1e-99999999999999999999999", false, 0},
        {"1000000000000000000000e-3", true, 1000000000000000000},
        {"123456789012345678", true, 123456789012345678},
        {"1e00000000000000000000000000001", true, 10},
        {"0.5e1", true, 5},
        {"-12e+1", true, -120},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        arena_init(&a, 0);
        int64_t n = 0;
        bool fits = json_int64(parsed(&a, rows[i].text), &n);
        unit_check(fits == rows[i].fits && n == rows[i].value, "%s: %d %lld", rows[i].text, fits,
                   (long long)n);
        arena_free(&a);
    }
}

static void number__compares_exactly(void) {
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        {"1", "1.0", 0},
        {"1", "10e-1", 0},
        {"0", "-0.0e5", 0},
        {"1", "2", -1},
        {"-1", "1", -1},
        {"-2", "-1", -1},
        {"0.1", "0.10000000000000000000000000000000000001", -1},
        {"9007199254740993", "9007199254740992", 1},
        {"1e400000000", "1e400000001", -1},
        {"1e400000000", "1e-400000000", 1},
        {"-1e400000000", "1e-400000000", -1},
        {"1e400000000", "10e399999999", 0},
        {"123e-2", "1.23", 0},
        {"1.2", "1.19999", 1},
        {"100", "99.9999", 1},
        {"1e99999999999999999999999999999999999999999", "10e99999999999999999999999999999999999999998", 0},
        {"1e100000000000000000000000000000000000000000", "10e99999999999999999999999999999999999999999", 0},
        {"1e100000000000000000000000000000000000000000", "1e99999999999999999999999999999999999999999", 1},
        {"1e-100000000000000000000000000000000000000000", "1e99999999999999999999999999999999999999999", -1},
        {"0.00001e5", "1", 0},
        {"12345678901234567890.5", "12345678901234567890.25", 1},
        {"0", "1e-999999999", -1},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        arena_init(&a, 0);
        const json_value *x = parsed(&a, rows[i].a), *y = parsed(&a, rows[i].b);
        unit_check(json_number_compare(x, y) == rows[i].order, "%s against %s", rows[i].a, rows[i].b);
        unit_check(json_number_compare(y, x) == -rows[i].order, "%s against %s", rows[i].b, rows[i].a);
        unit_check(json_equal(x, y) == !rows[i].order, "%s equal %s", rows[i].a, rows[i].b);
        arena_free(&a);
    }
}

static void number__integers_and_multiples(void) {
    static const struct {
        const char *a, *b;
        bool multiple;
    } rows[] = {
        {"0.07", "0.01", true},
        {"4.35", "0.01", true},
        {"0.075", "0.01", false},
        {"0.3", "0.1", true},
        {"0", "7", true},
        {"-9", "3", true},
        {"10", "3", false},
        {"1e308", "0.5", true},
        {"1e308", "0.123456789", false},
        {"1e1000000000", "7", false},
        {"7e1000000000", "7", true},
        {"1e1000000000", "1024", true},
        {"1e1000000000", "0.3", false},
        {"1e-1000000000", "1", false},
        {"3e99999999999999999999999", "1.5", true},
        {"1", "1e99999999999999999999999", false},
        {"0.0", "1e99999999999999999999999", true},
        {"1e9", "512", true},
        {"1e8", "512", false},
        {"1e9", "1e9", true},
        {"5", "-5", false},
        {"5", "0", false},
        {"123456789012345678901234567890", "1234567890123456789012345678.9", true},
        {"123456789012345678901234567891", "1234567890123456789012345678.9", false},
        {"121932631137021795226185032733622923332237463801111263526900", "1234567890123456789012345678.90",
         true},
        {"121932631137021795226185032733622923332237463801111263526901", "123456789012345678901234567890",
         false},
        {"1e100", "1180591620717411303424", true},
        {"1e69", "1180591620717411303424", false},
        {"1e70", "1180591620717411303424", true},
        {"1e30", "4656612873077392578125e-15", true},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        arena_init(&a, 0);
        bool is = json_number_is_multiple(parsed(&a, rows[i].a), parsed(&a, rows[i].b));
        unit_check(is == rows[i].multiple, "%s of %s", rows[i].a, rows[i].b);
        arena_free(&a);
    }
    static const struct {
        const char *text;
        bool integer;
    } kinds[] = {
        {"433.0", true},
        {"4.33e2", true},
        {"433.5", false},
        {"\"433\"", false},
        {"-0", true},
        {"1e308", true},
        {"1e-1", false},
        {"10e-1", true},
        {"0.0e-99999999999999999999", true},
        {"1e-99999999999999999999", false},
        {"1.5e99999999999999999999", true},
    };
    for (size_t i = 0; i < LEN(kinds); i++) {
        arena a;
        arena_init(&a, 0);
        unit_check(json_number_is_integer(parsed(&a, kinds[i].text)) == kinds[i].integer, "%s",
                   kinds[i].text);
        arena_free(&a);
    }
}

/* Small decimals against 128-bit integers. */
static void number__agrees_with_integers_on_random_decimals(void) {
    for (int i = 0; i < 200000; i++) {
        int64_t a = (int64_t)(random64() % 2000000) - 1000000, b = (int64_t)(random64() % 3000) + 1;
        int ea = (int)(random64() % 13) - 6, eb = (int)(random64() % 13) - 6;
        char x[40], y[40];
        size_t n = (size_t)snprintf(x, sizeof x, "%llde%d", (long long)a, ea);
        size_t m = (size_t)snprintf(y, sizeof y, "%llde%d", (long long)b, eb);
        __extension__ __int128 p = a, q = b;
        for (int e = -6; e < ea; e++)
            p *= 10;
        for (int e = -6; e < eb; e++)
            q *= 10;
        decimal d = decimal_of(x, n), e = decimal_of(y, m);
        unit_check(decimal_compare(&d, &e) == (p > q) - (p < q), "%s against %s", x, y);
        unit_check(decimal_is_multiple(&d, &e) == (p % q == 0), "%s of %s", x, y);
    }
}

/* A divisor of many digits takes the other path: both sides times 10^20 + 1 must agree with the short ones.
 */
static void number__long_divisors_agree_with_short_ones(void) {
    for (int i = 0; i < 20000; i++) {
        uint64_t a = random64() % 1000000007, b = random64() % 997 + 1;
        char x[80], y[80];
        size_t n = (size_t)snprintf(x, sizeof x, "%llu", (unsigned long long)a);
        size_t m = (size_t)snprintf(y, sizeof y, "%llu", (unsigned long long)b);
        decimal d = decimal_of(x, n), e = decimal_of(y, m);
        bool want = a % b == 0;
        unit_check(decimal_is_multiple(&d, &e) == want, "%s of %s", x, y);
        n = (size_t)snprintf(x, sizeof x, "%llu%020llu", (unsigned long long)a, (unsigned long long)a);
        m = (size_t)snprintf(y, sizeof y, "%llu%020llu", (unsigned long long)b, (unsigned long long)b);
        d = decimal_of(x, n), e = decimal_of(y, m);
        unit_check(decimal_is_multiple(&d, &e) == want, "%s of %s", x, y);
    }
}

static void number__huge_ones_take_no_time_or_memory(void) {
    size_t n = 1000000;
    char *text = malloc(n), divisor[1001];
    memset(text, '9', n);
    memset(divisor, '3', sizeof divisor);
    decimal d = decimal_of(text, n), e = decimal_of(divisor, 1000), f = decimal_of("3", 1);
    CU_ASSERT(decimal_is_multiple(&d, &e)); /* 1000 divides 1000000 */
    CU_ASSERT(decimal_is_multiple(&d, &f));
    CU_ASSERT(isinf(decimal_double(&d)));
    e = decimal_of(divisor, 1001);
    CU_ASSERT(
        !decimal_is_multiple(&d, &e)); /* stated: more than DECIMAL_DIVISOR_MAX digits are not looked at */
    memset(text, '0', n);
    text[1] = '.';
    text[n - 1] = '1';
    d = decimal_of(text, n);
    CU_ASSERT(decimal_double(&d) == 0.0);
    free(text);
}

static void number__doubles_are_correctly_rounded(void) {
    static const char *const texts[] = {
        "0",
        "-0",
        "1",
        "0.1",
        "0.42",
        "-1.5",
        "123456789012345",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.00000000000000000000000000000000000001",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "1e308",
        "1e309",
        "-1e309",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "1e400",
        "1e-400",
        "123456789e-300",
        "0.000000000000000001",
        "100000000000000000000000",
        "8.5e15",
        "6.631236846766476e-316",
        "0.500000000000000166533453693773481063544750213623046875",
        "7.2057594037927933e16",
        "3.518437208883201171875e13",
        "1.00000000000000011102230246251565404236316680908203125",
    };
    for (size_t i = 0; i < LEN(texts); i++) {
        decimal d = decimal_of(texts[i], strlen(texts[i]));
        double got = decimal_double(&d), want = strtod(texts[i], NULL);
        unit_check(!memcmp(&got, &want, sizeof got), "%s: %.17g, not %.17g", texts[i], got, want);
    }
    /* half way between two doubles, and the least bit above it after more digits than are kept */
    char text[3000];
    int n = sprintf(text, "1.00000000000000011102230246251565404236316680908203125");
    memset(text + n, '0', 2000);
    decimal d = decimal_of(text, (size_t)n + 2000);
    CU_ASSERT(decimal_double(&d) == 1.0);
    text[n + 1999] = '1';
    d = decimal_of(text, (size_t)n + 2000);
    CU_ASSERT(decimal_double(&d) > 1.0);
    for (int i = 0; i < 200000; i++) {
        size_t len =
            (size_t)sprintf(text, "%llu.%llue%d", (unsigned long long)(random64() >> random64() % 64),
                            (unsigned long long)(random64() >> random64() % 64), (int)(random64() % 80) - 40);
        d = decimal_of(text, len);
        unit_check(decimal_double(&d) == strtod(text, NULL), "%s", text);
    }
}

static void number__tokens(void) {
    static const char *const valid[] = {"0", "-0", "10", "1.0", "1e1", "1E+1", "-1.5e-10", "0e0", "0.0e00"};
    static const char *const broken[] = {"",   "-",  "01", "-01", "1.",   ".5",  "1e",    "1e+",
                                         "+1", "1 ", " 1", "0x1", "1.e1", "NaN", "1e1.5", "--1"};
    for (size_t i = 0; i < LEN(valid); i++)
        unit_check(json_valid_number(valid[i], strlen(valid[i])), "%s", valid[i]);
    for (size_t i = 0; i < LEN(broken); i++) {
        unit_check(!json_valid_number(broken[i], strlen(broken[i])), "row %zu", i);
        unit_check(!accepted(broken[i], strlen(broken[i]), NULL, NULL) || strchr(broken[i], ' '), "row %zu",
                   i);
    }
    CU_ASSERT(!json_valid_number("1\0", 2));
}

static void text__utf8_and_code_points(void) {
    CU_ASSERT(json_valid_utf8(NULL, 0));
    CU_ASSERT_EQUAL(json_code_points("\xC3\xA7\xF0\x9F\x98\x80"
                                     "a",
                                     7),
                    3);
    for (uint32_t c = 0; c < 0x120000; c += c < 0x3000 || (c > 0xd000 && c < 0x10100) ? 1 : 0xff) {
        char t[4];
        size_t n = 0; /* encoded without asking whether it may be */
        if (c < 0x80) {
            t[n++] = (char)c;
        } else if (c < 0x800) {
            t[n++] = (char)(0xc0 | c >> 6);
        } else if (c < 0x10000) {
            t[n++] = (char)(0xe0 | c >> 12);
            t[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        } else {
            t[n++] = (char)(0xf0 | c >> 18);
            t[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            t[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        }
        if (c >= 0x80)
            t[n++] = (char)(0x80 | (c & 0x3f));
        bool valid = c < 0xd800 || (c > 0xdfff && c < 0x110000);
        unit_check(json_valid_utf8(t, n) == valid, "U+%04X", c);
        unit_check(n == 1 || !json_valid_utf8(t, n - 1), "U+%04X cut", c);
        unit_check(!valid || json_code_points(t, n) == 1, "U+%04X counted", c);
    }
    CU_ASSERT(!json_valid_utf8("\xC0\x80", 2) && !json_valid_utf8("\xC1\xBF", 2) &&
              !json_valid_utf8("\xE0\x9F\xBF", 3));
    CU_ASSERT(!json_valid_utf8("\xF0\x8F\xBF\xBF", 4) && !json_valid_utf8("\xF8\x88\x80\x80\x80", 5) &&
              !json_valid_utf8("\x80", 1));
    CU_ASSERT(!json_valid_utf8("12345678\xFF", 9) && json_valid_utf8("1234567\xC3\xA7", 9));
}

/* ---- equality ---- */

static void equal__as_json_schema_sees_it(void) {
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"1", "1.0", true},
        {"1", "\"1\"", false},
        {"true", "1", false},
        {"true", "true", true},
        {"true", "false", false},
        {"null", "null", true},
        {"null", "false", false},
        {"[1,2]", "[1.0,2e0]", true},
        {"[1,2]", "[2,1]", false},
        {"[1]", "[1,2]", false},
        {"[]", "{}", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":2}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":null}", "{\"b\":null}", false},
        {"\"\\u00e7\"", "\"\xC3\xA7\"", true},
        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
        {"{\"a\":{\"x\":1,\"y\":2},\"b\":3}", "{\"b\":3,\"a\":{\"y\":2,\"x\":1}}", true},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":1,\"b\":2}", true},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":1,\"d\":2}", false},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        arena a;
        arena_init(&a, 0);
        const json_value *x = parsed(&a, rows[i].a), *y = parsed(&a, rows[i].b);
        unit_check(json_equal(x, y) == rows[i].same, "%s and %s", rows[i].a, rows[i].b);
        unit_check(json_equal(y, x) == rows[i].same, "%s and %s", rows[i].b, rows[i].a);
        unit_check(!json_equal(x, NULL) && !json_equal(NULL, y), "%s and nothing", rows[i].a);
        arena_free(&a);
    }
}

/* 200000 members backwards: with a search from the front for each this would take minutes. */
static void equal__large_objects_in_another_order(void) {
    size_t n = 200000, len = n * 20;
    char *x = malloc(len), *y = malloc(len), *p = x, *q = y;
    *p++ = *q++ = '{';
    for (size_t i = 0; i < n; i++) {
        p += sprintf(p, "%s\"%06zu\":%zu", i ? "," : "", i, i);
        q += sprintf(q, "%s\"%06zu\":%zu.0", i ? "," : "", n - 1 - i, n - 1 - i);
    }
    *p++ = *q++ = '}';
    arena a;
    arena_init(&a, 0);
    const json_value *v = json_read(&a, x, (size_t)(p - x), NULL, NULL),
                     *u = json_read(&a, y, (size_t)(q - y), NULL, NULL);
    CU_ASSERT(v && u && json_equal(v, u));
    arena_free(&a);
    free(x);
    free(y);
}

/* ---- writing ---- */

static void write__every_byte_of_ascii(void) {
    json_writer w;
    json_writer_init(&w, 0);
    for (int c = 0; c < 128; c++) {
        char text[2] = {(char)c, 'x'}, want[16];
        static const char named[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
        const char *at = c ? strchr(named, c) : NULL;
        if (at)
            snprintf(want, sizeof want, "\"\\%cx\"", letters[at - named]);
        else if (c < 0x20)
            snprintf(want, sizeof want, "\"\\u%04xx\"", (unsigned)c);
        else
            snprintf(want, sizeof want, "\"%cx\"", c);
        json_writer_reset(&w);
        json_write_string_n(&w, text, 2);
        check_text(written(&w), want);
    }
    json_writer_free(&w);
}

/* Every length and place of an escape or a wide character, around the widths of the fast loops and pieces. */
static void write__strings_read_back(void) {
    static const char *const specials[] = {"\"", "\n", "\x01", "\xC3\xA7", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                           ""};
    json_writer w;
    json_writer_init(&w, 0);
    for (size_t len = 0; len < 2100; len += len < 70 || (len > 1000 && len < 1050) ? 1 : 97)
        for (size_t at = 0; at <= len; at += len < 70 || len - at < 40 || (at > 1010 && at < 1030) ? 1 : 31)
            for (size_t s = 0; s < LEN(specials); s++) {
                char text[2200];
                size_t n = strlen(specials[s]);
                memset(text, 'x', len);
                memcpy(text + at, specials[s], n);
                memset(text + at + n, 'y', len - at);
                json_writer_reset(&w);
                json_write_string_n(&w, text, len + n);
                arena a;
                arena_init(&a, 0);
                const json_value *v =
                    json_writer_finish(&w) ? json_read_copy(&a, w.data, w.len, NULL, NULL) : NULL;
                json_text t = json_text_of(v);
                unit_check(v && t.len == len + n && !memcmp(t.at, text, t.len), "%zu of %zu, special %zu", at,
                           len, s);
                json_writer_reset(&w);
                json_write_value(&w, v);
                char *copy = json_writer_finish(&w) ? strdup(w.data) : NULL;
                json_writer_reset(&w);
                json_write_string_n(&w, text, len + n);
                unit_check(json_writer_finish(&w) && copy && !strcmp(copy, w.data),
                           "%zu of %zu: a copy differs", at, len);
                free(copy);
                arena_free(&a);
            }
    json_writer_free(&w);
}

static void write__refuses_bytes_that_are_not_utf8(void) {
    static const char *const broken[] = {"\xFF",     "a\xC0\xAF", "\xED\xA0\x80",        "cut \xC3",
                                         "\xE2\x82", "\xC3(",     "0123456789abcdef\x80"};
    char padded[3000];
    for (size_t i = 0; i < LEN(broken); i++)
        for (size_t pad = 0; pad < 2500; pad += pad < 40 ? 1 : 411) {
            json_writer w;
            json_writer_init(&w, 0);
            memset(padded, 'p', pad);
            strcpy(padded + pad, broken[i]);
            json_write_string(&w, padded);
            unit_check(w.fault == JSON_W_UTF8 && !json_writer_finish(&w), "row %zu after %zu", i, pad);
            json_writer_free(&w);
        }
}

static void object_of(json_writer *w) {
    json_begin_object(w);
}
static void array_of(json_writer *w) {
    json_begin_array(w);
}
static void key_a(json_writer *w) {
    json_key(w, "a");
}
static void one(json_writer *w) {
    json_write_int(w, 1);
}
static void raw_nothing(json_writer *w) {
    json_write_raw(w, "", 0);
}

static void write__misuse_never_gives_a_document(void) {
    typedef void step(json_writer *);
    static step *const rows[][6] = {
        {NULL},
        {one, one},
        {key_a},
        {object_of, one},
        {object_of, key_a, key_a},
        {object_of, key_a, json_end_object},
        {object_of, json_end_array},
        {object_of},
        {array_of, key_a},
        {array_of, json_end_object},
        {array_of, json_end_array, json_end_array},
        {array_of, json_end_array, one},
        {object_of, key_a, array_of, json_end_object},
        {json_end_object},
        {json_end_array},
        {object_of, key_a},
        {raw_nothing},
        {object_of, array_of},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        json_writer w;
        json_writer_init(&w, 0);
        for (size_t j = 0; j < 6 && rows[i][j]; j++)
            rows[i][j](&w);
        unit_check(!json_writer_finish(&w) && w.fault == JSON_W_MISUSE, "row %zu", i);
        size_t len = w.len;
        one(&w), key_a(&w), object_of(&w), json_end_object(&w), json_write_string(&w, "x"),
            json_write_double(&w, 1.5);
        unit_check(w.len == len && w.fault == JSON_W_MISUSE, "row %zu goes on after its fault", i);
        json_writer_reset(&w);
        one(&w);
        check_text(written(&w), "1");
        json_writer_free(&w);
    }
}

static void write__numbers_are_checked(void) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_array(&w);
    json_write_int(&w, INT64_MIN);
    json_write_int(&w, INT64_MAX);
    json_write_uint(&w, UINT64_MAX);
    json_write_int(&w, 0);
    json_write_number(&w, "1.50e+400", 9);
    json_write_raw(&w, "{\"x\":1}", 7);
    json_write_bool(&w, true);
    json_write_bool(&w, false);
    json_write_null(&w);
    json_write_string(&w, NULL);
    json_write_value(&w, NULL);
    json_end_array(&w);
    check_text(written(&w),
               "[-9223372036854775808,9223372036854775807,18446744073709551615,0,1.50e+400,{\"x\":1},true,"
               "false,null,null,null]");
    static const double bad[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
    for (size_t i = 0; i < LEN(bad); i++) {
        json_writer_reset(&w);
        json_write_double(&w, bad[i]);
        CU_ASSERT_EQUAL(w.fault, JSON_W_NUMBER);
    }
    json_writer_reset(&w);
    json_write_number(&w, "01", 2);
    CU_ASSERT_EQUAL(w.fault, JSON_W_NUMBER);
    json_writer_free(&w);
}

static void write__doubles_are_short_and_plain(void) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.42, "0.42"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {433, "433"},
        {4.35, "4.35"},
        {-0.07, "-0.07"},
        {1e15, "1000000000000000"},
        {123456789012345680.0, "123456789012345680"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.5e21, "1.5e+21"},
        {1e-7, "0.0000001"},
        {1.25e-7, "0.000000125"},
        {1e-8, "1e-8"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
        {1e-323, "1e-323"},
        {1e23, "1e+23"},
        {9007199254740992.0, "9007199254740992"},
        {9007199254740994.0, "9007199254740994"},
        {0.000123, "0.000123"},
        {1e300, "1e+300"},
        {4.9406564584124654e-320, "4.9407e-320"},
        {12345678.9, "12345678.9"},
        {999999999999999.9, "999999999999999.9"},
        {5e-5, "0.00005"},
        {100.25, "100.25"},
        {5.0e-309, "5e-309"},
        {18014398509481984.0, "18014398509481984"},
        {0x1p-1017, "7.120236347223045e-307"},
    };
    json_writer w;
    json_writer_init(&w, 0);
    for (size_t i = 0; i < LEN(rows); i++) {
        json_writer_reset(&w);
        json_write_double(&w, rows[i].value);
        check_text(written(&w), rows[i].text);
    }
    json_writer_free(&w);
}

/* Digits that count in a number text. */
static int significant(const char *text) {
    decimal d = decimal_of(text, strlen(text));
    return (int)d.n;
}

/* No text is longer than the C library's shortest of 15, 16 or 17 digits, and each reads back. */
static void check_double(json_writer *w, double value) {
    char shortest[40];
    int precision = 15;
    do
        snprintf(shortest, sizeof shortest, "%.*g", precision, value);
    while (strtod(shortest, NULL) != value && ++precision <= 17);
    json_writer_reset(w);
    json_write_double(w, value);
    if (!json_writer_finish(w) || !json_valid_number(w->data, w->len) || strtod(w->data, NULL) != value ||
        significant(w->data) > significant(shortest))
        unit_check(false, "%.17g written as %s", value, w->len ? w->data : "nothing");
}

static void write__a_million_doubles_round_trip(void) {
    json_writer w;
    json_writer_init(&w, 0);
    for (int i = 0; i < 500000; i++) {
        uint64_t bits = random64();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_double(&w, value);
    }
    static const double scale[] = {1, 10, 100, 1e3, 1e4, 1e6, 1e8, 1e12};
    for (int i = 0; i < 500000;
         i++) /* what series are made of: few decimals, and what arithmetic makes of them */
        check_double(&w, (double)(int64_t)(random64() >> (12 + random64() % 50)) /
                             scale[random64() % LEN(scale)] * (i % 3 ? 1.0 : 1.1));
    for (int i = -1074; i < 1024; i++) {
        check_double(&w, ldexp(1.0, i));
        check_double(&w, nextafter(ldexp(1.0, i), INFINITY));
        check_double(&w, i > -1074 ? nextafter(ldexp(1.0, i), 0) : 1.0);
    }
    CU_PASS("no failure above");
    json_writer_free(&w);
}

static void write__limit_and_depth_are_faults(void) {
    json_writer w;
    json_writer_init(&w, 10);
    json_write_string(&w, "12345678");
    CU_ASSERT(json_writer_finish(&w) && w.len == 10);
    json_writer_reset(&w);
    json_write_string(&w, "123456789");
    CU_ASSERT_EQUAL(w.fault, JSON_W_LIMIT);
    CU_ASSERT(!json_writer_finish(&w) && w.len <= 10);
    json_writer_free(&w);
    json_writer_init(&w, 5000);
    char *text = calloc(1, 100001);
    memset(text, 'x', 100000);
    json_write_string(&w, text);
    CU_ASSERT(w.fault == JSON_W_LIMIT && w.cap < 32768); /* stopped on the way, not after escaping it all */
    json_writer_free(&w);
    json_writer_init(&w, 0);
    for (int i = 0; i < 1024; i++)
        json_begin_array(&w);
    CU_ASSERT_EQUAL(w.fault, JSON_W_OK);
    json_begin_array(&w);
    CU_ASSERT_EQUAL(w.fault, JSON_W_LIMIT);
    json_writer_free(&w);
    memset(text, '[', 1025);
    memset(text + 1025, ']', 1025);
    arena a;
    arena_init(&a, 0);
    const json_value *v = json_read(&a, text, 2050, &(json_limits){.depth = 2000}, NULL);
    CU_ASSERT_PTR_NOT_NULL(v);
    json_writer_init(&w, 0);
    json_write_value(&w, v);
    CU_ASSERT_EQUAL(w.fault, JSON_W_LIMIT);
    json_writer_reset(&w);
    json_write_value(&w, json_at(v, 0));
    CU_ASSERT(json_writer_finish(&w) && w.len == 2048);
    json_writer_free(&w);
    arena_free(&a);
    free(text);
    for (int f = JSON_W_OK; f <= JSON_W_LIMIT; f++)
        CU_ASSERT(strcmp(json_fault_text((json_fault)f), "unknown fault") != 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Takes what memory there is, down to pieces of 4 kB, from an address space bounded to 4 MB more. */
static void *take_all_memory(void) {
    void *chain = NULL;
#ifndef SANITIZED
    unsigned long pages = 0;
    struct rlimit limit;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu", &pages) == 1 && !getrlimit(RLIMIT_AS, &limit)) {
        limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20);
        CU_ASSERT(!setrlimit(RLIMIT_AS, &limit));
        for (size_t size = 1 << 20; size >= 4096; size /= 2)
            for (void **p; (p = malloc(size)); chain = p)
                *p = chain;
    }
    if (f)
        fclose(f);
#endif
    return chain;
}

static void give_back_memory(void *chain) {
    for (void *next; chain; chain = next) {
        memcpy(&next, chain, sizeof next);
        free(chain);
    }
    struct rlimit limit;
    if (!getrlimit(RLIMIT_AS, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_AS, &limit);
    }
}

/* With the machine's memory spent: the writer has its fault, the reader its error, equality its slow way. */
static void memory__running_out_is_a_clean_refusal(void) {
    enum { MEMBERS = 1000 };
    arena a;
    json_writer w;
    json_error err = {0};
    arena_init(&a, 0);
    json_writer_init(&w, 0);
    char *text = malloc((size_t)MEMBERS * 48), *p = text;
    *p++ = '{';
    for (int i = MEMBERS; i-- > 0;)
        p += sprintf(p, "\"name%d\":%d%c", i, i, i ? ',' : '}');
    const json_value *backwards = json_read_copy(&a, text, (size_t)(p - text), NULL, NULL);
    p = text + 1;
    for (int i = 0; i < MEMBERS; i++)
        p += sprintf(p, "\"name%d\":%d%c", i, i, i + 1 < MEMBERS ? ',' : '}');
    size_t len = (size_t)(p - text);
    const json_value *forwards = json_read_copy(&a, text, len, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(
        arena_alloc(&a, (size_t)MEMBERS * 200)); /* room that stays: no block is needed below */
    a.at -= (size_t)MEMBERS * 200;
    void *all = take_all_memory();
    if (all) {
        CU_ASSERT_PTR_NULL(json_read(&a, text, len, NULL, &err));
        CU_ASSERT_STRING_EQUAL(err.text, "out of memory");
        CU_ASSERT(forwards && json_equal(forwards, backwards));
        json_begin_array(&w);
        for (int i = 0; i < 10000000 && !w.fault; i++)
            json_write_string(&w, "0123456789");
        CU_ASSERT_EQUAL(w.fault, JSON_W_NOMEM);
        CU_ASSERT(!json_writer_finish(&w));
    } else {
        printf("skipped: sanitizers take the address space ... ");
    }
    give_back_memory(all);
    json_writer_free(&w);
    arena_free(&a);
    free(text);
}

static void write__indents_for_people(void) {
    arena a;
    arena_init(&a, 0);
    const json_value *v = parsed(&a, "{\"a\":[1,{\"b\":\"c\"},[]],\"d\":{}}");
    json_writer w;
    json_writer_init(&w, 0);
    w.indent = 2;
    json_begin_array(&w);
    json_write_value(&w, v);
    json_write_bool(&w, true);
    json_end_array(&w);
    check_text(written(&w),
               "[\n  {\n    \"a\": [\n      1,\n      {\n        \"b\": \"c\"\n      },\n      []\n    ],\n"
               "    \"d\": {}\n  },\n  true\n]");
    json_writer_free(&w);
    arena_free(&a);
}

/* A copy inside of something else, members in their order, numbers as they were, surrogates as characters. */
static void write__copies_values_as_they_were(void) {
    static const char text[] =
        " { \"z\" : 1.50e+3 , \"a\" : [ { } , [ ] , \"\\ud83d\\ude00\\u0000\\/\" , -0 , true , null ] } ";
    arena a;
    arena_init(&a, 0);
    const json_value *v = parsed(&a, text);
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "copy");
    json_write_value(&w, v);
    json_key(&w, "item");
    json_write_value(&w, json_pointer(v, "/a/2", 4));
    json_key(&w, "c\xC3\xA7\"");
    json_begin_array(&w);
    json_write_value(&w, json_pointer(v, "/a/0", 4));
    json_write_value(&w, json_pointer(v, "/z", 2));
    json_end_array(&w);
    json_end_object(&w);
    check_text(written(&w),
               "{\"copy\":{\"z\":1.50e+3,\"a\":[{},[],\"\xF0\x9F\x98\x80\\u0000/\",-0,true,null]},"
               "\"item\":\"\xF0\x9F\x98\x80\\u0000/\",\"c\xC3\xA7\\\"\":[{},1.50e+3]}");
    json_writer_reset(&w);
    json_begin_object(&w);
    json_write_value(&w, v);
    CU_ASSERT_EQUAL(w.fault, JSON_W_MISUSE);
    json_writer_free(&w);
    arena_free(&a);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(read__refuses_what_the_policy_refuses),
        UNIT_TEST(read__decodes_strings),
        UNIT_TEST(read__finds_specials_at_every_position),
        UNIT_TEST(read__every_prefix_is_refused_cleanly),
        UNIT_TEST(read__bounds_depth_bytes_and_nodes),
        UNIT_TEST(read__finds_duplicate_names_in_objects_of_any_size),
        UNIT_TEST(read__keeps_the_last_of_equal_names_where_asked),
        UNIT_TEST(read__names_made_to_collide_are_no_way_around),
        UNIT_TEST(read__grows_its_nodes_and_gives_room_back),
        UNIT_TEST(read__survives_each_failed_allocation),
        UNIT_TEST(ask__absent_is_harmless),
        UNIT_TEST(ask__members_and_items),
        UNIT_TEST(ask__pointers),
        UNIT_TEST(number__int64_takes_any_spelling_of_an_integer),
        UNIT_TEST(number__compares_exactly),
        UNIT_TEST(number__integers_and_multiples),
        UNIT_TEST(number__agrees_with_integers_on_random_decimals),
        UNIT_TEST(number__long_divisors_agree_with_short_ones),
        UNIT_TEST(number__huge_ones_take_no_time_or_memory),
        UNIT_TEST(number__doubles_are_correctly_rounded),
        UNIT_TEST(number__tokens),
        UNIT_TEST(text__utf8_and_code_points),
        UNIT_TEST(equal__as_json_schema_sees_it),
        UNIT_TEST(equal__large_objects_in_another_order),
        UNIT_TEST(write__every_byte_of_ascii),
        UNIT_TEST(write__strings_read_back),
        UNIT_TEST(write__refuses_bytes_that_are_not_utf8),
        UNIT_TEST(write__misuse_never_gives_a_document),
        UNIT_TEST(write__numbers_are_checked),
        UNIT_TEST(write__doubles_are_short_and_plain),
        UNIT_TEST(write__a_million_doubles_round_trip),
        UNIT_TEST(write__limit_and_depth_are_faults),
        UNIT_TEST(memory__running_out_is_a_clean_refusal),
        UNIT_TEST(write__indents_for_people),
        UNIT_TEST(write__copies_values_as_they_were),
    };
    return UNIT_RUN("json", tests);
}
