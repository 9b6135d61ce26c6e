/* SPDX-License-Identifier: MIT */
/* periodicity.h -- the rhythm of a series: named by the catalogue, or measured from the gaps between its
 * dates (SGS has no metadata endpoint: 404, measured 2026-08-11). */
#ifndef SGS_PERIODICITY_H
#define SGS_PERIODICITY_H

#include "dates.h"

typedef enum {
    SGS_PACE_UNKNOWN = 0,
    SGS_PACE_IRREGULAR,
    SGS_PACE_DAILY, /* from here on in order, finer first */
    SGS_PACE_WEEKLY,
    SGS_PACE_MONTHLY,
    SGS_PACE_QUARTERLY,
    SGS_PACE_HALF_YEARLY,
    SGS_PACE_YEARLY
} sgs_pace;

enum { SGS_PACE_MIN_DATES = 3 };

/* Gaps between dates given one after the other in ascending order. Repeated dates (TR) make no gap. */
typedef struct {
    uint32_t by_days[512]; /* the last one: that and more */
    uint32_t count, dates;
    sgs_day last;
} sgs_gaps;
void sgs_gaps_start(sgs_gaps *g);
void sgs_gaps_add(sgs_gaps *g, sgs_day d);
/* By the median gap; SGS_PACE_UNKNOWN with fewer than SGS_PACE_MIN_DATES dates. */
sgs_pace sgs_gaps_pace(const sgs_gaps *g);

const char *sgs_pace_label(sgs_pace p);                 /* Portuguese; NULL for SGS_PACE_UNKNOWN */
sgs_pace sgs_pace_named(const char *label, size_t len); /* SGS_PACE_UNKNOWN: no such label */
/* Days that hold N observations on average, rounded up, with a reserve of 60 %. */
sgs_day sgs_pace_span(sgs_pace p, uint32_t observations);
/* Days after which a last value is old for its rhythm (thresholds of the weekly live check, bcb.md 15). */
sgs_day sgs_pace_stale_days(sgs_pace p);

#endif
