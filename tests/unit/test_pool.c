/* SPDX-License-Identifier: MIT */
#include "pool.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    pool_job job; /* first */
    atomic_bool *gate; /* waits until it is open; NULL: does not wait */
    atomic_int *running, *done;
    int number, *order;
    atomic_int *next;
} task;

static void nap(long us) {
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}
static void work(pool_job *job) {
    task *t = (task *)job;
    atomic_fetch_add(t->running, 1);
    while (t->gate && !atomic_load(t->gate))
        nap(200);
    if (t->order)
        t->order[atomic_fetch_add(t->next, 1)] = t->number;
    atomic_fetch_sub(t->running, 1);
    atomic_fetch_add(t->done, 1);
}
static bool until(atomic_int *value, int wanted) {
    for (int i = 0; i < 20000 && atomic_load(value) != wanted; i++)
        nap(500);
    return atomic_load(value) == wanted;
}

static void test_pool__grows_with_the_work_up_to_its_most(void) {
    enum { MOST = 3, JOBS = 8 };
    atomic_bool gate = false;
    atomic_int running = 0, done = 0;
    task tasks[JOBS];
    pool *p = pool_create(MOST);
    for (int i = 0; i < JOBS; i++) {
        tasks[i] = (task){.job.run = work, .gate = &gate, .running = &running, .done = &done};
        pool_submit(p, &tasks[i].job);
        CU_ASSERT(until(&running, i < MOST ? i + 1 : MOST));
    }
    nap(20000);
    CU_ASSERT_EQUAL(running, MOST);
    CU_ASSERT_EQUAL(done, 0);
    gate = true;
    CU_ASSERT(until(&done, JOBS));
    pool_destroy(p);
}

static void test_pool__queued_jobs_keep_their_order(void) {
    enum { JOBS = 50 };
    atomic_bool gate = false;
    atomic_int running = 0, done = 0, next = 0;
    int order[JOBS];
    task tasks[JOBS];
    pool *p = pool_create(1);
    for (int i = 0; i < JOBS; i++) {
        tasks[i] = (task){{work, NULL}, &gate, &running, &done, i, order, &next};
        pool_submit(p, &tasks[i].job);
    }
    gate = true;
    CU_ASSERT(until(&done, JOBS));
    for (int i = 0; i < JOBS; i++)
        unit_check(order[i] == i, "job %d ran at place %d", order[i], i);
    pool_destroy(p);
}

/* What cannot begin at once is refused: a caller that would wait for it runs it itself. */
static void test_pool__try_takes_only_what_begins_at_once(void) {
    atomic_bool gate = false;
    atomic_int running = 0, done = 0;
    task tasks[4];
    for (int i = 0; i < 4; i++)
        tasks[i] = (task){.job.run = work, .gate = &gate, .running = &running, .done = &done};
    pool *p = pool_create(2);
    CU_ASSERT(pool_try(p, &tasks[0].job));
    CU_ASSERT(pool_try(p, &tasks[1].job));
    CU_ASSERT(!pool_try(p, &tasks[2].job));
    CU_ASSERT(until(&running, 2));
    CU_ASSERT(!pool_try(p, &tasks[2].job));
    pool_submit(p, &tasks[2].job);
    CU_ASSERT(!pool_try(p, &tasks[3].job)); /* the next idle thread belongs to the queued one */
    gate = true;
    CU_ASSERT(until(&done, 3));
    nap(5000); /* both idle now */
    CU_ASSERT(pool_try(p, &tasks[3].job));
    CU_ASSERT(until(&done, 4));
    pool_destroy(p);
}

/* Woken is not yet running: the one idle thread is promised once. */
static void test_pool__an_idle_thread_is_promised_once(void) {
    atomic_int running = 0, done = 0;
    pool *p = pool_create(1);
    int rounds = 0;
    for (int i = 0; i < 200; i++) {
        atomic_bool gate = false;
        task tasks[2];
        for (int k = 0; k < 2; k++)
            tasks[k] = (task){.job.run = work, .gate = &gate, .running = &running, .done = &done};
        while (!pool_try(p, &tasks[0].job)) /* until it is idle again */
            nap(50);
        bool twice = pool_try(p, &tasks[1].job);
        unit_check(!twice, "round %d: two jobs for one thread", i);
        gate = true;
        rounds += 1 + twice;
        CU_ASSERT(until(&done, rounds));
    }
    pool_destroy(p);
}

static void test_pool__an_idle_thread_is_used_again(void) {
    atomic_int running = 0, done = 0;
    pool *p = pool_create(1000);
    task t = {.job.run = work, .running = &running, .done = &done};
    for (int i = 0; i < 300; i++) { /* more than the machine would like as threads of their own */
        pool_submit(p, &t.job);
        CU_ASSERT(until(&done, i + 1));
    }
    pool_destroy(p);
}

typedef struct {
    task base; /* first */
    pool *in;
    atomic_bool lent;
} long_job;
static void work_on_loan(pool_job *job) {
    long_job *l = (long_job *)job;
    bool lent = pool_lend(l->in);
    atomic_store(&l->lent, lent);
    work(job);
    if (lent)
        pool_give_back(l->in);
}

/* A job that runs for long steps aside: others find a thread as if it were not there, up to twice the pool's most. */
static void test_pool__a_lent_thread_is_not_counted(void) {
    enum { MOST = 2 };
    atomic_bool gate = false, open = true;
    atomic_int running = 0, done = 0, short_running = 0, short_done = 0;
    long_job jobs[MOST + 1];
    task others[4];
    pool *p = pool_create(MOST);
    for (int i = 0; i <= MOST; i++) {
        jobs[i] = (long_job){.base = {.job.run = work_on_loan, .gate = &gate, .running = &running, .done = &done}, .in = p};
        pool_submit(p, &jobs[i].base.job);
        CU_ASSERT(until(&running, i + 1)); /* also the third, in the place of the first */
    }
    CU_ASSERT(jobs[0].lent && jobs[1].lent && !jobs[2].lent); /* no more than there may be threads */
    for (int i = 0; i < 4; i++) {
        others[i] = (task){.job.run = work, .gate = &open, .running = &short_running, .done = &short_done};
        pool_submit(p, &others[i].job); /* one place is left */
    }
    CU_ASSERT(until(&short_done, 4));
    gate = true;
    CU_ASSERT(until(&done, MOST + 1));
    gate = false;
    nap(5000);
    for (int i = 0; i < 4; i++) {
        others[i].gate = &gate;
        pool_submit(p, &others[i].job);
    }
    CU_ASSERT(until(&short_running, MOST));
    nap(20000);
    CU_ASSERT_EQUAL(short_running, MOST); /* those that were too many have left */
    gate = true;
    CU_ASSERT(until(&short_done, 8));
    pool_destroy(p);
}

/* One waits already when the thread is lent. */
static void test_pool__lending_lets_the_next_one_begin(void) {
    atomic_bool gate = false, open = true, waiting = false;
    atomic_int running = 0, done = 0, other_running = 0, other_done = 0;
    pool *p = pool_create(1);
    task first = {.job.run = work, .gate = &waiting, .running = &running, .done = &done};
    long_job l = {.base = {.job.run = work_on_loan, .gate = &gate, .running = &running, .done = &done}, .in = p};
    task other = {.job.run = work, .gate = &open, .running = &other_running, .done = &other_done};
    pool_submit(p, &first.job);
    CU_ASSERT(until(&running, 1));
    pool_submit(p, &l.base.job);
    pool_submit(p, &other.job);
    waiting = true;
    CU_ASSERT(until(&other_done, 1)); /* while the long one runs */
    CU_ASSERT_EQUAL(running, 1);
    gate = true;
    CU_ASSERT(until(&done, 2));
    pool_destroy(p);
}

static void test_pool__destroy_runs_what_is_queued(void) {
    enum { JOBS = 200 };
    atomic_int running = 0, done = 0;
    static task tasks[JOBS];
    pool *p = pool_create(2);
    for (int i = 0; i < JOBS; i++) {
        tasks[i] = (task){.job.run = work, .running = &running, .done = &done};
        pool_submit(p, &tasks[i].job);
    }
    pool_destroy(p);
    CU_ASSERT_EQUAL(done, JOBS);
    pool_destroy(NULL);
    pool_destroy(pool_create(0)); /* nothing ever ran */
}

static pool *shared;
static void *submit_many(void *arg) {
    task *tasks = arg;
    for (int i = 0; i < 500; i++)
        if (i % 2 || !pool_try(shared, &tasks[i].job))
            pool_submit(shared, &tasks[i].job);
    return NULL;
}
static void test_pool__loses_nothing_under_many_submitters(void) {
    enum { THREADS = 4, EACH = 500 };
    static task tasks[THREADS][EACH];
    atomic_int running = 0, done = 0;
    pthread_t threads[THREADS];
    shared = pool_create(4);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < EACH; i++)
            tasks[t][i] = (task){.job.run = work, .running = &running, .done = &done};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[t], NULL, submit_many, tasks[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pool_destroy(shared);
    CU_ASSERT_EQUAL(done, THREADS * EACH);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_pool__grows_with_the_work_up_to_its_most),  UNIT_TEST(test_pool__queued_jobs_keep_their_order),
        UNIT_TEST(test_pool__try_takes_only_what_begins_at_once),  UNIT_TEST(test_pool__an_idle_thread_is_used_again),
        UNIT_TEST(test_pool__an_idle_thread_is_promised_once),
        UNIT_TEST(test_pool__a_lent_thread_is_not_counted),
        UNIT_TEST(test_pool__lending_lets_the_next_one_begin),
        UNIT_TEST(test_pool__destroy_runs_what_is_queued),         UNIT_TEST(test_pool__loses_nothing_under_many_submitters),
    };
    return UNIT_RUN("pool", tests);
}
