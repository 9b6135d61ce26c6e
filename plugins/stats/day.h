/* SPDX-License-Identifier: MIT */
/* day.h -- calendar days as numbers, 0 being 1970-01-01. Plain C, any thread. */
#ifndef LASTRO_STATS_DAY_H
#define LASTRO_STATS_DAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads dd/MM/yyyy or yyyy-MM-dd, years 1 to 9999. False: it is no day of the calendar. */
bool day_parse(const char *text, size_t len, int32_t *ret);
/* Months since year 0, so that neighbours differ by 1. */
int32_t day_month(int32_t day);
int day_of_month(int32_t day);
/* The same day of the next month, or, where that month has none, the 1st of the month after: the rule of
 * savings and TR periods (bcb.gov.br/pec/poupanca; 273 rows of series 226 in 2026 follow it, save those of
 * deposits made on days 29 to 31, which only dataFim tells). */
int32_t day_next_month(int32_t day);
/* "dd/MM/yyyy" */
void day_print(int32_t day, char text[16]);

#endif
