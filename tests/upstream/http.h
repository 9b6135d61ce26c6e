/* SPDX-License-Identifier: MIT */
/* http.h -- the server: one thread a connection, so that a reply that waits holds up no other. */
#ifndef BCB_SIM_HTTP_H
#define BCB_SIM_HTTP_H

#include "faults.h"
#include "sim.h"

typedef struct sim_server sim_server;

/* Listens on 127.0.0.1; port 0 takes a free one. World and faults are borrowed. NULL: error says why. */
sim_server *server_start(const sim_world *w, sim_faults *faults, unsigned port, char *error, size_t room);
unsigned server_port(const sim_server *s);
/* Wakes what waits, closes the connections, returns when no thread is left. */
void server_stop(sim_server *s);

#endif
