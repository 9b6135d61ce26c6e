/* SPDX-License-Identifier: MIT */
/* web_sse2024.h -- the transport of 2024-11-05 as two more paths of web_host.c's table: a stream, and where messages go. */
#ifndef LASTRO_CORE_WEB_SSE2024_H
#define LASTRO_CORE_WEB_SSE2024_H

#include "web_internal.h"

#define WEB_SSE2024_STREAM "/sse"
#define WEB_SSE2024_MESSAGES "/messages"

/* The open streams, each with its session; any thread. most: at once. NULL: out of memory. */
web_pairs *web_pairs_create(size_t most);
/* Streams on which nothing is due end, the others after their last answer. */
void web_pairs_end(web_pairs *t);
void web_pairs_destroy(web_pairs *t); /* no exchange is open any more; accepts NULL */

bool web_sse2024_head(web_guest *g);
void web_sse2024_request(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len);
void web_sse2024_gone(web_user *u, web_exchange *x);
void web_sse2024_done(web_user *u, web_exchange *x);

bool web_messages2024_head(web_guest *g);
void web_messages2024_request(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len);
void web_messages2024_gone(web_user *u, web_exchange *x);
void web_messages2024_done(web_user *u, web_exchange *x);

#endif
