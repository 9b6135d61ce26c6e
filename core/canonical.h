/* SPDX-License-Identifier: MIT */
/* canonical.h -- JSON with its members sorted and no white space, so that equal documents have equal hashes. */
#ifndef LASTRO_CORE_CANONICAL_H
#define LASTRO_CORE_CANONICAL_H

#include "json.h"

/* Members sorted by the bytes of their names at every level; numbers keep their text. scratch: temporary memory. */
void canonical_write(json_writer *w, const json_value *v, arena *scratch);
/* "sha256:" and 64 digits of the canonical text; buf has 72 bytes. False: out of memory. */
bool canonical_digest(const json_value *v, char buf[72]);

#endif
