/* SPDX-License-Identifier: MIT */
/* store.h -- the recorded SGS series and the list of known codes. Filled while starting, read-only
 * afterwards: any thread may read it. */
#ifndef BCB_SIM_STORE_H
#define BCB_SIM_STORE_H

#include "day.h"

#include <stddef.h>

typedef enum {
    PERIOD_UNKNOWN,
    PERIOD_DAILY,
    PERIOD_WEEKLY,
    PERIOD_MONTHLY,
    PERIOD_QUARTERLY,
    PERIOD_YEARLY,
    PERIOD_IRREGULAR
} sim_period;

typedef struct {
    sim_day day;
    sim_day until; /* dataFim, or NO_DAY */
    char *value;   /* the recorded characters; NULL: null */
} sim_obs;

typedef struct {
    int code;
    sim_obs *obs; /* by day, then by until */
    size_t count, cap;
    sim_period period;
    bool business_days; /* daily, and never on a weekend */
} sim_series;

typedef struct {
    int code;
    char *slug;       /* CODE-name, as the portal names the data set */
    char periodicity; /* D, M, T, A, S, or 0 when not known */
    sim_day start;    /* or NO_DAY */
} sim_entry;

typedef struct {
    sim_series *series; /* by code */
    size_t count, cap;
    sim_entry *entry; /* by code */
    size_t entries, entries_cap;
} sim_store;

/* Reads data/sgs/ (recorded bodies), data/CODE.json (snapshot form) and data/ckan/ *.csv.
 * Files that are not such data are named on stderr and left out. */
void store_load(sim_store *store, const char *data);
void store_free(sim_store *store);
const sim_series *store_find(const sim_store *store, int code);
const sim_entry *store_entry(const sim_store *store, int code);

void series_add(sim_series *s, sim_day day, sim_day until, const char *value);
/* Sorts, drops repetitions and infers the periodicity; hint as in sim_entry. */
void series_settle(sim_series *s, char hint);
void series_free(sim_series *s);

#endif
