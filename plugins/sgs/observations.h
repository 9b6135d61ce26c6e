/* SPDX-License-Identifier: MIT */
/* observations.h -- rows of a series in memory: dates as days, values as the source's own text.
 * An array belongs to the call that made it. */
#ifndef SGS_OBSERVATIONS_H
#define SGS_OBSERVATIONS_H

#include "dates.h"
#include "periodicity.h"
#include <lastro/abi.h>

typedef struct {
    sgs_day day;
    sgs_day end;       /* dataFim of TR and savings; SGS_NO_DAY: none given */
    lastro_text value; /* a JSON number token; at == NULL: the source gives the date without a value */
    uint32_t order;    /* place in the source's answer, for a stable order */
} sgs_row;

typedef struct {
    sgs_row *at;
    size_t count;
} sgs_rows;

typedef struct {
    size_t repeated;    /* same date (and dataFim) again with the same value: dropped */
    size_t conflicting; /* the same with another value: dropped too, the first stays, and it is said */
} sgs_repeats;

/* Reads an answer (or the rows of one) into rows allocated from the call. LASTRO_EUPSTREAM: a date or a value
 * is unreadable; err names it, in Portuguese. */
lastro_status sgs_rows_parse(lastro_call *call, lastro_text body, sgs_rows *ret, lastro_error *err);
/* One row from its parts; the same errors. */
lastro_status sgs_row_read(lastro_call *call, lastro_text day, lastro_text end, const lastro_value *value,
                           sgs_row *ret, lastro_error *err);

/* Ascending by date, then dataFim; `ultimos/N` comes newest first in 22 of 169 series (measured 2026-08-12).
 */
void sgs_rows_sort(sgs_rows *rows);
/* Sorted rows: one per (date, dataFim); several rows of one date with different ends are all kept (TR). */
sgs_repeats sgs_rows_unique(sgs_rows *rows);
/* Keeps rows with from <= day <= to (SGS_NO_DAY: open); returns how many went. A window that starts on a
 * holiday brings the business day before (field case F007). */
size_t sgs_rows_clip(sgs_rows *rows, sgs_day from, sgs_day to);
size_t sgs_rows_without_value(const sgs_rows *rows);
sgs_pace sgs_rows_pace(const sgs_rows *rows); /* sorted rows */

#endif
