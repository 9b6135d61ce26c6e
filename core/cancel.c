/* SPDX-License-Identifier: MIT */
#include "cancel.h"

#include <stddef.h>

void cancel_init(cancel_token *t) {
    atomic_init(&t->raised, false);
    pthread_mutex_init(&t->lock, NULL);
    t->waiters = NULL;
}

void cancel_destroy(cancel_token *t) {
    pthread_mutex_destroy(&t->lock);
}

void cancel_raise(cancel_token *t) {
    pthread_mutex_lock(&t->lock);
    if (!atomic_exchange(&t->raised, true))
        for (cancel_waiter *w = t->waiters; w; w = w->next)
            w->wake(w->arg); /* under the lock, so that cancel_forget can promise silence */
    pthread_mutex_unlock(&t->lock);
}

bool cancel_listen(cancel_token *t, cancel_waiter *w) {
    pthread_mutex_lock(&t->lock);
    bool live = !atomic_load(&t->raised);
    if (live) {
        w->prev = NULL;
        w->next = t->waiters;
        if (w->next)
            w->next->prev = w;
        t->waiters = w;
    }
    w->listed = live;
    pthread_mutex_unlock(&t->lock);
    return live;
}

void cancel_forget(cancel_token *t, cancel_waiter *w) {
    pthread_mutex_lock(&t->lock);
    if (w->listed) {
        if (w->prev)
            w->prev->next = w->next;
        else
            t->waiters = w->next;
        if (w->next)
            w->next->prev = w->prev;
        w->listed = false;
    }
    pthread_mutex_unlock(&t->lock);
}
