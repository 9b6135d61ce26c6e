/* SPDX-License-Identifier: MIT */
/* exchange.h -- inside the fetch module: one exchange, from its address to its result. Everything here runs
 * on the transport's thread, except that exchange_create and exchange_destroy may run on any. */
#ifndef LASTRO_MODULE_FETCH_EXCHANGE_H
#define LASTRO_MODULE_FETCH_EXCHANGE_H

#include "http.h"
#include <curl/curl.h>

enum { CONNECT_MS = 10000, REDIRECTS_MAX = 5 };

/* What all exchanges of a transport have in common; read only once the thread runs. */
typedef struct {
    char *user_agent;
    char *ca_file, *ca_dir; /* NULL: as libcurl was built */
    CURLSH *share;          /* TLS sessions; NULL: none */
} exchange_common;

struct http_exchange {
    http_exchange *next;  /* incoming or active */
    http_request request; /* its texts are ours */
    CURL *easy;           /* NULL: not begun */
    struct curl_slist *headers;
    char *body;
    size_t body_len, body_size;
    int64_t end_ms; /* monotonic: the attempt's time is over */
    unsigned redirects;
    bool loopback; /* where the present hop goes */
    bool too_large, no_memory;
    bool cancelled; /* under the transport's lock */
    char error[CURL_ERROR_SIZE];
};

http_exchange *exchange_create(const http_request *request); /* NULL: out of memory */
void exchange_destroy(http_exchange *x);                     /* its easy handle is in no multi */

/* Makes the easy handle. False: it has ended already, as *ret says. */
bool exchange_begin(http_exchange *x, const exchange_common *common, http_end *ret);
/* What curl's end means. True: it goes on with another hop (the easy handle is to be added again). */
bool exchange_hop(http_exchange *x, CURLcode code, http_end *ret);
/* Calls done; the exchange is not used any more but to be destroyed. */
void exchange_finish(http_exchange *x, http_end end);

/* address.c: where an address goes, by libcurl's own reading of it. */
typedef enum { ADDRESS_FORBIDDEN, ADDRESS_LOOPBACK, ADDRESS_TLS } address_kind;
/* LOOPBACK: http or https on a loopback address; TLS: https elsewhere. User names and passwords are
 * forbidden. */
address_kind address_of(const char *url);

#endif
