/* SPDX-License-Identifier: MIT */
/* catalog.h -- the curated catalogue embedded from catalog/series.json: facts with evidence. What is not in
 * it is only "not described here": a query for it still goes out (field case F047). Read-only after it was
 * loaded. */
#ifndef SGS_CATALOG_H
#define SGS_CATALOG_H

#include "periodicity.h"
#include <lastro/abi.h>

typedef struct {
    int64_t code;
    lastro_text name, category, pace_label, unit, nature, chaining, guide, note;
    const lastro_value *guide_use; /* codes to use instead; NULL: none */
    sgs_pace pace;
    sgs_day start;    /* SGS_NO_DAY: unknown */
    bool from_portal; /* the name is the open data portal's */
    bool contested;
} sgs_known;

typedef struct {
    sgs_known *series; /* in the catalogue's order */
    const sgs_known **by_code;
    size_t count;
    lastro_text compiled; /* yyyy-MM-dd */
    int64_t compiled_ms;  /* the same as an instant: midnight in Brasilia; 0: unknown */
} sgs_catalog;

/* text lives as long as the plugin. */
lastro_status sgs_catalog_load(lastro_registrar *r, const char *text, size_t len, sgs_catalog *ret,
                               lastro_error *err);
void sgs_catalog_free(sgs_catalog *c);
const sgs_known *sgs_catalog_find(const sgs_catalog *c, int64_t code); /* NULL: not described */
/* natureza begins with that word, e.g. "acumulado". */
bool sgs_known_is(const sgs_known *k, const char *nature_prefix);
/* "2026-08-21" as the instant of that day's beginning in Brasilia; 0: unreadable */
int64_t sgs_instant_of_day(lastro_text iso_day);

#endif
