/* SPDX-License-Identifier: MIT */
/* slices.h -- how a long window of a daily series is cut.
 * SGS refuses (406) more than 10 years of a daily series, to the day; and 10 years take 10 to 20 s against a
 * cut at about 30 s, while 3 years take about 2.6 s (bcb.md 7.2, measured 2026-08-11). */
#ifndef SGS_SLICES_H
#define SGS_SLICES_H

#include "dates.h"

enum { SGS_SLICE_YEARS = 3, SGS_SLICE_SLACK_DAYS = 60, SGS_LIMIT_YEARS = 10, SGS_SLICES_MAX = 160 };

/* Cuts [w.from, w.to] into pieces of at most three years; each begins the day after the one before, and a
 * rest of at most 60 days stays with the last. Returns the count, at least 1; ret has room for
 * SGS_SLICES_MAX. from <= to. */
size_t sgs_slices_plan(sgs_window w, sgs_window *ret);

#endif
