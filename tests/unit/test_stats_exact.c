/* SPDX-License-Identifier: MIT */
/* The arithmetic of plugin stats against fractions worked out here in another way (128-bit integers), and the
 * published vectors that need no series. */
#include "plugins/stats/exact.c"

#include "unit.h"

#include <CUnit/CUnit.h>

__extension__ typedef __int128 int128;

enum { MAX_VALUES = 512 };

static size_t parse_all(const char *list, exact *ret) {
    size_t n = 0;
    for (const char *p = list; *p && n < MAX_VALUES;) {
        size_t len = strcspn(p, " ");
        CU_ASSERT_TRUE(exact_parse(p, len, &ret[n++]));
        p += len + strspn(p + len, " ");
    }
    return n;
}

__attribute__((nonnull)) static void expect(bool ok, const exact_figure *f, const char *printed, const char *what) {
    char text[80] = "(none)";
    if (ok)
        exact_print(f, text, sizeof text);
    if (strcmp(text, printed) != 0)
        printf("FAIL: %s: %s, expected %s\n", what, text, printed);
    CU_ASSERT_STRING_EQUAL(text, printed);
}

/* ---- reading and printing ---- */

static void test_parse__keeps_each_digit_or_refuses(void) {
    static const struct {
        const char *text;
        bool ok;
        int64_t digits;
        unsigned scale;
    } cases[] = {
        {"0", true, 0, 0},           {"-0.00", true, 0, 0},        {"6.60", true, 66, 1},
        {"-1.84", true, -184, 2},    {"14.903333", true, 14903333, 6}, {"1.0558800000", true, 105588, 5},
        {"4.33e2", true, 433, 0},    {"5E-3", true, 5, 3},         {"1e17", true, 100000000000000000, 0},
        {"999999999999999999", true, 999999999999999999, 0},       {"1000000000000000000", false, 0, 0},
        {"0.00000000000000001", false, 0, 0},                      {"1e18", false, 0, 0},
        {"", false, 0, 0},           {"-", false, 0, 0},           {".5", false, 0, 0},
        {"5.", false, 0, 0},         {"1,5", false, 0, 0},         {"1.2.3", false, 0, 0},
        {"1e", false, 0, 0},         {"1e+", false, 0, 0},         {"0x10", false, 0, 0},
        {"12 ", false, 0, 0},        {"35.9051127766", true, 359051127766, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact v = {-7, 7};
        bool ok = exact_parse(cases[i].text, strlen(cases[i].text), &v);
        if (ok != cases[i].ok)
            printf("FAIL: parse '%s'\n", cases[i].text);
        CU_ASSERT_EQUAL(ok, cases[i].ok);
        if (ok && cases[i].ok) {
            CU_ASSERT_EQUAL(v.digits, cases[i].digits);
            CU_ASSERT_EQUAL(v.scale, cases[i].scale);
        }
    }
}

static void test_print__strips_zeros_and_never_says_minus_zero(void) {
    static const struct {
        exact_figure figure;
        const char *plain, *percent;
    } cases[] = {
        {{"4.8300", 1}, "4.83", "+4.8300%"}, {{"10.0000", -1}, "-10", "-10.0000%"}, {{"0.0000", -1}, "0", "-0.0000%"},
        {{"0.0000", 0}, "0", "+0.0000%"},    {{"100", 1}, "100", "+100%"},          {{"0.0500", -1}, "-0.05", "-0.0500%"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[80];
        exact_print(&cases[i].figure, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].plain);
        exact_print_percent(&cases[i].figure, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].percent);
    }
}

/* ---- vectors ---- */

static void test_chain__published_vectors(void) {
    static const struct {
        const char *what, *rates;
        unsigned places;
        const char *percent;
    } cases[] = {
        {"IPCA 2024", "0.42 0.83 0.16 0.38 0.46 0.21 0.38 -0.02 0.44 0.56 0.39 0.52", 4, "4.8313"},
        {"IPCA 2024, two decimals", "0.42 0.83 0.16 0.38 0.46 0.21 0.38 -0.02 0.44 0.56 0.39 0.52", 2, "4.83"},
        {"F031 IGP-M 2023", "0.21 -0.06 0.05 -0.95 -1.84 -1.93 -0.72 -0.14 0.37 0.50 0.59 0.74", 4, "-3.1783"},
        {"F031 with a peer's January", "-0.50 -0.06 0.05 -0.95 -1.84 -1.93 -0.72 -0.14 0.37 0.50 0.59 0.74", 4, "-3.8643"},
        {"4390, three months", "0.97 0.80 0.83", 4, "2.6225"},
        {"195, two months", "0.5879 0.5000", 4, "1.0908"},
        {"vector 8", "0.58 0.16 0.07", 4, "0.8114"},
        {"F032 IPCA 01/2024 to 01/2026",
         "0.42 0.83 0.16 0.38 0.46 0.21 0.38 -0.02 0.44 0.56 0.39 0.52 0.16 1.31 0.56 0.43 0.26 0.24 0.26 -0.11 0.48 "
         "0.09 0.18 0.33 0.33",
         4, "9.6624"},
        {"F034 Selic 2016, eight decimals",
         "1.055880 1.002822 1.162079 1.055880 1.108965 1.162079 1.108965 1.215220 1.108965 1.048842 1.038286 1.123315", 4,
         "14.0186"},
        {"F034 Selic 2016, two decimals", "1.06 1.00 1.16 1.06 1.11 1.16 1.11 1.22 1.11 1.05 1.04 1.12", 4, "14.0284"},
        {"tie that a double misses", "0.1 0.05", 4, "0.1501"},
        {"tie below zero", "-0.1 -0.05", 4, "-0.15"},
        {"a total loss", "-100 5", 4, "-100"},
        {"nothing", "0 0.00", 4, "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact v[MAX_VALUES];
        exact_figure f;
        size_t n = parse_all(cases[i].rates, v);
        bool ok = exact_chain_percent(v, n, cases[i].places, &f);
        expect(ok, &f, cases[i].percent, cases[i].what);
        ok = exact_chain_percent_exact(v, n, cases[i].places, &f);
        expect(ok, &f, cases[i].percent, cases[i].what);
    }
}

static void test_chain__f035_21_days_at_the_daily_rate(void) {
    exact v[21];
    exact_figure f;
    for (size_t i = 0; i < 21; i++)
        v[i] = (exact){50788, 6};
    expect(exact_chain_percent(v, 21, 5, &f), &f, "1.07198", "F035");
}

static void test_change__published_vectors(void) {
    static const struct {
        const char *from, *to, *percent, *difference;
    } cases[] = {
        {"100", "90", "-10", "-10"},
        {"1.005", "3.333333", "231.6749", "2.3283"},
        {"-100", "-50", "50", "50"},
        {"100", "108", "8", "8"},
        {"108", "100", "-7.4074", "-8"},
        {"100", "95.5555", "-4.4445", "-4.4445"},
        {"3", "3.0000015", "0.0001", "0"}, /* 0.00005: a tie, away from zero; the difference is not */
        {"3", "2.9999985", "-0.0001", "0"},
        {"0.00000001", "100000000000000000", "999999999999999999999999900", "100000000000000000"}, /* 1e27 - 100 */
        {"5", "5.0", "0", "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact from, to;
        exact_figure f;
        exact_parse(cases[i].from, strlen(cases[i].from), &from);
        exact_parse(cases[i].to, strlen(cases[i].to), &to);
        expect(exact_change_percent(from, to, 4, &f), &f, cases[i].percent, cases[i].to);
        expect(exact_difference(from, to, 4, &f), &f, cases[i].difference, cases[i].to);
    }
    exact_figure f;
    CU_ASSERT_FALSE(exact_change_percent((exact){0, 0}, (exact){5, 0}, 4, &f));
}

static void test_mean__published_vectors(void) {
    static const struct {
        const char *values, *mean;
    } cases[] = {
        {"100 110 90", "100"},
        {"1.005 2.0075 3.333333", "2.1153"},
        {"0.42 0.83 0.16 0.38 0.46 0.21 0.38 -0.02 0.44 0.56 0.39 0.52", "0.3942"},
        {"100 90 95.5555", "95.1852"},
        {"0.0001 0.0002", "0.0002"},
        {"-0.0001 -0.0002", "-0.0002"},
        {"999999999999999999 -999999999999999998 0.0000000000000003", "0.3333"},
        {"1 -1", "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exact v[MAX_VALUES];
        exact_figure f;
        size_t n = parse_all(cases[i].values, v);
        expect(exact_mean(v, n, 4, &f), &f, cases[i].mean, cases[i].values);
    }
}

/* ---- against 128-bit fractions ---- */

static uint64_t state = 88172645463325252U;
static uint64_t next_random(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* num / den to four places, half away from zero */
static void fraction_text(int128 num, int128 den, char *text, size_t size) {
    bool negative = num < 0;
    int128 q = ((negative ? -num : num) * 20000 + den) / (2 * den);
    int len = snprintf(text, size, "%s%lld.%04lld", negative && q ? "-" : "", (long long)(q / 10000), (long long)(q % 10000));
    while (text[len - 1] == '0')
        len--;
    text[text[len - 1] == '.' ? len - 1 : len] = '\0';
}

static void test_all__equal_to_fractions_on_random_decimals(void) {
    for (int round = 0; round < 20000; round++) {
        exact v[3];
        int128 product = 1, one = 1, sum = 0;
        for (int i = 0; i < 3; i++) {
            v[i] = (exact){(int64_t)(next_random() % 40001) - 20000, (unsigned)(next_random() % 4)};
            product *= chain_factor(v[i]);
            one *= (int128)power10(v[i].scale + 2);
            sum += (int128)v[i].digits * (int128)power10(3 - v[i].scale);
        }
        char text[80];
        exact_figure f;
        fraction_text((product - one) * 100, one, text, sizeof text);
        expect(exact_chain_percent(v, 3, 4, &f), &f, text, "chain");
        expect(exact_chain_percent_exact(v, 3, 4, &f), &f, text, "chain, exact");
        fraction_text(sum, 3000, text, sizeof text);
        expect(exact_mean(v, 3, 4, &f), &f, text, "mean");
        if (!v[0].digits)
            continue;
        int128 a = (int128)v[0].digits * (int128)power10(3 - v[0].scale), b = (int128)v[1].digits * (int128)power10(3 - v[1].scale);
        fraction_text((b - a) * 100, a < 0 ? -a : a, text, sizeof text);
        expect(exact_change_percent(v[0], v[1], 4, &f), &f, text, "change");
        fraction_text(b - a, 1000, text, sizeof text);
        expect(exact_difference(v[0], v[1], 4, &f), &f, text, "difference");
        CU_ASSERT_EQUAL(exact_compare(v[0], v[1]), (a > b) - (a < b));
    }
}

/* Every pair of one- and two-decimal rates whose product ends in a 5 at the fifth place is a tie. */
static void test_chain__ties_go_away_from_zero(void) {
    size_t ties = 0;
    for (int a = -99; a <= 99; a++)
        for (int b = -99; b <= 99; b++) {
            exact v[2] = {{a, 2}, {b, 2}};
            int128 product = (int128)(10000 + a) * (10000 + b) - 100000000; /* percent: / 1e6; four places: / 100 */
            char text[80];
            exact_figure f;
            ties += product % 100 == 50 || product % 100 == -50;
            fraction_text(product, 1000000, text, sizeof text);
            expect(exact_chain_percent(v, 2, 4, &f), &f, text, "tie");
        }
    CU_ASSERT_TRUE(ties > 300);
}

static void test_chain__both_ways_agree_on_long_chains(void) {
    static exact v[10000];
    for (size_t n = 100; n <= 10000; n *= 10) {
        for (size_t i = 0; i < n; i++)
            v[i] = (exact){(int64_t)(next_random() % 60000), 6};
        exact_figure fast, slow;
        CU_ASSERT_TRUE(chain_percent_fast(v, n, 4, &fast));
        CU_ASSERT_TRUE(exact_chain_percent_exact(v, n, 4, &slow));
        CU_ASSERT_STRING_EQUAL(fast.text, slow.text);
        CU_ASSERT_EQUAL(fast.sign, slow.sign);
    }
}

static void test_chain__negative_factors_and_figures_too_long(void) {
    exact v[80];
    exact_figure f;
    for (size_t i = 0; i < 80; i++)
        v[i] = (exact){-150, 0};
    expect(exact_chain_percent(v, 3, 4, &f), &f, "-112.5", "(-0.5)^3");
    expect(exact_chain_percent(v, 2, 4, &f), &f, "-75", "(-0.5)^2");
    for (size_t i = 0; i < 80; i++)
        v[i] = (exact){900, 0};
    expect(exact_chain_percent(v, 40, 4, &f), &f, "999999999999999999999999999999999999999900", "10^40");
    CU_ASSERT_FALSE(exact_chain_percent(v, 80, 4, &f));
}

static const unit_test tests[] = {
    UNIT_TEST(test_parse__keeps_each_digit_or_refuses),
    UNIT_TEST(test_print__strips_zeros_and_never_says_minus_zero),
    UNIT_TEST(test_chain__published_vectors),
    UNIT_TEST(test_chain__f035_21_days_at_the_daily_rate),
    UNIT_TEST(test_change__published_vectors),
    UNIT_TEST(test_mean__published_vectors),
    UNIT_TEST(test_all__equal_to_fractions_on_random_decimals),
    UNIT_TEST(test_chain__ties_go_away_from_zero),
    UNIT_TEST(test_chain__both_ways_agree_on_long_chains),
    UNIT_TEST(test_chain__negative_factors_and_figures_too_long),
};

int main(void) {
    return UNIT_RUN("stats_exact", tests);
}
