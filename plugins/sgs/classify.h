/* SPDX-License-Identifier: MIT */
/* classify.h -- what a body of SGS is, by its shape. The status is heard only where the shape says nothing.
 *
 * Shapes seen (bcb.md 7.2 and 18; recorded bodies):
 *   rows      [{"data":"01/05/2026","valor":"0.58"}, …], also [] and rows with "dataFim"
 *   erro      {"erro":{"statusCode":404,"detail":"…Value(s) not found"}}, the same with 400
 *   error     {"error":"…10 anos…","message":"…","syntax":"…"} with 406: the window is too long for a daily
 * series page      an XML or HTML page with 200, after about 30 s: the code does not exist, OR a slow window
 * was cut off, OR a passing fault (432 gave it in 3 of 9 calls on 2026-09-24). One page decides nothing. */
#ifndef SGS_CLASSIFY_H
#define SGS_CLASSIFY_H

#include <lastro/abi.h>

typedef enum {
    SGS_BODY_ROWS = 0,
    SGS_BODY_NOT_FOUND, /* erro with 404 */
    SGS_BODY_TOO_LONG,  /* the ten-year refusal */
    SGS_BODY_FAULT,     /* erro with 5xx */
    SGS_BODY_REFUSED,   /* any other error object */
    SGS_BODY_PAGE,
    SGS_BODY_EMPTY,
    SGS_BODY_BROKEN /* begins like an answer and is none: cut in the middle, or something else */
} sgs_body;

/* A leading byte order mark is passed over. */
sgs_body sgs_body_of(lastro_text body);
/* The body without a byte order mark. */
lastro_text sgs_body_text(lastro_text body);
/* lastro_source.classify */
int32_t sgs_classify(void *self, const lastro_attempt *attempt, char *reason, size_t reason_size);

#endif
