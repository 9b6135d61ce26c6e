/* SPDX-License-Identifier: MIT */
/* json_value.c -- questions to a document that was read. */
#include "decimal.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_INTEGER = 0x200, SHORT_DIGITS = 18, FEW_MEMBERS = 32 };

/* ---- finding ---- */

const json_value *json_member_n(const json_value *object, const char *name, size_t len) {
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    const json_value *k = object + 1;
    for (size_t left = json_count(object); left; left--, k = json_skip(k + 1))
        if ((size_t)(k->tag >> 16) == len && (!len || !memcmp(k->u.text, name, len)))
            return k + 1;
    return NULL;
}

const json_value *json_member(const json_value *object, const char *name) {
    return json_member_n(object, name, strlen(name));
}

const json_value *json_at(const json_value *array, size_t index) {
    size_t count = json_count(array);
    if (!json_is(array, JSON_ARRAY) || index >= count)
        return NULL;
    const json_value *v = array + 1;
    if (array->u.span == count + 1) /* nothing but scalars inside */
        return v + index;
    while (index--)
        v = json_skip(v);
    return v;
}

/* token (len bytes, escapes ~0 and ~1) names the key. */
static bool token_is(const char *token, size_t len, json_text key) {
    size_t k = 0;
    for (size_t i = 0; i < len; i++, k++) {
        char c = token[i];
        if (c == '~') {
            if (++i == len || (token[i] != '0' && token[i] != '1'))
                return false;
            c = token[i] == '0' ? '~' : '/';
        }
        if (k == key.len || key.at[k] != c)
            return false;
    }
    return k == key.len;
}

static const json_value *item_by_token(const json_value *array, const char *token, size_t len) {
    size_t index = 0;
    if (!len || len > SHORT_DIGITS || (len > 1 && token[0] == '0'))
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (token[i] < '0' || token[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token[i] - '0');
    }
    return json_at(array, index);
}

static const json_value *member_by_token(const json_value *object, const char *token, size_t len) {
    for (json_iter it = json_iterate(object); json_next(&it);)
        if (token_is(token, len, json_text_of(it.key)))
            return it.value;
    return NULL;
}

const json_value *json_pointer(const json_value *v, const char *pointer, size_t len) {
    const char *end = len ? pointer + len : pointer;
    while (v && pointer < end) {
        if (*pointer++ != '/')
            return NULL;
        const char *slash = memchr(pointer, '/', (size_t)(end - pointer));
        size_t n = (size_t)((slash ? slash : end) - pointer);
        if (json_is(v, JSON_ARRAY))
            v = item_by_token(v, pointer, n);
        else if (json_is(v, JSON_OBJECT))
            v = member_by_token(v, pointer, n);
        else
            v = NULL;
        pointer += n;
    }
    return v;
}

/* ---- texts ---- */

bool json_text_is(const json_value *v, const char *text) {
    size_t len = strlen(text);
    return json_is(v, JSON_STRING) && (size_t)(v->tag >> 16) == len && !memcmp(v->u.text, text, len);
}

const char *json_str(const json_value *v) {
    json_text t = json_text_of(v);
    return json_is(v, JSON_STRING) && !memchr(t.at, 0, t.len) ? t.at : NULL;
}

static bool continues(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

unsigned json_utf8_step(const char *at, const char *end) {
    ptrdiff_t left = end - at;
    if (left <= 0)
        return 0;
    unsigned char a = (unsigned char)at[0];
    if (a < 0x80)
        return 1;
    if (a < 0xc2 || left < 2 || !continues(at[1]))
        return 0;
    if (a < 0xe0)
        return 2;
    unsigned char b = (unsigned char)at[1];
    if (left < 3 || !continues(at[2]) || (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f))
        return 0;
    if (a < 0xf0)
        return 3;
    bool in_range = a < 0xf5 && !(a == 0xf0 && b < 0x90) && !(a == 0xf4 && b > 0x8f);
    return in_range && left >= 4 && continues(at[3]) ? 4 : 0;
}

bool json_valid_utf8(const char *text, size_t len) {
    const char *end = len ? text + len : text; /* text may be NULL then */
    while (text < end) {
        uint64_t eight;
        while (end - text >= 8 && (memcpy(&eight, text, 8), !(eight & UINT64_C(0x8080808080808080))))
            text += 8;
        if (text == end)
            break;
        unsigned n = json_utf8_step(text, end);
        if (!n)
            return false;
        text += n;
    }
    return true;
}

size_t json_code_points(const char *text, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += !continues(text[i]);
    return n;
}

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

bool json_valid_number(const char *text, size_t len) {
    if (!len)
        return false;
    const char *p = text, *end = text + len, *from;
    p += p < end && *p == '-';
    from = p;
    p = skip_digits(p, end);
    if (p == from || (*from == '0' && p - from > 1))
        return false;
    if (p < end && *p == '.') {
        from = ++p;
        p = skip_digits(p, end);
        if (p == from)
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = skip_digits(p, end);
        if (p == from)
            return false;
    }
    return p == end;
}

/* ---- numbers ---- */

/* Whole numbers of few digits, the usual case, without looking at decimals. */
static bool short_integer(const json_value *v, int64_t *ret) {
    size_t len = (size_t)(v->tag >> 16);
    if (!(v->tag & TAG_INTEGER) || len > SHORT_DIGITS)
        return false;
    const char *p = v->u.text, *end = p + len;
    bool negative = *p == '-';
    int64_t n = 0;
    for (p += negative; p < end; p++)
        n = n * 10 + (*p - '0');
    *ret = negative ? -n : n;
    return true;
}

static decimal decimal_value(const json_value *v) {
    return decimal_of(v->u.text, (size_t)(v->tag >> 16));
}

bool json_int64(const json_value *v, int64_t *ret) {
    if (!json_is(v, JSON_NUMBER))
        return false;
    if (short_integer(v, ret))
        return true;
    decimal d = decimal_value(v);
    return decimal_int64(&d, ret);
}

double json_double(const json_value *v) {
    if (!json_is(v, JSON_NUMBER))
        return 0.0;
    decimal d = decimal_value(v);
    return decimal_double(&d);
}

int json_number_compare(const json_value *a, const json_value *b) {
    int64_t x, y;
    if (!json_is(a, JSON_NUMBER) || !json_is(b, JSON_NUMBER))
        return 0;
    if (short_integer(a, &x) && short_integer(b, &y))
        return (x > y) - (x < y);
    decimal d = decimal_value(a), e = decimal_value(b);
    return decimal_compare(&d, &e);
}

bool json_number_is_integer(const json_value *v) {
    if (!json_is(v, JSON_NUMBER))
        return false;
    if (v->tag & TAG_INTEGER)
        return true;
    decimal d = decimal_value(v);
    return decimal_is_integer(&d);
}

bool json_number_is_multiple(const json_value *a, const json_value *b) {
    int64_t x, y;
    if (!json_is(a, JSON_NUMBER) || !json_is(b, JSON_NUMBER))
        return false;
    if (short_integer(a, &x) && short_integer(b, &y))
        return y > 0 && x % y == 0;
    decimal d = decimal_value(a), e = decimal_value(b);
    return decimal_is_multiple(&d, &e);
}

/* ---- equality ---- */

static int compare_keys(const void *a, const void *b) {
    const json_value *x = *(const json_value *const *)a, *y = *(const json_value *const *)b;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return memcmp(x->u.text, y->u.text, (size_t)(x->tag >> 16));
}

/* The keys of object in order, malloc'ed; NULL: no memory, or not worth it. */
static const json_value **sorted_keys(const json_value *object) {
    size_t count = json_count(object), i = 0;
    const json_value **keys = count > FEW_MEMBERS ? malloc(count * sizeof *keys) : NULL;
    if (!keys)
        return NULL;
    for (json_iter it = json_iterate(object); json_next(&it);)
        keys[i++] = it.key;
    qsort(keys, count, sizeof *keys, compare_keys);
    return keys;
}

static bool equal(const json_value *a, const json_value *b);

/* Most often both have one order: *next is where the name is looked for first. */
static const json_value *counterpart(const json_value *key, const json_value *object, json_iter *next,
                                     const json_value *const *sorted) {
    if (!json_next(next)) {
        *next = json_iterate(object);
        json_next(next);
    }
    if (!compare_keys(&key, &next->key))
        return next->value;
    if (sorted) {
        const json_value *const *found =
            bsearch(&key, sorted, json_count(object), sizeof *sorted, compare_keys);
        return found ? *found + 1 : NULL;
    }
    return json_member_n(object, key->u.text, (size_t)(key->tag >> 16));
}

static bool same_order(const json_value *a, const json_value *b) {
    for (json_iter i = json_iterate(a), j = json_iterate(b); json_next(&i) && json_next(&j);)
        if (compare_keys(&i.key, &j.key))
            return false;
    return true;
}

static bool objects_equal(const json_value *a, const json_value *b) {
    const json_value **sorted = same_order(a, b) ? NULL : sorted_keys(b);
    json_iter next = json_iterate(b);
    bool same = true;
    for (json_iter it = json_iterate(a); same && json_next(&it);)
        same = equal(it.value, counterpart(it.key, b, &next, sorted));
    free(sorted);
    return same;
}

static bool arrays_equal(const json_value *a, const json_value *b) {
    for (json_iter i = json_iterate(a), j = json_iterate(b); json_next(&i) && json_next(&j);)
        if (!equal(i.value, j.value))
            return false;
    return true;
}

static bool equal(const json_value *a, const json_value *b) {
    json_kind kind = json_kind_of(a);
    if (kind != json_kind_of(b))
        return false;
    switch (kind) {
    case JSON_BOOL:
        return json_bool(a) == json_bool(b);
    case JSON_NUMBER:
        return json_number_compare(a, b) == 0;
    case JSON_STRING:
        return a->tag == b->tag && !memcmp(a->u.text, b->u.text, (size_t)(a->tag >> 16));
    case JSON_ARRAY:
        return a->tag == b->tag && arrays_equal(a, b);
    case JSON_OBJECT:
        return a->tag == b->tag && objects_equal(a, b);
    case JSON_ABSENT:
    case JSON_NULL:
        break;
    }
    return true;
}

/* Recursion goes as deep as the shallower value is nested, which reading has bounded. */
bool json_equal(const json_value *a, const json_value *b) {
    return equal(a, b);
}
