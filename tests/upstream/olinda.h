/* SPDX-License-Identifier: MIT */
/* olinda.h -- recorded rows of the two OData services, Expectativas (Focus) and PTAX. */
#ifndef BCB_SIM_OLINDA_H
#define BCB_SIM_OLINDA_H

#include "rows.h"

typedef struct {
    char *name; /* a Focus resource; CotacaoDolar; CotacaoMoeda_EUR; Moedas */
    sim_rows rows;
} sim_pool;

typedef struct {
    sim_pool *pool;
    size_t count;
} sim_olinda;

void olinda_load(sim_olinda *o, const char *data);
void olinda_free(sim_olinda *o);

#endif
