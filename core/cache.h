/* SPDX-License-Identifier: MIT */
/* cache.h -- answers of sources kept in memory, by key, up to a number of bytes; the least recently used go
 * first. An answer never changes and is shared by reference: the cache, a flight and any number of calls hold
 * the same bytes. How old an answer may be is asked at lookup, not decided when it is stored. Any thread. */
#ifndef LASTRO_CORE_CACHE_H
#define LASTRO_CORE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    atomic_uint refs;
    uint32_t http_status;
    int32_t verdict; /* LASTRO_BODY_* */
    int64_t wall_ms; /* when it was read; honours LASTRO_CLOCK */
    int64_t mono_ms; /* the same on the monotonic clock, so that a fixed wall clock freezes nothing */
    size_t body_len;
    char *body; /* NUL-terminated; never NULL */
    char content_type[96];
    char reason[160]; /* the classifier's */
} cache_answer;

/* One reference for the caller. Takes the malloc'ed body (NULL: empty), also when it fails. NULL: out of
 * memory. */
cache_answer *cache_answer_take(char *body, size_t body_len);
cache_answer *cache_answer_ref(cache_answer *a);
void cache_answer_unref(void *a); /* accepts NULL; void so that it can be a pin's release */

typedef struct cache cache;

/* alloc is used for entries and tables (free gives back); NULL: malloc. NULL is returned when memory is out.
 */
cache *cache_create(size_t cap_bytes, void *(*alloc)(size_t size));
void cache_destroy(cache *c); /* accepts NULL */

typedef struct {
    uint64_t hash; /* cache_hash of text */
    const char *text;
    size_t len;
} cache_key;
uint64_t cache_hash(const char *text, size_t len);

typedef struct {
    uint32_t fresh_ms;    /* a good answer this old will do; 0: none does */
    uint32_t negative_ms; /* the same for one that says there is nothing, or refuses */
} cache_lifetime;

/* A new reference, or NULL: none that is young enough. Counts a hit; a miss only when count_miss. */
cache_answer *cache_get(cache *c, cache_key key, cache_lifetime life, bool count_miss);
/* Keeps a reference to a, unless one as young is there. One that does not fit, or for which memory is out, is
 * not kept: nobody needs to know. */
void cache_put(cache *c, cache_key key, cache_answer *a);
void cache_purge(cache *c);

/* Whether an answer with this verdict may be kept by a request that asks for these lifetimes. */
bool cache_keeps(int32_t verdict, cache_lifetime life);

typedef struct {
    uint64_t hits, negative_hits, misses, evictions, bytes, entries;
} cache_stats;
void cache_get_stats(cache *c, cache_stats *ret);

#endif
