/* SPDX-License-Identifier: MIT */
/* fetch_policy.c -- the rules of fetching that need no state: which addresses may be read, a class's limits,
 * what an attempt's end means, how long to wait. */
#include "fetch_internal.h"

#include <string.h>

enum { SHIFT_MAX = 20 };

/* ---- addresses ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_host_char(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr(".-:[]", c));
}

/* Printable ASCII that RFC 3986 allows after the authority, without '#': a fragment is never sent. */
static bool is_target_char(char c) {
    return c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}#", c);
}

/* Four plain decimal numbers, the first 127. Nothing else that some resolver would read as that network. */
static bool is_loopback_quad(const char *at, size_t len) {
    size_t parts = 0, i = 0;
    if (len < 4 || memcmp(at, "127.", 4) != 0)
        return false;
    while (i < len && parts < 4) {
        size_t from = i;
        unsigned value = 0;
        while (i < len && is_digit(at[i]) && i - from < 4)
            value = value * 10 + (unsigned)(at[i++] - '0');
        if (i == from || value > 255 || (i - from > 1 && at[from] == '0'))
            return false;
        parts++;
        if (i < len && (at[i++] != '.' || i == len))
            return false;
    }
    return parts == 4 && i == len;
}

static bool is_loopback(const char *host, size_t len) {
    return (len == 9 && !memcmp(host, "localhost", 9)) || (len == 5 && !memcmp(host, "[::1]", 5)) ||
           is_loopback_quad(host, len);
}

/* The host's length without its port; 0: there is no host, or the port is none. */
static size_t host_len(const char *at, size_t len) {
    size_t n = len;
    if (at[0] == '[') {
        const char *close = memchr(at, ']', len);
        n = close ? (size_t)(close - at) + 1 : 0;
    } else {
        const char *colon = memchr(at, ':', len);
        n = colon ? (size_t)(colon - at) : len;
    }
    if (n == len)
        return n;
    if (at[n] != ':' || len - n < 2 || len - n > 6)
        return 0;
    for (size_t i = n + 1; i < len; i++)
        if (!is_digit(at[i]))
            return 0;
    return n;
}

const char *fetch_target_fault(const char *target) {
    if (*target && *target != '/' && *target != '?')
        return "the target must begin with / or ?";
    for (; *target; target++)
        if (!is_target_char(*target))
            return "the target has a character that must be percent-encoded";
    return NULL;
}

const char *fetch_url_fault(const char *url) {
    bool tls = !strncmp(url, "https://", 8);
    if (!tls && strncmp(url, "http://", 7) != 0)
        return "only https is read, and http on a loopback address";
    const char *host = url + (tls ? 8 : 7);
    size_t len = strcspn(host, "/?#");
    if (memchr(host, '@', len))
        return "an address with a user name or a password is not read";
    for (size_t i = 0; i < len; i++)
        if (!is_host_char(host[i]))
            return "the address's host has a character that no host has";
    size_t name = len ? host_len(host, len) : 0;
    if (!name)
        return "the address has no host, or its port is none";
    if (!tls && !is_loopback(host, name))
        return "plain http is read on a loopback address only";
    return fetch_target_fault(host + len);
}

/* ---- limits ---- */

static uint32_t or_default(uint32_t value, uint32_t fallback) {
    return value ? value : fallback;
}

bool fetch_limits_of(const lastro_source *source, const char *name, fetch_limits *ret) {
    static const lastro_request_class plain = {.name = "default"};
    const lastro_request_class *found = source->classes && source->classes[0] ? source->classes[0] : &plain;
    if (name) {
        const lastro_request_class *const *c = source->classes;
        while (c && *c && strcmp((*c)->name, name) != 0)
            c++;
        if (!c || !*c)
            return false;
        found = *c;
    }
    *ret = (fetch_limits){.name = found->name,
                          .attempt_ms = or_default(found->attempt_ms, FETCH_ATTEMPT_MS),
                          .attempts = or_default(found->attempts, FETCH_ATTEMPTS),
                          .budget_ms = or_default(found->budget_ms, FETCH_BUDGET_MS),
                          .wait_ms = or_default(found->wait_ms, FETCH_WAIT_MS),
                          .wait_max_ms = or_default(found->wait_max_ms, FETCH_WAIT_MAX_MS)};
    return true;
}

/* ---- judgement ---- */

fetch_judgement fetch_judge_end(http_end end) {
    switch (end) {
    case HTTP_TIMEOUT:
        return (fetch_judgement){LASTRO_FETCH_TIMEOUT, LASTRO_ANOMALY_TIMEOUT, false};
    case HTTP_TOO_LARGE: /* it will not be smaller next time */
        return (fetch_judgement){LASTRO_FETCH_TOO_LARGE, LASTRO_ANOMALY_BODY, true};
    case HTTP_CANCELLED:
        return (fetch_judgement){LASTRO_FETCH_CANCELLED, -1, true};
    case HTTP_BAD_URL:
        return (fetch_judgement){LASTRO_FETCH_UNSUPPORTED, -1, true};
    case HTTP_DONE:
    case HTTP_NETWORK:
        break;
    }
    return (fetch_judgement){LASTRO_FETCH_NETWORK, LASTRO_ANOMALY_NETWORK, false};
}

/* A passing fault, by what the status says it was. */
static fetch_judgement judge_retry(uint32_t status) {
    if (status == 429)
        return (fetch_judgement){LASTRO_FETCH_LIMITED, LASTRO_ANOMALY_LIMITED, false};
    if (status >= 500)
        return (fetch_judgement){LASTRO_FETCH_SERVER, LASTRO_ANOMALY_5XX, false};
    if (status >= 400) /* 408 and its like: the server's fault, though it says 4 */
        return (fetch_judgement){LASTRO_FETCH_SERVER, LASTRO_ANOMALY_4XX, false};
    return (fetch_judgement){LASTRO_FETCH_MALFORMED, LASTRO_ANOMALY_BODY, false};
}

fetch_judgement fetch_judge_verdict(int32_t verdict, uint32_t http_status) {
    switch (verdict) {
    case LASTRO_BODY_OK:
        return (fetch_judgement){LASTRO_FETCH_OK, -1, true};
    case LASTRO_BODY_NOT_FOUND:
        return (fetch_judgement){LASTRO_FETCH_NOT_FOUND, -1, true};
    case LASTRO_BODY_REFUSED:
        return (fetch_judgement){LASTRO_FETCH_REFUSED, LASTRO_ANOMALY_4XX, true};
    case LASTRO_BODY_LIMITED:
        return (fetch_judgement){LASTRO_FETCH_LIMITED, LASTRO_ANOMALY_LIMITED, false};
    case LASTRO_BODY_RETRY:
        return judge_retry(http_status);
    default: /* SUSPECT, and what a plugin of tomorrow may say */
        return (fetch_judgement){LASTRO_FETCH_MALFORMED, LASTRO_ANOMALY_BODY, false};
    }
}

int32_t fetch_classify_status(uint32_t http_status) {
    if (http_status >= 200 && http_status < 300)
        return LASTRO_BODY_OK;
    if (http_status == 404 || http_status == 410)
        return LASTRO_BODY_NOT_FOUND;
    if (http_status == 429)
        return LASTRO_BODY_LIMITED;
    if (http_status >= 500 || http_status == 408 || http_status == 425)
        return LASTRO_BODY_RETRY;
    return http_status >= 400 ? LASTRO_BODY_REFUSED : LASTRO_BODY_SUSPECT;
}

/* ---- waits ---- */

int64_t fetch_wait_ms(const fetch_limits *limits, uint32_t failed, uint32_t random, int64_t retry_after_ms) {
    uint32_t shift = failed - 1 < SHIFT_MAX ? failed - 1 : SHIFT_MAX;
    int64_t wait = (int64_t)limits->wait_ms << shift;
    if (wait > limits->wait_max_ms)
        wait = limits->wait_max_ms;
    /* three to five quarters, so that those who failed together do not come back together */
    wait = wait * 3 / 4 + wait * (int64_t)(random >> 16) / 2 / 65536;
    if (wait > limits->wait_max_ms)
        wait = limits->wait_max_ms;
    return wait > retry_after_ms ? wait : retry_after_ms;
}

lastro_status fetch_status_of(int32_t outcome) {
    static const lastro_status status[] = {
        [LASTRO_FETCH_OK] = LASTRO_OK,
        [LASTRO_FETCH_NOT_FOUND] = LASTRO_ENOTFOUND,
        [LASTRO_FETCH_REFUSED] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_TIMEOUT] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_NETWORK] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_LIMITED] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_SERVER] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_MALFORMED] = LASTRO_EUPSTREAM,
        [LASTRO_FETCH_OFFLINE] = LASTRO_EOFFLINE,
        [LASTRO_FETCH_CANCELLED] = LASTRO_ECANCELLED,
        [LASTRO_FETCH_TOO_LARGE] = LASTRO_ELIMIT,
        [LASTRO_FETCH_DEADLINE] = LASTRO_EDEADLINE,
        [LASTRO_FETCH_UNSUPPORTED] = LASTRO_EINTERNAL,
    };
    return outcome >= 0 && (size_t)outcome < sizeof status / sizeof *status ? status[outcome]
                                                                            : LASTRO_EINTERNAL;
}
