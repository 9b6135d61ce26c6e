/* SPDX-License-Identifier: MIT */
#include "render.h"

#include <string.h>

enum { COLUMNS_MAX = 16, INDENT = 2 };

static void pad(FILE *out, size_t n) {
    while (n--)
        fputc(' ', out);
}

static bool scalar(const json_value *v) {
    return !json_is(v, JSON_OBJECT) && !json_is(v, JSON_ARRAY);
}

static json_text cell(const json_value *v) {
    switch (json_kind_of(v)) {
    case JSON_BOOL:
        return json_bool(v) ? (json_text){"true", 4} : (json_text){"false", 5};
    case JSON_NULL:
        return (json_text){"null", 4};
    case JSON_ABSENT:
        return (json_text){"", 0};
    default:
        return json_text_of(v);
    }
}

static size_t width(json_text t) {
    return t.at ? json_code_points(t.at, t.len) : 0;
}

static void print_cell(FILE *out, json_text t) {
    for (size_t i = 0; i < t.len; i++) /* a text's own line breaks would break ours; controls have no place here */
        fputc((unsigned char)t.at[i] < ' ' ? ' ' : t.at[i], out);
}

static bool all_scalar(const json_value *list) {
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (!scalar(it.value))
            return false;
    return true;
}

static bool is_table(const json_value *list) {
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (!json_is(it.value, JSON_OBJECT) || !all_scalar(it.value))
            return false;
    return json_count(list) > 0;
}

typedef struct {
    json_text name[COLUMNS_MAX];
    size_t width[COLUMNS_MAX];
    bool number[COLUMNS_MAX];
    size_t count;
} columns;

static size_t column_of(columns *c, json_text key) {
    for (size_t i = 0; i < c->count; i++)
        if (c->name[i].len == key.len && memcmp(c->name[i].at, key.at, key.len) == 0)
            return i;
    if (c->count == COLUMNS_MAX)
        return COLUMNS_MAX;
    c->name[c->count] = key;
    c->width[c->count] = width(key);
    c->number[c->count] = true;
    return c->count++;
}

static void measure(const json_value *list, columns *c) {
    for (json_iter row = json_iterate(list); json_next(&row);)
        for (json_iter it = json_iterate(row.value); json_next(&it);) {
            size_t i = column_of(c, json_text_of(it.key)), w = width(cell(it.value));
            if (i == COLUMNS_MAX)
                continue;
            if (w > c->width[i])
                c->width[i] = w;
            c->number[i] = c->number[i] && (json_is(it.value, JSON_NUMBER) || json_is(it.value, JSON_NULL));
        }
}

static void print_aligned(FILE *out, const columns *c, size_t i, json_text t) {
    size_t gap = c->width[i] - width(t);
    if (c->number[i])
        pad(out, gap);
    print_cell(out, t);
    if (!c->number[i] && i + 1 < c->count)
        pad(out, gap);
    fputs(i + 1 < c->count ? "  " : "\n", out);
}

static void print_table(FILE *out, const json_value *list, size_t indent) {
    columns c = {0};
    measure(list, &c);
    pad(out, indent);
    for (size_t i = 0; i < c.count; i++)
        print_aligned(out, &c, i, c.name[i]);
    for (json_iter row = json_iterate(list); json_next(&row);) {
        pad(out, indent);
        for (size_t i = 0; i < c.count; i++)
            print_aligned(out, &c, i, cell(json_member_n(row.value, c.name[i].at, c.name[i].len)));
    }
}

static void print_members(FILE *out, const json_value *object, size_t indent);

static void print_list(FILE *out, const json_value *list, size_t indent) {
    if (is_table(list)) {
        print_table(out, list, indent);
        return;
    }
    for (json_iter it = json_iterate(list); json_next(&it);) {
        pad(out, indent);
        fputs("- ", out);
        if (scalar(it.value)) {
            print_cell(out, cell(it.value));
            fputc('\n', out);
        } else {
            fputc('\n', out);
            if (json_is(it.value, JSON_OBJECT))
                print_members(out, it.value, indent + INDENT);
            else
                print_list(out, it.value, indent + INDENT);
        }
    }
}

static void print_members(FILE *out, const json_value *object, size_t indent) {
    for (json_iter it = json_iterate(object); json_next(&it);) {
        pad(out, indent);
        print_cell(out, json_text_of(it.key));
        fputc(':', out);
        if (scalar(it.value)) {
            fputc(' ', out);
            print_cell(out, cell(it.value));
            fputc('\n', out);
        } else if (!json_count(it.value)) {
            fputs(json_is(it.value, JSON_ARRAY) ? " []\n" : " {}\n", out);
        } else if (json_is(it.value, JSON_OBJECT)) {
            fputc('\n', out);
            print_members(out, it.value, indent + INDENT);
        } else {
            fputc('\n', out);
            print_list(out, it.value, indent + INDENT);
        }
    }
}

void render_value(FILE *out, const json_value *v) {
    if (json_is(v, JSON_OBJECT)) {
        print_members(out, v, 0);
    } else if (json_is(v, JSON_ARRAY)) {
        print_list(out, v, 0);
    } else {
        print_cell(out, cell(v));
        fputc('\n', out);
    }
}
