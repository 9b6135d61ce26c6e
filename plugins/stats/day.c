/* SPDX-License-Identifier: MIT */
#include "day.h"

#include <stdio.h>

typedef struct date {
    int year, month, day;
} date;

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01, counting years from March so that the leap day comes last. */
static int32_t number_of(date d) {
    int year = d.month <= 2 ? d.year - 1 : d.year;
    int month = (d.month + 9) % 12;
    return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + d.day - 1 - 719468;
}

static date date_of(int32_t day) {
    int n = day + 719468, era = n / 146097, left = n % 146097;
    int year = (left - left / 1460 + left / 36524 - left / 146096) / 365;
    left -= 365 * year + year / 4 - year / 100;
    int month = (5 * left + 2) / 153;
    date d = {era * 400 + year + (month >= 10), month < 10 ? month + 3 : month - 9,
              left - (153 * month + 2) / 5 + 1};
    return d;
}

static bool number(const char *text, size_t len, int *ret) {
    *ret = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *ret = *ret * 10 + (text[i] - '0');
    }
    return true;
}

bool day_parse(const char *text, size_t len, int32_t *ret) {
    date d;
    if (len != 10)
        return false;
    bool iso = text[4] == '-' && text[7] == '-', ours = text[2] == '/' && text[5] == '/';
    if (!iso && !ours)
        return false;
    if (!number(text + (iso ? 0 : 6), 4, &d.year) || !number(text + (iso ? 5 : 3), 2, &d.month) ||
        !number(text + (iso ? 8 : 0), 2, &d.day))
        return false;
    if (d.year < 1 || d.month < 1 || d.month > 12 || d.day < 1 || d.day > month_days(d.year, d.month))
        return false;
    *ret = number_of(d);
    return true;
}

int32_t day_month(int32_t day) {
    date d = date_of(day);
    return d.year * 12 + d.month - 1;
}

int day_of_month(int32_t day) {
    return date_of(day).day;
}

int32_t day_next_month(int32_t day) {
    date d = date_of(day);
    d.year += d.month == 12;
    d.month = d.month % 12 + 1;
    if (d.day <= month_days(d.year, d.month))
        return number_of(d);
    return number_of((date){d.year + (d.month == 12), d.month % 12 + 1, 1});
}

void day_print(int32_t day, char text[16]) {
    date d = date_of(day);
    snprintf(text, 16, "%02u/%02u/%04u", (unsigned)d.day % 100, (unsigned)d.month % 100,
             (unsigned)d.year % 10000);
}
