/* SPDX-License-Identifier: MIT */
#include "day.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BRASILIA_SECONDS = -3 * 3600, DAY_SECONDS = 86400 };

/* Counting from 1 March lets the leap day fall at the end; 146097 days are 400 years. */
sim_day day_make(int year, int month, int day) {
    int y = month <= 2 ? year - 1 : year;
    int era = (y >= 0 ? y : y - 399) / 400;
    int yoe = y - era * 400;
    int doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

void day_split(sim_day day, int *year, int *month, int *mday) {
    int z = day + 719468;
    int era = (z >= 0 ? z : z - 146096) / 146097;
    int doe = z - era * 146097;
    int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int mp = (5 * doy + 2) / 153;
    *mday = doy - (153 * mp + 2) / 5 + 1;
    *month = mp < 10 ? mp + 3 : mp - 9;
    *year = yoe + era * 400 + (*month <= 2);
}

bool day_is_weekend(sim_day day) {
    int dow = ((day % 7) + 7 + 4) % 7; /* 1970-01-01 was a Thursday; 0 is Sunday */
    return dow == 0 || dow == 6;
}

static bool civil_is_valid(int y, int m, int d) {
    int yy, mm, dd;
    if (y < 1 || m < 1 || m > 12 || d < 1 || d > 31)
        return false;
    day_split(day_make(y, m, d), &yy, &mm, &dd);
    return yy == y && mm == m && dd == d;
}

sim_day day_add_years(sim_day day, int years) {
    int y, m, d;
    day_split(day, &y, &m, &d);
    if (!civil_is_valid(y + years, m, d))
        d = 28;
    return day_make(y + years, m, d);
}

sim_day day_next_period(sim_day day) {
    int y, m, d;
    day_split(day, &y, &m, &d);
    int ny = m == 12 ? y + 1 : y, nm = m == 12 ? 1 : m + 1;
    if (civil_is_valid(ny, nm, d))
        return day_make(ny, nm, d);
    return nm == 12 ? day_make(ny + 1, 1, 1) : day_make(ny, nm + 1, 1);
}

/* Reads count digits at *text and moves on; -1 when they are not all digits. */
static int take_digits(const char **text, int count) {
    int n = 0;
    for (; count > 0; count--, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        n = n * 10 + (**text - '0');
    }
    return n;
}

static bool take_char(const char **text, char c) {
    if (**text != c)
        return false;
    (*text)++;
    return true;
}

/* Three numbers of the given widths with sep between them. */
static bool take_triple(const char **text, const int width[3], char sep, int ret[3]) {
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !take_char(text, sep))
            return false;
        ret[i] = take_digits(text, width[i]);
        if (ret[i] < 0)
            return false;
    }
    return true;
}

bool day_parse_br(const char *text, sim_day *ret) {
    int n[3];
    if (!take_triple(&text, (const int[]){2, 2, 4}, '/', n) || *text || !civil_is_valid(n[2], n[1], n[0]))
        return false;
    *ret = day_make(n[2], n[1], n[0]);
    return true;
}

bool day_parse_us(const char *text, sim_day *ret) {
    int n[3];
    if (!take_triple(&text, (const int[]){2, 2, 4}, '-', n) || *text || !civil_is_valid(n[2], n[0], n[1]))
        return false;
    *ret = day_make(n[2], n[0], n[1]);
    return true;
}

static bool take_iso(const char **text, sim_day *ret) {
    int n[3];
    if (!take_triple(text, (const int[]){4, 2, 2}, '-', n) || !civil_is_valid(n[0], n[1], n[2]))
        return false;
    *ret = day_make(n[0], n[1], n[2]);
    return true;
}

bool day_parse_iso(const char *text, sim_day *ret) {
    return take_iso(&text, ret);
}

void day_print_br(sim_day day, char ret[11]) {
    int y, m, d;
    day_split(day, &y, &m, &d);
    snprintf(ret, 11, "%02u/%02u/%04u", (unsigned)d % 100u, (unsigned)m % 100u, (unsigned)y % 10000u);
}

void day_print_iso(sim_day day, char ret[11]) {
    int y, m, d;
    day_split(day, &y, &m, &d);
    snprintf(ret, 11, "%04u-%02u-%02u", (unsigned)y % 10000u, (unsigned)m % 100u, (unsigned)d % 100u);
}

/* The rest of an instant after its time: nothing or Z (UTC), or +hh:mm / -hh:mm. */
static bool take_offset(const char **text, int *ret_seconds) {
    *ret_seconds = 0;
    if (**text == '\0' || take_char(text, 'Z'))
        return **text == '\0';
    int sign = **text == '-' ? -1 : 1;
    if (!take_char(text, '-') && !take_char(text, '+'))
        return false;
    int h = take_digits(text, 2);
    take_char(text, ':');
    int m = take_digits(text, 2);
    *ret_seconds = sign * (h * 3600 + m * 60);
    return h >= 0 && h < 24 && m >= 0 && m < 60 && **text == '\0';
}

bool clock_parse(const char *text, sim_clock *ret) {
    sim_day day;
    int time[3], offset;
    if (!take_iso(&text, &day))
        return false;
    int64_t midnight = (int64_t)day * DAY_SECONDS;
    if (!*text) {
        *ret = (sim_clock){.fixed = true, .epoch = midnight + DAY_SECONDS / 2 - BRASILIA_SECONDS};
        return true;
    }
    if (!take_char(&text, 'T') || !take_triple(&text, (const int[]){2, 2, 2}, ':', time))
        return false;
    if (take_char(&text, '.'))
        text += strspn(text, "0123456789");
    if (time[0] > 23 || time[1] > 59 || time[2] > 59 || !take_offset(&text, &offset))
        return false;
    *ret = (sim_clock){.fixed = true, .epoch = midnight + time[0] * 3600 + time[1] * 60 + time[2] - offset};
    return true;
}

static int64_t clock_local(const sim_clock *clock) {
    return (clock->fixed ? clock->epoch : (int64_t)time(NULL)) + BRASILIA_SECONDS;
}

sim_day clock_today(const sim_clock *clock) {
    int64_t s = clock_local(clock);
    return (sim_day)((s >= 0 ? s : s - (DAY_SECONDS - 1)) / DAY_SECONDS);
}

void clock_print(const sim_clock *clock, char ret[20]) {
    sim_day today = clock_today(clock);
    unsigned s = (unsigned)(clock_local(clock) - (int64_t)today * DAY_SECONDS) % DAY_SECONDS;
    char date[11];
    day_print_iso(today, date);
    snprintf(ret, 20, "%s %02u:%02u:%02u", date, s / 3600, s / 60 % 60, s % 60);
}
