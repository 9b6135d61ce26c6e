/* SPDX-License-Identifier: MIT */
/* web_health.h -- GET /health and /ready, for whoever starts, watches and routes to this process. They need no key and
 * tell nothing that does. */
#ifndef LASTRO_CORE_WEB_HEALTH_H
#define LASTRO_CORE_WEB_HEALTH_H

#include "server.h"
#include "web.h"

/* /health: the process lives. /ready: it serves all that its manifest enables; 503 and the names of the plugins that
 * could not be loaded when it does not. (While it stops, the front answers every request with 503.)
 * False: the path is neither, and nothing was answered. From the front's head, any thread. */
bool web_health(const server *srv, const web_front *front, web_exchange *x, const web_head *h);

#endif
