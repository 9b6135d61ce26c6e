/* SPDX-License-Identifier: MIT */
/* schema_hash.c -- one hash for equal values: 1, 1.0 and 10e-1 are one number, members have no order. */
#include "schema_nodes.h"

#include <string.h>

static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

uint64_t schema_hash_text(const char *text, size_t len) {
    uint64_t h = mix(UINT64_C(0x51ed270b7f649a21), len), word = 0;
    for (; len >= 8; text += 8, len -= 8) {
        memcpy(&word, text, 8);
        h = mix(h, word);
    }
    word = 0;
    if (len)
        memcpy(&word, text, len);
    return mix(mix(h, word), 0);
}

#define EXPONENT_MAX INT64_C(100000000000000) /* beyond it, all numbers hash alike */

/* One of more digits than fit is cut, but stays far beyond EXPONENT_MAX. */
static int64_t exponent_of(const char *at, const char *end) {
    bool negative = at < end && *at == '-';
    int64_t n = 0;
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && n < 10 * EXPONENT_MAX; at++)
        n = n * 10 + (*at - '0');
    return negative ? -n : n;
}

static uint64_t hash_number(json_text t) {
    const char *end = t.at + t.len, *at = t.at + (t.at[0] == '-');
    const char *exp = at;
    while (exp < end && *exp != 'e' && *exp != 'E')
        exp++;
    uint64_t h = t.at[0] == '-' ? 3 : 5, kept = h;
    int64_t zeros = 0, scale = exp < end ? exponent_of(exp + 1, end) : 0;
    bool fraction = false, any = false;
    for (; at < exp; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        scale -= fraction;
        if (*at == '0') {
            zeros += any;
            continue;
        }
        for (any = true; zeros; zeros--) /* zeros inside count, those at the ends do not */
            kept = mix(kept, '0');
        kept = mix(kept, (unsigned char)*at);
        h = kept;
    }
    if (!any)
        return 7;
    scale += zeros;
    return scale > EXPONENT_MAX || scale < -EXPONENT_MAX ? 11 : mix(h, 0) ^ mix(17, (uint64_t)scale);
}

/* Members are added up, so their order does not matter. */
uint64_t schema_hash(const json_value *v) {
    json_kind kind = json_kind_of(v);
    json_text t = json_text_of(v);
    uint64_t h = mix(UINT64_C(0x2545f4914f6cdd1d), kind);
    switch (kind) {
    case JSON_BOOL:
        return mix(h, json_bool(v));
    case JSON_NUMBER:
        return mix(h, hash_number(t));
    case JSON_STRING:
        return mix(h, schema_hash_text(t.at, t.len));
    case JSON_ARRAY:
        for (json_iter it = json_iterate(v); json_next(&it);)
            h = mix(h, schema_hash(it.value));
        return h;
    case JSON_OBJECT:
        for (json_iter it = json_iterate(v); json_next(&it);)
            h += mix(schema_hash(it.value), schema_hash_text(it.key->u.text, (size_t)(it.key->tag >> 16)));
        return mix(h, json_count(v));
    default:
        return h;
    }
}
