/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <pthread.h>

sigset_t signals_ending(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

void signals_block_ending(void) {
    sigset_t set = signals_ending();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}
