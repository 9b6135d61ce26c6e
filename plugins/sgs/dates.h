/* SPDX-License-Identifier: MIT */
/* dates.h -- days as numbers. A day is the count of days since 1970-01-01; nothing here knows of hours or
 * hosts. */
#ifndef SGS_DATES_H
#define SGS_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t sgs_day;
#define SGS_NO_DAY INT32_MIN
enum { SGS_DATE_SIZE = 11 }; /* "dd/MM/yyyy" and its NUL */

typedef struct {
    sgs_day from, to; /* both included */
} sgs_window;

typedef enum {
    SGS_DATE_OK = 0,
    SGS_DATE_FORM, /* neither yyyy-MM-dd nor dd/MM/yyyy */
    SGS_DATE_YEAR, /* outside 1800..2200: a typing slip, no series goes there */
    SGS_DATE_MONTH,
    SGS_DATE_DAY /* the month has no such day */
} sgs_date_fault;

/* Reads exactly yyyy-MM-dd or dd/MM/yyyy; nothing is guessed or shifted (field case F016). */
sgs_date_fault sgs_date_read(const char *text, size_t len, sgs_day *ret);

sgs_day sgs_day_of(int year, int month, int day);
void sgs_day_split(sgs_day d, int *ret_year, int *ret_month, int *ret_day);
int sgs_days_in_month(int year, int month);
/* 29/02 and no leap year: 28/02. */
sgs_day sgs_add_years(sgs_day d, int years);
void sgs_date_write(sgs_day d, char ret[SGS_DATE_SIZE]); /* dd/MM/yyyy */
/* The day in Brasilia (UTC-3, no daylight saving since 2019) at an instant in milliseconds since 1970 UTC. */
sgs_day sgs_brasilia_day(int64_t instant_ms);

#endif
