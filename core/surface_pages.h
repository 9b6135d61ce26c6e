/* SPDX-License-Identifier: MIT */
/* surface_pages.h -- a composed list in parts, cut from its own bytes. */
#ifndef LASTRO_CORE_SURFACE_PAGES_H
#define LASTRO_CORE_SURFACE_PAGES_H

#include "surface.h"

/* Finds the items of a list that was composed: {"NAME":[item,…],…}. False: out of memory. While composing only. */
bool surface_pages_find(surface_text *t);

/* The list's result object with the items from … to-1 alone, and with nextCursor unless next is NULL; in a's memory.
 * from <= to <= t->items. NULL: out of memory. */
const char *surface_page(const surface_text *t, arena *a, size_t from, size_t to, const char *next, size_t *ret_len);

#endif
