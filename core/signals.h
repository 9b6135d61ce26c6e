/* SPDX-License-Identifier: MIT */
/* signals.h -- the signals that ask a server to end: SIGTERM and SIGINT. */
#ifndef LASTRO_CORE_SIGNALS_H
#define LASTRO_CORE_SIGNALS_H

#include <signal.h>

sigset_t signals_ending(void);
/* Blocks them in this thread and those it makes, so that whoever waits for them gets them. */
void signals_block_ending(void);

#endif
