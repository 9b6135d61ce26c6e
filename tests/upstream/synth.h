/* SPDX-License-Identifier: MIT */
/* synth.h -- invented series, only with --seed: the same seed and code give the same figures. */
#ifndef BCB_SIM_SYNTH_H
#define BCB_SIM_SYNTH_H

#include "store.h"

#include <stdint.h>

enum { SYNTH_CODE_END = 90000 }; /* codes from here on stay unknown, so that a test has some */

uint64_t synth_mix(uint64_t x);
/* entry may be NULL; the caller frees with series_free */
void synth_series(sim_series *ret, int code, uint64_t seed, const sim_entry *entry, sim_day today);

#endif
