/* SPDX-License-Identifier: MIT */
/* address.c -- judges an address by what libcurl will make of it, so that no difference between two readings
 * of a URL lets one through. The engine has judged it before, by its own reading. */
#include "exchange.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_loopback_host(const char *host) {
    struct in_addr four;
    if (!strcmp(host, "localhost") || !strcmp(host, "[::1]")) /* libcurl resolves localhost itself */
        return true;
    return inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127;
}

static bool has_part(CURLU *u, CURLUPart part) {
    char *text = NULL;
    bool there = !curl_url_get(u, part, &text, 0);
    curl_free(text);
    return there;
}

static address_kind kind_of(CURLU *u) {
    char *scheme = NULL, *host = NULL;
    address_kind kind = ADDRESS_FORBIDDEN;
    if (!curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) && !curl_url_get(u, CURLUPART_HOST, &host, 0)) {
        bool tls = !strcmp(scheme, "https");
        if (is_loopback_host(host))
            kind = tls || !strcmp(scheme, "http") ? ADDRESS_LOOPBACK : ADDRESS_FORBIDDEN;
        else if (tls)
            kind = ADDRESS_TLS;
    }
    curl_free(scheme);
    curl_free(host);
    return kind;
}

address_kind address_of(const char *url) {
    CURLU *u = curl_url();
    address_kind kind = ADDRESS_FORBIDDEN;
    if (u && !curl_url_set(u, CURLUPART_URL, url, CURLU_PATH_AS_IS) && !has_part(u, CURLUPART_USER) &&
        !has_part(u, CURLUPART_PASSWORD))
        kind = kind_of(u);
    curl_url_cleanup(u);
    return kind;
}
