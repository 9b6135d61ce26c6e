/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <stdio.h>
#include <string.h>

enum { SPAN_AT = 36, SPAN = 16, FLAGS_AT = 53, KEY_MAX = 256, TENANT_MAX = 241, SYSTEM_MAX = 14, VALUE_MAX = 256, MEMBERS = 32 };
enum { FLAGS_KNOWN = 3 }; /* sampled, random id; others are cleared */

static bool among(const char *text, size_t len, const char *set) {
    for (size_t i = 0; i < len; i++)
        if (!text[i] || !strchr(set, text[i]))
            return false;
    return true;
}

static bool is_hex(const char *text, size_t len) {
    return among(text, len, "0123456789abcdef");
}

/* Hexadecimal, and not zero. */
static bool is_id(const char *text, size_t len) {
    return is_hex(text, len) && !among(text, len, "0");
}

bool trace_parent_valid(const char *text, size_t len) {
    if (len < TRACE_PARENT || !is_hex(text, 2) || memcmp(text, "ff", 2) == 0)
        return false;
    if (len > TRACE_PARENT && (memcmp(text, "00", 2) == 0 || text[TRACE_PARENT] != '-'))
        return false;
    return text[2] == '-' && text[SPAN_AT - 1] == '-' && text[FLAGS_AT - 1] == '-' && is_id(text + TRACE_ID_AT, TRACE_ID) &&
           is_id(text + SPAN_AT, SPAN) && is_hex(text + FLAGS_AT, 2);
}

/* ---- tracestate ---- */

static bool is_name(const char *text, size_t len, size_t max) {
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789", rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
    return len >= 1 && len <= max && among(text, 1, first) && among(text + 1, len - 1, rest);
}

/* simple, or tenant@system (whose system begins with a letter) */
static bool is_key(const char *text, size_t len) {
    const char *at = memchr(text, '@', len);
    if (!at)
        return is_name(text, len, KEY_MAX) && *text > '9';
    size_t tenant = (size_t)(at - text), system = len - tenant - 1;
    return is_name(text, tenant, TENANT_MAX) && is_name(at + 1, system, SYSTEM_MAX) && at[1] > '9';
}

static bool is_value(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e || text[i] == ',' || text[i] == '=')
            return false;
    return len >= 1 && len <= VALUE_MAX && text[len - 1] != ' ';
}

typedef struct {
    const char *at;
    size_t len;
} span;

static span trimmed(const char *at, size_t len) {
    while (len && (*at == ' ' || *at == '\t'))
        at++, len--;
    while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
        len--;
    return (span){at, len};
}

static bool is_among(const span *keys, size_t n, span key) {
    for (size_t i = 0; i < n; i++)
        if (keys[i].len == key.len && memcmp(keys[i].at, key.at, key.len) == 0)
            return true;
    return false;
}

bool trace_state_valid(const char *text, size_t len) {
    span keys[MEMBERS];
    size_t n = 0;
    if (!len || len > TRACE_STATE_MAX)
        return false;
    for (const char *at = text, *end = text + len; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        span member = trimmed(at, (size_t)((comma ? comma : end) - at));
        const char *equals = memchr(member.at, '=', member.len);
        at = comma ? comma + 1 : end;
        if (!member.len)
            continue; /* empty members are allowed */
        span key = {member.at, equals ? (size_t)(equals - member.at) : 0};
        if (!equals || n == MEMBERS || !is_key(key.at, key.len) || is_among(keys, n, key) ||
            !is_value(equals + 1, member.len - key.len - 1))
            return false;
        keys[n++] = key;
    }
    return n > 0;
}

/* ---- our own requests ---- */

static unsigned hex_value(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void trace_child(const char *parent, uint64_t random, char *ret) {
    unsigned flags = (hex_value(parent[FLAGS_AT]) << 4 | hex_value(parent[FLAGS_AT + 1])) & FLAGS_KNOWN;
    snprintf(ret, TRACE_PARENT + 1, "00-%.*s-%016llx-%02x", TRACE_ID, parent + TRACE_ID_AT,
             (unsigned long long)(random ? random : 1), flags);
}
