/* SPDX-License-Identifier: MIT */
/* decimal.h -- exact arithmetic on JSON number texts: nothing is rounded, exponents may have any length.
 * Inside the JSON files only; others use json.h. Nothing here allocates. */
#ifndef LASTRO_CORE_DECIMAL_H
#define LASTRO_CORE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* value = sign, digits as an integer, times 10 to the power of (exponent + shift) */
typedef struct {
    const char *at; /* first digit that is not 0; a decimal point may stand between the digits */
    size_t n;       /* digits from the first to the last that is not 0; none: the value is zero */
    int64_t shift;
    const char *exp; /* digits of the exponent, no leading zeros */
    size_t exp_n;
    bool negative, exp_negative;
} decimal;

enum { DECIMAL_DIVISOR_MAX = 1000 }; /* significant digits of a divisor that is looked at */

/* text is one JSON number token of len bytes; it must outlive the result. */
decimal decimal_of(const char *text, size_t len);
int decimal_compare(const decimal *a, const decimal *b);
bool decimal_is_integer(const decimal *d);
/* a is an integer times b. False when b is not positive or has more than DECIMAL_DIVISOR_MAX digits. */
bool decimal_is_multiple(const decimal *a, const decimal *b);
bool decimal_int64(const decimal *d, int64_t *ret);
/* Correctly rounded, ties to even. */
double decimal_double(const decimal *d);

#endif
