/* SPDX-License-Identifier: MIT */
#include "cancel.h"
#include "unit.h"

#include <time.h>

static void count(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_cancel__wakes_each_waiter_once(void) {
    cancel_token t;
    atomic_int woken[4] = {0, 0, 0, 0};
    cancel_waiter w[4];
    cancel_init(&t);
    for (int i = 0; i < 4; i++) {
        w[i] = (cancel_waiter){.wake = count, .arg = &woken[i]};
        CU_ASSERT(cancel_listen(&t, &w[i]));
    }
    cancel_forget(&t, &w[1]); /* the middle, then the head and the tail of what is left */
    CU_ASSERT(!cancel_raised(&t));
    cancel_raise(&t);
    cancel_raise(&t);
    CU_ASSERT(cancel_raised(&t));
    CU_ASSERT_EQUAL(woken[0], 1);
    CU_ASSERT_EQUAL(woken[1], 0);
    CU_ASSERT_EQUAL(woken[2], 1);
    CU_ASSERT_EQUAL(woken[3], 1);
    for (int i = 0; i < 4; i++)
        cancel_forget(&t, &w[i]); /* also one that was forgotten before */
    CU_ASSERT_PTR_NULL(t.waiters);
    cancel_destroy(&t);
}

static void test_cancel__forgets_at_either_end(void) {
    cancel_token t;
    atomic_int woken = 0;
    cancel_waiter w[3];
    cancel_init(&t);
    for (int i = 0; i < 3; i++) {
        w[i] = (cancel_waiter){.wake = count, .arg = &woken};
        cancel_listen(&t, &w[i]);
    }
    cancel_forget(&t, &w[0]);
    cancel_forget(&t, &w[2]);
    cancel_raise(&t);
    CU_ASSERT_EQUAL(woken, 1);
    cancel_forget(&t, &w[1]);
    cancel_destroy(&t);
}

static void test_cancel__who_comes_late_is_told_and_not_listed(void) {
    cancel_token t;
    atomic_int woken = 0;
    cancel_waiter w = {.wake = count, .arg = &woken};
    cancel_init(&t);
    cancel_raise(&t);
    CU_ASSERT(!cancel_listen(&t, &w));
    CU_ASSERT_PTR_NULL(t.waiters);
    CU_ASSERT_EQUAL(woken, 0);
    cancel_forget(&t, &w);
    cancel_destroy(&t);
}

/* A waiter that is forgotten while another thread raises: either it was woken before, or never will be. */
typedef struct {
    cancel_token token;
    atomic_int ready;
} race;
static void *raise_it(void *arg) {
    race *r = arg;
    atomic_store(&r->ready, 1);
    cancel_raise(&r->token);
    return NULL;
}
static void test_cancel__forget_means_silence(void) {
    for (int i = 0; i < 500; i++) {
        race r;
        pthread_t thread;
        atomic_int woken = 0;
        cancel_waiter w = {.wake = count, .arg = &woken};
        cancel_init(&r.token);
        atomic_init(&r.ready, 0);
        cancel_listen(&r.token, &w);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, raise_it, &r), 0);
        while (!atomic_load(&r.ready))
            ;
        cancel_forget(&r.token, &w);
        int then = woken;
        pthread_join(thread, NULL);
        unit_check(woken == then && then <= 1, "woken %d, then %d times", then, woken);
        cancel_destroy(&r.token);
    }
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_cancel__wakes_each_waiter_once),
        UNIT_TEST(test_cancel__forgets_at_either_end),
        UNIT_TEST(test_cancel__who_comes_late_is_told_and_not_listed),
        UNIT_TEST(test_cancel__forget_means_silence),
    };
    return UNIT_RUN("cancel", tests);
}
