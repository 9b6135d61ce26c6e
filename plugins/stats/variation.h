/* SPDX-License-Identifier: MIT */
/* variation.h -- what can be computed on the observations of one series. Plain C: no host, no texts for
 * people, any thread, no state. Observations with a value only, oldest first. */
#ifndef LASTRO_STATS_VARIATION_H
#define LASTRO_STATS_VARIATION_H

#include "exact.h"

typedef struct observation {
    int32_t day;
    int32_t end; /* of the row's own period (dataFim); DAY_NONE: the source gives none */
    exact value;
    size_t source; /* its place in what the service returned */
} observation;
#define DAY_NONE INT32_MIN

/* By day, then end, then the order of arrival. The source sends some series newest first (22 of 169,
 * 13/08/2026). */
void observations_sort(observation *o, size_t count);

/* Which rows of a series of rates follow one another without overlap or hole. */
typedef enum chain_rule {
    CHAIN_EVERY,   /* every row is the rate of its own period, up to the next row */
    CHAIN_MONTHLY, /* savings: one row a month. Rows of a month each cover a whole month, so chaining them all
                      would pile up some 28 months a month. From the first row on, each row starts where the
                      one before it ends: for a window that opens on day 1 that is the first row of each month
                    */
    CHAIN_PERIODS  /* TR: the same, and a row that is missing ends the chain */
} chain_rule;

typedef struct chain {
    size_t *rows; /* the caller's room for count indices */
    size_t count;
    size_t gaps;        /* rows that did not start where the one before ended (never for CHAIN_PERIODS) */
    bool broken;        /* CHAIN_PERIODS: rows were left over because the row to follow is missing */
    bool ends_inferred; /* some row had no dataFim: its end was taken to be the same day of the next month */
    int32_t end;        /* where the last row chained ends; DAY_NONE for CHAIN_EVERY */
} chain;
void chain_select(chain_rule rule, const observation *o, size_t count, chain *ret);

/* Whole months without a row between the first and the last one; for monthly series. */
size_t months_missing(const observation *o, size_t count);

typedef struct extremes {
    size_t highest, lowest; /* the first of equals */
} extremes;
extremes observations_extremes(const observation *o, size_t count);

/* Why numbers of an unknown series may be rates, not levels. Bits; 0: nothing speaks for it. */
enum {
    LOOKS_NAMED = 1,    /* its name or unit says so */
    LOOKS_SIGNED = 2,   /* small numbers on both sides of zero */
    LOOKS_SWINGING = 4, /* small numbers that change by a fifth and more from row to row */
    LOOKS_DAILY = 8     /* numbers below 1 every day: rates a day, or a month, start on each day */
};
unsigned looks_like_rate(const char *name, size_t len, const observation *o, size_t count);

#endif
