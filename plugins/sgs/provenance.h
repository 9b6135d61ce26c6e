/* SPDX-License-Identifier: MIT */
/* provenance.h -- the blocks this plugin adds to a call. */
#ifndef SGS_PROVENANCE_H
#define SGS_PROVENANCE_H

#include "sgs.h"

/* The requests whose rows are in the answer. */
typedef struct {
    sgs_window *windows; /* NULL for ultimos/N */
    lastro_response *answers;
    size_t count;
} sgs_parts;

/* "01/01/2015–31/12/2024", one date alone if both are the same; NULL: no rows. Belongs to the call. */
const char *sgs_vintage(lastro_call *call, const sgs_rows *rows);
/* The canonical whole address of a window. Belongs to the call. */
const char *sgs_window_url(lastro_call *call, int64_t code, sgs_window w);

/* The block of figures read from the source. exact: the answer's rows are what the (only) window returns as
 * asked; otherwise the address gets the first and last date of the rows, so that it reproduces just them. */
void sgs_block_source(lastro_call *call, const sgs_query *q, const sgs_result *r, const sgs_parts *parts,
                      bool exact);
/* The block of figures of a snapshot. url repeats the rows; of more than SGS gives at once, each slice's
 * address is written instead. */
void sgs_block_snapshot(lastro_call *call, const sgs_result *r, const char *url, int64_t extracted_ms,
                        const char *notice);
/* The block of the curated catalogue. */
void sgs_block_catalog(lastro_call *call, const sgs_catalog *c, const char *detail);

#endif
