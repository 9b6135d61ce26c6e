/* SPDX-License-Identifier: MIT */
/* transport_stdio.h -- MCP on standard streams: one message a line. Standard output carries nothing else: before the first plugin
 * is loaded, a private copy of it is taken and descriptor 1 is pointed at standard error. */
#ifndef LASTRO_CORE_TRANSPORT_STDIO_H
#define LASTRO_CORE_TRANSPORT_STDIO_H

#include "server.h"

/* Takes standard output away from everybody else; call it before server_create. The descriptor it is kept under;
 * -1: it is closed. */
int stdio_claim_output(void);
/* Ends in order on SIGTERM and SIGINT too: block them (signals.h) before the first thread is made. Serves until end of input, the reader's end, or the parent's; returns the exit status. */
int stdio_serve(server *srv);

#endif
