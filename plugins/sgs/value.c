/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static size_t digits(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && is_digit(text[n]))
        n++;
    return n;
}

/* "1.234.567" before a decimal comma: 1 to 3 digits, then groups of three. Copies the digits. */
static bool read_grouped(const char *text, size_t len, char *out, size_t *n) {
    size_t first = digits(text, len);
    if (first == 0 || first > 3 || text[0] == '0')
        return false;
    memcpy(out + *n, text, first);
    *n += first;
    for (size_t i = first; i < len; i += 4) {
        if (len - i < 4 || text[i] != '.' || digits(text + i + 1, 3) != 3)
            return false;
        memcpy(out + *n, text + i + 1, 3);
        *n += 3;
    }
    return true;
}

static bool read_exponent(const char *text, size_t len, char *out, size_t *n) {
    if (!len)
        return true;
    if (text[0] != 'e' && text[0] != 'E')
        return false;
    size_t sign = len > 1 && (text[1] == '-' || text[1] == '+');
    size_t count = digits(text + 1 + sign, len - 1 - sign);
    if (!count || 1 + sign + count != len)
        return false;
    memcpy(out + *n, text, len);
    *n += len;
    return true;
}

static size_t copy_whole(const char *text, size_t len, char *out) {
    while (len > 1 && text[0] == '0')
        text++, len--;
    if (!len) {
        out[0] = '0';
        return 1;
    }
    memcpy(out, text, len);
    return len;
}

sgs_value_kind sgs_value_read(const char *text, size_t len, char ret[SGS_VALUE_SIZE], size_t *ret_len) {
    while (len && (text[0] == ' ' || text[0] == '\t'))
        text++, len--;
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (!len || (len == 1 && text[0] == '-'))
        return SGS_VALUE_NONE;
    if (len > SGS_VALUE_SIZE - 4)
        return SGS_VALUE_JUNK;
    size_t n = 0, frac;
    if (*text == '-')
        ret[n++] = '-';
    if (*text == '-' || *text == '+')
        text++, len--;
    const char *comma = memchr(text, ',', len);
    size_t whole = digits(text, len);
    if (comma && text + whole != comma) {
        size_t head = (size_t)(comma - text);
        if (!read_grouped(text, head, ret, &n))
            return SGS_VALUE_JUNK;
        whole = head;
    } else
        n += copy_whole(text, whole, ret + n);
    bool mark = whole < len && (text[whole] == '.' || text[whole] == ',');
    frac = mark ? digits(text + whole + 1, len - whole - 1) : 0;
    if (whole + frac == 0)
        return SGS_VALUE_JUNK;
    if (frac) {
        ret[n++] = '.';
        memcpy(ret + n, text + whole + 1, frac);
        n += frac;
    }
    size_t used = whole + mark + frac;
    if (!read_exponent(text + used, len - used, ret, &n))
        return SGS_VALUE_JUNK;
    ret[n] = '\0';
    *ret_len = n;
    return SGS_VALUE_NUMBER;
}

/* ---- sums ---- */

static const sgs_wide wide_most = (sgs_wide)1000000000000000000 * 1000000000000000000;

static bool shift10(sgs_wide *n, unsigned digit_count) {
    for (; digit_count && *n; digit_count--) {
        if (*n >= wide_most / 10 || *n <= -wide_most / 10)
            return false;
        *n *= 10;
    }
    return true;
}

/* The token as *ret / 10^*scale. False: more digits than fit, or no number. */
static bool read_exact(const char *token, size_t len, sgs_wide *ret, unsigned *scale) {
    bool minus = len && *token == '-';
    size_t i = minus, whole = digits(token + i, len - i), point = i + whole < len && token[i + whole] == '.';
    size_t frac = point ? digits(token + i + whole + 1, len - i - whole - 1) : 0;
    size_t end = i + whole + point + frac;
    long exponent = end < len ? strtol(token + end + 1, NULL, 10) : 0;
    if (exponent > SGS_VALUE_SIZE || exponent < -SGS_VALUE_SIZE)
        return false;
    long places = (long)frac - exponent;
    for (*ret = 0; i < end; i++) {
        if (token[i] == '.')
            continue;
        if (*ret >= wide_most / 10)
            return false;
        *ret = *ret * 10 + (token[i] - '0');
    }
    *ret = minus ? -*ret : *ret;
    *scale = places > 0 ? (unsigned)places : 0;
    return shift10(ret, places < 0 ? (unsigned)-places : 0);
}

void sgs_total_add(sgs_total *t, const char *token, size_t len) {
    sgs_wide value;
    unsigned scale;
    char copy[SGS_VALUE_SIZE]; /* ends with a NUL for strtol */
    if (len >= sizeof copy) {
        t->exact = false;
        return;
    }
    memcpy(copy, token, len);
    copy[len] = '\0';
    t->exact = t->exact && read_exact(copy, len, &value, &scale);
    if (!t->exact)
        return;
    if (scale > t->scale) {
        t->exact = shift10(&t->sum, scale - t->scale);
        t->scale = scale;
    } else {
        t->exact = shift10(&value, t->scale - scale);
    }
    t->sum += value; /* both are below 10^36 */
    t->exact = t->exact && t->sum < wide_most && t->sum > -wide_most;
}

/* ---- four decimals ---- */

static bool print_scaled(bool minus, sgs_wide n, char ret[SGS_VALUE_SIZE]) {
    if (n / 10000 > INT64_MAX)
        return false;
    int len = snprintf(ret, SGS_VALUE_SIZE, "%s%lld.%04d", minus && n ? "-" : "", (long long)(n / 10000),
                       (int)(n % 10000));
    while (ret[len - 1] == '0')
        ret[--len] = '\0';
    if (ret[len - 1] == '.')
        ret[--len] = '\0';
    return true;
}

bool sgs_total_round4(const sgs_total *t, size_t count, char ret[SGS_VALUE_SIZE]) {
    sgs_wide over = t->sum < 0 ? -t->sum : t->sum, under = (sgs_wide)count;
    if (!t->exact || !count ||
        !shift10(t->scale > 4 ? &under : &over, t->scale > 4 ? t->scale - 4 : 4 - t->scale))
        return false;
    sgs_wide n = over / under;
    if (over % under * 2 >= under)
        n++;
    return print_scaled(t->sum < 0, n, ret);
}

bool sgs_value_round4(long double value, char ret[SGS_VALUE_SIZE]) {
    long double scaled = fabsl(value) * 10000.0L;
    if (!(scaled < 1.0e13L))
        return false;
    /* The values are short decimals: what lies within rounding error of a half IS a half in decimal. */
    long double whole = floorl(scaled), slip = 1e-12L + scaled * LDBL_EPSILON * 4;
    sgs_wide n = (sgs_wide)whole;
    if (scaled - whole >= 0.5L - slip)
        n++;
    return print_scaled(value < 0, n, ret);
}
