/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BODY_FIRST = 16 * 1024, RETRY_AFTER_MAX_S = 7 * 24 * 3600 };

/* clock.c is not linked in: the module brings no second copy of the program's clocks. */
static int64_t mono_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- making and ending ---- */

http_exchange *exchange_create(const http_request *request) {
    http_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->request = *request;
    x->request.url = strdup(request->url);
    x->request.accept = strdup(request->accept ? request->accept : "*/*");
    x->request.traceparent = request->traceparent ? strdup(request->traceparent) : NULL;
    x->request.tracestate = request->tracestate ? strdup(request->tracestate) : NULL;
    x->end_ms = mono_ms() + request->timeout_ms;
    if (x->request.url && x->request.accept && !x->request.traceparent == !request->traceparent &&
        !x->request.tracestate == !request->tracestate)
        return x;
    exchange_destroy(x);
    return NULL;
}

void exchange_destroy(http_exchange *x) {
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    free((char *)x->request.url);
    free((char *)x->request.accept);
    free((char *)x->request.traceparent);
    free((char *)x->request.tracestate);
    free(x->body);
    free(x);
}

/* ---- the body ---- */

/* Room for one more byte than the body has, for the final NUL. */
static bool make_room(http_exchange *x, size_t more) {
    size_t need = x->body_len + more + 1, size = x->body_size ? x->body_size : BODY_FIRST;
    if (need <= x->body_size)
        return true;
    while (size < need)
        size *= 2;
    char *body = realloc(x->body, size);
    if (!body)
        return false;
    x->body = body;
    x->body_size = size;
    return true;
}

/* libcurl hands out what it has unpacked in pieces of at most 16 KiB, so the cap bounds what a bomb can cost.
 */
static size_t on_body(char *data, size_t one, size_t len, void *arg) {
    http_exchange *x = arg;
    (void)one;
    x->too_large = len > x->request.body_max - x->body_len;
    if (x->too_large)
        return CURL_WRITEFUNC_ERROR;
    if (!make_room(x, len)) {
        x->no_memory = true;
        return CURL_WRITEFUNC_ERROR;
    }
    memcpy(x->body + x->body_len, data, len);
    x->body_len += len;
    return len;
}

static void trim_body(http_exchange *x) {
    if (!make_room(x, 0)) {
        free(x->body);
        x->body = NULL;
        x->body_len = 0;
        return;
    }
    x->body[x->body_len] = '\0';
    char *smaller = realloc(x->body, x->body_len + 1);
    x->body = smaller ? smaller : x->body;
}

/* ---- the request ---- */

/* value NULL: no such header. False: it cannot be one, or out of memory. */
static bool add_header(http_exchange *x, const char *name, const char *value) {
    char line[640];
    if (!value)
        return true;
    int n = snprintf(line, sizeof line, "%s: %s", name, value);
    if (n < 0 || (size_t)n >= sizeof line || strpbrk(line, "\r\n"))
        return false;
    struct curl_slist *list = curl_slist_append(x->headers, line);
    if (list)
        x->headers = list;
    return list;
}

static bool set_headers(http_exchange *x) {
    return add_header(x, "Accept", x->request.accept) && add_header(x, "traceparent", x->request.traceparent) &&
           add_header(x, "tracestate", x->request.tracestate) && !curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
}

static CURLcode set_trust(CURL *easy, const exchange_common *common) {
    CURLcode bad = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!bad && common->ca_file)
        bad = curl_easy_setopt(easy, CURLOPT_CAINFO, common->ca_file);
    if (!bad && common->ca_dir)
        bad = curl_easy_setopt(easy, CURLOPT_CAPATH, common->ca_dir);
    return bad;
}

/* What only helps; libcurl without one of these features still reads. */
static void set_comforts(http_exchange *x, const exchange_common *common) {
    CURL *easy = x->easy;
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, common->user_agent);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->error);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT,
                     1L); /* a cancelled name lookup is left behind, not waited for */
    if (common->share)
        curl_easy_setopt(easy, CURLOPT_SHARE, common->share);
}

static CURLcode set_rules(http_exchange *x) {
    CURL *easy = x->easy;
    CURLcode bad = curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    bad = bad ? bad : curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
    return bad;
}

/* The next hop. A loopback address is never asked for through a proxy. False: no time or no memory is left.
 */
static bool aim(http_exchange *x, const char *url, address_kind kind) {
    int64_t left = x->end_ms - mono_ms();
    long timeout_ms = left > 0 ? (long)left : 1L;
    x->loopback = kind == ADDRESS_LOOPBACK;
    CURLcode bad = curl_easy_setopt(x->easy, CURLOPT_URL, url);
    bad = bad ? bad : curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    bad = bad ? bad
              : curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS,
                                 timeout_ms < CONNECT_MS ? timeout_ms : CONNECT_MS);
    bad = bad ? bad : curl_easy_setopt(x->easy, CURLOPT_NOPROXY, x->loopback ? "*" : NULL);
    return !bad;
}

bool exchange_begin(http_exchange *x, const exchange_common *common, http_end *ret) {
    address_kind kind = address_of(x->request.url);
    if (kind == ADDRESS_FORBIDDEN) {
        *ret = HTTP_BAD_URL;
        snprintf(x->error, sizeof x->error,
                 "only https is read, and http on a loopback address, without user names");
        return false;
    }
    x->easy = curl_easy_init();
    if (x->easy && !set_rules(x) && !set_trust(x->easy, common) && set_headers(x) &&
        aim(x, x->request.url, kind)) {
        set_comforts(x, common);
        return true;
    }
    *ret = HTTP_NETWORK;
    snprintf(x->error, sizeof x->error, "the request could not be set up");
    return false;
}

/* ---- the end ---- */

static http_end end_of(const http_exchange *x, CURLcode code) {
    switch (code) {
    case CURLE_OK:
        return HTTP_DONE;
    case CURLE_OPERATION_TIMEDOUT:
        return HTTP_TIMEOUT;
    case CURLE_WRITE_ERROR:
        return x->too_large ? HTTP_TOO_LARGE : HTTP_NETWORK;
    case CURLE_URL_MALFORMAT:
        return HTTP_BAD_URL;
    default: /* a cut body (PARTIAL_FILE) among them, and bytes that are no HTTP (UNSUPPORTED_PROTOCOL) */
        return HTTP_NETWORK;
    }
}

static void say_error(http_exchange *x, CURLcode code) {
    if (x->no_memory)
        snprintf(x->error, sizeof x->error, "out of memory");
    else if (x->too_large)
        snprintf(x->error, sizeof x->error, "the body has more than %zu bytes", x->request.body_max);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        snprintf(x->error, sizeof x->error, "no whole answer in %u ms", x->request.timeout_ms);
    else if (code && !*x->error)
        snprintf(x->error, sizeof x->error, "%s", curl_easy_strerror(code));
}

static long status_of(const http_exchange *x) {
    long status = 0;
    if (x->easy)
        curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static const char *redirect_of(const http_exchange *x) {
    char *to = NULL;
    long status = status_of(x);
    if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308)
        curl_easy_getinfo(x->easy, CURLINFO_REDIRECT_URL, &to);
    return to;
}

/* To https, or from loopback to loopback; never from outside to a service of this machine. */
static bool may_follow(const http_exchange *x, address_kind kind) {
    return kind == ADDRESS_TLS || (kind == ADDRESS_LOOPBACK && x->loopback);
}

bool exchange_hop(http_exchange *x, CURLcode code, http_end *ret) {
    const char *to = code ? NULL : redirect_of(x);
    *ret = end_of(x, code);
    say_error(x, code);
    if (!to)
        return false;
    address_kind kind = address_of(to);
    *ret = HTTP_NETWORK;
    if (!may_follow(x, kind)) {
        snprintf(x->error, sizeof x->error, "redirected to an address that may not be read");
        return false;
    }
    if (x->redirects++ == REDIRECTS_MAX) {
        snprintf(x->error, sizeof x->error, "more than %d redirects", (int)REDIRECTS_MAX);
        return false;
    }
    x->body_len = 0;
    return aim(x, to, kind); /* libcurl copies the address */
}

/* ---- the result ---- */

static const char *header(http_exchange *x, const char *name) {
    struct curl_header *h = NULL;
    return curl_easy_header(x->easy, name, 0, CURLH_HEADER, -1, &h) ? NULL : h->value;
}

/* Seconds, or a date: then against the server's own Date, for its clock need not be ours. -1: none that is
 * one. */
static int64_t retry_after_ms(http_exchange *x) {
    const char *text = header(x, "Retry-After");
    if (!text || !*text)
        return -1;
    int64_t seconds = -1;
    if (strspn(text, "0123456789") == strlen(text)) {
        seconds = strlen(text) > 9 ? RETRY_AFTER_MAX_S : atoll(text);
    } else {
        const char *date = header(x, "Date");
        time_t at = curl_getdate(text, NULL), now = date ? curl_getdate(date, NULL) : -1;
        if (at != -1)
            seconds = (int64_t)at - (int64_t)(now != -1 ? now : time(NULL));
        seconds = at != -1 && seconds < 0 ? 0 : seconds;
    }
    return (seconds > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : seconds) * (seconds < 0 ? 1 : 1000);
}

void exchange_finish(http_exchange *x, http_end end) {
    http_result r = {.end = end, .content_type = "", .retry_after_ms = -1, .error = x->error};
    char *type = NULL;
    if (end == HTTP_DONE) {
        trim_body(x);
        if (!x->body) {
            r.end = HTTP_NETWORK;
            r.error = "out of memory";
        }
    }
    if (r.end == HTTP_DONE) {
        r.status = (unsigned)status_of(x);
        r.retry_after_ms = retry_after_ms(x);
        curl_easy_getinfo(x->easy, CURLINFO_CONTENT_TYPE, &type);
        r.content_type = type ? type : "";
        r.body = x->body;
        r.body_len = x->body_len;
        r.error = "";
        x->body = NULL; /* done takes it, or we free it */
    } else if (end == HTTP_CANCELLED) {
        r.error = "cancelled";
    }
    x->request.done(x->request.arg, &r);
    free(r.body);
}
