/* SPDX-License-Identifier: MIT */
#include "observations.h"

#include "classify.h"
#include "value.h"
#include <lastro/lastro.h>
#include <stdlib.h>

static lastro_status bad_row(lastro_error *err, const char *what, lastro_text text) {
    int shown = text.len > 40 ? 40 : (int)text.len;
    return lastro_fail(
        err, LASTRO_EUPSTREAM,
        "o SGS devolveu %s ilegível: \"%.*s\". Nada foi adivinhado; tente de novo e, se persistir, "
        "confira a série no site do SGS.",
        what, shown, text.at ? text.at : "");
}

static lastro_status read_value(lastro_call *call, const lastro_value *v, lastro_text *ret,
                                lastro_error *err) {
    char token[SGS_VALUE_SIZE];
    size_t len;
    *ret = (lastro_text){NULL, 0};
    int32_t kind = lastro->kind(v);
    if (kind == LASTRO_NULL)
        return LASTRO_OK;
    if (kind != LASTRO_STRING && kind != LASTRO_NUMBER)
        return bad_row(err, "um valor", (lastro_text){"", 0});
    lastro_text text = lastro->text(v);
    switch (sgs_value_read(text.at, text.len, token, &len)) {
    case SGS_VALUE_NONE:
        return LASTRO_OK;
    case SGS_VALUE_JUNK:
        return bad_row(err, "um valor", text);
    case SGS_VALUE_NUMBER:
        break;
    }
    if (len == text.len && memcmp(token, text.at, len) == 0) {
        *ret = text; /* the document outlives the rows: both belong to the call */
        return LASTRO_OK;
    }
    char *copy = lastro_copy(call, (lastro_text){token, len});
    if (!copy)
        return lastro_fail(err, LASTRO_ENOMEM, "memória da chamada esgotada");
    *ret = (lastro_text){copy, len};
    return LASTRO_OK;
}

lastro_status sgs_row_read(lastro_call *call, lastro_text day, lastro_text end, const lastro_value *value,
                           sgs_row *ret, lastro_error *err) {
    ret->end = SGS_NO_DAY;
    if (!day.at || sgs_date_read(day.at, day.len, &ret->day) != SGS_DATE_OK)
        return bad_row(err, "uma data", day);
    if (end.at && end.len && sgs_date_read(end.at, end.len, &ret->end) != SGS_DATE_OK)
        return bad_row(err, "uma dataFim", end);
    return read_value(call, value, &ret->value, err);
}

lastro_status sgs_rows_parse(lastro_call *call, lastro_text body, sgs_rows *ret, lastro_error *err) {
    lastro_error inner = {0};
    lastro_iter it;
    lastro_text text = sgs_body_text(body);
    const lastro_value *doc = lastro->parse(call, text.at, text.len, &inner);
    if (!lastro_is(doc, LASTRO_ARRAY))
        return lastro_fail(err, LASTRO_EUPSTREAM,
                           "o SGS devolveu um corpo que não é uma lista de observações.");
    size_t count = lastro->count(doc);
    sgs_rows rows = {count ? lastro->alloc(call, count * sizeof *rows.at) : NULL, 0};
    if (count && !rows.at)
        return lastro_fail(err, LASTRO_ENOMEM, "memória da chamada esgotada com %zu observações", count);
    lastro->iterate(doc, &it);
    while (lastro->next(&it)) {
        sgs_row *row = &rows.at[rows.count];
        lastro_status st =
            sgs_row_read(call, lastro_get_text(it.value, "data", NULL),
                         lastro_get_text(it.value, "dataFim", NULL), lastro_get(it.value, "valor"), row, err);
        if (st != LASTRO_OK)
            return st;
        row->order = (uint32_t)rows.count++;
    }
    *ret = rows;
    return LASTRO_OK;
}

static int compare(const void *a, const void *b) {
    const sgs_row *x = a, *y = b;
    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void sgs_rows_sort(sgs_rows *rows) {
    bool sorted = true;
    for (size_t i = 1; i < rows->count && sorted; i++)
        sorted = compare(&rows->at[i - 1], &rows->at[i]) <= 0;
    if (!sorted)
        qsort(rows->at, rows->count, sizeof *rows->at, compare);
}

static bool same_value(lastro_text a, lastro_text b) {
    return !a.at || !b.at ? a.at == b.at : a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

sgs_repeats sgs_rows_unique(sgs_rows *rows) {
    sgs_repeats ret = {0, 0};
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        sgs_row *last = kept ? &rows->at[kept - 1] : NULL;
        if (last && last->day == rows->at[i].day && last->end == rows->at[i].end) {
            if (same_value(last->value, rows->at[i].value))
                ret.repeated++;
            else
                ret.conflicting++;
        } else
            rows->at[kept++] = rows->at[i];
    }
    rows->count = kept;
    return ret;
}

size_t sgs_rows_clip(sgs_rows *rows, sgs_day from, sgs_day to) {
    size_t kept = 0, before = rows->count;
    for (size_t i = 0; i < rows->count; i++) {
        sgs_day d = rows->at[i].day;
        if ((from == SGS_NO_DAY || d >= from) && (to == SGS_NO_DAY || d <= to))
            rows->at[kept++] = rows->at[i];
    }
    rows->count = kept;
    return before - kept;
}

size_t sgs_rows_without_value(const sgs_rows *rows) {
    size_t n = 0;
    for (size_t i = 0; i < rows->count; i++)
        n += rows->at[i].value.at == NULL;
    return n;
}

sgs_pace sgs_rows_pace(const sgs_rows *rows) {
    sgs_gaps gaps;
    sgs_gaps_start(&gaps);
    for (size_t i = 0; i < rows->count; i++)
        sgs_gaps_add(&gaps, rows->at[i].day);
    return sgs_gaps_pace(&gaps);
}
