/* SPDX-License-Identifier: MIT */
/* tools.h -- the handlers, one file each; self is the sgs_plugin. */
#ifndef SGS_TOOLS_H
#define SGS_TOOLS_H

#include "sgs.h"

#define SGS_HANDLER(name)                                                                                    \
    lastro_status name(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,          \
                       lastro_error *err)

SGS_HANDLER(sgs_tool_values);
SGS_HANDLER(sgs_tool_latest);
SGS_HANDLER(sgs_tool_metadata);
SGS_HANDLER(sgs_tool_popular);

extern const lastro_service sgs_series_service;

#endif
