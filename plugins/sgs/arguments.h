/* SPDX-License-Identifier: MIT */
/* arguments.h -- the arguments that tools and service share, checked before anything is asked of the network.
 */
#ifndef SGS_ARGUMENTS_H
#define SGS_ARGUMENTS_H

#include "sgs.h"

/* Fills code and window of q. LASTRO_EARGS: no integer >= 1, an impossible date, an inverted window. */
lastro_status sgs_read_arguments(const lastro_value *args, sgs_query *q, lastro_error *err);

#endif
