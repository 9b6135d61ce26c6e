/* SPDX-License-Identifier: MIT */
/* harmonise.h -- the `frequencia` and `agregacao` of bcb_serie_valores: choice, refusals, and how it is told.
 */
#ifndef SGS_HARMONISE_H
#define SGS_HARMONISE_H

#include "aggregate.h"
#include "sgs.h"

typedef struct {
    bool wanted;
    sgs_pace target;
    sgs_how how;
    const char *target_name, *how_name; /* as in the arguments */
} sgs_harmony;

/* LASTRO_EARGS when the catalogue alone shows that it would give a false number; nothing was asked of the
 * network. */
lastro_status sgs_harmony_read(const lastro_value *args, const sgs_known *known, sgs_harmony *ret,
                               lastro_error *err);
/* Writes `dados` and `harmonizacao` from r, notes on r what has to be said, and marks the answer as derived.
 * The source's rows turn out finer than asked, or not: LASTRO_EARGS. */
lastro_status sgs_harmony_write(lastro_call *call, const sgs_harmony *h, sgs_window asked, sgs_result *r,
                                lastro_writer *out, lastro_error *err);
/* The same test on the measured rhythm, before anything is written. */
lastro_status sgs_harmony_check(const sgs_harmony *h, const sgs_result *r, lastro_error *err);

#endif
