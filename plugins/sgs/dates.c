/* SPDX-License-Identifier: MIT */
#include "dates.h"

enum { DAY_MS = 86400000, BRASILIA_OFFSET_MS = -3 * 3600000 };

int sgs_days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Years are counted from March, so that the leap day is the last of its year; 146097 days make 400 years. */
sgs_day sgs_day_of(int year, int month, int day) {
    int y = month <= 2 ? year - 1 : year;
    int m = month <= 2 ? month + 9 : month - 3;
    int era = (y >= 0 ? y : y - 399) / 400;
    int of_era = y - era * 400;
    int of_year = (153 * m + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void sgs_day_split(sgs_day d, int *ret_year, int *ret_month, int *ret_day) {
    int n = d + 719468;
    int era = (n >= 0 ? n : n - 146096) / 146097;
    int of_era = n - era * 146097;
    int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = of_era - (365 * year + year / 4 - year / 100);
    int m = (5 * of_year + 2) / 153;
    *ret_day = of_year - (153 * m + 2) / 5 + 1;
    *ret_month = m < 10 ? m + 3 : m - 9;
    *ret_year = year + era * 400 + (*ret_month <= 2);
}

static bool read_digits(const char *text, size_t len, int *ret) {
    int n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = n * 10 + (text[i] - '0');
    }
    *ret = n;
    return true;
}

sgs_date_fault sgs_date_read(const char *text, size_t len, sgs_day *ret) {
    int year, month, day;
    if (len != 10)
        return SGS_DATE_FORM;
    bool iso = text[4] == '-' && text[7] == '-';
    bool local = text[2] == '/' && text[5] == '/';
    if (iso ? !read_digits(text, 4, &year) || !read_digits(text + 5, 2, &month) ||
                  !read_digits(text + 8, 2, &day)
            : !local || !read_digits(text, 2, &day) || !read_digits(text + 3, 2, &month) ||
                  !read_digits(text + 6, 4, &year))
        return SGS_DATE_FORM;
    if (year < 1800 || year > 2200)
        return SGS_DATE_YEAR;
    if (month < 1 || month > 12)
        return SGS_DATE_MONTH;
    if (day < 1 || day > sgs_days_in_month(year, month))
        return SGS_DATE_DAY;
    *ret = sgs_day_of(year, month, day);
    return SGS_DATE_OK;
}

sgs_day sgs_add_years(sgs_day d, int years) {
    int year, month, day;
    sgs_day_split(d, &year, &month, &day);
    int last = sgs_days_in_month(year + years, month);
    return sgs_day_of(year + years, month, day < last ? day : last);
}

static void write_digits(char *at, int width, int n) {
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + n % 10);
        n /= 10;
    }
}

void sgs_date_write(sgs_day d, char ret[SGS_DATE_SIZE]) {
    int year, month, day;
    sgs_day_split(d, &year, &month, &day);
    write_digits(ret, 2, day);
    ret[2] = '/';
    write_digits(ret + 3, 2, month);
    ret[5] = '/';
    write_digits(ret + 6, 4, year);
    ret[10] = '\0';
}

sgs_day sgs_brasilia_day(int64_t instant_ms) {
    int64_t local = instant_ms + BRASILIA_OFFSET_MS;
    int64_t day = local / DAY_MS;
    return (sgs_day)(local % DAY_MS < 0 ? day - 1 : day);
}
