/* SPDX-License-Identifier: MIT */
/* snapshot.h -- the embedded copies of six series (catalog/snapshot). Used without network, or when the
 * source cannot be reached and the manifest allows it; the answer always says that it is a snapshot and of
 * when (field case F010). */
#ifndef SGS_SNAPSHOT_H
#define SGS_SNAPSHOT_H

#include "sgs.h"

bool sgs_snapshot_exists(int64_t code);
/* "1, 188, 189, …" */
void sgs_snapshot_list(char *ret, size_t size);
/* Answers q from the snapshot into r (whose code, known and today are set) and records the provenance.
 * because: what led here, for the notice. LASTRO_EOFFLINE / LASTRO_ENOTFOUND: the snapshot holds nothing of
 * what was asked; err says what it holds. */
lastro_status sgs_snapshot_read(lastro_call *call, const sgs_query *q, const char *because, sgs_result *r,
                                lastro_error *err);

#endif
