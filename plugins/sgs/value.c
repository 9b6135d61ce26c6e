/* SPDX-License-Identifier: MIT */
#include "value.h"

#include <math.h>
#include <stdio.h>
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

bool sgs_value_round4(long double value, char ret[SGS_VALUE_SIZE]) {
    long double scaled = fabsl(value) * 10000.0L;
    if (!(scaled < 9.0e18L))
        return false;
    /* The values are short decimals: what lies within rounding error of a half IS a half in decimal. */
    long double whole = floorl(scaled), slip = 1e-12L + scaled * 1e-17L;
    unsigned long long n = (unsigned long long)whole;
    if (scaled - whole >= 0.5L - slip)
        n++;
    int len = snprintf(ret, SGS_VALUE_SIZE, "%s%llu.%04llu", value < 0 && n ? "-" : "", n / 10000, n % 10000);
    while (ret[len - 1] == '0')
        ret[--len] = '\0';
    if (ret[len - 1] == '.')
        ret[--len] = '\0';
    return true;
}
