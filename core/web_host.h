/* SPDX-License-Identifier: MIT */
/* web_host.h -- MCP over HTTP, above the front of web.h: who may ask, which era, which session, JSON or event stream. */
#ifndef LASTRO_CORE_WEB_HOST_H
#define LASTRO_CORE_WEB_HOST_H

#include "mcp.h"
#include "web.h"
#include "web_keys.h"

typedef struct web_host web_host;

typedef struct {
    bool loopback;            /* bound to the machine itself: only local Host and Origin values pass, any port */
    const web_keys *keys;     /* NULL: nobody needs a key */
} web_host_options;

/* LASTRO_EARGS when http.allowedHosts or http.allowedOrigins lists what no request could ever have. */
lastro_status web_names_check(const manifest *m, lastro_error *err);
/* Reads the rest from srv->manifest->http. NULL: out of memory. */
web_host *web_host_create(server *srv, const web_front *front, const web_host_options *options);
/* What the front calls. Lives as long as the host. */
const web_handler *web_host_handler(web_host *h);
/* The server is going: open listen streams get their final result and end, sessions' GET streams end. Any thread, once. */
void web_host_end_streams(web_host *h);
/* The front is closed. Accepts NULL. */
void web_host_destroy(web_host *h);

#endif
