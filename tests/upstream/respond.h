/* SPDX-License-Identifier: MIT */
/* respond.h -- sends a reply, with what a fault does to its bytes. */
#ifndef BCB_SIM_RESPOND_H
#define BCB_SIM_RESPOND_H

#include "faults.h"
#include "sim.h"

#include <microhttpd.h>

/* Waits; false when the client left or the server stops (stop_fd became readable or closed). */
bool wait_ms(struct MHD_Connection *conn, int stop_fd, long ms);
/* Takes the bytes of reply->body. */
enum MHD_Result respond(struct MHD_Connection *conn, int stop_fd, sim_reply *reply, const sim_fault *fault);

#endif
