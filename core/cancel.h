/* SPDX-License-Identifier: MIT */
/* cancel.h -- one call's cancellation: a flag, and who wants to be woken when it is raised.
 * All functions: any thread. A waiter is the caller's memory and must be removed before it dies. */
#ifndef LASTRO_CORE_CANCEL_H
#define LASTRO_CORE_CANCEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cancel_waiter {
    void (*wake)(void *arg); /* called once, from the cancelling thread, with no lock of ours held by arg's owner:
                                it must not call back into this token; keep it short */
    void *arg;
    struct cancel_waiter *next, *prev;
    bool listed;
} cancel_waiter;

typedef struct cancel_token {
    atomic_bool raised;
    pthread_mutex_t lock;
    cancel_waiter *waiters;
} cancel_token;

void cancel_init(cancel_token *t);
void cancel_destroy(cancel_token *t); /* nobody waits any more */
void cancel_raise(cancel_token *t);   /* idempotent */
static inline bool cancel_raised(cancel_token *t) {
    return atomic_load_explicit(&t->raised, memory_order_acquire);
}
/* False when it was raised already: nothing was listed, wake is not called. */
bool cancel_listen(cancel_token *t, cancel_waiter *w);
/* After it returns wake neither runs nor will. */
void cancel_forget(cancel_token *t, cancel_waiter *w);

#endif
