/* SPDX-License-Identifier: MIT */
/* Plugin sgs: days, slices and addresses. */
#include "plugins/sgs/dates.c"
#include "plugins/sgs/slices.c"
#include "plugins/sgs/url.c"

#include "unit.h"
#include <string.h>

static sgs_day day(const char *text) {
    sgs_day d = SGS_NO_DAY;
    sgs_date_fault fault = sgs_date_read(text, strlen(text), &d);
    unit_check(fault == SGS_DATE_OK, "%s is a date", text);
    return d;
}

static void dates__only_real_ones_in_two_forms(void) {
    static const struct {
        const char *text;
        sgs_date_fault fault;
    } cases[] = {
        {"2024-02-29", SGS_DATE_OK},
        {"29/02/2024", SGS_DATE_OK},
        {"2023-02-29", SGS_DATE_DAY},
        {"29/02/2023", SGS_DATE_DAY},
        {"2024-04-31", SGS_DATE_DAY},
        {"2024-01-32", SGS_DATE_DAY},
        {"2024-01-00", SGS_DATE_DAY},
        {"2024-13-01", SGS_DATE_MONTH},
        {"01/13/2024", SGS_DATE_MONTH},
        {"2024-00-10", SGS_DATE_MONTH},
        {"2024-2-5", SGS_DATE_FORM},
        {"20240205", SGS_DATE_FORM},
        {"", SGS_DATE_FORM},
        {"2024/02/05", SGS_DATE_FORM},
        {"05-02-2024", SGS_DATE_FORM},
        {" 2024-02-5", SGS_DATE_FORM},
        {"2024-02-05T00", SGS_DATE_FORM},
        {"+024-02-05", SGS_DATE_FORM},
        {"0024-02-05", SGS_DATE_YEAR},
        {"01/01/9999", SGS_DATE_YEAR},
        {"1900-02-29", SGS_DATE_DAY},
        {"2000-02-29", SGS_DATE_OK},
        {"hoje", SGS_DATE_FORM},
        {"2024-02/05", SGS_DATE_FORM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgs_day d;
        sgs_date_fault got = sgs_date_read(cases[i].text, strlen(cases[i].text), &d);
        unit_check(got == cases[i].fault, "\"%s\": %d, expected %d", cases[i].text, (int)got,
                   (int)cases[i].fault);
    }
}

static void dates__count_each_day_once(void) {
    CU_ASSERT_EQUAL(day("1970-01-01"), 0);
    CU_ASSERT_EQUAL(day("2000-03-01"), 11017);
    sgs_day expected = day("1800-01-01");
    for (int y = 1800; y <= 2200; y++)
        for (int m = 1; m <= 12; m++)
            for (int d = 1; d <= sgs_days_in_month(y, m); d++, expected++) {
                int yy, mm, dd;
                sgs_day_split(expected, &yy, &mm, &dd);
                if (sgs_day_of(y, m, d) != expected || yy != y || mm != m || dd != d) {
                    unit_check(0, "%04d-%02d-%02d", y, m, d);
                    return;
                }
            }
    CU_PASS("401 years");
}

static void dates__brasilia_is_three_hours_behind(void) {
    CU_ASSERT_EQUAL(sgs_brasilia_day(0), -1);
    CU_ASSERT_EQUAL(sgs_brasilia_day(3 * 3600000LL - 1), -1);
    CU_ASSERT_EQUAL(sgs_brasilia_day(3 * 3600000LL), 0);
    CU_ASSERT_EQUAL(sgs_brasilia_day(1787324399999LL), day("2026-08-21")); /* 2026-08-22T02:59:59.999Z */
    CU_ASSERT_EQUAL(sgs_brasilia_day(1787367600000LL), day("2026-08-22"));
}

static void dates__years_from_a_leap_day(void) {
    CU_ASSERT_EQUAL(sgs_add_years(day("2016-02-29"), 3), day("2019-02-28"));
    CU_ASSERT_EQUAL(sgs_add_years(day("2016-02-29"), 4), day("2020-02-29"));
    CU_ASSERT_EQUAL(sgs_add_years(day("2016-02-29"), -10), day("2006-02-28"));
}

/* No hole, no overlap, none over three years and 60 days. */
static void check_slices(const char *from, const char *to, size_t expected) {
    sgs_window s[SGS_SLICES_MAX], w = {day(from), day(to)};
    size_t n = sgs_slices_plan(w, s);
    unit_check(!expected || n == expected, "%s to %s: %zu slices, expected %zu", from, to, n, expected);
    unit_check(s[0].from == w.from && s[n - 1].to == w.to, "%s to %s: ends", from, to);
    for (size_t i = 0; i < n; i++) {
        unit_check(s[i].from <= s[i].to, "%s to %s: slice %zu inverted", from, to, i);
        unit_check(s[i].to <= sgs_add_years(s[i].from, SGS_SLICE_YEARS) + SGS_SLICE_SLACK_DAYS,
                   "%s to %s: slice %zu long", from, to, i);
        unit_check(i == 0 || s[i].from == s[i - 1].to + 1, "%s to %s: seam %zu", from, to, i);
    }
}

static void slices__cover_the_window_exactly(void) {
    check_slices("2015-01-01", "2024-12-31", 4);
    check_slices("2019-01-01", "2021-12-31", 1);
    check_slices("2019-01-01", "2022-03-01", 1); /* 60 days over: absorbed */
    check_slices("2019-01-01", "2022-03-02", 2);
    check_slices("2016-02-29", "2025-08-01", 4);
    check_slices("2016-02-29", "2028-02-29", 4);
    check_slices("2024-05-05", "2024-05-05", 1);
    check_slices("1900-01-01", "2026-08-21", 0);
    check_slices("1800-01-01", "2200-12-31", 0);
    for (int i = 0; i < 1500; i += 7) {
        char to[SGS_DATE_SIZE];
        sgs_date_write(day("2018-03-01") + 3 * i, to);
        check_slices("2017-06-30", to, 0);
    }
}

static void addresses__are_explicit_and_encoded(void) {
    char url[SGS_URL_SIZE];
    sgs_url_window(url, 433, day("2024-01-31"), day("2024-12-01"));
    CU_ASSERT_STRING_EQUAL(
        url, "/dados/serie/bcdata.sgs.433/dados?formato=json&dataInicial=31%2F01%2F2024&dataFinal="
             "01%2F12%2F2024");
    sgs_url_window(url, 433, SGS_NO_DAY, SGS_NO_DAY);
    CU_ASSERT_STRING_EQUAL(url, "/dados/serie/bcdata.sgs.433/dados?formato=json");
    sgs_url_window(url, INT64_MAX, day("2200-12-31"), SGS_NO_DAY);
    CU_ASSERT_STRING_EQUAL(
        url, "/dados/serie/bcdata.sgs.9223372036854775807/dados?formato=json&dataInicial=31%2F12%2F2200");
    sgs_url_latest(url, 7, 20);
    CU_ASSERT_STRING_EQUAL(url, "/dados/serie/bcdata.sgs.7/dados/ultimos/20?formato=json");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(dates__only_real_ones_in_two_forms),    UNIT_TEST(dates__count_each_day_once),
        UNIT_TEST(dates__brasilia_is_three_hours_behind), UNIT_TEST(dates__years_from_a_leap_day),
        UNIT_TEST(slices__cover_the_window_exactly),      UNIT_TEST(addresses__are_explicit_and_encoded),
    };
    return UNIT_RUN("sgs dates", tests);
}
