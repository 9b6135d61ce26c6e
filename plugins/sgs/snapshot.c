/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include "embedded.h"
#include "provenance.h"
#include "slices.h"
#include <inttypes.h>
#include <lastro/lastro.h>

static const struct embedded {
    int64_t code;
    const char *text;
    const size_t *size;
} snapshots[] = {
    {1, embedded_snapshot_1, &embedded_snapshot_1_size},
    {188, embedded_snapshot_188, &embedded_snapshot_188_size},
    {189, embedded_snapshot_189, &embedded_snapshot_189_size},
    {432, embedded_snapshot_432, &embedded_snapshot_432_size},
    {433, embedded_snapshot_433, &embedded_snapshot_433_size},
    {4390, embedded_snapshot_4390, &embedded_snapshot_4390_size},
};

/* One snapshot, read for a call. Texts of it are shown to nobody but as dates. */
typedef struct {
    lastro_text url;
    int64_t extracted_ms, until_ms; /* oldest and newest reading */
    sgs_rows rows;
    sgs_day first, last; /* days that it answers for: the last row's whole month in a monthly series */
    bool from_start;     /* the series has nothing before it */
    bool settled;        /* no row of a running period */
    char extracted[2 * SGS_DATE_SIZE + 16], first_text[SGS_DATE_SIZE], last_text[SGS_DATE_SIZE];
} snapshot;

static const struct embedded *find(int64_t code) {
    for (size_t i = 0; i < LASTRO_COUNT(snapshots); i++)
        if (snapshots[i].code == code)
            return &snapshots[i];
    return NULL;
}

bool sgs_snapshot_exists(int64_t code) {
    return find(code) != NULL;
}

void sgs_snapshot_list(char *ret, size_t size) {
    size_t len = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < LASTRO_COUNT(snapshots) && len < size; i++)
        len += (size_t)snprintf(ret + len, size - len, "%s%" PRId64, i ? ", " : "", snapshots[i].code);
}

static lastro_status read_rows(lastro_call *call, const lastro_value *list, sgs_rows *ret,
                               lastro_error *err) {
    lastro_iter it;
    size_t count = lastro->count(list);
    sgs_row *rows = count ? lastro->alloc(call, count * sizeof *rows) : NULL;
    if (!rows)
        return lastro_fail(err, LASTRO_EINTERNAL,
                           "instantâneo sem observações, ou memória da chamada esgotada");
    *ret = (sgs_rows){rows, 0};
    lastro->iterate(list, &it);
    while (lastro->next(&it)) {
        lastro_status st = sgs_row_read(call, lastro->text(lastro->at(it.value, 0)), (lastro_text){NULL, 0},
                                        lastro->at(it.value, 1), &rows[ret->count], err);
        if (st != LASTRO_OK)
            return st;
        rows[ret->count].order = (uint32_t)ret->count;
        ret->count++;
    }
    sgs_rows_sort(ret);
    return LASTRO_OK;
}

/* A row of a monthly series stands for the whole month. */
static sgs_day covered_to(sgs_day last, sgs_pace pace) {
    int year, month, day;
    sgs_day_split(last, &year, &month, &day);
    return pace == SGS_PACE_MONTHLY ? sgs_day_of(year, month, sgs_days_in_month(year, month)) : last;
}

/* "em 11/08/2026", or both ends when rows were added over time: no row may look older than its own date. */
static void write_extracted(snapshot *s) {
    char oldest[SGS_DATE_SIZE], newest[SGS_DATE_SIZE];
    sgs_date_write(sgs_brasilia_day(s->extracted_ms), oldest);
    sgs_date_write(sgs_brasilia_day(s->until_ms), newest);
    if (s->extracted_ms == s->until_ms)
        snprintf(s->extracted, sizeof s->extracted, "em %s", oldest);
    else
        snprintf(s->extracted, sizeof s->extracted, "entre %s e %s", oldest, newest);
}

static lastro_status load(lastro_call *call, const sgs_result *r, snapshot *ret, lastro_error *err) {
    const struct embedded *e = find(r->code);
    const lastro_value *doc = e ? lastro->parse(call, e->text, *e->size, err) : NULL;
    if (!doc)
        return lastro_fail(err, LASTRO_EINTERNAL, "o instantâneo embutido não pôde ser lido");
    snapshot s = {.url = lastro_get_text(doc, "source_url", ""),
                  .settled = lastro_get_bool(doc, "complete", false)};
    s.extracted_ms = s.until_ms = sgs_instant_of_day(lastro_get_text(doc, "extracted_at", NULL));
    if (lastro_has(doc, "extracted_until"))
        s.until_ms = sgs_instant_of_day(lastro_get_text(doc, "extracted_until", NULL));
    lastro_status st = read_rows(call, lastro_get(doc, "observations"), &s.rows, err);
    if (st != LASTRO_OK)
        return st;
    s.first = s.rows.at[0].day;
    s.last = covered_to(s.rows.at[s.rows.count - 1].day, sgs_rows_pace(&s.rows));
    s.from_start = r->known && r->known->start != SGS_NO_DAY && s.first <= r->known->start;
    write_extracted(&s);
    sgs_date_write(s.rows.at[0].day, s.first_text);
    sgs_date_write(s.rows.at[s.rows.count - 1].day, s.last_text);
    *ret = s;
    return LASTRO_OK;
}

/* The window as asked, with open ends of a daily series closed as a live query would close them. */
static sgs_window settle(const sgs_query *q, sgs_result *r) {
    sgs_window w = q->window;
    if (!r->known || r->known->pace != SGS_PACE_DAILY || q->last)
        return w;
    if (w.to == SGS_NO_DAY)
        w.to = w.from != SGS_NO_DAY && w.from > r->today ? w.from : r->today;
    if (w.from == SGS_NO_DAY) {
        w.from = sgs_add_years(w.to, -SGS_LIMIT_YEARS);
        r->applied = w;
        r->applied_reason =
            "Série diária sem dataInicial: valem os últimos 10 anos, como na consulta com rede. Para outro "
            "período, informe dataInicial e dataFinal.";
    }
    return w;
}

static void clip(const sgs_query *q, sgs_window w, sgs_result *r, const snapshot *s) {
    bool before = (w.from == SGS_NO_DAY || w.from < s->first) && !s->from_start;
    bool after = w.to == SGS_NO_DAY ? s->last < r->today : w.to > s->last;
    if (q->last) {
        size_t drop = r->rows.count > q->last ? r->rows.count - q->last : 0;
        before = r->rows.count < q->last && !s->from_start;
        r->rows.at += drop;
        r->rows.count -= drop;
    } else
        sgs_rows_clip(&r->rows, w.from, w.to);
    if (before || after)
        r->incomplete = after && !before   ? "posteriores"
                        : before && !after ? "anteriores"
                                           : "anteriores e posteriores";
}

static lastro_status finish(lastro_call *call, const char *because, const snapshot *s, sgs_result *r,
                            lastro_error *err) {
    if (!r->rows.count && !r->incomplete)
        return lastro_fail(
            err, LASTRO_ENOTFOUND,
            "%s. O instantâneo embutido da série %" PRId64
            " (extraído %s) cobre o período pedido, e nele não há observação: pode ser fim de "
            "semana ou feriado, ou, nas mensais, um período sem dia 1º. Peça um período maior.",
            because, r->code, s->extracted);
    if (!r->rows.count)
        return lastro_fail(err, LASTRO_EOFFLINE,
                           "%s, e o instantâneo embutido da série %" PRId64
                           " (extraído %s) só vai de %s a %s: não tem "
                           "nada do período pedido.",
                           because, r->code, s->extracted, s->first_text, s->last_text);
    const char *notice =
        lastro_format(call,
                      "%s: os valores vêm do instantâneo embutido, extraído do SGS %s, e não de uma "
                      "leitura de agora. Ele vai de %s a %s; a série pode ter sido atualizada ou revisada "
                      "depois.",
                      because, s->extracted, s->first_text, s->last_text);
    if (r->incomplete)
        r->incomplete = lastro_format(
            call,
            "INCOMPLETO: instantâneo embutido, extraído %s, que vai de %s a %s; valores %s a esse trecho, "
            "se existirem, não estão aqui.",
            s->extracted, s->first_text, s->last_text, r->incomplete);
    sgs_note(r, notice);
    sgs_window held = {r->rows.at[0].day, r->rows.at[r->rows.count - 1].day};
    bool fits = r->measured != SGS_PACE_DAILY || held.to <= sgs_add_years(held.from, SGS_LIMIT_YEARS);
    const char *url = fits ? sgs_window_url(call, r->code, held) : lastro_copy(call, s->url);
    sgs_block_snapshot(call, r, url, s->extracted_ms, notice);
    return LASTRO_OK;
}

lastro_status sgs_snapshot_read(lastro_call *call, const sgs_query *q, const char *because, sgs_result *r,
                                lastro_error *err) {
    snapshot s;
    lastro_status st = load(call, r, &s, err);
    if (st != LASTRO_OK)
        return st;
    r->snapshot = true;
    r->settled = s.settled;
    r->as_of = sgs_brasilia_day(s.until_ms);
    r->rows = s.rows;
    r->windows = 1;
    r->measured = sgs_rows_pace(&s.rows);
    clip(q, settle(q, r), r, &s);
    return finish(call, because, &s, r, err);
}
