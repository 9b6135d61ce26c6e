/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include "clock.h"
#include <lastro/abi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_MIN = 64,
    ALLOC_OVERHEAD = 64 /* what the allocator adds to an entry's three blocks, about */
};

typedef struct entry {
    struct entry *chain;         /* of its bucket */
    struct entry *newer, *older; /* by last use */
    cache_answer *answer;
    uint64_t hash;
    size_t cost, key_len;
    char key[];
} entry;

struct cache {
    pthread_mutex_t lock;
    void *(*alloc)(size_t size);
    size_t cap, bucket_count; /* a power of two */
    entry **buckets;
    entry *newest, *oldest;
    cache_stats stats;
};

/* ---- answers ---- */

cache_answer *cache_answer_take(char *body, size_t body_len) {
    cache_answer *a = calloc(1, sizeof *a);
    if (a && !body)
        body = calloc(1, 1);
    if (!a || !body) {
        free(a);
        free(body);
        return NULL;
    }
    atomic_init(&a->refs, 1);
    a->body = body;
    a->body_len = body_len;
    return a;
}

cache_answer *cache_answer_ref(cache_answer *a) {
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void cache_answer_unref(void *p) {
    cache_answer *a = p;
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    free(a->body);
    free(a);
}

uint64_t cache_hash(const char *text, size_t len) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, then mixed because buckets look at the low bits */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u;
}

bool cache_keeps(int32_t verdict, cache_lifetime life) {
    if (verdict == LASTRO_BODY_OK)
        return life.fresh_ms > 0;
    return (verdict == LASTRO_BODY_NOT_FOUND || verdict == LASTRO_BODY_REFUSED) && life.negative_ms > 0;
}

/* ---- table and order of use; the lock is held ---- */

static entry **slot_of(cache *c, uint64_t hash) {
    return &c->buckets[(hash >> 16) & (c->bucket_count - 1)];
}

static entry *find(cache *c, cache_key key) {
    for (entry *e = *slot_of(c, key.hash); e; e = e->chain)
        if (e->hash == key.hash && e->key_len == key.len && !memcmp(e->key, key.text, key.len))
            return e;
    return NULL;
}

static void unlink_use(cache *c, entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(cache *c, entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop(cache *c, entry *e) {
    entry **at = slot_of(c, e->hash);
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    unlink_use(c, e);
    c->stats.bytes -= e->cost;
    c->stats.entries--;
    cache_answer_unref(e->answer);
    free(e);
}

/* A table that cannot grow only gets slower. */
static void grow(cache *c) {
    size_t count = c->bucket_count * 2;
    entry **fresh = c->alloc(count * sizeof *fresh);
    if (!fresh)
        return;
    memset(fresh, 0, count * sizeof *fresh);
    free(c->buckets);
    c->buckets = fresh;
    c->bucket_count = count;
    for (entry *e = c->newest; e; e = e->older) {
        entry **at = slot_of(c, e->hash);
        e->chain = *at;
        *at = e;
    }
}

static void insert(cache *c, entry *e) {
    if (c->stats.entries >= c->bucket_count)
        grow(c);
    entry **at = slot_of(c, e->hash);
    e->chain = *at;
    *at = e;
    link_newest(c, e);
    c->stats.bytes += e->cost;
    c->stats.entries++;
}

static void make_room(cache *c, size_t cost) {
    while (c->oldest && c->stats.bytes + cost > c->cap) {
        drop(c, c->oldest);
        c->stats.evictions++;
    }
}

/* The monotonic clock stands still while the machine sleeps and the wall clock may be fixed or set back: the
 * greater of the two ages is never too young. */
static int64_t age_of(const cache_answer *a) {
    int64_t mono = clock_mono_ms() - a->mono_ms, wall = clock_wall_ms() - a->wall_ms;
    return mono > wall ? mono : wall;
}

static bool young_enough(const cache_answer *a, cache_lifetime life) {
    return cache_keeps(a->verdict, life) &&
           age_of(a) <= (int64_t)(a->verdict == LASTRO_BODY_OK ? life.fresh_ms : life.negative_ms);
}

/* ---- entry points ---- */

cache *cache_create(size_t cap_bytes, void *(*alloc)(size_t size)) {
    cache *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->alloc = alloc ? alloc : malloc;
    c->cap = cap_bytes;
    c->bucket_count = BUCKETS_MIN;
    c->buckets = calloc(BUCKETS_MIN, sizeof(entry *));
    if (!c->buckets) {
        free(c);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void cache_purge(cache *c) {
    pthread_mutex_lock(&c->lock);
    while (c->oldest)
        drop(c, c->oldest);
    pthread_mutex_unlock(&c->lock);
}

void cache_destroy(cache *c) {
    if (!c)
        return;
    cache_purge(c);
    pthread_mutex_destroy(&c->lock);
    free(c->buckets);
    free(c);
}

cache_answer *cache_get(cache *c, cache_key key, cache_lifetime life, bool count_miss) {
    cache_answer *answer = NULL;
    pthread_mutex_lock(&c->lock);
    entry *e = find(c, key);
    if (e && young_enough(e->answer, life)) {
        answer = cache_answer_ref(e->answer);
        unlink_use(c, e);
        link_newest(c, e);
        c->stats.hits++;
        c->stats.negative_hits += answer->verdict != LASTRO_BODY_OK;
    } else if (count_miss) {
        c->stats.misses++;
    }
    pthread_mutex_unlock(&c->lock);
    return answer;
}

static entry *entry_create(cache *c, cache_key key, cache_answer *a) {
    size_t cost = sizeof(entry) + key.len + 1 + sizeof *a + a->body_len + 1 + ALLOC_OVERHEAD;
    entry *e = cost > c->cap ? NULL : c->alloc(sizeof *e + key.len + 1);
    if (!e)
        return NULL;
    *e = (entry){.answer = a, .hash = key.hash, .cost = cost, .key_len = key.len};
    memcpy(e->key, key.text, key.len);
    e->key[key.len] = '\0';
    return e;
}

/* Those who shared a flight put the same answer, the last perhaps when a newer one is there already. */
void cache_put(cache *c, cache_key key, cache_answer *a) {
    pthread_mutex_lock(&c->lock);
    entry *old = find(c, key);
    if (!old || old->answer->mono_ms < a->mono_ms) {
        if (old)
            drop(c, old); /* also when the new one cannot be kept: it is what the source says now */
        entry *e = entry_create(c, key, a);
        if (e) {
            cache_answer_ref(a);
            make_room(c, e->cost);
            insert(c, e);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

void cache_get_stats(cache *c, cache_stats *ret) {
    pthread_mutex_lock(&c->lock);
    *ret = c->stats;
    pthread_mutex_unlock(&c->lock);
}
