/* SPDX-License-Identifier: MIT */
/* pool.h -- worker threads for calls that wait. Threads are made when there is work and none is idle, up to a most,
 * and end after half a minute without work: a server that only answers cheap calls has none.
 * All functions: any thread. */
#ifndef LASTRO_CORE_POOL_H
#define LASTRO_CORE_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool pool;

typedef struct pool_job {
    void (*run)(struct pool_job *job);
    struct pool_job *next; /* the pool's */
} pool_job;

pool *pool_create(unsigned most); /* NULL: out of memory */
/* Waits until no job runs; queued ones are run first. */
void pool_destroy(pool *p);
/* The job's memory is the caller's until run was called. Queues when all threads are busy. */
void pool_submit(pool *p, pool_job *job);
/* Jobs that wait for a thread. */
unsigned pool_waiting(pool *p);
/* The same as submitting, but only when a thread can begin at once; false: nothing was done. */
bool pool_try(pool *p, pool_job *job);

/* The job that calls this will run for long: its thread no longer counts, so that others find one as before. At most as
 * many are lent as the pool has threads; false: no more are. Given back by the same job before it ends. */
bool pool_lend(pool *p);
void pool_give_back(pool *p);

#endif
