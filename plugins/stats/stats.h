/* SPDX-License-Identifier: MIT */
/* stats.h -- what the files of this plugin share. A new tool is a file with one run function, a line below, a
 * line in the table of stats.c and a contract in schemas/. */
#ifndef LASTRO_STATS_H
#define LASTRO_STATS_H

#include <lastro/lastro.h>

#define STATS_VERSION "0.1.0"
#define STATS_ENGINE "lastro/stats " STATS_VERSION /* as provenance and `derivacao.motor` name it */

/* lastro_tool's run */
lastro_status stats_variacao_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                               lastro_error *err);

#endif
