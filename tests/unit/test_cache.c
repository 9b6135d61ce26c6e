/* SPDX-License-Identifier: MIT */
/* The rules of core/cache.h: what is kept, for how long, what goes first, and that want of memory harms
 * nobody. */
#include "cache.h"
#include "clock.h"
#include "unit.h"

#include <lastro/abi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cache_lifetime ANY_AGE = {3600000, 3600000};

static cache_key key_of(const char *text) {
    return (cache_key){cache_hash(text, strlen(text)), text, strlen(text)};
}

static cache_answer *answer_of(const char *text, size_t len, int32_t verdict) {
    char *body = calloc(1, len + 1);
    memcpy(body, text, strlen(text) < len ? strlen(text) : len);
    cache_answer *a = cache_answer_take(body, len);
    a->verdict = verdict;
    a->wall_ms = clock_wall_ms();
    a->mono_ms = clock_mono_ms();
    return a;
}

static void put(cache *c, const char *key, size_t len, int32_t verdict) {
    cache_answer *a = answer_of(key, len, verdict);
    cache_put(c, key_of(key), a);
    cache_answer_unref(a);
}

static bool has(cache *c, const char *key, cache_lifetime life) {
    cache_answer *a = cache_get(c, key_of(key), life, true);
    cache_answer_unref(a);
    return a;
}

static cache_stats stats_of(cache *c) {
    cache_stats s;
    cache_get_stats(c, &s);
    return s;
}

static void get__gives_the_very_answer_that_was_put(void) {
    cache *c = cache_create(1 << 20, NULL);
    cache_answer *a = answer_of("[1,2]", 5, LASTRO_BODY_OK);
    cache_put(c, key_of("sgs\nhttps://x/1"), a);
    cache_answer *b = cache_get(c, key_of("sgs\nhttps://x/1"), ANY_AGE, true);
    CU_ASSERT_PTR_EQUAL(a, b);
    CU_ASSERT_FALSE(has(c, "sgs\nhttps://x/2", ANY_AGE));
    cache_destroy(c); /* the answer outlives it */
    CU_ASSERT_STRING_EQUAL(b->body, "[1,2]");
    cache_answer_unref(a);
    cache_answer_unref(b);
}

static void get__judges_age_by_what_the_asker_accepts(void) {
    cache *c = cache_create(1 << 20, NULL);
    put(c, "k", 10, LASTRO_BODY_OK);
    usleep(30000);
    CU_ASSERT_FALSE(has(c, "k", (cache_lifetime){10, 0}));
    CU_ASSERT_FALSE(has(c, "k", (cache_lifetime){0, 3600000}));
    CU_ASSERT_TRUE(has(c, "k", (cache_lifetime){3600000, 0}));
    cache_destroy(c);
}

static void get__a_fixed_wall_clock_freezes_nothing(void) {
    setenv("LASTRO_CLOCK", "2026-08-21T10:00:00-03:00", 1);
    CU_ASSERT_TRUE(clock_init());
    cache *c = cache_create(1 << 20, NULL);
    put(c, "k", 10, LASTRO_BODY_OK);
    usleep(30000);
    CU_ASSERT_FALSE(has(c, "k", (cache_lifetime){10, 0}));
    CU_ASSERT_TRUE(has(c, "k", ANY_AGE));
    cache_destroy(c);
    unsetenv("LASTRO_CLOCK");
    clock_init();
}

static void get__counts_the_time_that_the_machine_slept(void) {
    cache *c = cache_create(1 << 20, NULL);
    cache_answer *a = answer_of("x", 1, LASTRO_BODY_OK);
    a->wall_ms -= 60000; /* as if the monotonic clock had stood still for a minute */
    cache_put(c, key_of("k"), a);
    cache_answer_unref(a);
    CU_ASSERT_FALSE(has(c, "k", (cache_lifetime){30000, 0}));
    CU_ASSERT_TRUE(has(c, "k", (cache_lifetime){90000, 0}));
    cache_destroy(c);
}

static void get__negative_answers_have_their_own_lifetime(void) {
    cache *c = cache_create(1 << 20, NULL);
    put(c, "gone", 10, LASTRO_BODY_NOT_FOUND);
    put(c, "refused", 10, LASTRO_BODY_REFUSED);
    CU_ASSERT_FALSE(has(c, "gone", (cache_lifetime){3600000, 0}));
    CU_ASSERT_TRUE(has(c, "gone", (cache_lifetime){0, 3600000}));
    CU_ASSERT_TRUE(has(c, "refused", ANY_AGE));
    CU_ASSERT_EQUAL(stats_of(c).negative_hits, 2);
    CU_ASSERT_EQUAL(stats_of(c).hits, 2);
    cache_destroy(c);
}

static void keeps__only_what_is_an_answer(void) {
    CU_ASSERT_TRUE(cache_keeps(LASTRO_BODY_OK, ANY_AGE));
    CU_ASSERT_TRUE(cache_keeps(LASTRO_BODY_NOT_FOUND, ANY_AGE));
    CU_ASSERT_FALSE(cache_keeps(LASTRO_BODY_SUSPECT, ANY_AGE));
    CU_ASSERT_FALSE(cache_keeps(LASTRO_BODY_RETRY, ANY_AGE));
    CU_ASSERT_FALSE(cache_keeps(LASTRO_BODY_LIMITED, ANY_AGE));
    CU_ASSERT_FALSE(cache_keeps(LASTRO_BODY_OK, (cache_lifetime){0, 1}));
    CU_ASSERT_FALSE(cache_keeps(LASTRO_BODY_NOT_FOUND, (cache_lifetime){1, 0}));
}

static void put__the_least_recently_used_go_first_and_the_cap_holds(void) {
    enum { CAP = 100000 };
    cache *c = cache_create(CAP, NULL);
    char key[32];
    for (int i = 0; i < 9; i++) {
        snprintf(key, sizeof key, "key%d", i);
        put(c, key, 10000, LASTRO_BODY_OK);
    }
    CU_ASSERT_EQUAL(stats_of(c).entries, 9);
    CU_ASSERT_TRUE(has(c, "key0", ANY_AGE)); /* used: now key1 is the oldest */
    put(c, "more", 10000, LASTRO_BODY_OK);
    put(c, "more2", 10000, LASTRO_BODY_OK);
    CU_ASSERT_TRUE(has(c, "key0", ANY_AGE));
    CU_ASSERT_FALSE(has(c, "key1", ANY_AGE));
    CU_ASSERT_TRUE(has(c, "more", ANY_AGE));
    CU_ASSERT(stats_of(c).evictions >= 1 && stats_of(c).bytes <= CAP);
    put(c, "huge", 200000, LASTRO_BODY_OK); /* does not fit: pushes nothing out */
    CU_ASSERT_FALSE(has(c, "huge", ANY_AGE));
    CU_ASSERT_TRUE(has(c, "key0", ANY_AGE));
    cache_destroy(c);
}

static void put__replaces_and_forgets_by_age(void) {
    cache *c = cache_create(1 << 20, NULL);
    cache_answer *older = answer_of("older", 5, LASTRO_BODY_OK),
                 *newer = answer_of("newer", 5, LASTRO_BODY_OK);
    newer->mono_ms = older->mono_ms + 1;
    cache_put(c, key_of("k"), newer);
    cache_put(c, key_of("k"), older); /* a straggler */
    cache_answer *got = cache_get(c, key_of("k"), ANY_AGE, true);
    CU_ASSERT_PTR_EQUAL(got, newer);
    CU_ASSERT_EQUAL(stats_of(c).entries, 1);
    cache_answer_unref(got);
    cache_answer_unref(older);
    cache_answer_unref(newer);
    cache_purge(c);
    CU_ASSERT_EQUAL(stats_of(c).entries, 0);
    CU_ASSERT_EQUAL(stats_of(c).bytes, 0);
    cache_destroy(c);
}

static void put__thousands_are_found_again(void) {
    cache *c = cache_create(64 << 20, NULL);
    char key[64];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "sgs\nhttps://api.example.org/dados/serie/%d", i);
        put(c, key, 20, LASTRO_BODY_OK);
    }
    int found = 0;
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "sgs\nhttps://api.example.org/dados/serie/%d", i);
        found += has(c, key, ANY_AGE);
    }
    CU_ASSERT_EQUAL(found, 5000);
    cache_destroy(c);
}

static void *no_memory(size_t size) {
    (void)size;
    return NULL;
}

static void put__without_memory_nothing_is_kept_and_nothing_breaks(void) {
    cache *c = cache_create(1 << 20, no_memory);
    put(c, "k", 10, LASTRO_BODY_OK);
    CU_ASSERT_FALSE(has(c, "k", ANY_AGE));
    CU_ASSERT_EQUAL(stats_of(c).entries, 0);
    cache_destroy(c);
}

static void *hammer(void *arg) {
    cache *c = arg;
    char key[32];
    unsigned seed = (unsigned)(uintptr_t)pthread_self();
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "key%d", rand_r(&seed) % 50);
        cache_answer *a = cache_get(c, key_of(key), ANY_AGE, true);
        if (a && strncmp(a->body, key, strlen(key)) != 0)
            abort();
        cache_answer_unref(a);
        put(c, key, 500, LASTRO_BODY_OK);
    }
    return NULL;
}

static void any__many_threads_at_once(void) {
    cache *c = cache_create(15000, NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, hammer, c);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT(stats_of(c).bytes <= 15000 && stats_of(c).evictions > 0);
    cache_destroy(c);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(get__gives_the_very_answer_that_was_put),
        UNIT_TEST(get__judges_age_by_what_the_asker_accepts),
        UNIT_TEST(get__a_fixed_wall_clock_freezes_nothing),
        UNIT_TEST(get__counts_the_time_that_the_machine_slept),
        UNIT_TEST(get__negative_answers_have_their_own_lifetime),
        UNIT_TEST(keeps__only_what_is_an_answer),
        UNIT_TEST(put__the_least_recently_used_go_first_and_the_cap_holds),
        UNIT_TEST(put__replaces_and_forgets_by_age),
        UNIT_TEST(put__thousands_are_found_again),
        UNIT_TEST(put__without_memory_nothing_is_kept_and_nothing_breaks),
        UNIT_TEST(any__many_threads_at_once),
    };
    return UNIT_RUN("cache", tests);
}
