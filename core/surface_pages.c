/* SPDX-License-Identifier: MIT */
#include "surface_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the string whose first quote stands at at. */
static const char *past_string(const char *at) {
    for (at++; *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at + 1;
}

/* After the object or array that begins at at. */
static const char *past_container(const char *at) {
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = past_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (depth);
    return at;
}

static bool keep_end(surface_text *t, size_t end, size_t *room) {
    if (t->items == *room) {
        size_t more = *room ? *room * 2 : 64;
        size_t *p = realloc(t->ends, more * sizeof *p);
        if (!p)
            return false;
        t->ends = p;
        *room = more;
    }
    t->ends[t->items++] = end;
    return true;
}

bool surface_pages_find(surface_text *t) {
    const char *at = past_string(t->data + 1) + 2; /* {"NAME":[ */
    size_t room = 0;
    t->begin = (size_t)(at - t->data);
    while (*at != ']') {
        if (*at == ',')
            at++;
        at = past_container(at);
        if (!keep_end(t, (size_t)(at - t->data), &room))
            return false;
    }
    return true;
}

const char *surface_page(const surface_text *t, arena *a, size_t from, size_t to, const char *next, size_t *ret_len) {
    size_t start = from ? t->ends[from - 1] + 1 : t->begin, end = to > from ? t->ends[to - 1] : start; /* + 1: the comma */
    size_t tail = (t->items ? t->ends[t->items - 1] : t->begin) + 1;
    char *text = arena_alloc(a, t->begin + (end - start) + (next ? strlen(next) + 20 : 0) + (t->len - tail) + 2), *at = text;
    if (!text)
        return NULL;
    at = mempcpy(at, t->data, t->begin);
    at = mempcpy(at, t->data + start, end - start);
    *at++ = ']';
    if (next)
        at += sprintf(at, ",\"nextCursor\":\"%s\"", next);
    at = mempcpy(at, t->data + tail, t->len - tail + 1); /* and its NUL */
    *ret_len = (size_t)(at - text) - 1;
    return text;
}
