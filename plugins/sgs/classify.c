/* SPDX-License-Identifier: MIT */
#include "classify.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}
static bool take(cursor *c, char what) {
    skip_space(c);
    if (c->at == c->end || *c->at != what)
        return false;
    c->at++;
    return true;
}
static bool take_string(cursor *c, lastro_text *ret) {
    if (!take(c, '"'))
        return false;
    ret->at = c->at;
    while (c->at < c->end && *c->at != '"')
        c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
    if (c->at >= c->end)
        return false;
    ret->len = (size_t)(c->at - ret->at);
    c->at++;
    return true;
}
/* A string, a number or null: all that a row holds. The JSON reader judges the details later. */
static bool take_scalar(cursor *c) {
    lastro_text ignored;
    skip_space(c);
    if (c->at < c->end && *c->at == '"')
        return take_string(c, &ignored);
    const char *start = c->at;
    while (c->at < c->end && strchr("+-.0123456789eEnul", *c->at) && *c->at)
        c->at++;
    return c->at > start;
}
static bool key_is(lastro_text key, const char *name) {
    return key.len == strlen(name) && memcmp(key.at, name, key.len) == 0;
}
static bool take_row(cursor *c) {
    bool date = false, value = false;
    if (!take(c, '{'))
        return false;
    do {
        lastro_text key;
        if (!take_string(c, &key) || !take(c, ':') || !take_scalar(c))
            return false;
        date |= key_is(key, "data");
        value |= key_is(key, "valor");
    } while (take(c, ','));
    return take(c, '}') && date && value;
}
/* The whole body is read: an answer that was cut off must not pass for one. */
static bool is_rows(cursor c) {
    if (!take(&c, '['))
        return false;
    if (!take(&c, ']')) {
        do {
            if (!take_row(&c))
                return false;
        } while (take(&c, ','));
        if (!take(&c, ']'))
            return false;
    }
    skip_space(&c);
    return c.at == c.end;
}

/* Number after the first "name": in the text; 0: none. */
static unsigned number_after(lastro_text text, const char *name) {
    const char *p = memmem(text.at, text.len, name, strlen(name));
    const char *end = text.at + text.len;
    unsigned n = 0;
    if (!p)
        return 0;
    p += strlen(name);
    while (p < end && (*p == ' ' || *p == ':'))
        p++;
    for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '9'; i++)
        n = n * 10 + (unsigned)(*p++ - '0');
    return n;
}
static bool mentions(lastro_text text, const char *what) {
    return memmem(text.at, text.len, what, strlen(what)) != NULL;
}
static sgs_body error_object(lastro_text text) {
    unsigned code = number_after(text, "\"statusCode\"");
    if (code == 404)
        return SGS_BODY_NOT_FOUND;
    if (code >= 500)
        return SGS_BODY_FAULT;
    if (mentions(text, "\"error\"") && mentions(text, "10 anos"))
        return SGS_BODY_TOO_LONG;
    return mentions(text, "\"erro\"") || mentions(text, "\"error\"") ? SGS_BODY_REFUSED : SGS_BODY_BROKEN;
}

lastro_text sgs_body_text(lastro_text body) {
    if (body.len >= 3 && memcmp(body.at, "\xEF\xBB\xBF", 3) == 0)
        return (lastro_text){body.at + 3, body.len - 3};
    return body;
}

sgs_body sgs_body_of(lastro_text body) {
    if (!body.at || !body.len)
        return SGS_BODY_EMPTY;
    lastro_text text = sgs_body_text(body);
    cursor c = {text.at, text.at + text.len};
    skip_space(&c);
    if (c.at == c.end)
        return SGS_BODY_EMPTY;
    switch (*c.at) {
    case '[':
        return is_rows(c) ? SGS_BODY_ROWS : SGS_BODY_BROKEN;
    case '{':
        return error_object(text);
    case '<':
        return SGS_BODY_PAGE;
    default:
        return SGS_BODY_BROKEN;
    }
}

int32_t sgs_classify(void *self, const lastro_attempt *attempt, char *reason, size_t reason_size) {
    static const struct {
        int32_t verdict;
        const char *reason;
    } by_shape[] = {
        [SGS_BODY_ROWS] = {LASTRO_BODY_OK, "rows"},
        [SGS_BODY_NOT_FOUND] = {LASTRO_BODY_NOT_FOUND, "SGS says: no value found"},
        [SGS_BODY_TOO_LONG] = {LASTRO_BODY_REFUSED, "window over ten years of a daily series"},
        [SGS_BODY_FAULT] = {LASTRO_BODY_RETRY, "error object with a server status"},
        [SGS_BODY_REFUSED] = {LASTRO_BODY_REFUSED, "error object"},
        [SGS_BODY_PAGE] = {LASTRO_BODY_SUSPECT, "a page instead of data"},
        [SGS_BODY_EMPTY] = {LASTRO_BODY_SUSPECT, "empty body"},
        [SGS_BODY_BROKEN] = {LASTRO_BODY_SUSPECT, "neither rows nor a known error"},
    };
    (void)self;
    uint32_t status = attempt->http_status;
    sgs_body shape = sgs_body_of(attempt->body);
    int32_t verdict = by_shape[shape].verdict;
    if (status == 429)
        verdict = LASTRO_BODY_LIMITED;
    else if (status >= 500 && verdict != LASTRO_BODY_NOT_FOUND && shape != SGS_BODY_TOO_LONG)
        verdict = LASTRO_BODY_RETRY;
    else if (status >= 400 && shape == SGS_BODY_ROWS)
        verdict = LASTRO_BODY_SUSPECT; /* status and body contradict each other */
    snprintf(reason, reason_size, "%s (HTTP %u)", by_shape[shape].reason, status);
    return verdict;
}
