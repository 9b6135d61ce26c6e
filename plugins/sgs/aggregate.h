/* SPDX-License-Identifier: MIT */
/* aggregate.h -- a series on a coarser grid. Pure: rows in, points out. */
#ifndef SGS_AGGREGATE_H
#define SGS_AGGREGATE_H

#include "observations.h"
#include "value.h"

typedef enum { SGS_LAST = 0, SGS_FIRST, SGS_MEAN, SGS_SUM, SGS_COMPOUND } sgs_how;

typedef struct {
    sgs_window period;             /* the point carries its first day */
    size_t used;                   /* observations with a value that went in */
    lastro_text value;             /* literal text, for the last and the first; at == NULL: see computed */
    char computed[SGS_VALUE_SIZE]; /* "" and value.at == NULL: the period has no value */
    bool incomplete;               /* not all of the period is in */
} sgs_point;

typedef struct {
    sgs_pace source, target; /* target: SGS_PACE_MONTHLY, _QUARTERLY or _YEARLY */
    sgs_how how;
    sgs_window asked; /* SGS_NO_DAY: open end */
    sgs_day today;    /* the day the figures were read */
    sgs_day partial;  /* day of a row whose own period is still running; SGS_NO_DAY: none */
} sgs_plan;

/* Coarser or equal: aggregation invents nothing. Irregular and unknown rhythms pass. */
bool sgs_aggregate_allowed(sgs_pace source, sgs_pace target);
sgs_window sgs_period_of(sgs_day d, sgs_pace target);
/* rows: sorted. ret has room for rows->count points. Returns the count. */
size_t sgs_aggregate(const sgs_rows *rows, const sgs_plan *plan, sgs_point *ret);

#endif
