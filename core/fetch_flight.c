/* SPDX-License-Identifier: MIT */
/* fetch_flight.c -- equal requests in the air at once, of whatever call, are one: the first leads and makes
 * the attempts, the others wait for what it comes to. A leader that ends for a reason of its own call
 * (cancelled, out of time) dissolves the flight: each follower is woken, the first to get a slot founds the
 * next one. */
#include "fetch_internal.h"

#include <stdlib.h>
#include <string.h>

/* All under the engine's lock. It lives until its leader and all followers have let go of it. */
struct fetch_flight {
    fetch_flight *chain; /* of its bucket, while in the air */
    fetch_item *followers;
    unsigned refs;
    bool ended, own;
    int32_t outcome;
    cache_answer *answer;
    fetch_tally tally;
    char reason[200];
    uint64_t hash;
    uint32_t class_len, key_len;
    char name[]; /* class, then key: another class has other patience */
};

void fetch_tally_add(fetch_tally *to, const fetch_tally *more) {
    to->attempts += more->attempts;
    for (size_t i = 0; i < LASTRO_ANOMALY_COUNT; i++)
        to->anomalies[i] += more->anomalies[i];
}

/* ---- the lock is held ---- */

static fetch_flight **bucket_of(fetch_engine *e, uint64_t hash) {
    return &e->flights[(hash >> 20) % FLIGHT_BUCKETS];
}

static bool is_flight_of(const fetch_flight *f, const fetch_item *item) {
    size_t class_len = strlen(item->limits.name);
    return f->hash == item->key.hash && f->class_len == class_len && f->key_len == item->key.len &&
           !memcmp(f->name, item->limits.name, class_len) &&
           !memcmp(f->name + class_len, item->key.text, item->key.len);
}

static fetch_flight *found_flight(fetch_engine *e, const fetch_item *item) {
    size_t class_len = strlen(item->limits.name);
    fetch_flight *f = calloc(1, sizeof *f + class_len + item->key.len);
    if (!f)
        return NULL;
    f->refs = 1;
    f->hash = item->key.hash;
    f->class_len = (uint32_t)class_len;
    f->key_len = (uint32_t)item->key.len;
    memcpy(f->name, item->limits.name, class_len);
    memcpy(f->name + class_len, item->key.text, item->key.len);
    fetch_flight **at = bucket_of(e, f->hash);
    f->chain = *at;
    *at = f;
    return f;
}

static void release(fetch_flight *f) {
    if (--f->refs)
        return;
    cache_answer_unref(f->answer);
    free(f);
}

static void add_follower(fetch_flight *f, fetch_item *item) {
    f->refs++;
    item->follow_prev = NULL;
    item->follow_next = f->followers;
    if (f->followers)
        f->followers->follow_prev = item;
    f->followers = item;
}

static void remove_follower(fetch_flight *f, fetch_item *item) {
    *(item->follow_prev ? &item->follow_prev->follow_next : &f->followers) = item->follow_next;
    if (item->follow_next)
        item->follow_next->follow_prev = item->follow_prev;
}

/* ---- entry points ---- */

fetch_flight_role fetch_flight_enter(fetch_item *item, bool found) {
    fetch_engine *e = item->run->engine;
    fetch_flight *f = *bucket_of(e, item->key.hash);
    while (f && !is_flight_of(f, item))
        f = f->chain;
    if (f) {
        add_follower(f, item);
        item->flight = f;
        e->joined++;
        return FLIGHT_FOLLOWED;
    }
    item->flight = found ? found_flight(e, item) : NULL;
    item->leads = item->flight;
    return item->leads ? FLIGHT_LED : FLIGHT_NONE;
}

void fetch_flight_count(fetch_item *item, int32_t attempts, int32_t anomaly) {
    fetch_engine *e = item->run->engine;
    pthread_mutex_lock(&e->lock);
    item->flight->tally.attempts += (uint32_t)attempts;
    if (anomaly >= 0)
        item->flight->tally.anomalies[anomaly]++;
    pthread_mutex_unlock(&e->lock);
}

void fetch_flight_end(fetch_item *item, int32_t outcome, bool own) {
    fetch_engine *e = item->run->engine;
    fetch_flight *f = item->flight;
    pthread_mutex_lock(&e->lock);
    fetch_flight **at = bucket_of(e, f->hash);
    while (*at != f)
        at = &(*at)->chain;
    *at = f->chain;
    f->ended = true;
    f->own = own;
    f->outcome = outcome;
    if (item->answer && !own)
        f->answer = cache_answer_ref(item->answer);
    memcpy(f->reason, item->reason, sizeof f->reason);
    for (fetch_item *follower = f->followers; follower; follower = follower->follow_next)
        fetch_item_signal(
            follower); /* its memory stays while it is listed, and it cannot leave without our lock */
    release(f);
    pthread_mutex_unlock(&e->lock);
    item->flight = NULL;
    item->leads = false;
}

bool fetch_flight_take(fetch_item *item, int32_t *ret_outcome, bool *ret_own) {
    fetch_engine *e = item->run->engine;
    fetch_flight *f = item->flight;
    pthread_mutex_lock(&e->lock);
    bool ended = f->ended;
    if (ended) {
        *ret_outcome = f->outcome;
        *ret_own = f->own;
        if (f->answer) {
            cache_answer_unref(item->answer);
            item->answer = cache_answer_ref(f->answer);
        }
        memcpy(item->reason, f->reason, sizeof item->reason);
    }
    pthread_mutex_unlock(&e->lock);
    return ended;
}

void fetch_flight_leave(fetch_item *item) {
    fetch_engine *e = item->run->engine;
    pthread_mutex_lock(&e->lock);
    fetch_tally_add(&item->tally, &item->flight->tally);
    remove_follower(item->flight, item);
    release(item->flight);
    pthread_mutex_unlock(&e->lock);
    item->flight = NULL;
}
