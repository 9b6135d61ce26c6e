/* SPDX-License-Identifier: MIT */
/* doubt.h -- codes that brought nothing but pages or silence a moment ago. They are probably wrong, but no
 * page proves it, so nothing is concluded: the same message is given again for a minute without another wait
 * of 13 s, and then the source is asked anew. Any thread. */
#ifndef SGS_DOUBT_H
#define SGS_DOUBT_H

#include <pthread.h>
#include <stdint.h>

enum { SGS_DOUBTS = 64, SGS_DOUBT_MS = 60000 };

typedef struct {
    pthread_mutex_t lock;
    struct {
        int64_t code, until_ms; /* monotonic: LASTRO_CLOCK may stand still */
        uint32_t attempts;
    } at[SGS_DOUBTS];
    unsigned next;
} sgs_doubts;

void sgs_doubts_start(sgs_doubts *d);
void sgs_doubts_end(sgs_doubts *d);
/* Attempts that were made for the code; 0: not in doubt. */
uint32_t sgs_doubt_recall(sgs_doubts *d, int64_t code);
void sgs_doubt_remember(sgs_doubts *d, int64_t code, uint32_t attempts);

#endif
