/* SPDX-License-Identifier: MIT */
/* filter.h -- OData $filter: comparisons (eq ne gt ge lt le) of a property with a literal, joined
 * by and / or, with parentheses. */
#ifndef BCB_SIM_FILTER_H
#define BCB_SIM_FILTER_H

#include "rows.h"

typedef enum { FILTER_NO, FILTER_YES, FILTER_MALFORMED, FILTER_BAD_PROPERTY } filter_result;

/* row NULL: only checks text, and says YES when it is well formed. known: the properties of the
 * type, "A,B,C". ret_property receives the name that is not among them. */
filter_result filter_run(const char *text, const sim_row *row, const char *known, char ret_property[64]);

/* Whether name is one of the comma-separated ones. */
bool name_listed(const char *list, sim_slice name);
/* Orders two members as the service would: numbers by size, texts by their bytes. */
int value_order(const char *a, const char *b, bool numbers);

#endif
