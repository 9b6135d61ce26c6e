/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool fixed;
static int64_t fixed_ms;

/* Days since 1970-01-01 of a proleptic Gregorian date (month 1..12). */
static int64_t days_of(int64_t y, int m, int d) {
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_of(int64_t days, int *y, int *m, int *d) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = (int)(yoe + era * 400 + (*m <= 2));
}

/* text has the form: each 0 of it a digit, each other character itself. form may be a beginning. */
static bool has_form(const char *text, const char *form) {
    for (; *form; form++, text++)
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    return true;
}
static int two(const char *digits) {
    return (digits[0] - '0') * 10 + digits[1] - '0';
}

bool clock_parse_iso(const char *text, int64_t *ret_ms) {
    int oh = 0, om = 0;
    if (!has_form(text, "0000-00-00T00:00:00"))
        return false;
    int y = two(text) * 100 + two(text + 2), mo = two(text + 5), d = two(text + 8);
    int h = two(text + 11), mi = two(text + 14), s = two(text + 17), y2, mo2, d2;
    if (mo < 1 || mo > 12 || h > 23 || mi > 59 || s > 60)
        return false;
    int64_t days = days_of(y, mo, d);
    date_of(days, &y2, &mo2, &d2);
    if (mo2 != mo || d2 != d) /* no such day in that month */
        return false;
    const char *zone = text + 19;
    int sign = zone[0] == '-' ? -1 : 1;
    if (strcmp(zone, "Z") != 0) {
        if ((*zone != '+' && *zone != '-') || !has_form(zone + 1, "00:00") || zone[6])
            return false;
        oh = two(zone + 1);
        om = two(zone + 4);
        if (oh > 23 || om > 59)
            return false;
    }
    int64_t secs = days * 86400 + h * 3600 + mi * 60 + s - (int64_t)sign * (oh * 60 + om) * 60;
    *ret_ms = secs * 1000;
    return true;
}

bool clock_init(void) {
    const char *text = getenv("LASTRO_CLOCK");
    fixed = text && *text;
    return !fixed || clock_parse_iso(text, &fixed_ms);
}

static int64_t read_us(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_wall_ms(void) {
    return fixed ? fixed_ms : read_us(CLOCK_REALTIME) / 1000;
}
int64_t clock_mono_us(void) {
    return read_us(CLOCK_MONOTONIC);
}
int64_t clock_mono_ms(void) {
    return clock_mono_us() / 1000;
}

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

void clock_format_iso(int64_t ms, int32_t offset_min, char *buf, size_t size) {
    int64_t local = floor_div(ms, 1000) + (int64_t)offset_min * 60;
    int64_t day = floor_div(local, 86400), rest = local - day * 86400;
    int y, m, d, off = offset_min < 0 ? -offset_min : offset_min;
    date_of(day, &y, &m, &d);
    snprintf(buf, size, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", y, m, d, (int)(rest / 3600), (int)(rest / 60 % 60),
             (int)(rest % 60), offset_min < 0 ? '-' : '+', off / 60, off % 60);
}

void clock_format_day(int64_t ms, int32_t offset_min, char *buf, size_t size) {
    int y, m, d;
    date_of(floor_div(floor_div(ms, 1000) + (int64_t)offset_min * 60, 86400), &y, &m, &d);
    snprintf(buf, size, "%02d/%02d/%04d", d, m, y);
}
