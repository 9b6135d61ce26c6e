/* SPDX-License-Identifier: MIT */
/* messages.h -- what people and models read when something failed (Portuguese), and the class of the failure.
 */
#ifndef SGS_MESSAGES_H
#define SGS_MESSAGES_H

#include "sgs.h"

typedef struct {
    const sgs_query *query;
    const sgs_known *known;
    const lastro_response *answer;
    bool small;        /* it was an ultimos/N request */
    bool recalled;     /* nothing was asked now: see doubt.h */
    sgs_window window; /* of the request that failed; both SGS_NO_DAY: none */
} sgs_failure;

/* Fills err and returns the status for a request that brought no rows. */
lastro_status sgs_explain(const sgs_failure *f, lastro_error *err);
/* Puts "Valores da série 433 (IPCA): " before the text that err already has. */
lastro_status sgs_explain_inner(const sgs_query *q, const sgs_known *known, lastro_error *err);
/* One argument that is no date: err names it, says what is wrong with it and what is valid. */
lastro_status sgs_bad_date(const char *member, lastro_text given, sgs_date_fault fault, lastro_error *err);
/* The source cannot be reached now, as opposed to: it has answered no. */
bool sgs_unreachable(const lastro_response *answer);

#endif
