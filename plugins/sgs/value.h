/* SPDX-License-Identifier: MIT */
/* value.h -- the text of an observed value becomes a JSON number token without losing a digit. */
#ifndef SGS_VALUE_H
#define SGS_VALUE_H

#include <stdbool.h>
#include <stddef.h>

enum { SGS_VALUE_SIZE = 64 };

typedef enum {
    SGS_VALUE_NUMBER = 0,
    SGS_VALUE_NONE, /* "", "-" or blanks: the day has no value (field case F011) */
    SGS_VALUE_JUNK  /* "12,3,4": not a number, and never guessed at (F013) */
} sgs_value_kind;

/* SGS_VALUE_NUMBER: ret holds the token and *ret_len its length. The digits stay as they came ("5.70" is
 * "5.70"); only what JSON forbids changes: ".5", "+5", "5.", "007", and a comma, which is always the decimal
 * mark (points before it group thousands, three digits each). */
sgs_value_kind sgs_value_read(const char *text, size_t len, char ret[SGS_VALUE_SIZE], size_t *ret_len);

/* A sum of number tokens, exact for as long as it stays below 10^36; start with {.exact = true}. */
__extension__ typedef __int128 sgs_wide;
typedef struct {
    sgs_wide sum; /* times 10^scale */
    unsigned scale;
    bool exact; /* false: something did not fit, and the sum is void */
} sgs_total;
void sgs_total_add(sgs_total *t, const char *token, size_t len);

/* Both: half away from zero, at most 4 decimals, shortest text; ret has SGS_VALUE_SIZE.
 * The sum over a count that is not 0. false: void or too large */
bool sgs_total_round4(const sgs_total *t, size_t count, char ret[SGS_VALUE_SIZE]);
/* false: not finite, or so large that the fourth decimal is not certain any more */
bool sgs_value_round4(long double value, char ret[SGS_VALUE_SIZE]);

#endif
