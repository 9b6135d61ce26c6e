/* SPDX-License-Identifier: MIT */
#include "doubt.h"

#include <time.h>

static int64_t monotonic_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void sgs_doubts_start(sgs_doubts *d) {
    *d = (sgs_doubts){0};
    pthread_mutex_init(&d->lock, NULL);
}

void sgs_doubts_end(sgs_doubts *d) {
    pthread_mutex_destroy(&d->lock);
}

uint32_t sgs_doubt_recall(sgs_doubts *d, int64_t code) {
    uint32_t attempts = 0;
    int64_t now = monotonic_ms();
    pthread_mutex_lock(&d->lock);
    for (unsigned i = 0; i < SGS_DOUBTS; i++)
        if (d->at[i].code == code && d->at[i].until_ms > now)
            attempts = d->at[i].attempts;
    pthread_mutex_unlock(&d->lock);
    return attempts;
}

void sgs_doubt_remember(sgs_doubts *d, int64_t code, uint32_t attempts) {
    pthread_mutex_lock(&d->lock);
    unsigned slot = d->next;
    for (unsigned i = 0; i < SGS_DOUBTS; i++)
        if (d->at[i].code == code)
            slot = i;
    if (slot == d->next)
        d->next = (d->next + 1) % SGS_DOUBTS;
    d->at[slot].code = code;
    d->at[slot].until_ms = monotonic_ms() + SGS_DOUBT_MS;
    d->at[slot].attempts = attempts;
    pthread_mutex_unlock(&d->lock);
}
