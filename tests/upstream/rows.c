/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* jansson has accepted the text before these run: they find borders, they do not check. */

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at) { /* at the opening quote */
    for (at++; *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at + 1;
}

static const char *skip_value(const char *at) {
    if (*at == '"')
        return skip_string(at);
    if (*at != '{' && *at != '[')
        return at + strcspn(at, ",]} \t\r\n");
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    } while (depth > 0);
    return at;
}

/* Reads one "key": value with the comma after it; false at the end of the object. */
static bool take_member(const char **at, sim_member *ret) {
    *at = skip_space(*at);
    if (**at != '"')
        return false;
    const char *end = skip_string(*at);
    ret->key = (sim_slice){*at + 1, (size_t)(end - *at) - 2};
    const char *value = skip_space(skip_space(end) + 1); /* past the colon */
    end = skip_value(value);
    ret->raw = (sim_slice){value, (size_t)(end - value)};
    *at = skip_space(end);
    if (**at == ',')
        (*at)++;
    return true;
}

static sim_row row_scan(const char *at) { /* at the opening brace */
    sim_row row = {0};
    sim_member m;
    for (at++; take_member(&at, &m);) {
        row.member = sim_grow(row.member, row.count + 1, sizeof *row.member);
        row.member[row.count++] = m;
    }
    return row;
}

static void rows_scan(sim_rows *rows, const char *at) { /* at the opening bracket */
    for (at = skip_space(at + 1); *at == '{'; at = skip_space(at)) {
        if (rows->count == rows->cap) {
            rows->cap = rows->cap ? rows->cap * 2 : 64;
            rows->row = sim_grow(rows->row, rows->cap, sizeof *rows->row);
        }
        rows->row[rows->count++] = row_scan(at);
        at = skip_space(skip_value(at));
        if (*at == ',')
            at++;
    }
}

bool rows_take(sim_rows *rows, char *text) {
    json_t *root = json_loads(text, 0, NULL);
    bool good = json_is_array(json_object_get(root, "value"));
    json_decref(root);
    rows->text = sim_grow(rows->text, rows->texts + 1, sizeof *rows->text);
    rows->text[rows->texts++] = text;
    if (!good)
        return false;
    const char *at = skip_space(text) + 1;
    for (sim_member m; take_member(&at, &m);)
        if (slice_is(m.key, "value"))
            rows_scan(rows, m.raw.at);
    return true;
}

void rows_free(sim_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        free(rows->row[i].member);
    for (size_t i = 0; i < rows->texts; i++)
        free(rows->text[i]);
    free(rows->row);
    free(rows->text);
    *rows = (sim_rows){0};
}

const sim_slice *row_find(const sim_row *row, const char *key) {
    for (size_t i = 0; i < row->count; i++)
        if (slice_is(row->member[i].key, key))
            return &row->member[i].raw;
    return NULL;
}

char *row_text(const sim_row *row, const char *key) {
    const sim_slice *raw = row_find(row, key);
    if (!raw || slice_is(*raw, "null"))
        return NULL;
    if (raw->at[0] != '"')
        return sim_copy(raw->at, raw->len);
    if (!memchr(raw->at, '\\', raw->len))
        return sim_copy(raw->at + 1, raw->len - 2);
    json_t *string = json_loadb(raw->at, raw->len, JSON_DECODE_ANY, NULL);
    const char *s = json_string_value(string);
    char *copy = sim_copy(s ? s : "", s ? strlen(s) : 0);
    json_decref(string);
    return copy;
}

static size_t row_length(const sim_row *row) {
    size_t n = 0;
    for (size_t i = 0; i < row->count; i++)
        n += row->member[i].raw.len;
    return n;
}

typedef struct {
    char *text;
    sim_row row;
} keyed_row;

static int by_key(const void *a, const void *b) {
    const keyed_row *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    if (order != 0)
        return order;
    if (x->row.count != y->row.count)
        return x->row.count > y->row.count ? -1 : 1;
    size_t m = row_length(&x->row), n = row_length(&y->row);
    return (m < n) - (m > n);
}

void rows_merge(sim_rows *rows, const char *key) {
    keyed_row *keyed = sim_alloc(rows->count, sizeof *keyed);
    for (size_t i = 0; i < rows->count; i++) {
        char *text = row_text(&rows->row[i], key);
        keyed[i] = (keyed_row){.text = text ? text : sim_copy("", 0), .row = rows->row[i]};
    }
    qsort(keyed, rows->count, sizeof *keyed, by_key);
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0 && strcmp(keyed[i].text, keyed[i - 1].text) == 0)
            free(keyed[i].row.member);
        else
            rows->row[kept++] = keyed[i].row;
    }
    for (size_t i = 0; i < rows->count; i++)
        free(keyed[i].text);
    free(keyed);
    rows->count = kept;
}
