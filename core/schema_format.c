/* SPDX-License-Identifier: MIT */
/* schema_format.c -- the formats that can be asserted; any other stays an annotation. */
#include "schema_nodes.h"
#include "uri.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c) {
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_hex(char c) {
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* n digits at t+at; -1: they are not there. */
static int number(const char *t, size_t len, size_t at, size_t n) {
    int value = 0;
    if (at + n > len)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!is_digit(t[i]))
            return -1;
        value = value * 10 + (t[i] - '0');
    }
    return value;
}

static bool is_date(const char *t, size_t len) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y = number(t, len, 0, 4), m = number(t, len, 5, 2), d = number(t, len, 8, 2);
    if (len != 10 || y < 0 || m < 1 || m > 12 || d < 1 || t[4] != '-' || t[7] != '-')
        return false;
    bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    return d <= days[m - 1] + (m == 2 && leap);
}

/* Minutes east of UTC from Z, +hh:mm or -hh:mm in t[at, len). */
static bool offset(const char *t, size_t len, size_t at, int *ret) {
    *ret = 0;
    if (at + 1 == len)
        return (t[at] | 32) == 'z';
    int h = number(t, len, at + 1, 2), m = number(t, len, at + 4, 2);
    if (at + 6 != len || (t[at] != '+' && t[at] != '-') || h < 0 || h > 23 || m < 0 || m > 59 ||
        t[at + 3] != ':')
        return false;
    *ret = (t[at] == '-' ? -1 : 1) * (h * 60 + m);
    return true;
}

static bool is_time(const char *t, size_t len) {
    int h = number(t, len, 0, 2), m = number(t, len, 3, 2), s = number(t, len, 6, 2), east;
    if (h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60 || t[2] != ':' || t[5] != ':')
        return false;
    size_t at = 8;
    if (at < len && t[at] == '.') {
        size_t from = ++at;
        while (at < len && is_digit(t[at]))
            at++;
        if (at == from)
            return false;
    }
    if (at >= len || !offset(t, len, at, &east))
        return false;
    return s < 60 || (h * 60 + m - east + 2880) % 1440 == 1439; /* a leap second ends a day of UTC */
}

static bool is_date_time(const char *t, size_t len) {
    return len > 11 && is_date(t, 10) && (t[10] | 32) == 't' && is_time(t + 11, len - 11);
}

/* Digits and units of order; *at moves; returns how many were read, -1: out of order or malformed. */
static int parts(const char *t, size_t len, size_t *at, const char *order) {
    int count = 0;
    while (*at < len && is_digit(t[*at])) {
        size_t i = *at;
        while (i < len && is_digit(t[i]))
            i++;
        const char *unit = i < len && t[i] ? strchr(order, t[i]) : NULL;
        if (!unit)
            return -1;
        if (count && order[0] != t[i]) /* units follow one another without a gap */
            return -1;
        order = unit + 1;
        *at = i + 1;
        count++;
    }
    return count;
}

static bool is_duration(const char *t, size_t len) {
    size_t at = 1;
    if (len < 3 || t[0] != 'P')
        return false;
    if (t[len - 1] == 'W') {
        for (; at < len - 1; at++)
            if (!is_digit(t[at]))
                return false;
        return true;
    }
    int days = parts(t, len, &at, "YMD");
    if (days < 0 || at == len)
        return days > 0;
    if (t[at++] != 'T')
        return false;
    return parts(t, len, &at, "HMS") > 0 && at == len;
}

static bool is_label(const char *t, size_t len) {
    if (!len || len > 63 || t[0] == '-' || t[len - 1] == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_alpha(t[i]) && !is_digit(t[i]) && t[i] != '-')
            return false;
    return true;
}

static bool is_hostname(const char *t, size_t len) {
    if (!len || len > 253)
        return false;
    for (const char *end = t + len; t <= end;) {
        const char *dot = memchr(t, '.', (size_t)(end - t));
        size_t n = (size_t)((dot ? dot : end) - t);
        if (!is_label(t, n) || (n >= 4 && t[2] == '-' && t[3] == '-' && (t[0] | 32) != 'x'))
            return false;
        t += n + 1;
    }
    return true;
}

static bool is_local(const char *t, size_t len, bool wide) {
    if (len >= 2 && t[0] == '"' && t[len - 1] == '"') {
        for (size_t i = 1; i + 1 < len; i++) {
            if (t[i] == '"' || (unsigned char)t[i] < 32)
                return false;
            i += t[i] == '\\' && i + 2 < len;
        }
        return true;
    }
    for (size_t i = 0; i < len; i++) {
        if (t[i] == '.' && (i == 0 || i + 1 == len || t[i + 1] == '.'))
            return false;
        bool ok = is_alpha(t[i]) || is_digit(t[i]) || (t[i] && strchr("!#$%&'*+-/=?^_`{|}~.", t[i])) ||
                  (wide && (unsigned char)t[i] >= 128);
        if (!ok)
            return false;
    }
    return len > 0;
}

static bool mail(const char *t, size_t len, bool wide) {
    const char *at = len ? memrchr(t, '@', len) : NULL;
    if (!at || !is_local(t, (size_t)(at - t), wide))
        return false;
    const char *host = at + 1;
    size_t n = (size_t)(t + len - host);
    if (n > 2 && host[0] == '[' && host[n - 1] == ']')
        return n > 7 && !strncasecmp(host + 1, "IPv6:", 5) ? uri_valid_ipv6(host + 6, n - 7)
                                                           : uri_valid_ipv4(host + 1, n - 2);
    if (!wide)
        return is_hostname(host, n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)host[i] <= 32 || host[i] == '@')
            return false;
    return n > 0;
}

static bool is_email(const char *t, size_t len) {
    return mail(t, len, false);
}

static bool is_idn_email(const char *t, size_t len) {
    return mail(t, len, true);
}

static bool is_uri(const char *t, size_t len) {
    return uri_valid(t, len, URI_ABSOLUTE);
}

static bool is_uri_reference(const char *t, size_t len) {
    return uri_valid(t, len, URI_REFERENCE);
}

static bool is_iri(const char *t, size_t len) {
    return uri_valid(t, len, URI_IRI);
}

static bool is_iri_reference(const char *t, size_t len) {
    return uri_valid(t, len, URI_IRI | URI_REFERENCE);
}

/* RFC 6570, 2.3: names of letters, digits, _ and escapes, with single dots inside. */
static size_t variable_name(const char *t, size_t len) {
    size_t at = 0;
    bool dot = true; /* a character is due */
    for (; at < len; at++) {
        if (t[at] == '%' && at + 2 < len && is_hex(t[at + 1]) && is_hex(t[at + 2]))
            at += 2;
        else if (t[at] == '.' ? dot : !is_alpha(t[at]) && !is_digit(t[at]) && t[at] != '_')
            break;
        dot = t[at] == '.';
    }
    return dot ? 0 : at;
}

/* RFC 6570, 2.4: nothing, * or : and a length of 1 to 9999. */
static size_t variable_modifier(const char *t, size_t len) {
    size_t at = 1;
    if (len && t[0] == '*')
        return 1;
    if (len < 2 || t[0] != ':' || t[1] == '0')
        return 0;
    while (at < len && at < 5 && is_digit(t[at]))
        at++;
    return at > 1 ? at : 0;
}

static bool is_expression(const char *t, size_t len) {
    size_t at = len && t[0] && strchr("+#./;?&=,!@|", t[0]) ? 1 : 0;
    for (;;) {
        size_t n = variable_name(t + at, len - at);
        if (!n)
            return false;
        at += n;
        at += variable_modifier(t + at, len - at);
        if (at == len)
            return true;
        if (t[at++] != ',')
            return false;
    }
}

static bool is_uri_template(const char *t, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)t[i];
        if (c == '{') {
            const char *close = memchr(t + i, '}', len - i);
            size_t n = close ? (size_t)(close - t) - i - 1 : 0;
            if (!close || !is_expression(t + i + 1, n))
                return false;
            i += n + 1;
        } else if (c <= 32 || c == 127 || strchr("\"<>\\^`|}", c)) {
            return false;
        }
    }
    return true;
}

static bool is_uuid(const char *t, size_t len) {
    for (size_t i = 0; i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? t[i] != '-' : !is_hex(t[i]))
            return false;
    }
    return len == 36;
}

static bool is_json_pointer(const char *t, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (t[i] == '~' && (i + 1 == len || (t[i + 1] != '0' && t[i + 1] != '1')))
            return false;
    return !len || t[0] == '/';
}

static bool is_relative_json_pointer(const char *t, size_t len) {
    size_t at = 0;
    while (at < len && is_digit(t[at]))
        at++;
    if (!at || (at > 1 && t[0] == '0'))
        return false;
    return (at + 1 == len && t[at] == '#') || is_json_pointer(t + at, len - at);
}

static bool is_regex(const char *t, size_t len) {
    regex *re = regex_compile(t, len, 0, 0, NULL, 0);
    regex_free(re);
    return re != NULL;
}

static const struct {
    const char *name;
    schema_format_fn *fn;
} formats[] = {
    {"date", is_date},
    {"date-time", is_date_time},
    {"time", is_time},
    {"duration", is_duration},
    {"email", is_email},
    {"idn-email", is_idn_email},
    {"hostname", is_hostname},
    {"ipv4", uri_valid_ipv4},
    {"ipv6", uri_valid_ipv6},
    {"uri", is_uri},
    {"uri-reference", is_uri_reference},
    {"iri", is_iri},
    {"iri-reference", is_iri_reference},
    {"uri-template", is_uri_template},
    {"uuid", is_uuid},
    {"json-pointer", is_json_pointer},
    {"relative-json-pointer", is_relative_json_pointer},
    {"regex", is_regex},
};

schema_format_fn *schema_format_find(json_text name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strlen(formats[i].name) == name.len && !memcmp(formats[i].name, name.at, name.len))
            return formats[i].fn;
    return NULL;
}
