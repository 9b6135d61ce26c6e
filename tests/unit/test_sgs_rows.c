/* SPDX-License-Identifier: MIT */
/* Plugin sgs: bodies of the source, values, order, rhythm, aggregation. */
#include "plugins/sgs/aggregate.c"
#include "plugins/sgs/classify.c"
#include "plugins/sgs/dates.c"
#include "plugins/sgs/fold.c"
#include "plugins/sgs/observations.c"
#include "plugins/sgs/periodicity.c"
#include "plugins/sgs/value.c"

#include "test_sgs_host.h"
#include "unit.h"

static lastro_text text_of(const char *s) {
    return (lastro_text){s, strlen(s)};
}
static sgs_day day(const char *text) {
    sgs_day d = SGS_NO_DAY;
    CU_ASSERT_EQUAL(sgs_date_read(text, strlen(text), &d), SGS_DATE_OK);
    return d;
}

/* ---- values ---- */

static const struct {
    const char *in, *out; /* NULL: junk; "": no value */
} value_cases[] = {
    {"0.58", "0.58"},
    {"5.70", "5.70"},
    {"1.7240", "1.7240"},
    {"14.903333", "14.903333"},
    {"-0.32", "-0.32"},
    {"-0.00", "-0.00"},
    {"0", "0"},
    {"17240", "17240"},
    {"0,55", "0.55"},
    {"1.234,56", "1234.56"},
    {"12.345.678,9", "12345678.9"},
    {".5", "0.5"},
    {"-.5", "-0.5"},
    {",5", "0.5"},
    {"5.", "5"},
    {"+5", "5"},
    {"007", "7"},
    {"-007.10", "-7.10"},
    {"00", "0"},
    {" 1.5 ", "1.5"},
    {"1E-4", "1E-4"},
    {"1.0e+3", "1.0e+3"},
    {"", ""},
    {"-", ""},
    {"  ", ""},
    {"12,3,4", NULL},
    {"1.2.3", NULL},
    {"1,234.56", NULL},
    {"1.23,4", NULL},
    {"1234.567,8", NULL},
    {"0.234,56", NULL},
    {"abc", NULL},
    {"1e", NULL},
    {"--1", NULL},
    {"1 2", NULL},
    {".", NULL},
    {"NaN", NULL},
    {"null", NULL},
    {"0x10", NULL},
    {"1-", NULL},
    {"+", NULL},
    {"1.5%", NULL},
    {"1234567890123456789012345678901234567890123456789012345678901234567890", NULL},
};

static void values__keep_each_digit(void) {
    for (size_t i = 0; i < sizeof value_cases / sizeof *value_cases; i++) {
        char out[SGS_VALUE_SIZE] = "?";
        size_t len = 0;
        sgs_value_kind kind = sgs_value_read(value_cases[i].in, strlen(value_cases[i].in), out, &len);
        sgs_value_kind expected = !value_cases[i].out   ? SGS_VALUE_JUNK
                                  : *value_cases[i].out ? SGS_VALUE_NUMBER
                                                        : SGS_VALUE_NONE;
        unit_check(kind == expected, "\"%s\": kind %d", value_cases[i].in, (int)kind);
        if (kind == SGS_VALUE_NUMBER && expected == kind) {
            unit_check(strcmp(out, value_cases[i].out) == 0 && len == strlen(out), "\"%s\": \"%s\"",
                       value_cases[i].in, out);
            unit_check(json_valid_number(out, len), "\"%s\" is a JSON number", out);
        }
    }
}

static void rounding__four_decimals_half_away_from_zero(void) {
    static const struct {
        long double in;
        const char *out;
    } cases[] = {
        {0.42L, "0.42"},        {1.00005L, "1.0001"},
        {-1.00005L, "-1.0001"}, {2.00015L, "2.0002"},
        {0.00005L, "0.0001"},   {0.00004999L, "0"},
        {-0.00004L, "0"},       {4.83128L, "4.8313"},
        {100.0L, "100"},        {1e6L + 0.12345L, "1000000.1235"},
        {0.3333333L, "0.3333"}, {-3.17835L, "-3.1784"},
    };
    char out[SGS_VALUE_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_TRUE(sgs_value_round4(cases[i].in, out));
        unit_check(strcmp(out, cases[i].out) == 0, "%.10Lf: \"%s\", expected \"%s\"", cases[i].in, out,
                   cases[i].out);
    }
    CU_ASSERT_FALSE(sgs_value_round4(1e300L, out));
    CU_ASSERT_FALSE(sgs_value_round4(2e9L, out)); /* the fourth decimal would not be certain */
    CU_ASSERT_FALSE(sgs_value_round4(strtold("nan", NULL), out));
}

static void rounding__of_sums_is_exact(void) {
    static const struct {
        const char *tokens[4];
        size_t count;
        const char *out;
    } cases[] = {
        {{"5331618999767.86"}, 1, "5331618999767.86"}, /* series 1207, 2013: was …7.8601 */
        {{"9915316432886.13", "8898727463567.39"}, 1, "18814043896453.52"},
        {{"900000000000.0001", "0", "0"}, 3, "300000000000"},
        {{"600000000000.0001", "0"}, 2, "300000000000.0001"},
        {{"-600000000000.0001", "0"}, 2, "-300000000000.0001"},
        {{"499999999999.9998", "0", "0", "0.0001"}, 4, "125000000000"},
        {{"0.00005"}, 1, "0.0001"},
        {{"0.00004999999999999999999999999"}, 1, "0"},
        {{"-0.00004"}, 1, "0"},
        {{"1", "1", "2.0"}, 3, "1.3333"},
        {{"1e3", "1.5E-2"}, 1, "1000.015"},
        {{"0.1", "-0.10"}, 1, "0"},
        {{"9223372036854775807.00004"}, 1, "9223372036854775807"},
        {{"9223372036854775808"}, 1, NULL},
        {{"1e37"}, 1, NULL},
        {{"1e99999999999999999999"}, 1, NULL},
        {{"1e-99999999999999999999"}, 1, NULL},
        {{"0.00000000000000000000000000000000000000000001"}, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgs_total t = {.exact = true};
        char out[SGS_VALUE_SIZE] = "";
        for (size_t k = 0; k < 4 && cases[i].tokens[k]; k++)
            sgs_total_add(&t, cases[i].tokens[k], strlen(cases[i].tokens[k]));
        bool ok = sgs_total_round4(&t, cases[i].count, out);
        unit_check(ok == (cases[i].out != NULL) && (!ok || strcmp(out, cases[i].out) == 0),
                   "case %zu: \"%s\", expected \"%s\"", i, ok ? out : "(void)",
                   cases[i].out ? cases[i].out : "(void)");
    }
}

/* ---- bodies ---- */

#define ERRO(code) "{\"erro\":{\"statusCode\":" code ",\"detail\":\"SGSNegocioException: x\"}}"
#define TOO_LONG                                                                                             \
    "{\"error\":\"O sistema aceita uma janela de consulta de, no m\xC3\xA1ximo, 10 "                         \
    "anos\",\"message\":\"m\",\"syntax\":\"s\"}"
#define PAGE                                                                                                 \
    "<?xml version=\"1.0\" encoding=\"pt-br\"?>\n<!DOCTYPE html><html><title>Requisi\xC3\xA7\xC3\xA3o "      \
    "inv\xC3\xA1lida!</title></html>"
#define ROW "{\"data\":\"01/05/2026\",\"valor\":\"0.58\"}"

static const struct {
    unsigned status;
    const char *body;
    int32_t verdict;
} body_cases[] = {
    {200, "[" ROW "]", LASTRO_BODY_OK},
    {200, "[]", LASTRO_BODY_OK},
    {200, " [ ] \n", LASTRO_BODY_OK},
    {200, "\xEF\xBB\xBF[" ROW "," ROW "]\r\n", LASTRO_BODY_OK},
    {200, "[{\"data\":\"01/01/2024\",\"dataFim\":\"01/02/2024\",\"valor\":null}]", LASTRO_BODY_OK},
    {200, "[{\"data\":\"01/01/2024\",\"valor\":1.5}]", LASTRO_BODY_OK},
    {200, "[" ROW ",", LASTRO_BODY_SUSPECT},
    {200, "[" ROW, LASTRO_BODY_SUSPECT},
    {200, "[{\"data\":\"01/05/2026\",\"valor\":\"0.5", LASTRO_BODY_SUSPECT},
    {200, "[" ROW "]]", LASTRO_BODY_SUSPECT},
    {200, "[{\"data\":\"01/05/2026\"}]", LASTRO_BODY_SUSPECT},
    {200, "[1,2]", LASTRO_BODY_SUSPECT},
    {200, "", LASTRO_BODY_SUSPECT},
    {200, "  ", LASTRO_BODY_SUSPECT},
    {200, PAGE, LASTRO_BODY_SUSPECT},
    {404, PAGE, LASTRO_BODY_SUSPECT},
    {502, PAGE, LASTRO_BODY_RETRY},
    {503, "", LASTRO_BODY_RETRY},
    {500, "[" ROW "]", LASTRO_BODY_RETRY},
    {404, "[" ROW "]", LASTRO_BODY_SUSPECT},
    {404, ERRO("404"), LASTRO_BODY_NOT_FOUND},
    {200, ERRO("404"), LASTRO_BODY_NOT_FOUND},
    {500, ERRO("404"), LASTRO_BODY_NOT_FOUND},
    {400, ERRO("400"), LASTRO_BODY_REFUSED},
    {500, ERRO("500"), LASTRO_BODY_RETRY},
    {200, ERRO("500"), LASTRO_BODY_RETRY},
    {406, TOO_LONG, LASTRO_BODY_REFUSED},
    {200, TOO_LONG, LASTRO_BODY_REFUSED},
    {404, "{\"error\":\"endpoint not found!\"}", LASTRO_BODY_REFUSED},
    {200, "{\"x\":1}", LASTRO_BODY_SUSPECT},
    {429, "[" ROW "]", LASTRO_BODY_LIMITED},
    {429, PAGE, LASTRO_BODY_LIMITED},
    {200, "nada", LASTRO_BODY_SUSPECT},
};

static void bodies__are_known_by_their_shape(void) {
    for (size_t i = 0; i < sizeof body_cases / sizeof *body_cases; i++) {
        char reason[64];
        lastro_attempt a = {
            .size = sizeof a, .http_status = body_cases[i].status, .body = text_of(body_cases[i].body)};
        int32_t got = sgs_classify(NULL, &a, reason, sizeof reason);
        unit_check(got == body_cases[i].verdict, "%u %s: %d (%s), expected %d", body_cases[i].status,
                   body_cases[i].body, got, reason, body_cases[i].verdict);
    }
    CU_ASSERT_EQUAL(sgs_body_of(text_of(TOO_LONG)), SGS_BODY_TOO_LONG);
    CU_ASSERT_EQUAL(sgs_body_of((lastro_text){NULL, 0}), SGS_BODY_EMPTY);
}

static sgs_rows rows_of(const char *body) {
    sgs_rows rows = {NULL, 0};
    lastro_error err = {0};
    lastro_status st = sgs_rows_parse(NULL, text_of(body), &rows, &err);
    unit_check(st == LASTRO_OK, "%s: %s", body, err.text);
    sgs_rows_sort(&rows);
    return rows;
}

static void rows__newest_first_become_ascending(void) {
    sgs_rows r =
        rows_of("[{\"data\":\"01/03/2026\",\"valor\":\"108\"},{\"data\":\"01/02/2026\",\"valor\":\"104\"},"
                "{\"data\":\"01/01/2026\",\"valor\":\"100\"}]");
    CU_ASSERT_EQUAL(r.count, 3);
    CU_ASSERT_EQUAL(r.at[0].day, day("2026-01-01"));
    CU_ASSERT_TRUE(lastro_text_is(r.at[2].value, "108"));
    test_host_reset();
}

static void rows__a_day_without_value_stays(void) {
    sgs_rows r =
        rows_of("[{\"data\":\"02/01/1991\",\"valor\":\"\"},{\"data\":\"03/01/1991\",\"valor\":\"12.5\"},"
                "{\"data\":\"04/01/1991\",\"valor\":null},{\"data\":\"05/01/1991\",\"valor\":\"-\"}]");
    CU_ASSERT_EQUAL(r.count, 4);
    CU_ASSERT_EQUAL(sgs_rows_without_value(&r), 3);
    CU_ASSERT_PTR_NULL(r.at[0].value.at);
    test_host_reset();
}

static void rows__junk_is_an_error_that_names_it(void) {
    static const struct {
        const char *body, *names;
    } cases[] = {
        {"[{\"data\":\"02/01/1991\",\"valor\":\"12,3,4\"}]", "12,3,4"},
        {"[{\"data\":\"31/02/1991\",\"valor\":\"1\"}]", "31/02/1991"},
        {"[{\"data\":\"02/01/1991\",\"dataFim\":\"x\",\"valor\":\"1\"}]", "dataFim"},
        {"[{\"data\":\"02/01/1991\",\"valor\":true}]", "valor"},
        {"{}", "lista"},
        {"[", "lista"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgs_rows r;
        lastro_error err = {0};
        CU_ASSERT_EQUAL(sgs_rows_parse(NULL, text_of(cases[i].body), &r, &err), LASTRO_EUPSTREAM);
        unit_check(strstr(err.text, cases[i].names) != NULL, "%s: %s", cases[i].body, err.text);
    }
    test_host_reset();
}

static void rows__one_per_date_and_end(void) {
    sgs_rows r =
        rows_of("[{\"data\":\"01/03/2026\",\"dataFim\":\"01/04/2026\",\"valor\":\"0.1\"},"
                "{\"data\":\"01/03/2026\",\"dataFim\":\"28/03/2026\",\"valor\":\"0.1\"},"
                "{\"data\":\"01/03/2026\",\"dataFim\":\"01/04/2026\",\"valor\":\"0.1\"},"
                "{\"data\":\"02/03/2026\",\"valor\":\"1\"},{\"data\":\"02/03/2026\",\"valor\":\"2\"},"
                "{\"data\":\"02/03/2026\",\"valor\":\"1\"}]");
    sgs_repeats again = sgs_rows_unique(&r);
    CU_ASSERT_EQUAL(r.count, 3);
    CU_ASSERT_EQUAL(again.repeated, 2);
    CU_ASSERT_EQUAL(again.conflicting, 1);
    CU_ASSERT_EQUAL(r.at[0].end, day("2026-03-28"));
    CU_ASSERT_TRUE(lastro_text_is(r.at[2].value, "1"));
    test_host_reset();
}

static void rows__a_window_from_a_holiday_keeps_only_its_days(void) {
    sgs_rows r = rows_of(
        "[{\"data\":\"30/04/2018\",\"valor\":\"0.024583\"},{\"data\":\"02/05/2018\",\"valor\":\"0.024583\"},"
        "{\"data\":\"03/05/2018\",\"valor\":\"0.024583\"}]");
    CU_ASSERT_EQUAL(sgs_rows_clip(&r, day("2018-05-01"), day("2018-05-03")), 1);
    CU_ASSERT_EQUAL(r.count, 2);
    CU_ASSERT_EQUAL(r.at[0].day, day("2018-05-02"));
    test_host_reset();
}

/* ---- rhythm ---- */

static sgs_pace pace_of(const sgs_day *days, size_t count) {
    sgs_gaps g;
    sgs_gaps_start(&g);
    for (size_t i = 0; i < count; i++)
        sgs_gaps_add(&g, days[i]);
    return sgs_gaps_pace(&g);
}

static void rhythm__is_the_median_gap(void) {
    static const struct {
        sgs_day step;
        sgs_pace pace;
    } steps[] = {{1, SGS_PACE_DAILY},         {4, SGS_PACE_DAILY},       {5, SGS_PACE_WEEKLY},
                 {10, SGS_PACE_WEEKLY},       {11, SGS_PACE_MONTHLY},    {31, SGS_PACE_MONTHLY},
                 {45, SGS_PACE_MONTHLY},      {92, SGS_PACE_QUARTERLY},  {135, SGS_PACE_QUARTERLY},
                 {182, SGS_PACE_HALF_YEARLY}, {365, SGS_PACE_YEARLY},    {420, SGS_PACE_YEARLY},
                 {421, SGS_PACE_IRREGULAR},   {2000, SGS_PACE_IRREGULAR}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sgs_day d[4] = {0, steps[i].step, 2 * steps[i].step, 3 * steps[i].step};
        unit_check(pace_of(d, 4) == steps[i].pace, "step of %d days", steps[i].step);
        CU_ASSERT_EQUAL(pace_of(d, 2), SGS_PACE_UNKNOWN);
    }
    sgs_day business[] = {0, 1, 4, 5, 6, 7, 8, 11}, repeated[] = {0, 0, 0, 1, 2, 2, 3}, few[] = {5, 5, 5, 6};
    CU_ASSERT_EQUAL(pace_of(business, 8), SGS_PACE_DAILY);
    CU_ASSERT_EQUAL(pace_of(repeated, 7), SGS_PACE_DAILY);
    CU_ASSERT_EQUAL(pace_of(few, 4), SGS_PACE_UNKNOWN);
    CU_ASSERT_EQUAL(sgs_pace_named("Diária", strlen("Diária")), SGS_PACE_DAILY);
    CU_ASSERT_EQUAL(sgs_pace_named("Mensal?", 7), SGS_PACE_UNKNOWN);
    CU_ASSERT_TRUE(sgs_pace_span(SGS_PACE_DAILY, 1000) >= 2320 && sgs_pace_span(SGS_PACE_DAILY, 1000) < 2330);
    CU_ASSERT_TRUE(sgs_pace_span(SGS_PACE_MONTHLY, 240) >= 240 * 31);
}

/* ---- aggregation ---- */

static sgs_plan plan_of(sgs_pace from, sgs_pace target, sgs_how how) {
    return (sgs_plan){from, target, how, {SGS_NO_DAY, SGS_NO_DAY}, day("2026-08-21"), SGS_NO_DAY};
}

#define M(month, value) "{\"data\":\"01/" month "/2024\",\"valor\":\"" value "\"}"
static const char ipca_2024[] =
    "[" M("01", "0.42") "," M("02", "0.83") "," M("03", "0.16") "," M("04", "0.38") "," M("05", "0.46") "," M(
        "06",
        "0.21") "," M("07",
                      "0.38") "," M("08",
                                    "-0.02") "," M("09",
                                                   "0.44") "," M("10",
                                                                 "0.56") "," M("11",
                                                                               "0.39") "," M("12",
                                                                                             "0.52") "]";

static void aggregation__of_twelve_months(void) {
    static const struct {
        sgs_how how;
        const char *value;
    } cases[] = {{SGS_LAST, "0.52"},
                 {SGS_FIRST, "0.42"},
                 {SGS_MEAN, "0.3942"},
                 {SGS_SUM, "4.73"},
                 {SGS_COMPOUND, "4.8313"}};
    sgs_rows r = rows_of(ipca_2024);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sgs_point p[12];
        sgs_plan plan = plan_of(SGS_PACE_MONTHLY, SGS_PACE_YEARLY, cases[i].how);
        CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 1);
        const char *value = p[0].computed[0] ? p[0].computed : lastro_copy(NULL, p[0].value);
        unit_check(strcmp(value, cases[i].value) == 0, "%d: %s, expected %s", (int)cases[i].how, value,
                   cases[i].value);
        CU_ASSERT_EQUAL(p[0].used, 12);
        CU_ASSERT_FALSE(p[0].incomplete);
        CU_ASSERT_EQUAL(p[0].period.from, day("2024-01-01"));
    }
    test_host_reset();
}

static void aggregation__marks_periods_that_are_not_whole(void) {
    sgs_point p[12];
    sgs_rows r = rows_of(ipca_2024);
    sgs_plan plan = plan_of(SGS_PACE_MONTHLY, SGS_PACE_QUARTERLY, SGS_COMPOUND);
    r.count = 8; /* the third quarter lacks September */
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 3);
    CU_ASSERT_FALSE(p[0].incomplete);
    CU_ASSERT_FALSE(p[1].incomplete);
    CU_ASSERT_TRUE(p[2].incomplete);
    plan = plan_of(SGS_PACE_MONTHLY, SGS_PACE_MONTHLY, SGS_LAST);
    plan.partial = day("2024-08-01");
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 8);
    CU_ASSERT_FALSE(p[6].incomplete);
    CU_ASSERT_TRUE(p[7].incomplete);
    test_host_reset();
}

static void aggregation__of_days_looks_at_the_edges(void) {
    sgs_rows r =
        rows_of("[{\"data\":\"02/07/2026\",\"valor\":\"1\"},{\"data\":\"30/07/2026\",\"valor\":\"2\"},"
                "{\"data\":\"03/08/2026\",\"valor\":\"\"},{\"data\":\"20/08/2026\",\"valor\":\"4\"}]");
    sgs_point p[4];
    sgs_plan plan = plan_of(SGS_PACE_DAILY, SGS_PACE_MONTHLY, SGS_MEAN);
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 2);
    CU_ASSERT_FALSE(p[0].incomplete);
    CU_ASSERT_STRING_EQUAL(p[0].computed, "1.5");
    CU_ASSERT_TRUE(p[1].incomplete); /* the month still runs */
    CU_ASSERT_EQUAL(p[1].used, 1);
    plan.asked.from = day("2026-07-02");
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 2);
    CU_ASSERT_TRUE(p[0].incomplete); /* the asked window begins inside */
    r.at += 1, r.count = 1;
    plan.asked.from = SGS_NO_DAY;
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 1);
    CU_ASSERT_TRUE(p[0].incomplete); /* nothing before the 30th */
    test_host_reset();
}

static void aggregation__what_has_no_value_covers_nothing(void) {
    sgs_point p[4];
    sgs_rows r = rows_of("[" M("01", "1") "," M("02", "") "," M("03", "") "," M("04", "1") "," M(
        "05", "1") "," M("06", "1") "]");
    sgs_plan plan = plan_of(SGS_PACE_MONTHLY, SGS_PACE_QUARTERLY, SGS_SUM);
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 2);
    CU_ASSERT_EQUAL(p[0].used, 1);
    CU_ASSERT_TRUE(p[0].incomplete); /* three rows, one value */
    CU_ASSERT_FALSE(p[1].incomplete);
    r = rows_of("[{\"data\":\"01/07/2026\",\"valor\":\"\"},{\"data\":\"15/07/2026\",\"valor\":\"2\"},"
                "{\"data\":\"31/07/2026\",\"valor\":null}]");
    plan = plan_of(SGS_PACE_DAILY, SGS_PACE_MONTHLY, SGS_MEAN);
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 1);
    CU_ASSERT_TRUE(p[0].incomplete);
    test_host_reset();
}

static void aggregation__never_refines(void) {
    CU_ASSERT_TRUE(sgs_aggregate_allowed(SGS_PACE_DAILY, SGS_PACE_MONTHLY));
    CU_ASSERT_TRUE(sgs_aggregate_allowed(SGS_PACE_MONTHLY, SGS_PACE_MONTHLY));
    CU_ASSERT_TRUE(sgs_aggregate_allowed(SGS_PACE_IRREGULAR, SGS_PACE_MONTHLY));
    CU_ASSERT_FALSE(sgs_aggregate_allowed(SGS_PACE_QUARTERLY, SGS_PACE_MONTHLY));
    CU_ASSERT_FALSE(sgs_aggregate_allowed(SGS_PACE_HALF_YEARLY, SGS_PACE_QUARTERLY));
    CU_ASSERT_FALSE(sgs_aggregate_allowed(SGS_PACE_YEARLY, SGS_PACE_MONTHLY));
}

static void aggregation__without_any_value_is_null(void) {
    sgs_rows r =
        rows_of("[{\"data\":\"02/07/2026\",\"valor\":\"\"},{\"data\":\"03/07/2026\",\"valor\":null}]");
    sgs_point p[2];
    sgs_plan plan = plan_of(SGS_PACE_DAILY, SGS_PACE_MONTHLY, SGS_SUM);
    CU_ASSERT_EQUAL(sgs_aggregate(&r, &plan, p), 1);
    CU_ASSERT_TRUE(!p[0].value.at && !p[0].computed[0] && p[0].used == 0);
    test_host_reset();
}

/* ---- words ---- */

static void words__without_accents_and_case(void) {
    CU_ASSERT_TRUE(sgs_fold_contains(text_of("Inflação"), text_of("INFLACAO")));
    CU_ASSERT_TRUE(sgs_fold_contains(text_of("Câmbio"), text_of(" CÂMB ")));
    CU_ASSERT_TRUE(sgs_fold_contains(text_of("Atividade Econômica"), text_of("economica")));
    CU_ASSERT_TRUE(sgs_fold_contains(text_of("Juros"), text_of("")));
    CU_ASSERT_FALSE(sgs_fold_contains(text_of("Juros"), text_of("bitcoin")));
    CU_ASSERT_FALSE(sgs_fold_contains(text_of("Juros"), text_of("\xC3")));
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(values__keep_each_digit),
        UNIT_TEST(rounding__four_decimals_half_away_from_zero),
        UNIT_TEST(rounding__of_sums_is_exact),
        UNIT_TEST(bodies__are_known_by_their_shape),
        UNIT_TEST(rows__newest_first_become_ascending),
        UNIT_TEST(rows__a_day_without_value_stays),
        UNIT_TEST(rows__junk_is_an_error_that_names_it),
        UNIT_TEST(rows__one_per_date_and_end),
        UNIT_TEST(rows__a_window_from_a_holiday_keeps_only_its_days),
        UNIT_TEST(rhythm__is_the_median_gap),
        UNIT_TEST(aggregation__of_twelve_months),
        UNIT_TEST(aggregation__marks_periods_that_are_not_whole),
        UNIT_TEST(aggregation__of_days_looks_at_the_edges),
        UNIT_TEST(aggregation__what_has_no_value_covers_nothing),
        UNIT_TEST(aggregation__never_refines),
        UNIT_TEST(aggregation__without_any_value_is_null),
        UNIT_TEST(words__without_accents_and_case),
    };
    return UNIT_RUN("sgs rows", tests);
}
