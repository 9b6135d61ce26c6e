/* SPDX-License-Identifier: MIT */
#include "provenance.h"

#include "url.h"
#include <inttypes.h>
#include <lastro/lastro.h>

static const char revision_note[] = "Versão vigente no SGS no instante da extração. O BCB revisa valores já "
                                    "publicados e o SGS não guarda a primeira "
                                    "divulgação.";

const char *sgs_vintage(lastro_call *call, const sgs_rows *rows) {
    char first[SGS_DATE_SIZE], last[SGS_DATE_SIZE];
    if (!rows->count)
        return NULL;
    sgs_date_write(rows->at[0].day, first);
    sgs_date_write(rows->at[rows->count - 1].day, last);
    return strcmp(first, last) == 0 ? lastro_format(call, "%s", first)
                                    : lastro_format(call, "%s–%s", first, last);
}

const char *sgs_window_url(lastro_call *call, int64_t code, sgs_window w) {
    char target[SGS_URL_SIZE];
    sgs_url_window(target, code, w.from, w.to);
    return lastro_format(call, SGS_BASE "%s", target);
}

static const char *detail_of(lastro_call *call, const sgs_result *r) {
    return r->known ? lastro_format(call, "série %" PRId64 " (%.*s)", r->code, (int)r->known->name.len,
                                    r->known->name.at)
                    : lastro_format(call, "série %" PRId64, r->code);
}

/* The rows between two days, of sorted rows. */
static sgs_rows rows_within(const sgs_rows *rows, sgs_window w) {
    size_t i = 0, end;
    while (i < rows->count && rows->at[i].day < w.from)
        i++;
    for (end = i; end < rows->count && rows->at[end].day <= w.to; end++)
        ;
    return (sgs_rows){rows->at + i, end - i};
}

/* One entry a request, each with its own address and vintage. NULL: no memory. */
static const lastro_field_source *const *fields_of(lastro_call *call, const sgs_query *q, const sgs_result *r,
                                                   const sgs_parts *parts, const char *only_url) {
    const char **names = lastro->alloc(call, 2 * sizeof *names);
    lastro_field_source *all = lastro->alloc(call, parts->count * sizeof *all);
    const lastro_field_source **list = lastro->alloc(call, (parts->count + 1) * sizeof *list);
    if (!names || !all || !list)
        return NULL;
    names[0] = q->field ? q->field : "dados";
    for (size_t i = 0; i < parts->count; i++) {
        bool single = parts->count == 1;
        sgs_rows rows = single ? r->rows : rows_within(&r->rows, parts->windows[i]);
        all[i] = (lastro_field_source){
            .size = sizeof all[i],
            .fields = names,
            .source_url = single ? only_url : sgs_window_url(call, r->code, parts->windows[i]),
            .dataset_id = lastro_format(call, "bcdata.sgs.%" PRId64, r->code),
            .data_vintage = sgs_vintage(call, &rows),
            .access = parts->answers[i].access,
        };
        list[i] = &all[i];
    }
    return list;
}

void sgs_block_source(lastro_call *call, const sgs_query *q, const sgs_result *r, const sgs_parts *parts,
                      bool exact) {
    const char *notices[2] = {NULL, NULL};
    const char *url = parts->answers[0].url;
    if (parts->windows)
        url = sgs_window_url(call, r->code, parts->windows[0]);
    if (parts->count == 1 && !exact && r->rows.count)
        url =
            sgs_window_url(call, r->code, (sgs_window){r->rows.at[0].day, r->rows.at[r->rows.count - 1].day});
    if (parts->count > 1)
        notices[0] = lastro_format(
            call,
            "O período foi lido em %zu fatias, porque o SGS limita as séries diárias a 10 anos por "
            "pedido; source_url é a primeira fatia e field_sources traz o endereço de cada uma.",
            parts->count);
    lastro_block block = {
        .size = sizeof block,
        .source = SGS_SOURCE,
        .source_url = url,
        .data_vintage = sgs_vintage(call, &r->rows),
        .detail = detail_of(call, r),
        .fields = parts->count > 1 || q->field ? fields_of(call, q, r, parts, url) : NULL,
        .notices = notices[0] ? notices : NULL,
        .revision = "current",
        .revision_note = revision_note,
    };
    lastro->block(call, &block);
}

/* The windows that repeat the rows; count 0: one address does, or no memory. */
static sgs_parts slices_of(lastro_call *call, const sgs_result *r) {
    sgs_window held = {r->rows.at[0].day, r->rows.at[r->rows.count - 1].day};
    sgs_parts parts = {NULL, NULL, 0};
    if (r->measured != SGS_PACE_DAILY || held.to <= sgs_add_years(held.from, SGS_LIMIT_YEARS))
        return parts;
    parts.windows = lastro->alloc(call, SGS_SLICES_MAX * sizeof *parts.windows);
    parts.answers = lastro->alloc(call, SGS_SLICES_MAX * sizeof *parts.answers);
    if (parts.windows && parts.answers)
        parts.count = sgs_slices_plan(held, parts.windows);
    return parts;
}

void sgs_block_snapshot(lastro_call *call, const sgs_result *r, const char *url, int64_t extracted_ms,
                        const char *notice) {
    const char *notices[2] = {NULL, NULL};
    const sgs_query any = {0};
    sgs_parts parts = slices_of(call, r);
    if (parts.count)
        url = sgs_window_url(call, r->code, parts.windows[0]);
    lastro_access access = {.size = sizeof access,
                            .source = SGS_SOURCE,
                            .url = url,
                            .retrieved_at = extracted_ms,
                            .notice = notice};
    uint32_t number = lastro->record_access(call, &access);
    for (size_t i = 0; i < parts.count; i++)
        parts.answers[i] = (lastro_response){.size = sizeof *parts.answers, .access = number};
    if (parts.count)
        notices[0] = lastro_format(
            call,
            "O SGS limita as séries diárias a 10 anos por pedido: repetir este período pede %zu fatias. "
            "source_url é a primeira e field_sources traz o endereço de cada uma.",
            parts.count);
    lastro_block block = {
        .size = sizeof block,
        .source = SGS_SOURCE,
        .source_url = url,
        .data_vintage = sgs_vintage(call, &r->rows),
        .detail = detail_of(call, r),
        .fields = parts.count ? fields_of(call, &any, r, &parts, url) : NULL,
        .notices = notices[0] ? notices : NULL,
    };
    lastro->block(call, &block);
}

void sgs_block_catalog(lastro_call *call, const sgs_catalog *c, const char *detail) {
    const char *url = lastro_format(call, "urn:lastro:catalogo:%.*s", (int)c->compiled.len, c->compiled.at);
    lastro_access access = {
        .size = sizeof access, .source = SGS_CATALOG_SOURCE, .url = url, .retrieved_at = c->compiled_ms};
    lastro->record_access(call, &access);
    lastro_block block = {
        .size = sizeof block,
        .source = SGS_CATALOG_SOURCE,
        .source_url = url,
        .data_vintage = lastro_copy(call, c->compiled),
        .detail = detail,
    };
    lastro->block(call, &block);
}
