/* SPDX-License-Identifier: MIT */
/* exact.h -- exact arithmetic on published decimals, and the one rounding of every figure this plugin
 * computes: half away from zero, decided on the exact value and never on a double. Plain C; any thread; no
 * state.
 *
 * Why exact: 0.1 % and 0.05 % chained give 0.15005 % to the last digit. Four decimals of that are 0.1501, but
 * the nearest double lies below the tie and prints 0.1500. Such ties are common with two-decimal rates.
 */
#ifndef LASTRO_STATS_EXACT_H
#define LASTRO_STATS_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* digits / 10^scale. The longest value of the SGS known to us has 15 digits, the most decimals are 10. */
enum { EXACT_DIGITS = 18, EXACT_SCALE = 16 };
typedef struct exact {
    int64_t digits;
    unsigned scale;
} exact;

/* Reads a JSON number. False: it is none, or it has more digits than fit (it is never shortened). */
bool exact_parse(const char *text, size_t len, exact *ret);
/* -1, 0, 1, exactly. */
int exact_compare(exact a, exact b);
/* For looking at magnitudes only, never for a figure that goes out. */
double exact_approx(exact a);

/* A computed figure, rounded. */
typedef struct exact_figure {
    char text[64]; /* magnitude, with all its places: "4.8300" */
    int sign;      /* of the exact value, before rounding: -1, 0, 1 */
} exact_figure;

/* All return false only when there is no such figure: division by zero, more digits than text holds, no
 * memory. */
bool exact_difference(exact from, exact to, unsigned places, exact_figure *ret);
bool exact_mean(const exact *values, size_t count, unsigned places, exact_figure *ret);
/* (to - from) / |from| * 100 */
bool exact_change_percent(exact from, exact to, unsigned places, exact_figure *ret);
/* (product of (1 + v/100) - 1) * 100.
 * First in long double with a bound on its error: each factor and each product err by at most half an ulp, so
 * the relative error of n factors stays under 2n * LDBL_EPSILON (n = 10,000: 2.2e-15). When rounding cannot
 * be decided within the bound, the product is formed with all its digits. Both ways give the same text
 * (tested). */
bool exact_chain_percent(const exact *rates, size_t count, unsigned places, exact_figure *ret);
/* The second way alone. */
bool exact_chain_percent_exact(const exact *rates, size_t count, unsigned places, exact_figure *ret);

/* "-4.83": a JSON number without trailing zeros; 0 has no sign. */
void exact_print(const exact_figure *figure, char *text, size_t size);
/* "+4.83%", "-0.00%": all places and the sign of the exact value; zero counts as not negative. */
void exact_print_percent(const exact_figure *figure, char *text, size_t size);

#endif
