/* SPDX-License-Identifier: MIT */
#include "uri.h"

#include <string.h>

static json_text text_of(const char *from, const char *to) {
    return (json_text){from, (size_t)(to - from)};
}

static bool is_alpha(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int hex_value(char c) {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* First of the stop characters in [at, end), or end. */
static const char *until(const char *at, const char *end, const char *stops) {
    while (at < end && (!*at || !strchr(stops, *at)))
        at++;
    return at;
}

static bool scheme_valid(json_text s) {
    if (!s.len || !is_alpha(s.at[0]))
        return false;
    for (size_t i = 1; i < s.len; i++) {
        char c = s.at[i];
        if (!is_alpha(c) && !is_digit(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

uri_parts uri_split(const char *text, size_t len) {
    uri_parts p = {0};
    const char *at = text, *end = text + len;
    const char *colon = until(at, end, ":/?#");
    if (colon < end && *colon == ':' && scheme_valid(text_of(at, colon))) {
        p.scheme = text_of(at, colon);
        at = colon + 1;
    }
    if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
        const char *stop = until(at + 2, end, "/?#");
        p.authority = text_of(at + 2, stop);
        at = stop;
    }
    const char *stop = until(at, end, "?#");
    p.path = text_of(at, stop);
    if (stop < end && *stop == '?') {
        at = stop + 1;
        stop = until(at, end, "#");
        p.query = text_of(at, stop);
    }
    if (stop < end)
        p.fragment = text_of(stop + 1, end);
    return p;
}

/* RFC 3986, 5.2.4, in place; returns the new length. */
static size_t remove_dots(char *path, size_t len) {
    size_t in = 0, out = 0;
    bool rooted = len && path[0] == '/';
    while (in < len) {
        size_t slash = path[in] == '/', from = in + slash, stop = from;
        while (stop < len && path[stop] != '/')
            stop++;
        size_t n = stop - from;
        bool dot = n == 1 && path[from] == '.', dots = n == 2 && path[from] == '.' && path[from + 1] == '.';
        if (!dot && !dots) {
            memmove(path + out, path + in, stop - in);
            out += stop - in;
        } else {
            while (dots && out && path[--out] != '/') {
            }
            if (!rooted && !out)
                stop += stop < len; /* "../x" without a base to climb in: "x" */
            else if (stop == len)
                path[out++] = '/';
        }
        in = stop;
    }
    return out;
}

static char *put(char *to, json_text t) {
    if (t.len)
        memcpy(to, t.at, t.len);
    return to + t.len;
}

/* The base's path up to its last slash, then ref's (RFC 3986, 5.2.3). */
static char *merge_path(char *to, const uri_parts *base, json_text ref) {
    size_t keep = base->path.len;
    while (keep && base->path.at[keep - 1] != '/')
        keep--;
    if (!keep && base->authority.at)
        *to++ = '/';
    to = put(to, (json_text){base->path.at, keep});
    return put(to, ref);
}

static char *put_path(char *to, const uri_parts *base, const uri_parts *ref) {
    char *from = to;
    if (ref->scheme.at || ref->authority.at || (ref->path.len && ref->path.at[0] == '/'))
        to = put(to, ref->path);
    else if (ref->path.len)
        to = merge_path(to, base, ref->path);
    else
        return put(to, base->path);
    bool opaque = ref->scheme.at && (!ref->path.len || ref->path.at[0] != '/');
    return opaque ? to : from + remove_dots(from, (size_t)(to - from));
}

char *uri_resolve(arena *a, const char *base, const char *ref, size_t len) {
    uri_parts b = uri_split(base, strlen(base)), r = uri_split(ref, len);
    char *out = arena_alloc(a, strlen(base) + len + 8), *to = out;
    if (!out)
        return NULL;
    json_text scheme = r.scheme.at ? r.scheme : b.scheme;
    json_text authority = r.scheme.at || r.authority.at ? r.authority : b.authority;
    if (scheme.at)
        to = put(put(to, scheme), (json_text){":", 1});
    if (authority.at)
        to = put(put(to, (json_text){"//", 2}), authority);
    to = put_path(to, &b, &r);
    bool inherit = !r.scheme.at && !r.authority.at && !r.path.len && !r.query.at;
    json_text query = inherit ? b.query : r.query;
    if (query.at) {
        *to++ = '?';
        to = put(to, query);
    }
    if (r.fragment.at) {
        *to++ = '#';
        to = put(to, r.fragment);
    }
    *to = '\0';
    return out;
}

static bool is_escape(const char *at, size_t len) {
    return len >= 3 && hex_value(at[1]) >= 0 && hex_value(at[2]) >= 0;
}

char *uri_decode(arena *a, const char *text, size_t len, size_t *ret_len) {
    char *out = arena_alloc(a, len + 1), *to = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            *to++ = text[i];
            continue;
        }
        if (!is_escape(text + i, len - i))
            return NULL;
        *to++ = (char)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
        i += 2;
    }
    *to = '\0';
    *ret_len = (size_t)(to - out);
    return out;
}

/* ---- well-formedness ---- */

static bool is_unreserved(char c) {
    return is_alpha(c) || is_digit(c) || (c && strchr("-._~!$&'()*+,;=", c));
}

/* Each character is unreserved, a sub-delimiter, one of more, an escape, or (IRI) beyond ASCII. */
static bool chars_valid(json_text t, const char *more, unsigned flags) {
    for (size_t i = 0; i < t.len; i++) {
        char c = t.at[i];
        if (c == '%') {
            if (!is_escape(t.at + i, t.len - i))
                return false;
            i += 2;
        } else if ((unsigned char)c >= 0x80 ? !(flags & URI_IRI)
                                            : !is_unreserved(c) && !(c && strchr(more, c))) {
            return false;
        }
    }
    return true;
}

bool uri_valid_ipv4(const char *text, size_t len) {
    const char *at = text, *end = text + len;
    for (int part = 0; part < 4; part++) {
        const char *from = at;
        int value = 0;
        while (at < end && is_digit(*at) && at - from < 4)
            value = value * 10 + (*at++ - '0');
        if (at == from || value > 255 || (at - from > 1 && *from == '0'))
            return false;
        if (part < 3 && (at == end || *at++ != '.'))
            return false;
    }
    return at == end;
}

bool uri_valid_ipv6(const char *text, size_t len) {
    const char *at = text, *end = text + len;
    int groups = 0;
    bool gap = false;
    if (len >= 2 && at[0] == ':') {
        if (at[1] != ':')
            return false;
        gap = true;
        at += 2;
    }
    while (at < end) {
        const char *stop = until(at, end, ":");
        if (memchr(at, '.', (size_t)(stop - at))) {
            groups += 2;
            return stop == end && uri_valid_ipv4(at, (size_t)(end - at)) && (gap ? groups < 8 : groups == 8);
        }
        if (stop == at || stop - at > 4)
            return false;
        for (; at < stop; at++)
            if (hex_value(*at) < 0)
                return false;
        groups++;
        if (at == end)
            break;
        at++;
        if (at < end && *at == ':') {
            if (gap)
                return false;
            gap = true;
            at++;
        } else if (at == end) {
            return false;
        }
    }
    return gap ? groups < 8 : groups == 8;
}

static bool ip_literal_valid(json_text t) {
    if (t.len && (t.at[0] == 'v' || t.at[0] == 'V')) {
        const char *dot = memchr(t.at, '.', t.len);
        if (!dot || dot == t.at + 1 || dot + 1 == t.at + t.len)
            return false;
        for (const char *c = t.at + 1; c < dot; c++)
            if (hex_value(*c) < 0)
                return false;
        return chars_valid(text_of(dot + 1, t.at + t.len), ":", 0) &&
               !memchr(dot, '%', (size_t)(t.at + t.len - dot));
    }
    return uri_valid_ipv6(t.at, t.len);
}

static bool port_valid(const char *at, const char *end) {
    if (at == end)
        return true;
    if (*at++ != ':')
        return false;
    while (at < end && is_digit(*at))
        at++;
    return at == end;
}

static bool authority_valid(json_text t, unsigned flags) {
    const char *at = t.at, *end = t.at + t.len;
    const char *user = memchr(at, '@', t.len);
    if (user) {
        if (!chars_valid(text_of(at, user), ":", flags))
            return false;
        at = user + 1;
    }
    if (at < end && *at == '[') {
        const char *close = memchr(at, ']', (size_t)(end - at));
        return close && ip_literal_valid(text_of(at + 1, close)) && port_valid(close + 1, end);
    }
    const char *colon = until(at, end, ":");
    return chars_valid(text_of(at, colon), "", flags) && port_valid(colon, end);
}

bool uri_valid(const char *text, size_t len, unsigned flags) {
    uri_parts p = uri_split(text, len);
    if (!p.scheme.at && !(flags & URI_REFERENCE))
        return false;
    if (!p.scheme.at && !p.authority.at) { /* path-noscheme: no colon in the first segment */
        const char *end = p.path.at + p.path.len, *stop = until(p.path.at, end, ":/");
        if (stop < end && *stop == ':')
            return false;
    }
    if (p.authority.at && !authority_valid(p.authority, flags))
        return false;
    return chars_valid(p.path, ":@/", flags) && chars_valid(p.query, ":@/?", flags) &&
           chars_valid(p.fragment, ":@/?", flags);
}
