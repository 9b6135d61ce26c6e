/* SPDX-License-Identifier: MIT */
#include "catalog.h"

#include <lastro/lastro.h>
#include <stdlib.h>

int64_t sgs_instant_of_day(lastro_text iso_day) {
    sgs_day d;
    if (!iso_day.at || sgs_date_read(iso_day.at, iso_day.len < 10 ? iso_day.len : 10, &d) != SGS_DATE_OK)
        return 0;
    return ((int64_t)d * 24 + 3) * 3600000;
}

static bool evidence_has(const lastro_value *entry, const char *what, const char *key) {
    lastro_iter it;
    lastro->iterate(lastro_get(lastro_get(entry, "evidencia"), what), &it);
    while (lastro->next(&it))
        if (lastro_text_is(lastro->text(it.value), key))
            return true;
    return false;
}

static bool read_entry(const lastro_value *entry, sgs_known *k) {
    const lastro_value *guide = lastro_get(entry, "guia");
    lastro_text start = lastro_get_text(entry, "inicio", NULL);
    *k = (sgs_known){
        .code = lastro_get_int(entry, "codigo", 0),
        .name = lastro_get_text(entry, "nome", NULL),
        .category = lastro_get_text(entry, "categoria", NULL),
        .pace_label = lastro_get_text(entry, "periodicidade", NULL),
        .unit = lastro_get_text(entry, "unidade", NULL),
        .nature = lastro_get_text(entry, "natureza", NULL),
        .chaining = lastro_get_text(entry, "encadeamento", NULL),
        .guide = lastro_get_text(guide, "texto", NULL),
        .note = lastro_get_text(entry, "nota", NULL),
        .guide_use = lastro->count(lastro_get(guide, "use")) ? lastro_get(guide, "use") : NULL,
        .start = SGS_NO_DAY,
        .from_portal = evidence_has(entry, "nome", "p"),
        .contested = lastro_get_bool(entry, "contestada", false),
    };
    if (lastro_is(guide, LASTRO_STRING))
        k->guide = lastro->text(guide);
    k->pace = sgs_pace_named(k->pace_label.at, k->pace_label.len);
    sgs_day day;
    if (start.at && sgs_date_read(start.at, start.len, &day) == SGS_DATE_OK)
        k->start = day;
    return k->code > 0 && k->name.at && k->category.at;
}

static int by_code(const void *a, const void *b) {
    const sgs_known *x = *(const sgs_known *const *)a, *y = *(const sgs_known *const *)b;
    return x->code < y->code ? -1 : x->code > y->code;
}

lastro_status sgs_catalog_load(lastro_registrar *r, const char *text, size_t len, sgs_catalog *ret,
                               lastro_error *err) {
    lastro_iter it;
    const lastro_value *doc = lastro->load_json(r, text, len, err);
    if (!doc)
        return LASTRO_EINTERNAL;
    const lastro_value *list = lastro_get(doc, "series");
    size_t count = lastro->count(list);
    sgs_catalog c = {.series = calloc(count + 1, sizeof *c.series),
                     .by_code = calloc(count + 1, sizeof *c.by_code)};
    if (!c.series || !c.by_code) {
        sgs_catalog_free(&c);
        return lastro_fail(err, LASTRO_ENOMEM, "no memory for %zu catalogue entries", count);
    }
    lastro->iterate(list, &it);
    while (lastro->next(&it)) {
        if (!read_entry(it.value, &c.series[c.count])) {
            sgs_catalog_free(&c);
            return lastro_fail(err, LASTRO_EINTERNAL, "catalogue entry %zu lacks codigo, nome or categoria",
                               c.count);
        }
        c.by_code[c.count] = &c.series[c.count];
        c.count++;
    }
    qsort(c.by_code, c.count, sizeof *c.by_code, by_code);
    c.compiled = lastro_get_text(doc, "compiled_on", NULL);
    c.compiled_ms = sgs_instant_of_day(c.compiled);
    *ret = c;
    return LASTRO_OK;
}

void sgs_catalog_free(sgs_catalog *c) {
    free(c->series);
    free(c->by_code);
    *c = (sgs_catalog){0};
}

const sgs_known *sgs_catalog_find(const sgs_catalog *c, int64_t code) {
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->by_code[mid]->code < code)
            low = mid + 1;
        else
            high = mid;
    }
    return low < c->count && c->by_code[low]->code == code ? c->by_code[low] : NULL;
}

bool sgs_known_is(const sgs_known *k, const char *nature_prefix) {
    size_t len = strlen(nature_prefix);
    return k && k->nature.len >= len && memcmp(k->nature.at, nature_prefix, len) == 0;
}
