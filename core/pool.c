/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { IDLE_SECONDS = 30, STACK_BYTES = 1 << 20 };

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, gone;
    pool_job *first, **last;
    unsigned most, threads, idle, queued, lent;
    bool stopping;
};

static void *serve(void *arg) {
    pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        if (p->first) {
            pool_job *job = p->first;
            p->first = job->next;
            if (!p->first)
                p->last = &p->first;
            p->queued--;
            pthread_mutex_unlock(&p->lock);
            job->run(job);
            pthread_mutex_lock(&p->lock);
            if (p->threads - p->lent > p->most) /* one was made in the place of this one, which was lent */
                break;
            continue;
        }
        if (p->stopping)
            break;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
        p->idle++;
        int timed_out = pthread_cond_timedwait(&p->work, &p->lock, &until);
        p->idle--;
        if (timed_out && !p->first && !p->stopping)
            break;
    }
    p->threads--;
    pthread_cond_broadcast(&p->gone);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

pool *pool_create(unsigned most) {
    pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, &attr);
    pthread_cond_init(&p->gone, NULL);
    pthread_condattr_destroy(&attr);
    p->last = &p->first;
    p->most = most ? most : 1;
    return p;
}

void pool_destroy(pool *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    while (p->threads)
        pthread_cond_wait(&p->gone, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->gone);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* With the lock held. False: no thread could be made. */
static bool add_thread(pool *p) {
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attr, serve, p) == 0;
    pthread_attr_destroy(&attr);
    if (ok)
        p->threads++;
    return ok;
}

static bool enqueue(pool *p, pool_job *job, bool only_now) {
    pthread_mutex_lock(&p->lock);
    bool at_once = p->idle > p->queued || (p->threads - p->lent < p->most && add_thread(p));
    bool take = at_once || (!only_now && p->threads > 0);
    if (take) {
        job->next = NULL;
        *p->last = job;
        p->last = &job->next;
        p->queued++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return take;
}

bool pool_try(pool *p, pool_job *job) {
    return enqueue(p, job, true);
}

void pool_submit(pool *p, pool_job *job) {
    if (!enqueue(p, job, false))
        job->run(job); /* no thread can be made at all: better slow than never */
}

unsigned pool_waiting(pool *p) {
    pthread_mutex_lock(&p->lock);
    unsigned waiting = p->queued;
    pthread_mutex_unlock(&p->lock);
    return waiting;
}

bool pool_lend(pool *p) {
    pthread_mutex_lock(&p->lock);
    bool ok = p->lent < p->most && p->lent < p->threads;
    if (ok) {
        p->lent++;
        if (p->queued > p->idle) /* somebody waits for the place that is free now */
            add_thread(p);
    }
    pthread_mutex_unlock(&p->lock);
    return ok;
}

void pool_give_back(pool *p) {
    pthread_mutex_lock(&p->lock);
    p->lent--;
    pthread_mutex_unlock(&p->lock);
}
