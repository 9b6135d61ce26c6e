/* SPDX-License-Identifier: MIT */
#include "text_set.h"

#include <stdlib.h>
#include <string.h>

text_key text_key_of(const char *text, size_t len) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return (text_key){text, len, h};
}

static text_key *find(const text_set *s, const text_key *k) {
    for (size_t i = 0; i < s->count; i++)
        if (s->at[i].hash == k->hash && s->at[i].len == k->len && memcmp(s->at[i].at, k->at, k->len) == 0)
            return &s->at[i];
    return NULL;
}

bool text_set_has(const text_set *s, const text_key *k) {
    return find(s, k) != NULL;
}

bool text_set_add(text_set *s, const text_key *k) {
    if (find(s, k))
        return true;
    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        text_key *more = realloc(s->at, cap * sizeof *more);
        if (!more)
            return false;
        s->at = more;
        s->cap = cap;
    }
    char *copy = malloc(k->len + 1);
    if (!copy)
        return false;
    memcpy(copy, k->at, k->len);
    copy[k->len] = '\0';
    s->at[s->count++] = (text_key){copy, k->len, k->hash};
    s->bytes += k->len;
    return true;
}

void text_set_remove(text_set *s, const text_key *k) {
    text_key *found = find(s, k);
    if (!found)
        return;
    s->bytes -= found->len;
    free((char *)(uintptr_t)found->at);
    *found = s->at[--s->count];
}

void text_set_clear(text_set *s) {
    for (size_t i = 0; i < s->count; i++)
        free((char *)(uintptr_t)s->at[i].at);
    free(s->at);
    *s = (text_set){0};
}
