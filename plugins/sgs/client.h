/* SPDX-License-Identifier: MIT */
/* client.h -- reads a series: from SGS within its limits, or from a snapshot where that is allowed. */
#ifndef SGS_CLIENT_H
#define SGS_CLIENT_H

#include "sgs.h"

/* Answers q into ret, records the provenance block, and adds the notes that every answer of this kind needs.
 * On failure nothing is recorded but the requests themselves; err is ready for the reader. */
lastro_status sgs_read(sgs_plugin *plugin, lastro_call *call, const sgs_query *q, sgs_result *ret,
                       lastro_error *err);

#endif
