/* SPDX-License-Identifier: MIT */
/* Any bytes: what reads must be walked, written, read again and equal; every number must keep its laws. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            abort();                                                                                         \
    } while (0)

static void check_string(const json_value *v) {
    json_text t = json_text_of(v);
    MUST(t.at[t.len] == '\0');
    MUST(json_valid_utf8(t.at, t.len));
    MUST(json_code_points(t.at, t.len) <= t.len);
    MUST(!json_str(v) || strlen(json_str(v)) == t.len);
}

static void check_number(const json_value *v, const json_value *before) {
    json_text t = json_text_of(v);
    int64_t n;
    double d = json_double(v);
    MUST(json_valid_number(t.at, t.len));
    MUST(d == d);
    MUST(!json_int64(v, &n) || (json_number_is_integer(v) && (double)n == d));
    MUST(json_number_compare(v, v) == 0);
    if (json_is(before, JSON_NUMBER)) {
        int order = json_number_compare(v, before);
        double e = json_double(before);
        MUST(order == -json_number_compare(before, v));
        MUST(d == e || (d < e) == (order < 0));
        MUST(json_equal(v, before) == !order);
        json_number_is_multiple(v, before);
    }
}

/* Nodes below v, itself included; recursion is bounded by the reader's depth. */
static size_t walk(const json_value *v) {
    const json_value *before = NULL;
    size_t nodes = 1, count = 0;
    for (json_iter it = json_iterate(v); json_next(&it); count++) {
        if (it.key) {
            check_string(it.key);
            json_text name = json_text_of(it.key);
            if (count < 64)
                MUST(json_member_n(v, name.at, name.len) == it.value);
            nodes++;
        } else if (count < 64) {
            MUST(json_at(v, count) == it.value);
        }
        if (json_is(it.value, JSON_STRING))
            check_string(it.value);
        if (json_is(it.value, JSON_NUMBER))
            check_number(it.value, before);
        nodes += walk(it.value);
        before = it.value;
    }
    MUST(count == json_count(v));
    MUST(v + nodes == json_skip(v));
    return nodes;
}

static void write_and_read(const json_value *v, unsigned indent) {
    arena a;
    json_writer w;
    arena_init(&a, 0);
    json_writer_init(&w, 0);
    w.indent = indent;
    json_write_value(&w, v);
    MUST(json_writer_finish(&w));
    const json_value *again = json_read_copy(&a, w.data, w.len, NULL, NULL);
    MUST(again && json_equal(v, again) && json_equal(again, v));
    json_writer_free(&w);
    arena_free(&a);
}

/* As text for the writer: refused exactly when it is not UTF-8; as a number, when it is no number. */
static void write_bytes(const char *data, size_t size) {
    json_writer w;
    json_writer_init(&w, 0);
    json_write_string_n(&w, data, size);
    MUST(json_writer_finish(&w) == json_valid_utf8(data, size));
    if (!w.fault) {
        arena a;
        arena_init(&a, 0);
        json_text t = json_text_of(json_read_copy(&a, w.data, w.len, NULL, NULL));
        MUST(t.at && t.len == size && !memcmp(t.at, data, size));
        arena_free(&a);
    }
    json_writer_reset(&w);
    json_write_number(&w, data, size);
    MUST(json_writer_finish(&w) == json_valid_number(data, size));
    double d;
    if (size == sizeof d && (memcpy(&d, data, sizeof d), d - d == 0)) {
        json_writer_reset(&w);
        json_write_double(&w, d);
        MUST(json_writer_finish(&w) && json_valid_number(w.data, w.len) && strtod(w.data, NULL) == d);
    }
    json_writer_free(&w);
}

/* As a message on the wire is read: what strict reading takes is the same, and no name is left twice. */
static void read_wire(const uint8_t *data, size_t size, const json_value *strict) {
    arena a;
    json_limits wire = {.last_wins = true};
    arena_init(&a, 0);
    const json_value *v = json_read_copy(&a, (const char *)data, size, &wire, NULL);
    MUST(!strict || json_equal(v, strict));
    if (v) {
        walk(v);
        write_and_read(v, 0);
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena a;
    json_error err = {0};
    char *text = malloc(size + 1); /* its own memory, so that a step beyond is seen */
    arena_init(&a, 0);
    if (size) {
        memcpy(text, data, size);
        write_bytes(text, size);
    }
    const json_value *v = json_read(&a, text, size, NULL, &err);
    if (v) {
        walk(v);
        write_and_read(v, 0);
        write_and_read(v, 2);
    } else {
        MUST(err.text[0] && err.offset <= size && err.line && err.column);
    }
    read_wire(data, size, v);
    arena_free(&a);
    free(text);
    return 0;
}
