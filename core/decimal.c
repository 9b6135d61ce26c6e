/* SPDX-License-Identifier: MIT */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond any power a text of less than 2^48 bytes can shift by; sums of two stay in range. */
#define GAP_MAX (INT64_MAX / 4)

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The exponent's part of the token, from the letter on. */
static void take_exponent(decimal *d, const char *p, const char *end) {
    p++;
    d->exp_negative = p < end && *p == '-';
    if (p < end && !is_digit(*p))
        p++;
    while (p < end && *p == '0')
        p++;
    d->exp = p;
    d->exp_n = (size_t)(end - p);
}

decimal decimal_of(const char *text, size_t len) {
    decimal d = {.at = text};
    const char *p = text, *end = text + len, *point = NULL, *first = NULL, *last = NULL;
    d.negative = len && *p == '-';
    for (p += d.negative; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            point = p;
        } else if (*p != '0') {
            first = first ? first : p;
            last = p;
        }
    }
    if (!first)
        return (decimal){.at = text, .negative = d.negative};
    if (!point)
        point = p;
    d.at = first;
    d.n = (size_t)(last - first) + 1 - (first < point && point < last);
    d.shift = last < point ? point - last - 1 : point - last;
    if (p < end)
        take_exponent(&d, p, end);
    return d;
}

/* The digit at *p, which moves on, over the point. */
static inline unsigned next_digit(const char **p) {
    if (**p == '.')
        (*p)++;
    return (unsigned)(*(*p)++ - '0');
}

static int exponent_digit(const decimal *d, size_t place, size_t places) {
    size_t pad = places - d->exp_n;
    int digit = place < pad ? 0 : d->exp[place - pad] - '0';
    return d->exp_negative ? -digit : digit;
}

/* a's exponent less b's (b may be NULL: less 0), or +-GAP_MAX when it is too large to matter. The exponents
 * are subtracted digit by digit from the left: once the difference is large, later digits cannot undo it. */
static int64_t exponent_gap(const decimal *a, const decimal *b) {
    static const decimal zero = {0};
    b = b ? b : &zero;
    size_t places = a->exp_n > b->exp_n ? a->exp_n : b->exp_n;
    int64_t gap = 0;
    for (size_t i = 0; i < places; i++) {
        gap = gap * 10 + exponent_digit(a, i, places) - exponent_digit(b, i, places);
        if (gap > GAP_MAX / 100)
            return GAP_MAX;
        if (gap < -GAP_MAX / 100)
            return -GAP_MAX;
    }
    return gap;
}

static int compare_magnitude(const decimal *a, const decimal *b) {
    int64_t lead = exponent_gap(a, b) + (a->shift + (int64_t)a->n) - (b->shift + (int64_t)b->n);
    if (lead)
        return lead > 0 ? 1 : -1;
    const char *p = a->at, *q = b->at;
    size_t n = a->n < b->n ? a->n : b->n;
    for (size_t i = 0; i < n; i++) {
        unsigned x = next_digit(&p), y = next_digit(&q);
        if (x != y)
            return x > y ? 1 : -1;
    }
    return (a->n > n) - (b->n > n);
}

static int sign_of(const decimal *d) {
    return !d->n ? 0 : d->negative ? -1 : 1;
}

int decimal_compare(const decimal *a, const decimal *b) {
    int sa = sign_of(a), sb = sign_of(b);
    if (sa != sb)
        return sa > sb ? 1 : -1;
    return sa ? sa * compare_magnitude(a, b) : 0;
}

bool decimal_is_integer(const decimal *d) {
    return !d->n || exponent_gap(d, NULL) + d->shift >= 0;
}

bool decimal_int64(const decimal *d, int64_t *ret) {
    int64_t zeros = exponent_gap(d, NULL) + d->shift;
    if (d->n && (zeros < 0 || d->n > 19 || zeros > 19 - (int64_t)d->n))
        return false;
    uint64_t v = 0; /* 19 digits fit */
    const char *p = d->at;
    for (size_t i = 0; i < d->n; i++)
        v = v * 10 + next_digit(&p);
    for (; v && zeros; zeros--)
        v *= 10;
    if (v > (uint64_t)INT64_MAX + d->negative)
        return false;
    *ret = d->negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* ---- multiples ----
 * With a = A * 10^i, b = B * 10^j and neither A nor B divisible by 10, a is a multiple of b when B divides
 * A * 10^(i-j). For i < j that cannot be: A would have to end in zeros. Else B = 2^x * 5^y * m with m prime
 * to 10, and as x and y are below 4 times B's digits, a larger power of ten decides nothing: it is cut there.
 */

static bool small_divides(const decimal *a, const decimal *b, size_t zeros) {
    uint64_t divisor = 0, rest = 0;
    const char *p = b->at;
    for (size_t i = 0; i < b->n; i++)
        divisor = divisor * 10 + next_digit(&p);
    p = a->at;
    for (size_t i = 0; i < a->n; i++)
        rest = (rest * 10 + next_digit(&p)) % divisor;
    for (size_t i = 0; i < zeros && rest; i++)
        rest = rest * 10 % divisor;
    return rest == 0;
}

enum { LIMB = 1000000000, LIMBS = DECIMAL_DIVISOR_MAX / 9 + 2 };

/* v = v * 10 + digit, n limbs, lowest first; there is room for the carry. */
static void push_digit(uint32_t *v, size_t n, unsigned digit) {
    uint64_t carry = digit;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)v[i] * 10;
        v[i] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
}

static bool at_least(const uint32_t *v, const uint32_t *w, size_t n) {
    while (n-- > 0)
        if (v[n] != w[n])
            return v[n] > w[n];
    return true;
}

static void subtract(uint32_t *v, const uint32_t *w, size_t n) {
    uint32_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t take = w[i] + borrow;
        borrow = v[i] < take;
        v[i] = borrow ? v[i] + LIMB - take : v[i] - take;
    }
}

static bool large_divides(const decimal *a, const decimal *b, size_t zeros) {
    uint32_t divisor[LIMBS] = {0}, rest[LIMBS] = {0}, any = 0;
    size_t n = b->n / 9 + 2; /* one digit more than b has */
    const char *p = b->at;
    for (size_t i = 0; i < b->n; i++)
        push_digit(divisor, n, next_digit(&p));
    p = a->at;
    for (size_t i = 0; i < a->n + zeros; i++) {
        push_digit(rest, n, i < a->n ? next_digit(&p) : 0);
        while (at_least(rest, divisor, n))
            subtract(rest, divisor, n);
    }
    for (size_t i = 0; i < n; i++)
        any |= rest[i];
    return any == 0;
}

bool decimal_is_multiple(const decimal *a, const decimal *b) {
    if (sign_of(b) <= 0)
        return false;
    if (!a->n)
        return true;
    int64_t power = exponent_gap(a, b) + a->shift - b->shift;
    if (power < 0 || b->n > DECIMAL_DIVISOR_MAX)
        return false;
    int64_t enough = (int64_t)b->n * 4;
    size_t zeros = (size_t)(power < enough ? power : enough);
    return b->n <= 18 ? small_divides(a, b, zeros) : large_divides(a, b, zeros);
}

/* ---- doubles ---- */

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* No double's decision between two neighbours needs more than 767 digits; whatever follows 800 counts as a
 * single 1. Written for strtod without a point, so no locale matters (and the program never sets one). */
static double by_strtod(const decimal *d, int64_t power) {
    enum { DIGITS = 800, BOUND = 100000 };
    char text[DIGITS + 32], *out = text;
    const char *p = d->at;
    size_t n = d->n < DIGITS ? d->n : DIGITS;
    for (size_t i = 0; i < n; i++)
        *out++ = (char)('0' + next_digit(&p));
    power += (int64_t)(d->n - n);
    if (d->n > n) {
        *out++ = '1';
        power--;
    }
    int bounded = (int)(power > BOUND ? BOUND : power < -BOUND ? -BOUND : power);
    snprintf(out, 16, "e%d", bounded);
    return strtod(text, NULL);
}

double decimal_double(const decimal *d) {
    double value = 0.0;
    int64_t power = exponent_gap(d, NULL) + d->shift;
    if (d->n && d->n <= 15 && power >= -22 && power <= 22) { /* both exact, so one rounding */
        int64_t digits = 0;
        const char *p = d->at;
        for (size_t i = 0; i < d->n; i++)
            digits = digits * 10 + next_digit(&p);
        value = power < 0 ? (double)digits / power_of_ten[-power] : (double)digits * power_of_ten[power];
    } else if (d->n) {
        value = by_strtod(d, power);
    }
    return d->negative ? -value : value;
}
