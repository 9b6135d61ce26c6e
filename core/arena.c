/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4096 - 64, ALIGN = 16 };

struct arena_block {
    arena_block *next;
    size_t size;
    max_align_t data[];
};

void arena_init(arena *a, size_t limit) {
    *a = (arena){.limit = limit};
}

static int grow(arena *a, size_t size) {
    size_t want = a->head ? a->head->size * 2 : BLOCK_MIN;
    if (want > (1u << 20))
        want = 1u << 20;
    if (want < size)
        want = size;
    arena_block *b = malloc(sizeof *b + want);
    if (!b)
        return 0;
    b->next = a->head;
    b->size = want;
    a->head = b;
    a->at = (char *)b->data;
    a->end = a->at + want;
    return 1;
}

void *arena_alloc(arena *a, size_t size) {
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    if (!size)
        size = 1; /* nothing asked for is no failure */
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (a->limit && size > a->limit - a->used)
        return NULL;
    if (size > (size_t)(a->end - a->at) && !grow(a, size))
        return NULL;
    void *p = a->at;
    a->at += size;
    a->used += size;
    return p;
}

void *arena_zalloc(arena *a, size_t size) {
    void *p = arena_alloc(a, size);
    return p ? memset(p, 0, size) : NULL;
}

char *arena_strndup(arena *a, const char *text, size_t len) {
    char *p = arena_alloc(a, len + 1);
    if (!p)
        return NULL;
    if (len)
        memcpy(p, text, len);
    p[len] = '\0';
    return p;
}

char *arena_printf(arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_reset(arena *a) {
    arena_block *keep = a->head;
    if (!keep)
        return;
    for (arena_block *b = keep->next, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    keep->next = NULL;
    a->at = (char *)keep->data;
    a->end = a->at + keep->size;
    a->used = 0;
}

void arena_free(arena *a) {
    for (arena_block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (arena){.limit = a->limit};
}
