/* SPDX-License-Identifier: MIT */
/* Plugin stats: days, which rows are chained, what looks like a rate, and the vectors that need recorded series
 * (LASTRO_SHARED or ../shared beside the project; without it they are skipped and say so). */
#include "plugins/stats/day.c"
#include "plugins/stats/exact.c"
#include "plugins/stats/variation.c"

#include "unit.h"

#include <CUnit/CUnit.h>
#include <jansson.h>

enum { MAX_ROWS = 12000 };
static observation rows[MAX_ROWS];
static size_t picks[MAX_ROWS];

static int32_t day(const char *text) {
    int32_t d = DAY_NONE;
    if (!day_parse(text, strlen(text), &d))
        printf("FAIL: '%s' is no day\n", text);
    return d;
}

static observation row(const char *start, const char *end, const char *value) {
    observation o = {.day = day(start), .end = end ? day(end) : DAY_NONE};
    CU_ASSERT_TRUE(exact_parse(value, strlen(value), &o.value));
    return o;
}

static void expect_text(const char *what, const char *got, const char *wanted) {
    if (strcmp(got, wanted) != 0)
        printf("FAIL: %s: %s, expected %s\n", what, got, wanted);
    CU_ASSERT_STRING_EQUAL(got, wanted);
}

static void chained(chain_rule rule, const observation *o, size_t count, unsigned places, chain *c, char text[80]) {
    static exact rates[MAX_ROWS];
    exact_figure f;
    *c = (chain){.rows = picks};
    chain_select(rule, o, count, c);
    for (size_t i = 0; i < c->count; i++)
        rates[i] = o[c->rows[i]].value;
    strcpy(text, "(none)");
    if (exact_chain_percent(rates, c->count, places, &f))
        exact_print(&f, text, 80);
}

/* ---- days ---- */

static void test_day__both_forms_and_no_day_that_is_not(void) {
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"01/01/1970", true},  {"1970-01-01", true},  {"29/02/2024", true},  {"29/02/2023", false}, {"2000-02-29", true},
        {"1900-02-29", false}, {"31/04/2024", false}, {"00/01/2024", false}, {"01/13/2024", false}, {"1/1/2024", false},
        {"2024/01/01", false}, {"01-01-2024", false}, {"", false},           {"01/01/0000", false}, {"0001-01-01", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t d;
        CU_ASSERT_EQUAL(day_parse(cases[i].text, strlen(cases[i].text), &d), cases[i].ok);
    }
    CU_ASSERT_EQUAL(day("01/01/1970"), 0);
    CU_ASSERT_EQUAL(day("2026-11-30"), 20787);
    CU_ASSERT_EQUAL(day("31/12/1969"), -1);
    char text[16];
    for (int32_t d = day("1800-01-01"); d <= day("31/12/2200"); d++) {
        day_print(d, text);
        if (day(text) != d) {
            CU_FAIL("a day does not read back");
            return;
        }
    }
}

static void test_day__the_next_month_of_29_to_31_is_its_day_or_the_first(void) {
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"15/01/2024", "15/02/2024"}, {"29/01/2024", "29/02/2024"}, {"29/01/2026", "01/03/2026"},
        {"31/03/2026", "01/05/2026"}, {"31/12/2025", "31/01/2026"}, {"30/01/2026", "01/03/2026"},
        {"31/10/2026", "01/12/2026"}, {"01/12/2026", "01/01/2027"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        day_print(day_next_month(day(cases[i].from)), text);
        expect_text(cases[i].from, text, cases[i].to);
    }
}

/* ---- rows ---- */

static void test_sort__f008_newest_first_is_put_in_order(void) {
    observation o[] = {row("01/03/2026", NULL, "108"), row("01/02/2026", NULL, "104"), row("01/01/2026", NULL, "100")};
    exact_figure f;
    char text[80];
    observations_sort(o, 3);
    CU_ASSERT_TRUE(exact_change_percent(o[0].value, o[2].value, 4, &f));
    exact_print(&f, text, sizeof text);
    expect_text("F008", text, "8");
}

static void test_extremes__are_places_and_the_first_of_equals(void) {
    observation o[] = {row("01/01/2024", NULL, "2.50"), row("01/02/2024", NULL, "-1"), row("01/03/2024", NULL, "2.5"),
                       row("01/04/2024", NULL, "-1.0")};
    extremes e = observations_extremes(o, 4);
    CU_ASSERT_EQUAL(e.highest, 0);
    CU_ASSERT_EQUAL(e.lowest, 1);
}

static void test_months_missing__counts_the_holes(void) {
    observation o[] = {row("01/11/2023", NULL, "1"), row("01/12/2023", NULL, "1"), row("01/01/2024", NULL, "1"),
                       row("01/04/2024", NULL, "1")};
    CU_ASSERT_EQUAL(months_missing(o, 3), 0);
    CU_ASSERT_EQUAL(months_missing(o, 4), 2);
}

/* bcb.md vector 6: 195, other days of the month are not chained. */
static void test_chain__savings_take_one_row_a_month(void) {
    observation o[] = {row("01/01/2024", "01/02/2024", "0.5879"), row("02/01/2024", "02/02/2024", "0.5800"),
                       row("28/01/2024", "28/02/2024", "0.6000"), row("01/02/2024", "01/03/2024", "0.5000"),
                       row("02/02/2024", "02/03/2024", "0.5100")};
    chain c;
    char text[80];
    chained(CHAIN_MONTHLY, o, 5, 4, &c, text);
    expect_text("195", text, "1.0908");
    CU_ASSERT_EQUAL(c.count, 2);
    CU_ASSERT_EQUAL(c.gaps, 0);
    CU_ASSERT_FALSE(c.ends_inferred);
    for (size_t i = 0; i < 5; i++)
        o[i].end = DAY_NONE;
    chained(CHAIN_MONTHLY, o, 5, 4, &c, text);
    expect_text("195 without dataFim", text, "1.0908");
    CU_ASSERT_TRUE(c.ends_inferred);
}

/* A window that opens on the 15th follows the 15ths: 15/01 to 15/02 and 01/02 to 01/03 would overlap. */
static void test_chain__savings_never_overlap(void) {
    observation o[] = {row("15/01/2024", "15/02/2024", "1"), row("01/02/2024", "01/03/2024", "5"),
                       row("15/02/2024", "15/03/2024", "2"), row("01/03/2024", "01/04/2024", "5"),
                       row("16/03/2024", "16/04/2024", "3")};
    chain c;
    char text[80];
    chained(CHAIN_MONTHLY, o, 5, 4, &c, text);
    expect_text("15th", text, "6.1106"); /* 1.01 * 1.02 * 1.03 */
    CU_ASSERT_EQUAL(c.gaps, 1);         /* nothing starts on 15/03 */
    chained(CHAIN_PERIODS, o, 5, 4, &c, text);
    expect_text("15th, strict", text, "3.02");
    CU_ASSERT_TRUE(c.broken);
    CU_ASSERT_EQUAL(c.end, day("15/03/2024"));
}

static void test_looks__rates_are_told_from_levels(void) {
    static const struct {
        const char *name;
        const char *values[6];
        unsigned looks;
    } cases[] = {
        {"Série 999", {"0.42", "-0.02", "0.56", "0.39"}, LOOKS_SIGNED | LOOKS_SWINGING},
        {"Série 999", {"0.42", "0.83", "0.16", "0.38"}, LOOKS_SWINGING},
        {"Série 999", {"5.4321", "5.4400", "5.4211", "5.5000"}, 0},
        {"Série 999", {"1200", "-300", "500"}, 0},
        {"VARIAÇÃO do índice", {"1200", "1300", "1500"}, LOOKS_NAMED},
        {"Núcleo da inflação", {"101", "102", "103"}, LOOKS_NAMED},
        {"Taxa de câmbio - Peso (venda)", {"101", "102", "103"}, 0},
        {"Taxa média de juros", {"101", "102", "103"}, LOOKS_NAMED},
        {"Produção (%)", {"101", "102", "103"}, LOOKS_NAMED},
        {"Papel-moeda", {"101", "102", "103"}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        observation o[6];
        size_t n = 0;
        for (; n < 6 && cases[i].values[n]; n++) {
            o[n] = row("01/01/2024", NULL, cases[i].values[n]);
            o[n].day += 30 * (int32_t)n;
        }
        unsigned looks = looks_like_rate(cases[i].name, strlen(cases[i].name), o, n);
        if (looks != cases[i].looks)
            printf("FAIL: %s (%s …): %u\n", cases[i].name, cases[i].values[0], looks);
        CU_ASSERT_EQUAL(looks, cases[i].looks);
    }
    observation daily[] = {row("01/08/2024", NULL, "0.040168"), row("02/08/2024", NULL, "0.040168"),
                           row("05/08/2024", NULL, "0.040168")};
    CU_ASSERT_EQUAL(looks_like_rate("x", 1, daily, 3), LOOKS_DAILY);
}

/* ---- recorded series ---- */

static const char *shared_dir(void) {
    const char *dir = getenv("LASTRO_SHARED");
    return dir && *dir ? dir : LASTRO_SOURCE_DIR "/../shared";
}

/* Rows of data/bcb/sgs/FILE.json dated from…to (to included) into rows. SIZE_MAX: not there. */
static size_t load(const char *file, const char *from, const char *to) {
    char path[4096];
    snprintf(path, sizeof path, "%s/data/bcb/sgs/%s.json", shared_dir(), file);
    json_error_t at;
    json_t *list = json_load_file(path, 0, &at), *item;
    if (!list)
        return SIZE_MAX;
    size_t n = 0, i;
    json_array_foreach(list, i, item) {
        const char *end = json_string_value(json_object_get(item, "dataFim"));
        observation o = row(json_string_value(json_object_get(item, "data")), end, json_string_value(json_object_get(item, "valor")));
        o.source = i;
        if (o.day >= day(from) && o.day <= day(to) && n < MAX_ROWS)
            rows[n++] = o;
    }
    json_decref(list);
    observations_sort(rows, n);
    return n;
}

static void test_recorded__chained_figures(void) {
    static const struct {
        const char *id, *file;
        chain_rule rule;
        const char *from, *to;
        unsigned places;
        const char *percent;
    } cases[] = {
        {"IPCA 2023", "433", CHAIN_EVERY, "2023-01-01", "2023-12-31", 2, "4.62"},
        {"IPCA 2024", "433", CHAIN_EVERY, "2024-01-01", "2024-12-31", 4, "4.8313"},
        {"F031 IGP-M 2023", "189", CHAIN_EVERY, "2023-01-01", "2023-12-31", 4, "-3.1783"},
        {"F032 IPCA 01/2024 to 01/2026", "433", CHAIN_EVERY, "2024-01-01", "2026-01-01", 4, "9.6624"},
        {"V001", "433", CHAIN_EVERY, "2003-01-01", "2003-01-31", 4, "2.25"},
        {"V002, year", "433", CHAIN_EVERY, "2003-01-01", "2003-12-31", 2, "9.3"},
        {"V005", "433", CHAIN_EVERY, "2020-01-01", "2025-12-31", 3, "39.153"},
        {"V007", "433", CHAIN_EVERY, "2010-01-01", "2026-01-31", 3, "146.148"},
        {"V010", "188", CHAIN_EVERY, "2019-12-01", "2020-01-31", 2, "1.41"},
        {"V011", "433", CHAIN_EVERY, "2019-12-01", "2020-01-31", 2, "1.36"},
        {"V013", "189", CHAIN_EVERY, "2019-12-01", "2020-01-31", 2, "2.58"},
        {"V022 (end out)", "11", CHAIN_EVERY, "2017-10-01", "2022-10-31", 12, "35.476542461604"},
        {"V023 (end out)", "11", CHAIN_EVERY, "2017-10-01", "2022-10-30", 12, "35.407771562583"},
        {"V026 (end out)", "12", CHAIN_EVERY, "2022-01-01", "2022-02-28", 6, "1.49284"},
        {"V056 (chained, not the published 5.79)", "433", CHAIN_EVERY, "2022-01-01", "2022-12-31", 2, "5.78"},
        {"V058 (chained, not the published 4.01)", "433", CHAIN_EVERY, "2019-03-01", "2020-02-28", 2, "4"},
        {"V059", "189", CHAIN_EVERY, "2024-09-01", "2025-08-31", 2, "3.03"},
        {"V061 (chained, not the published -0.11)", "189", CHAIN_EVERY, "2024-12-01", "2025-11-30", 2, "-0.1"},
        {"V062", "188", CHAIN_EVERY, "2023-09-01", "2024-08-31", 4, "3.7079"},
        {"V064", "12", CHAIN_EVERY, "2023-12-01", "2024-11-30", 4, "10.8354"},
        {"V065", "12", CHAIN_EVERY, "2024-01-01", "2024-11-30", 4, "9.8528"},
        {"V067", "12", CHAIN_EVERY, "2023-01-01", "2023-12-31", 2, "13.04"},
        {"V068", "12", CHAIN_EVERY, "2017-01-01", "2017-12-31", 2, "9.93"},
        {"V070", "4390", CHAIN_EVERY, "2024-01-01", "2024-12-31", 2, "10.89"},
        {"V070 from the daily series", "11", CHAIN_EVERY, "2024-01-01", "2024-12-31", 4, "10.876"},
        {"F034 Selic 2016", "11", CHAIN_EVERY, "2016-01-01", "2016-12-31", 4, "14.0186"},
        {"Selic 2012", "11", CHAIN_EVERY, "2012-01-01", "2012-12-31", 4, "8.4932"},
        {"Selic 2025", "11", CHAIN_EVERY, "2025-01-01", "2025-12-31", 4, "14.3242"},
        {"CDI 2012", "12", CHAIN_EVERY, "2012-01-01", "2012-12-31", 4, "8.3976"},
        {"IGP-M 2021", "189", CHAIN_EVERY, "2021-01-01", "2021-12-31", 2, "17.79"},
        {"IGP-M 2025", "189", CHAIN_EVERY, "2025-01-01", "2025-12-31", 2, "-1.04"},
        {"INPC 2015", "188", CHAIN_EVERY, "2015-01-01", "2015-12-31", 2, "11.28"},
        {"V079 savings 2024, day 1", "25", CHAIN_MONTHLY, "2024-01-01", "2024-12-31", 2, "7.03"},
        {"savings 2024, day 15", "25", CHAIN_MONTHLY, "2024-01-15", "2025-01-14", 2, "7.14"},
        {"TR 2026, day 1", "body_226_2026", CHAIN_PERIODS, "2026-01-01", "2026-09-30", 4, "1.4945"},
        {"TR 2026, day 15", "body_226_2026", CHAIN_PERIODS, "2026-01-15", "2026-09-30", 4, "1.4676"},
        {"TR 2026, day 29", "body_226_2026", CHAIN_PERIODS, "2026-01-29", "2026-09-25", 4, "1.3448"},
        {"TR 2026, day 31", "body_226_2026", CHAIN_PERIODS, "2026-01-31", "2026-09-25", 4, "1.3213"},
        {"TR from four rows of one day", "body_226_2026", CHAIN_PERIODS, "2026-03-01", "2026-04-30", 4, "0.3417"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = load(cases[i].file, cases[i].from, cases[i].to);
        chain c;
        char text[80];
        if (n == SIZE_MAX) {
            printf("skipped: recorded series %s (no ../shared/data here)\n", cases[i].file);
            return;
        }
        chained(cases[i].rule, rows, n, cases[i].places, &c, text);
        expect_text(cases[i].id, text, cases[i].percent);
        CU_ASSERT_FALSE(c.broken);
        CU_ASSERT_EQUAL(c.gaps, 0);
    }
}

/* finance-conventions §5: 136 of 139 common months equal, greatest difference 0.01. */
static void test_recorded__twelve_months_against_13522(void) {
    static observation published[MAX_ROWS];
    size_t n = load("13522", "2015-01-01", "2026-07-31"), equal = 0, common = 0;
    if (n == SIZE_MAX) {
        printf("skipped: 13522 against 433 (no ../shared/data here)\n");
        return;
    }
    memcpy(published, rows, n * sizeof *rows);
    size_t m = load("433", "2014-01-01", "2026-07-31");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 11; k < m; k++) {
            char chain_text[80], published_text[80];
            chain c;
            exact_figure f;
            if (rows[k].day != published[i].day)
                continue;
            chained(CHAIN_EVERY, rows + k - 11, 12, 2, &c, chain_text);
            exact_difference((exact){0, 0}, published[i].value, 2, &f);
            exact_print(&f, published_text, sizeof published_text);
            common++;
            equal += strcmp(chain_text, published_text) == 0;
        }
    CU_ASSERT_EQUAL(common, 139);
    CU_ASSERT_EQUAL(equal, 136);
}

/* Levels as the catalogue has them, and a currency's worth of history: nothing to look suspicious. */
static void test_recorded__levels_do_not_look_like_rates(void) {
    static const char *const levels[] = {"1", "24363", "20539", "4513", "3698", "28763"};
    static const char *const rates[] = {"433", "11", "28655", "10841", "4449", "25"};
    for (size_t i = 0; i < 6; i++) {
        size_t n = load(levels[i], "2020-01-01", "2025-12-31");
        if (n == SIZE_MAX) {
            printf("skipped: levels and rates (no ../shared/data here)\n");
            return;
        }
        if (looks_like_rate("", 0, rows, n))
            printf("FAIL: level %s looks like a rate\n", levels[i]);
        CU_ASSERT_EQUAL(looks_like_rate("", 0, rows, n), 0);
        n = load(rates[i], "2022-01-01", "2024-12-31");
        if (!looks_like_rate("", 0, rows, n))
            printf("FAIL: rate %s does not look like one\n", rates[i]);
        CU_ASSERT_NOT_EQUAL(looks_like_rate("", 0, rows, n), 0);
    }
}

static const unit_test tests[] = {
    UNIT_TEST(test_day__both_forms_and_no_day_that_is_not),
    UNIT_TEST(test_day__the_next_month_of_29_to_31_is_its_day_or_the_first),
    UNIT_TEST(test_sort__f008_newest_first_is_put_in_order),
    UNIT_TEST(test_extremes__are_places_and_the_first_of_equals),
    UNIT_TEST(test_months_missing__counts_the_holes),
    UNIT_TEST(test_chain__savings_take_one_row_a_month),
    UNIT_TEST(test_chain__savings_never_overlap),
    UNIT_TEST(test_looks__rates_are_told_from_levels),
    UNIT_TEST(test_recorded__chained_figures),
    UNIT_TEST(test_recorded__twelve_months_against_13522),
    UNIT_TEST(test_recorded__levels_do_not_look_like_rates),
};

int main(void) {
    return UNIT_RUN("stats_variation", tests);
}
