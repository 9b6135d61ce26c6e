/* SPDX-License-Identifier: MIT */
#include "exact.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The integers of a decimal (below 2^60) must be exact in a long double. */
_Static_assert(LDBL_MANT_DIG >= 64, "exact_chain_percent needs a long double of 64 bits or more");

/* ---- natural numbers of any length: limbs of nine decimal digits, least significant first ---- */

__extension__ typedef unsigned __int128 wide;

enum { LIMB_DIGITS = 9, LIMB_BASE = 1000000000, SMALL_LIMBS = 16 };

typedef struct big {
    uint32_t *limb; /* the caller's room */
    size_t len, cap;
    bool full; /* something did not fit: the number is void */
} big;

#define BIG_SMALL(name)                                                                                      \
    uint32_t name##_limbs[SMALL_LIMBS];                                                                      \
    big name = {name##_limbs, 0, SMALL_LIMBS, false}

static uint64_t power10(unsigned n) {
    uint64_t p = 1;
    while (n--)
        p *= 10;
    return p;
}

static void big_push(big *b, uint32_t limb) {
    if (b->len == b->cap)
        b->full = true;
    else
        b->limb[b->len++] = limb;
}

static void big_trim(big *b) {
    while (b->len && !b->limb[b->len - 1])
        b->len--;
}

static void big_set(big *b, uint64_t value) {
    b->len = 0;
    for (; value; value /= LIMB_BASE)
        big_push(b, (uint32_t)(value % LIMB_BASE));
}

static void big_copy(big *to, const big *from) {
    to->len = 0;
    to->full = from->full;
    for (size_t i = 0; i < from->len; i++)
        big_push(to, from->limb[i]);
}

static void big_multiply(big *b, uint64_t by) {
    wide carry = 0;
    for (size_t i = 0; i < b->len; i++) {
        carry += (wide)b->limb[i] * by;
        b->limb[i] = (uint32_t)(carry % LIMB_BASE);
        carry /= LIMB_BASE;
    }
    for (; carry; carry /= LIMB_BASE)
        big_push(b, (uint32_t)(carry % LIMB_BASE));
    big_trim(b);
}

static void big_shift10(big *b, size_t digits) {
    for (; digits >= LIMB_DIGITS; digits -= LIMB_DIGITS)
        big_multiply(b, LIMB_BASE);
    big_multiply(b, power10((unsigned)digits));
}

static int big_compare(const big *a, const big *b) {
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    for (size_t i = a->len; i--;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void big_add(big *a, const big *b) {
    uint32_t carry = 0;
    for (size_t i = 0; i < b->len || carry; i++) {
        if (i == a->len)
            big_push(a, 0);
        if (a->full)
            return;
        uint32_t sum = a->limb[i] + (i < b->len ? b->limb[i] : 0) + carry;
        carry = sum >= LIMB_BASE;
        a->limb[i] = carry ? sum - LIMB_BASE : sum;
    }
}

/* a - b; a is not below b */
static void big_subtract(big *a, const big *b) {
    uint32_t borrow = 0;
    for (size_t i = 0; i < a->len; i++) {
        uint32_t take = (i < b->len ? b->limb[i] : 0) + borrow;
        borrow = a->limb[i] < take;
        a->limb[i] = a->limb[i] + (borrow ? LIMB_BASE : 0) - take;
    }
    big_trim(a);
}

/* How often den goes into rest, less than LIMB_BASE times by construction; rest keeps what is left. */
static uint32_t big_divide_limb(big *rest, const big *den) {
    uint32_t low = 0, high = LIMB_BASE - 1;
    BIG_SMALL(try);
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        big_copy(&try, den);
        big_multiply(&try, middle);
        if (big_compare(&try, rest) <= 0)
            low = middle;
        else
            high = middle - 1;
    }
    big_copy(&try, den);
    big_multiply(&try, low);
    big_subtract(rest, &try);
    rest->full |= try.full;
    return low;
}

/* num becomes num / den, rounded half up (magnitudes: half away from zero); den is not zero */
static void big_divide_rounded(big *num, const big *den) {
    BIG_SMALL(rest);
    for (size_t i = num->len; i-- && !rest.full;) {
        big_multiply(&rest, LIMB_BASE);
        BIG_SMALL(limb);
        big_set(&limb, num->limb[i]);
        big_add(&rest, &limb);
        num->limb[i] = big_divide_limb(&rest, den);
    }
    big_trim(num);
    big_multiply(&rest, 2);
    if (big_compare(&rest, den) >= 0) {
        BIG_SMALL(one);
        big_set(&one, 1);
        big_add(num, &one);
    }
    num->full |= rest.full;
}

/* The magnitude scaled / 10^places as text. False: too long. */
static bool big_print(const big *scaled, unsigned places, char *text, size_t size) {
    char digits[SMALL_LIMBS * LIMB_DIGITS + 1];
    size_t len = 0;
    if (scaled->full || scaled->len > SMALL_LIMBS)
        return false;
    for (size_t i = scaled->len; i--;)
        len += (size_t)snprintf(digits + len, sizeof digits - len, len ? "%09u" : "%u", scaled->limb[i]);
    size_t pad = len <= places ? places + 1 - len : 0, whole = len + pad - places;
    if (pad + len + 2 > size)
        return false;
    char *out = text;
    for (size_t i = 0; i < pad + len; i++) {
        if (i == whole)
            *out++ = '.';
        *out++ = i < pad ? '0' : digits[i - pad];
    }
    *out = '\0';
    return true;
}

/* ---- decimals ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Reads the digits at *at into ret; *scale counts those after the point. */
static bool read_digits(const char **at, const char *end, uint64_t *ret, int *scale) {
    const char *p = *at, *start = p;
    bool point = false;
    for (*ret = 0; p < end && (is_digit(*p) || (*p == '.' && !point && p > start)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (*ret >= 1000000000000000000U)
            return false;
        *ret = *ret * 10 + (uint64_t)(*p - '0');
        *scale += point;
    }
    *at = p;
    return p > start && is_digit(p[-1]);
}

static bool read_exponent(const char **at, const char *end, int *ret) {
    const char *p = *at;
    *ret = 0;
    if (p == end || (*p != 'e' && *p != 'E'))
        return true;
    bool negative = ++p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || end - p > 4)
        return false;
    for (; p < end && is_digit(*p); p++)
        *ret = *ret * 10 + (*p - '0');
    *ret = negative ? -*ret : *ret;
    *at = p;
    return true;
}

bool exact_parse(const char *text, size_t len, exact *ret) {
    const char *at = text, *end = text + len;
    bool negative = len && *at == '-';
    uint64_t digits;
    int scale = 0, exponent;
    at += negative;
    if (!read_digits(&at, end, &digits, &scale) || !read_exponent(&at, end, &exponent) || at != end)
        return false;
    for (scale -= exponent; scale > 0 && digits % 10 == 0 && digits; scale--)
        digits /= 10;
    if (!digits)
        scale = 0;
    for (; scale < 0 && digits <= power10(EXACT_DIGITS) / 10; scale++)
        digits *= 10;
    if (scale < 0 || scale > EXACT_SCALE || digits >= power10(EXACT_DIGITS))
        return false;
    *ret = (exact){negative ? -(int64_t)digits : (int64_t)digits, (unsigned)scale};
    return true;
}

double exact_approx(exact a) {
    return (double)a.digits / (double)power10(a.scale);
}

static uint64_t magnitude(int64_t n) {
    return n < 0 ? (uint64_t)-n : (uint64_t)n;
}

static int sign_of(int64_t n) {
    return (n > 0) - (n < 0);
}

/* a as an integer of the given scale (not below a's own) */
static void scaled(big *ret, exact a, unsigned scale) {
    big_set(ret, magnitude(a.digits));
    big_shift10(ret, scale - a.scale);
}

/* An exact running sum: magnitude and sign, all terms at one scale. */
typedef struct exact_sum {
    uint32_t limbs[SMALL_LIMBS];
    big value;
    int sign;
    unsigned scale;
} exact_sum;

static void sum_start(exact_sum *s, unsigned scale) {
    *s = (exact_sum){.scale = scale};
    s->value = (big){s->limbs, 0, SMALL_LIMBS, false};
}

static void sum_add(exact_sum *s, exact a, int sign) {
    BIG_SMALL(term);
    scaled(&term, a, s->scale);
    sign *= sign_of(a.digits);
    if (!sign)
        return;
    if (!s->sign || s->sign == sign) {
        big_add(&s->value, &term);
        s->sign = sign;
    } else if (big_compare(&s->value, &term) >= 0) {
        big_subtract(&s->value, &term);
    } else {
        big_subtract(&term, &s->value);
        big_copy(&s->value, &term);
        s->sign = sign;
    }
    if (!s->value.len)
        s->sign = 0;
}

/* sum * 10^shift / den, to places */
static bool finish(exact_sum *s, unsigned shift, const big *den, unsigned places, exact_figure *ret) {
    if (!den->len)
        return false;
    big_shift10(&s->value, shift + places);
    big_divide_rounded(&s->value, den);
    ret->sign = s->sign;
    return big_print(&s->value, places, ret->text, sizeof ret->text);
}

int exact_compare(exact a, exact b) {
    exact_sum s;
    sum_start(&s, a.scale > b.scale ? a.scale : b.scale);
    sum_add(&s, a, 1);
    sum_add(&s, b, -1);
    return s.sign;
}

bool exact_difference(exact from, exact to, unsigned places, exact_figure *ret) {
    exact_sum s;
    BIG_SMALL(den);
    sum_start(&s, from.scale > to.scale ? from.scale : to.scale);
    sum_add(&s, to, 1);
    sum_add(&s, from, -1);
    big_set(&den, power10(s.scale));
    return finish(&s, 0, &den, places, ret);
}

bool exact_mean(const exact *values, size_t count, unsigned places, exact_figure *ret) {
    exact_sum s;
    BIG_SMALL(den);
    unsigned scale = 0;
    for (size_t i = 0; i < count; i++)
        scale = values[i].scale > scale ? values[i].scale : scale;
    sum_start(&s, scale);
    for (size_t i = 0; i < count; i++)
        sum_add(&s, values[i], 1);
    big_set(&den, count);
    big_shift10(&den, scale);
    return finish(&s, 0, &den, places, ret);
}

bool exact_change_percent(exact from, exact to, unsigned places, exact_figure *ret) {
    exact_sum s;
    BIG_SMALL(den);
    sum_start(&s, from.scale > to.scale ? from.scale : to.scale);
    sum_add(&s, to, 1);
    sum_add(&s, from, -1);
    scaled(&den, from, s.scale);
    return finish(&s, 2, &den, places, ret);
}

/* ---- chaining ---- */

/* 1 + rate/100 = factor / 10^(scale + 2) */
static int64_t chain_factor(exact rate) {
    return (int64_t)power10(rate.scale + 2) + rate.digits;
}

static void free_limbs(uint32_t **limbs) {
    free(*limbs);
}

static void big_power10(big *b, size_t exponent) {
    big_set(b, 1);
    big_shift10(b, exponent);
}

/* b / 10^drop, half up */
static void big_drop10(big *b, size_t drop) {
    size_t limbs = drop / LIMB_DIGITS, digits = drop % LIMB_DIGITS;
    if (!drop)
        return;
    /* the digit after the cut decides: five or more means a half or more, whatever follows */
    size_t half = drop - 1;
    uint32_t at = half / LIMB_DIGITS < b->len ? b->limb[half / LIMB_DIGITS] : 0;
    bool up = at / (uint32_t)power10((unsigned)(half % LIMB_DIGITS)) % 10 >= 5;
    limbs = limbs < b->len ? limbs : b->len;
    memmove(b->limb, b->limb + limbs, (b->len - limbs) * sizeof *b->limb);
    b->len -= limbs;
    uint32_t cut = (uint32_t)power10((unsigned)digits), rest = 0;
    for (size_t i = b->len; i--;) {
        uint64_t n = (uint64_t)rest * LIMB_BASE + b->limb[i];
        b->limb[i] = (uint32_t)(n / cut);
        rest = (uint32_t)(n % cut);
    }
    big_trim(b);
    if (up) {
        BIG_SMALL(one);
        big_set(&one, 1);
        big_add(b, &one);
    }
}

bool exact_chain_percent_exact(const exact *rates, size_t count, unsigned places, exact_figure *ret) {
    size_t scale = 0;
    for (size_t i = 0; i < count; i++)
        scale += rates[i].scale + 2;
    /* a factor is below 2 * 10^18, so each adds at most 19 digits */
    size_t cap = (count * 19 + scale + places) / LIMB_DIGITS + 4;
    __attribute__((cleanup(free_limbs))) uint32_t *limbs = calloc(2 * cap, sizeof *limbs);
    if (!limbs)
        return false;
    big product = {limbs, 0, cap, false}, one = {limbs + cap, 0, cap, false};
    int sign = 1;
    big_set(&product, 1);
    for (size_t i = 0; i < count; i++) {
        int64_t factor = chain_factor(rates[i]);
        sign *= factor < 0 ? -1 : 1;
        big_multiply(&product, magnitude(factor));
    }
    big_power10(&one, scale);
    int order = sign > 0 ? big_compare(&product, &one) : -1;
    if (sign < 0)
        big_add(&product, &one);
    else if (order >= 0)
        big_subtract(&product, &one);
    else {
        big_subtract(&one, &product);
        product = one;
    }
    if (scale >= places + 2)
        big_drop10(&product, scale - places - 2);
    else
        big_shift10(&product, places + 2 - scale);
    ret->sign = order;
    return big_print(&product, places, ret->text, sizeof ret->text);
}

/* The same figure from a long double; false when its error bound leaves the rounding open. */
static bool chain_percent_fast(const exact *rates, size_t count, unsigned places, exact_figure *ret) {
    long double product = 1;
    for (size_t i = 0; i < count; i++)
        product *= (long double)chain_factor(rates[i]) / (long double)power10(rates[i].scale + 2);
    long double unit = 100 * (long double)power10(places), x = (product - 1) * unit;
    long double bound = ((2 * (long double)count + 8) * fabsl(product) + 8) * LDBL_EPSILON * unit;
    if (!(fabsl(x) < 0x1p62L) || fabsl(x) <= bound)
        return false;
    long double low = roundl(fabsl(x) - bound), high = roundl(fabsl(x) + bound);
    if (low != high)
        return false;
    BIG_SMALL(figure);
    big_set(&figure, (uint64_t)low);
    ret->sign = x < 0 ? -1 : 1;
    return big_print(&figure, places, ret->text, sizeof ret->text);
}

bool exact_chain_percent(const exact *rates, size_t count, unsigned places, exact_figure *ret) {
    return chain_percent_fast(rates, count, places, ret) ||
           exact_chain_percent_exact(rates, count, places, ret);
}

/* ---- printing ---- */

void exact_print(const exact_figure *figure, char *text, size_t size) {
    size_t len = strlen(figure->text);
    if (strchr(figure->text, '.')) {
        while (figure->text[len - 1] == '0')
            len--;
        len -= figure->text[len - 1] == '.';
    }
    bool zero = len == 1 && figure->text[0] == '0';
    snprintf(text, size, "%s%.*s", figure->sign < 0 && !zero ? "-" : "", (int)len, figure->text);
}

void exact_print_percent(const exact_figure *figure, char *text, size_t size) {
    snprintf(text, size, "%c%.63s%%", figure->sign < 0 ? '-' : '+', figure->text);
}
