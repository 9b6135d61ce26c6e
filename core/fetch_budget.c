/* SPDX-License-Identifier: MIT */
/* fetch_budget.c -- the slots of a source within one call. A free slot goes to the waiting part that holds
 * the fewest, among equals to the one that was served longest ago: alone a part gets all of them, and as soon
 * as another waits the slots that come free go there until both hold as many. */
#include "fetch_internal.h"

#include <stdlib.h>

struct fetch_part {
    fetch_part *next;
    uint32_t number, held;
    uint64_t served; /* when a slot was last given to it, in turns */
};

struct fetch_pool {
    fetch_pool *next;
    const lastro_source *source;
    uint32_t slots, used;
    fetch_part *parts;
    fetch_lane *waiting;
};

struct fetch_budget {
    pthread_mutex_t lock;
    fetch_pool *pools;
    uint64_t turn;
};

fetch_budget *fetch_budget_create(void) {
    fetch_budget *b = calloc(1, sizeof *b);
    if (b)
        pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void pool_destroy(fetch_pool *pool) {
    for (fetch_part *part = pool->parts, *next; part; part = next) {
        next = part->next;
        free(part);
    }
    free(pool);
}

void fetch_budget_destroy(fetch_budget *b) {
    if (!b)
        return;
    for (fetch_pool *pool = b->pools, *next; pool; pool = next) {
        next = pool->next;
        pool_destroy(pool);
    }
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* ---- the lock is held ---- */

static fetch_pool *pool_of(fetch_budget *b, const lastro_source *source) {
    fetch_pool *pool = b->pools;
    while (pool && pool->source != source)
        pool = pool->next;
    if (!pool && (pool = calloc(1, sizeof *pool))) {
        pool->source = source;
        pool->slots = source->parallel ? source->parallel : FETCH_PARALLEL;
        pool->next = b->pools;
        b->pools = pool;
    }
    return pool;
}

static fetch_part *part_of(fetch_pool *pool, uint32_t number) {
    fetch_part *part = pool->parts;
    while (part && part->number != number)
        part = part->next;
    if (!part && (part = calloc(1, sizeof *part))) {
        part->number = number;
        part->next = pool->parts;
        pool->parts = part;
    }
    return part;
}

static bool comes_before(const fetch_part *a, const fetch_part *b) {
    return a->held != b->held ? a->held < b->held : a->served < b->served;
}

static fetch_lane *first_before(fetch_lane *lane) {
    fetch_lane *first = NULL;
    const fetch_part *best = lane->part;
    for (fetch_lane *other = lane->pool->waiting; other; other = other->next)
        if (other->part != best && comes_before(other->part, best)) {
            first = other;
            best = other->part;
        }
    return first;
}

static void list(fetch_lane *lane) {
    if (lane->waiting)
        return;
    lane->waiting = true;
    lane->prev = NULL;
    lane->next = lane->pool->waiting;
    if (lane->next)
        lane->next->prev = lane;
    lane->pool->waiting = lane;
}

static void unlist(fetch_lane *lane) {
    if (!lane->waiting)
        return;
    lane->waiting = false;
    *(lane->prev ? &lane->prev->next : &lane->pool->waiting) = lane->next;
    if (lane->next)
        lane->next->prev = lane->prev;
}

static void wake_all(fetch_pool *pool) {
    for (fetch_lane *lane = pool->waiting; lane; lane = lane->next)
        lane->wake(lane->arg);
}

/* ---- lanes ---- */

bool fetch_lane_open(fetch_lane *lane, fetch_budget *b, const lastro_source *source, uint32_t part) {
    pthread_mutex_lock(&b->lock);
    lane->source = source;
    lane->budget = b;
    lane->pool = pool_of(b, source);
    lane->part = lane->pool ? part_of(lane->pool, part) : NULL;
    pthread_mutex_unlock(&b->lock);
    return lane->part;
}

bool fetch_lane_take(fetch_lane *lane) {
    fetch_pool *pool = lane->pool;
    pthread_mutex_lock(&lane->budget->lock);
    list(lane); /* until it rests: it may want more */
    bool taken = pool->used < pool->slots;
    fetch_lane *first = taken ? first_before(lane) : NULL;
    if (first) {
        first->wake(first->arg); /* it may have come to wait while the slot was already free */
        taken = false;
    }
    if (taken) {
        pool->used++;
        lane->part->held++;
        lane->part->served = ++lane->budget->turn;
    }
    pthread_mutex_unlock(&lane->budget->lock);
    return taken;
}

void fetch_lane_give(fetch_lane *lane) {
    pthread_mutex_lock(&lane->budget->lock);
    lane->pool->used--;
    lane->part->held--;
    wake_all(lane->pool);
    pthread_mutex_unlock(&lane->budget->lock);
}

void fetch_lane_rest(fetch_lane *lane) {
    pthread_mutex_lock(&lane->budget->lock);
    if (lane->waiting) {
        unlist(lane);
        if (lane->pool->used < lane->pool->slots)
            wake_all(lane->pool);
    }
    pthread_mutex_unlock(&lane->budget->lock);
}
