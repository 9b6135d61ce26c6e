/* SPDX-License-Identifier: MIT */
/* day.h -- days as numbers, and the clock. The sources live in Brasilia, UTC-3 all year since
 * 2019; the simulator uses -03:00 for every date. */
#ifndef BCB_SIM_DAY_H
#define BCB_SIM_DAY_H

#include <stdbool.h>
#include <stdint.h>

typedef int32_t sim_day; /* days since 1970-01-01 */
#define NO_DAY INT32_MIN

sim_day day_make(int year, int month, int day);
void day_split(sim_day day, int *year, int *month, int *mday);
bool day_is_weekend(sim_day day);
/* The same day of another year; 29 February becomes 28 February where there is none. */
sim_day day_add_years(sim_day day, int years);
/* The same day of the next month, or the first of the one after where there is none: how the
 * source dates the end of a savings or TR period. */
sim_day day_next_period(sim_day day);

bool day_parse_br(const char *text, sim_day *ret);  /* exactly dd/MM/yyyy, a day that exists */
bool day_parse_us(const char *text, sim_day *ret);  /* exactly MM-dd-yyyy */
bool day_parse_iso(const char *text, sim_day *ret); /* begins with yyyy-MM-dd */
void day_print_br(sim_day day, char ret[11]);
void day_print_iso(sim_day day, char ret[11]);

typedef struct {
    bool fixed;
    int64_t epoch; /* seconds, when fixed */
} sim_clock;

/* 2026-08-21T10:00:00-03:00, ...Z, or a date alone (its noon) */
bool clock_parse(const char *text, sim_clock *ret);
sim_day clock_today(const sim_clock *clock);
/* "yyyy-MM-dd HH:mm:ss" in Brasilia */
void clock_print(const sim_clock *clock, char ret[20]);

#endif
