/* SPDX-License-Identifier: MIT */
/* trace.h -- W3C Trace Context: what a request says of the trace it is part of, checked, and what our own requests say.
 * No state. */
#ifndef LASTRO_CORE_TRACE_H
#define LASTRO_CORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_PARENT = 55, TRACE_ID = 32, TRACE_ID_AT = 3, TRACE_STATE_MAX = 512 }; /* bytes */

/* A traceparent that may be followed: lower-case digits, ids that are not zero, a version that is not ff; a later version
 * may say more after what version 00 says. */
bool trace_parent_valid(const char *text, size_t len);
/* A list of at most 32 members KEY=VALUE, no key twice, at most TRACE_STATE_MAX bytes. */
bool trace_state_valid(const char *text, size_t len);

/* The traceparent of a request that we make on behalf of parent (a valid one): the same trace, a span id of its own from
 * random. ret has TRACE_PARENT + 1 bytes. */
void trace_child(const char *parent, uint64_t random, char *ret);

#endif
