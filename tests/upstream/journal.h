/* SPDX-License-Identifier: MIT */
/* journal.h -- which requests came, for GET /__sim/requests. Any thread. */
#ifndef BCB_SIM_JOURNAL_H
#define BCB_SIM_JOURNAL_H

#include "text.h"

#include <stdint.h>

typedef struct sim_journal sim_journal;

/* One request's place in the journal; a reset makes it void. */
typedef struct {
    uint64_t generation;
    size_t index;
} sim_ticket;

sim_journal *journal_create(void);
void journal_destroy(sim_journal *j);
/* path, query: as they were sent */
sim_ticket journal_begin(sim_journal *j, const char *path, const char *query);
void journal_status(sim_journal *j, sim_ticket ticket, unsigned status);
/* The request is over, answered or not. */
void journal_end(sim_journal *j);
void journal_reset(sim_journal *j);
void journal_print(sim_journal *j, sim_text *ret);

#endif
