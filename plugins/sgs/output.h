/* SPDX-License-Identifier: MIT */
/* output.h -- the members that several answers share, written in the order a reader wants them. */
#ifndef SGS_OUTPUT_H
#define SGS_OUTPUT_H

#include "sgs.h"

/* `completo`, and `aviso` when it is false: the first members of an answer with rows. */
void sgs_put_complete(lastro_writer *w, const sgs_result *r);
void sgs_put_date(lastro_writer *w, const char *name, sgs_day d); /* SGS_NO_DAY: null */
/* "Série 7000" when the catalogue does not know it. Belongs to the call. */
void sgs_put_name(lastro_call *call, lastro_writer *w, const sgs_result *r);
void sgs_put_serie(lastro_call *call, lastro_writer *w, const sgs_result *r);
/* The rows as an array called name: data, dataFim, valor, parcial. */
void sgs_put_rows(lastro_writer *w, const char *name, const sgs_result *r);
void sgs_put_chunking(lastro_writer *w, const sgs_result *r);
void sgs_put_applied(lastro_writer *w, const sgs_result *r);
void sgs_put_notes(lastro_writer *w, const sgs_result *r); /* `avisos`; nothing when there are none */

#endif
