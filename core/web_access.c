/* SPDX-License-Identifier: MIT */
/* web_access.c -- who may ask: names of Host and Origin read exactly (a web page anywhere can make a browser ask a server
 * on this machine, under any name), what pages may see of answers, and bearer keys. */
#include "fail.h"
#include "web_internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { REQUESTED_MAX = 1024 }; /* of Access-Control-Request-Headers */

/* ---- names ---- */

/* "name", "name:80", "[::1]:80"; nothing else. */
typedef struct {
    const char *name;
    size_t len;
    unsigned port; /* 0: none was given */
} authority;

static bool read_port(const char *text, unsigned *ret) {
    size_t digits = strspn(text, "0123456789");
    unsigned port = 0;
    if (!digits || digits > 5 || text[digits])
        return false;
    for (size_t i = 0; i < digits; i++)
        port = port * 10 + (unsigned)(text[i] - '0');
    *ret = port;
    return port > 0 && port <= 65535;
}

static bool read_authority(const char *text, authority *ret) {
    static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t len;
    if (*text == '[') {
        len = 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
        if (len < 2 || text[len] != ']')
            return false;
        len++;
    } else {
        len = strspn(text, name_chars);
    }
    *ret = (authority){.name = text, .len = len};
    if (!len || !text[len])
        return len > 0;
    return text[len] == ':' && read_port(text + len + 1, &ret->port);
}

static bool named(const authority *a, const char *name) {
    return strlen(name) == a->len && strncasecmp(a->name, name, a->len) == 0;
}

static bool is_local(const authority *a) {
    return named(a, "localhost") || named(a, "127.0.0.1") || named(a, "[::1]");
}

bool web_host_is_allowed(const web_host *h, const char *host_header) {
    const json_value *list = h->srv->manifest->http.allowed_hosts;
    authority asked, listed;
    if (!h->options.loopback && !list)
        return true;
    if (!host_header || !read_authority(host_header, &asked))
        return false;
    if (h->options.loopback && is_local(&asked))
        return true;
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (read_authority(json_str(it.value), &listed) && listed.len == asked.len &&
            strncasecmp(listed.name, asked.name, asked.len) == 0 && (!listed.port || listed.port == asked.port))
            return true;
    return false;
}

/* The scheme and authority of an origin of the web; false: it is none. */
typedef struct {
    bool secure;
    authority at;
} web_origin;

static bool read_origin(const char *text, web_origin *ret) {
    size_t scheme = strcspn(text, ":");
    ret->secure = scheme == 5;
    if ((scheme != 4 && scheme != 5) || strncasecmp(text, "https", scheme) != 0 || strncmp(text + scheme, "://", 3) != 0 ||
        !read_authority(text + scheme + 3, &ret->at))
        return false;
    if (!ret->at.port)
        ret->at.port = ret->secure ? 443 : 80;
    return true;
}

static bool same_origin(const web_origin *a, const char *listed) {
    web_origin b;
    return read_origin(listed, &b) && a->secure == b.secure && a->at.port == b.at.port && a->at.len == b.at.len &&
           strncasecmp(a->at.name, b.at.name, a->at.len) == 0;
}

bool web_origin_is_allowed(const web_host *h, const char *text) {
    const json_value *list = h->srv->manifest->http.allowed_origins;
    web_origin asked;
    bool web = read_origin(text, &asked);
    if (!list)
        return h->options.loopback && web && is_local(&asked.at);
    for (json_iter it = json_iterate(list); json_next(&it);) /* "null" is the origin of whoever hides his */
        if (web ? same_origin(&asked, json_str(it.value)) : strcmp(text, "null") != 0 && json_text_is(it.value, text))
            return true;
    return false;
}

/* Of the web, or "scheme://name" of a program that shows pages. */
static bool is_origin(const char *text) {
    static const char scheme_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    size_t scheme = strspn(text, scheme_chars);
    web_origin web;
    if ((scheme == 4 || scheme == 5) && strncasecmp(text, "https", scheme) == 0)
        return read_origin(text, &web);
    return scheme && strncmp(text + scheme, "://", 3) == 0 && text[scheme + 3] && text[strlen(text) - 1] != '/';
}

lastro_status web_names_check(const manifest *m, lastro_error *err) {
    authority at;
    for (json_iter it = json_iterate(m->http.allowed_hosts); json_next(&it);)
        if (!read_authority(json_str(it.value), &at))
            return fail(err, LASTRO_EARGS, "http.allowedHosts: \"%.200s\" is no name that a request can have in Host: write "
                        "mcp.example.org, or mcp.example.org:8443 for one port alone", json_str(it.value));
    for (json_iter it = json_iterate(m->http.allowed_origins); json_next(&it);)
        if (!is_origin(json_str(it.value)))
            return fail(err, LASTRO_EARGS, "http.allowedOrigins: \"%.200s\" is no origin that a page can have: write scheme and "
                        "name, without a path: https://app.example.org, http://localhost:3000", json_str(it.value));
    return LASTRO_OK;
}

/* ---- CORS ---- */

size_t web_cors_headers(const char *origin, web_header *ret) {
    if (!origin)
        return 0;
    ret[0] = (web_header){"Access-Control-Allow-Origin", origin};
    ret[1] = (web_header){"Vary", "Origin"};
    ret[2] = (web_header){"Access-Control-Expose-Headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"};
    return 3;
}

static const char allowed_headers[] =
    "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, "
    "traceparent, tracestate, baggage";

/* The headers of ours, and those asked for that begin as parameters do. */
static const char *headers_for(const char *requested, char *buf, size_t size) {
    static const char token_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
    static const char prefix[] = "mcp-param-";
    size_t at = (size_t)snprintf(buf, size, "%s", allowed_headers);
    if (!requested || strlen(requested) > REQUESTED_MAX)
        return buf;
    while (*requested) {
        requested += strspn(requested, ", \t");
        size_t len = strspn(requested, token_chars);
        if (!len)
            break;
        if (len >= sizeof prefix && strncasecmp(requested, prefix, sizeof prefix - 1) == 0 && at + len + 3 < size)
            at += (size_t)snprintf(buf + at, size - at, ", %.*s", (int)len, requested);
        requested += len;
    }
    return buf;
}

void web_answer_preflight(web_guest *g) {
    char buf[sizeof allowed_headers + 2 * REQUESTED_MAX];
    web_header headers[WEB_HEADERS] = {{"Allow", "POST, GET, DELETE, OPTIONS"}};
    web_answer a = {.status = 204, .headers = headers, .header_count = 1};
    if (g->origin) {
        const char *requested = g->head->header(g->head, "Access-Control-Request-Headers", NULL);
        headers[1] = (web_header){"Access-Control-Allow-Origin", g->origin};
        headers[2] = (web_header){"Vary", "Origin, Access-Control-Request-Headers"};
        headers[3] = (web_header){"Access-Control-Allow-Methods", "POST, GET, DELETE"};
        headers[4] = (web_header){"Access-Control-Allow-Headers", headers_for(requested, buf, sizeof buf)};
        headers[5] = (web_header){"Access-Control-Max-Age", "7200"};
        a.header_count = 6;
    }
    g->host->front->reply(g->x, &a);
}

/* ---- keys ---- */

bool web_identify(web_guest *g) {
    const web_keys *keys = g->host->options.keys;
    if (!keys)
        return true;
    unsigned count = 0;
    const char *authorization = g->head->header(g->head, "Authorization", &count);
    g->principal = count > 1 ? NULL : web_keys_principal(keys, authorization);
    return g->principal != NULL;
}
