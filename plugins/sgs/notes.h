/* SPDX-License-Identifier: MIT */
/* notes.h -- sentences about what the rows themselves show: days without value, dates to come, a running
 * month, age. */
#ifndef SGS_NOTES_H
#define SGS_NOTES_H

#include "sgs.h"

/* about_now: the answer is taken for the present (newest rows, or a window that reaches today), so age
 * matters. */
void sgs_notes_on_rows(lastro_call *call, sgs_result *r, bool about_now);
/* The catalogue's guidance, where the series is easily misread. */
void sgs_notes_on_nature(lastro_call *call, sgs_result *r);

#endif
