/* SPDX-License-Identifier: MIT */
/* rows.h -- the rows of a recorded Olinda body as pieces of its text, so that a number leaves with
 * the characters it came with (4.2600 stays 4.2600). */
#ifndef BCB_SIM_ROWS_H
#define BCB_SIM_ROWS_H

#include "text.h"

typedef struct {
    sim_slice key; /* without quotes; the service has no escapes in names */
    sim_slice raw; /* the value as it stands, strings with their quotes */
} sim_member;

typedef struct {
    sim_member *member;
    size_t count;
} sim_row;

typedef struct {
    sim_row *row;
    size_t count, cap;
    char **text; /* what the slices point into */
    size_t texts;
} sim_rows;

/* Appends the rows of text's "value" array; owns text from now on, also when it is refused. */
bool rows_take(sim_rows *rows, char *text);
void rows_free(sim_rows *rows);
/* NULL: no such member */
const sim_slice *row_find(const sim_row *row, const char *key);
/* The member's text with escapes and quotes undone; a new text, or NULL for null and absent ones.
 * Numbers come as their characters. */
char *row_text(const sim_row *row, const char *key);
/* Sorts by the text of one member and keeps one row of each: the one with more members, then the
 * longer one (some recordings dropped the zeros at the end of numbers). */
void rows_merge(sim_rows *rows, const char *key);

#endif
