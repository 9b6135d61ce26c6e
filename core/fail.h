/* SPDX-License-Identifier: MIT */
/* fail.h -- the one error channel: a status to branch on, a text to read. */
#ifndef LASTRO_CORE_FAIL_H
#define LASTRO_CORE_FAIL_H

#include <lastro/abi.h>

/* Fills err (may be NULL) and returns status, so that failing is one line. */
__attribute__((format(printf, 3, 4))) lastro_status fail(lastro_error *err, lastro_status status, const char *fmt, ...);

typedef struct {
    const char *name;   /* "LASTRO_EARGS" */
    int rpc;            /* JSON-RPC code; 0: told inside the tool's result */
    const char *class_; /* "contract", "not_found", "source", "defect", "cancelled", "ok" */
    const char *text;
} status_info;
const status_info *status_describe(int32_t status); /* an unknown status is described as LASTRO_EINTERNAL */

#endif
