/* SPDX-License-Identifier: MIT */
/* arena.h -- memory that dies with its request: taken piece by piece, given back all at once.
 * One thread at a time may take from an arena. Blocks come from malloc and grow; `limit` bounds the sum. */
#ifndef LASTRO_CORE_ARENA_H
#define LASTRO_CORE_ARENA_H

#include <stddef.h>

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *head; /* newest block, the one allocations come from */
    char *at, *end;    /* free room of head */
    size_t used;       /* bytes asked for so far */
    size_t limit;      /* refuse beyond this many bytes; 0: no limit */
} arena;

void arena_init(arena *a, size_t limit);

/* Memory aligned to 16 bytes, not zeroed; NULL when the limit or the machine's memory is spent. */
void *arena_alloc(arena *a, size_t size);
void *arena_zalloc(arena *a, size_t size);

/* A NUL-terminated copy of len bytes; NULL as arena_alloc. */
char *arena_strndup(arena *a, const char *text, size_t len);

__attribute__((format(printf, 2, 3))) char *arena_printf(arena *a, const char *fmt, ...);

/* Gives everything back but keeps the newest block for the next round. */
void arena_reset(arena *a);
void arena_free(arena *a);

#define arena_new(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (size_t)(n)))

#endif
