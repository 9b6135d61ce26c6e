/* SPDX-License-Identifier: MIT */
/* header_params.h -- arguments that a client repeats in HTTP headers: the x-mcp-header of a tool's input schema. The list
 * of a tool is made while loading and only read afterwards: any thread. */
#ifndef LASTRO_CORE_HEADER_PARAMS_H
#define LASTRO_CORE_HEADER_PARAMS_H

#include "registry.h"

struct header_param {
    const char *header;            /* "Mcp-Param-Region" */
    const char *label;             /* "filter.region", for texts */
    const json_value *const *path; /* names of the properties from the arguments down to it */
    size_t depth;
};

/* The parameters that input, a tool's input schema, marks; in a's memory. LASTRO_EARGS: it marks one in a way that the
 * protocol does not allow, so that clients would not see the tool. */
lastro_status header_params_read(arena *a, const json_value *input, const header_param **ret, size_t *ret_count,
                                 lastro_error *err);

/* The value of the request's header of that name, in any case, and how often it was sent; NULL: not at all. */
typedef const char *(*header_lookup)(void *arg, const char *name, unsigned *count);
/* NULL: headers and arguments agree; else what is wrong, in a's memory. args may be NULL. */
const char *header_params_fault(arena *a, const tool *t, const json_value *args, header_lookup look, void *arg);

/* The text that a header's value stands for: what is in =?base64?…?=, any other value as it is, white space around it
 * taken away. In a's memory, NUL-terminated. NULL: no base64, no UTF-8 in it, a character no header may have, or out of
 * memory. */
const char *header_value_decode(arena *a, const char *value, size_t *ret_len);

#endif
