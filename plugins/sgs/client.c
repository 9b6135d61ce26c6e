/* SPDX-License-Identifier: MIT */
#include "client.h"

#include "aggregate.h"
#include "classify.h"
#include "messages.h"
#include "notes.h"
#include "provenance.h"
#include "snapshot.h"
#include "url.h"
#include <inttypes.h>
#include <lastro/lastro.h>

/* 432 runs ahead to the next Copom meeting; meetings are about 45 days apart, at most some 55. */
enum { FUTURE_DAYS = 120, START_MARGIN_DAYS = 365, HOLIDAY_RUN_DAYS = 7 };

typedef struct {
    sgs_plugin *plugin;
    lastro_call *call;
    const sgs_query *q;
    sgs_result *r;
    lastro_error *err;
    sgs_window window; /* rows outside go */
    sgs_parts parts;
    bool exact;       /* the one window was asked just so */
    bool unreachable; /* why it failed */
    bool answered;    /* and yet something came */
    bool too_long;    /* SGS said that it is daily and the window over ten years */
    bool whole;       /* nothing of the series lies before what was read */
    bool probed;
    sgs_rows probe_rows; /* of ultimos/20 */
    sgs_pace pace;
} reader;

/* ------------------------------------------------------------------ requests */

static uint32_t freshness(const reader *rd, sgs_day to) {
    return to != SGS_NO_DAY && to <= rd->r->today - SGS_SETTLED_DAYS ? SGS_FRESH_PAST_MS
                                                                     : SGS_FRESH_RECENT_MS;
}

static lastro_status no_memory(reader *rd) {
    return lastro_fail(rd->err, LASTRO_ENOMEM, "memória da chamada esgotada ao ler a série %" PRId64,
                       rd->q->code);
}

static lastro_status explain(reader *rd, const lastro_response *answer, bool small, sgs_window w) {
    sgs_failure f = {.query = rd->q,
                     .known = rd->r->known,
                     .answer = answer,
                     .small = small,
                     .recalled = small && !answer->url,
                     .window = w};
    rd->unreachable = sgs_unreachable(answer);
    rd->answered = answer->outcome == LASTRO_FETCH_SERVER || answer->outcome == LASTRO_FETCH_LIMITED ||
                   answer->outcome == LASTRO_FETCH_MALFORMED;
    rd->too_long = answer->outcome == LASTRO_FETCH_REFUSED && sgs_body_of(answer->body) == SGS_BODY_TOO_LONG;
    return sgs_explain(&f, rd->err);
}

static lastro_status parse(reader *rd, lastro_text body, sgs_rows *ret) {
    lastro_status st = sgs_rows_parse(rd->call, body, ret, rd->err);
    return st == LASTRO_OK ? st : sgs_explain_inner(rd->q, rd->r->known, rd->err);
}

/* Notes what a sorted answer repeated, and drops it. */
static void tidy(reader *rd, sgs_rows *rows) {
    sgs_rows_sort(rows);
    sgs_repeats again = sgs_rows_unique(rows);
    if (again.conflicting)
        sgs_note(rd->r,
                 lastro_format(
                     rd->call,
                     "A fonte mandou %zu data(s) mais de uma vez com valores diferentes; ficou o primeiro de "
                     "cada uma.",
                     again.conflicting));
}

static lastro_status fetch_latest(reader *rd, unsigned count, lastro_response *answer, sgs_rows *ret) {
    char target[SGS_URL_SIZE];
    sgs_url_latest(target, rd->q->code, count);
    lastro_request request = {
        .size = sizeof request,
        .source = SGS_SOURCE,
        .class_name = SGS_CLASS_SMALL,
        .target = target,
        .fresh_ms = SGS_FRESH_LATEST_MS,
        .negative_ms = SGS_NEGATIVE_MS,
        .label = lastro_format(rd->call, "série %" PRId64 ", últimos %u", rd->q->code, count)};
    answer->size = sizeof *answer;
    uint32_t doubted = rd->r->known ? 0 : sgs_doubt_recall(&rd->plugin->doubts, rd->q->code);
    if (doubted)
        *answer =
            (lastro_response){.size = sizeof *answer, .outcome = LASTRO_FETCH_MALFORMED, .attempts = doubted};
    if (doubted || lastro->fetch(rd->call, &request, answer) != LASTRO_OK) {
        if (!doubted &&
            (answer->outcome == LASTRO_FETCH_MALFORMED || answer->outcome == LASTRO_FETCH_TIMEOUT))
            sgs_doubt_remember(&rd->plugin->doubts, rd->q->code, answer->attempts);
        return explain(rd, answer, true, (sgs_window){SGS_NO_DAY, SGS_NO_DAY});
    }
    lastro_status st = parse(rd, answer->body, ret);
    if (st == LASTRO_OK)
        tidy(rd, ret);
    return st;
}

static bool prepare_window(reader *rd, sgs_window w, lastro_request *ret) {
    char target[SGS_URL_SIZE];
    char from[SGS_DATE_SIZE] = "início", to[SGS_DATE_SIZE] = "hoje";
    if (w.from != SGS_NO_DAY)
        sgs_date_write(w.from, from);
    if (w.to != SGS_NO_DAY)
        sgs_date_write(w.to, to);
    sgs_url_window(target, rd->q->code, w.from, w.to);
    *ret = (lastro_request){.size = sizeof *ret,
                            .source = SGS_SOURCE,
                            .class_name = SGS_CLASS_WINDOW,
                            .target = lastro_format(rd->call, "%s", target),
                            .fresh_ms = freshness(rd, w.to),
                            .negative_ms = SGS_NEGATIVE_MS,
                            .label =
                                lastro_format(rd->call, "série %" PRId64 ", %s a %s", rd->q->code, from, to)};
    return ret->target != NULL;
}

/* All rows of the answers into one array, ordered and without repeats. */
static lastro_status merge(reader *rd, const lastro_response *answers, size_t count, sgs_rows *ret) {
    size_t total = 0;
    sgs_rows *each = lastro->alloc(rd->call, count * sizeof *each);
    if (!each)
        return no_memory(rd);
    for (size_t i = 0; i < count; i++) {
        if (answers[i].outcome != LASTRO_FETCH_OK)
            continue; /* a slice before the series begins answers 404: nothing there, no fault */
        lastro_status st = parse(rd, answers[i].body, &each[i]);
        if (st != LASTRO_OK)
            return st;
        total += each[i].count;
    }
    if (count == 1)
        *ret = each[0];
    else if (total) {
        *ret = (sgs_rows){lastro->alloc(rd->call, total * sizeof *ret->at), 0};
        if (!ret->at)
            return no_memory(rd);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < each[i].count; k++) {
                ret->at[ret->count] = each[i].at[k];
                ret->at[ret->count].order = (uint32_t)ret->count;
                ret->count++;
            }
    }
    tidy(rd, ret);
    return LASTRO_OK;
}

/* Reads windows at once; LASTRO_ENOTFOUND when the source had nothing in any of them. */
static lastro_status fetch_windows(reader *rd, const sgs_window *windows, size_t count) {
    lastro_request *requests = lastro->alloc(rd->call, count * sizeof *requests);
    lastro_response *answers = lastro->alloc(rd->call, count * sizeof *answers);
    sgs_window *kept = lastro->alloc(rd->call, count * sizeof *kept);
    if (!requests || !answers || !kept)
        return no_memory(rd);
    for (size_t i = 0; i < count; i++) {
        answers[i].size = sizeof answers[i];
        kept[i] = windows[i];
        if (!prepare_window(rd, windows[i], &requests[i]))
            return no_memory(rd);
    }
    lastro->fetch_all(rd->call, requests, count, answers);
    size_t empty = 0;
    for (size_t i = 0; i < count; i++) {
        if (answers[i].outcome == LASTRO_FETCH_NOT_FOUND)
            empty++;
        else if (answers[i].outcome != LASTRO_FETCH_OK)
            return explain(rd, &answers[i], false, windows[i]);
    }
    rd->parts = (sgs_parts){kept, answers, count};
    rd->r->windows = count;
    rd->r->rows = (sgs_rows){NULL, 0};
    if (empty == count)
        return explain(rd, &answers[0], false, (sgs_window){windows[0].from, windows[count - 1].to});
    return merge(rd, answers, count, &rd->r->rows);
}

/* Tells the rhythm of a series that the catalogue does not describe; a wrong code also ends here, in seconds.
 */
static lastro_status probe(reader *rd) {
    lastro_response *answer = lastro->alloc(rd->call, sizeof *answer);
    if (!answer)
        return no_memory(rd);
    lastro_status st = fetch_latest(rd, SGS_LATEST_MAX, answer, &rd->probe_rows);
    if (st != LASTRO_OK)
        return st;
    rd->probed = true;
    rd->pace = sgs_rows_pace(&rd->probe_rows);
    rd->parts = (sgs_parts){NULL, answer, 1};
    return LASTRO_OK;
}

/* ------------------------------------------------------------------ a window */

static void close_daily_window(reader *rd) {
    sgs_window *w = &rd->window;
    char day[SGS_DATE_SIZE];
    bool open_from = w->from == SGS_NO_DAY, open_to = w->to == SGS_NO_DAY;
    if (open_to)
        w->to = !open_from && w->from > rd->r->today ? w->from : rd->r->today;
    if (open_from)
        w->from = sgs_add_years(w->to, -SGS_LIMIT_YEARS);
    if (!open_from && !open_to)
        return;
    rd->exact = true; /* the window is explicit now, and announced */
    rd->r->applied = *w;
    sgs_date_write(w->to, day);
    rd->r->applied_reason =
        open_from
            ? lastro_format(
                  rd->call,
                  "Série diária sem dataInicial: o SGS recusa (HTTP 406) janela aberta ou maior que 10 anos, "
                  "então valem os 10 anos até %s. Para outro período, informe dataInicial e dataFinal.",
                  day)
            : lastro_format(rd->call, "Série diária sem dataFinal: consultada até %s.", day);
}

/* What lies more than a year before the catalogue's first day is not asked for, and that is said. */
static sgs_window without_prehistory(reader *rd) {
    char start[SGS_DATE_SIZE];
    sgs_window w = rd->window;
    const sgs_known *known = rd->r->known;
    if (!known || known->start == SGS_NO_DAY || w.from >= known->start - START_MARGIN_DAYS ||
        w.to <= known->start)
        return w;
    w.from = known->start - START_MARGIN_DAYS;
    sgs_date_write(known->start, start);
    sgs_note(rd->r, lastro_format(rd->call, "A série começa em %s, depois do início pedido.", start));
    return w;
}

static lastro_status read_daily(reader *rd) {
    sgs_window slices[SGS_SLICES_MAX];
    close_daily_window(rd);
    size_t count = sgs_slices_plan(without_prehistory(rd), slices);
    return fetch_windows(rd, slices, count);
}

/* A daily window from a holiday brings the business day before (field case F007): not worth a word. Anything
 * else is. */
static void clip(reader *rd) {
    sgs_rows *rows = &rd->r->rows;
    sgs_day from = rd->window.from;
    size_t habit = 0;
    for (size_t i = 0; i < rows->count && from != SGS_NO_DAY; i++)
        habit += rows->at[i].day < from && rows->at[i].day >= from - HOLIDAY_RUN_DAYS;
    size_t dropped = sgs_rows_clip(rows, from, rd->window.to);
    if (dropped > (rd->pace == SGS_PACE_DAILY && habit == 1 ? 1 : 0))
        sgs_note(rd->r, lastro_format(rd->call,
                                      "A fonte mandou %zu linha(s) fora do período pedido; foram retiradas.",
                                      dropped));
}

/* A point stands for the period that begins on its date. */
static void note_cut_period(reader *rd) {
    char from[SGS_DATE_SIZE], first[SGS_DATE_SIZE];
    if (rd->pace < SGS_PACE_MONTHLY || rd->q->window.from == SGS_NO_DAY)
        return;
    sgs_day start = sgs_period_of(rd->q->window.from, rd->pace).from;
    if (start == rd->q->window.from)
        return;
    sgs_date_write(rd->q->window.from, from);
    sgs_date_write(start, first);
    sgs_note(
        rd->r,
        lastro_format(
            rd->call,
            "Cada ponto desta série tem a data do primeiro dia do seu período; como o início pedido é %s, "
            "o ponto de %s ficou de fora.",
            from, first));
}

static lastro_status read_window(reader *rd) {
    lastro_status st;
    rd->window = rd->q->window;
    rd->exact = rd->window.from != SGS_NO_DAY && rd->window.to != SGS_NO_DAY;
    if (!rd->r->known) {
        st = probe(rd);
        if (st != LASTRO_OK && st != LASTRO_ENOTFOUND)
            return st;
        if (st == LASTRO_ENOTFOUND && rd->unreachable)
            return st; /* pages or silence to the end: another 90 s of waiting would tell no more */
    }
    if (rd->pace == SGS_PACE_DAILY)
        st = read_daily(rd);
    else {
        st = fetch_windows(rd, &rd->window, 1);
        if (st != LASTRO_OK && rd->too_long) {
            rd->pace = SGS_PACE_DAILY;
            st = read_daily(rd);
        }
    }
    if (st == LASTRO_OK) {
        clip(rd);
        note_cut_period(rd);
    }
    return st;
}

/* ------------------------------------------------------------------ the newest rows */

static void keep_last(sgs_rows *rows, uint32_t count) {
    if (rows->count > count) {
        rows->at += rows->count - count;
        rows->count = count;
    }
}

static lastro_status read_few(reader *rd) {
    lastro_response *answer = lastro->alloc(rd->call, sizeof *answer);
    if (!answer)
        return no_memory(rd);
    rd->exact = rd->whole = true;
    rd->r->windows = 1;
    rd->parts = (sgs_parts){NULL, answer, 1};
    lastro_status st = fetch_latest(rd, rd->q->last, answer, &rd->r->rows);
    if (st == LASTRO_OK && rd->r->rows.count > rd->q->last) {
        keep_last(&rd->r->rows, rd->q->last);
        rd->exact = false; /* the address asked brings more than these */
    }
    return st;
}

static lastro_status fetch_span(reader *rd, sgs_window span) {
    sgs_window slices[SGS_SLICES_MAX];
    rd->window = span;
    if (rd->pace != SGS_PACE_DAILY)
        return fetch_windows(rd, &rd->window, 1);
    return fetch_windows(rd, slices, sgs_slices_plan(rd->window, slices));
}

/* The first span brought too few: a daily series may have ended long ago, any other is read whole. */
static lastro_status widen(reader *rd, sgs_day span) {
    if (rd->pace != SGS_PACE_DAILY) {
        rd->window = (sgs_window){SGS_NO_DAY, SGS_NO_DAY};
        rd->whole = true;
        return fetch_windows(rd, &rd->window, 1);
    }
    if (!rd->probed) {
        lastro_status st = probe(rd);
        rd->pace = SGS_PACE_DAILY;
        if (st != LASTRO_OK)
            return st;
    }
    rd->whole = rd->probe_rows.count < SGS_LATEST_MAX;
    if (!rd->probe_rows.count)
        return LASTRO_OK;
    sgs_day newest = rd->probe_rows.at[rd->probe_rows.count - 1].day;
    const sgs_known *known = rd->r->known;
    rd->whole = rd->whole || (known && known->start != SGS_NO_DAY && known->start >= newest - 2 * span);
    return fetch_span(rd, (sgs_window){newest - 2 * span, newest});
}

static lastro_status read_many(reader *rd) {
    uint32_t count = rd->q->last;
    lastro_status st = rd->r->known ? LASTRO_OK : probe(rd);
    if (st != LASTRO_OK)
        return st;
    if (rd->probed && rd->probe_rows.count < SGS_LATEST_MAX) { /* the whole series */
        rd->r->windows = 1;
        rd->r->rows = rd->probe_rows;
        rd->exact = rd->whole = true;
        return LASTRO_OK;
    }
    sgs_day span = sgs_pace_span(rd->pace, count);
    sgs_window w = {rd->r->today - span, rd->r->today};
    if (rd->probed) {
        sgs_day seen = rd->probe_rows.at[rd->probe_rows.count - 1].day;
        w.to = seen > w.to ? seen : w.to;
    } else if (rd->pace == SGS_PACE_DAILY)
        w.to += FUTURE_DAYS;
    st = fetch_span(rd, w);
    if (st == LASTRO_ENOTFOUND || (st == LASTRO_OK && rd->r->rows.count < count))
        st = widen(rd, span);
    if (st == LASTRO_OK)
        keep_last(&rd->r->rows, count);
    return st;
}

/* ------------------------------------------------------------------ the whole */

static void tell_fewer(reader *rd) {
    sgs_result *r = rd->r;
    char from[SGS_DATE_SIZE];
    if (rd->whole) {
        sgs_note(r, lastro_format(rd->call, "Pedidos %u pontos; a fonte só tem %zu nesta série.", rd->q->last,
                                  r->rows.count));
        return;
    }
    sgs_date_write(rd->window.from, from);
    r->incomplete =
        lastro_format(rd->call,
                      "INCOMPLETO: pedidos %u pontos; desde %s a fonte tem %zu, e o que houver antes "
                      "não foi lido. Para ir mais longe, use bcb_serie_valores com dataInicial.",
                      rd->q->last, from, r->rows.count);
}

static void finish(reader *rd) {
    sgs_result *r = rd->r;
    r->measured = sgs_rows_pace(&r->rows);
    if (r->measured == SGS_PACE_UNKNOWN)
        r->measured = rd->probed ? sgs_rows_pace(&rd->probe_rows) : rd->pace;
    if (rd->q->last && r->rows.count < rd->q->last)
        tell_fewer(rd);
    sgs_block_source(rd->call, rd->q, r, &rd->parts, rd->exact);
}

static bool reaches_now(const sgs_query *q, const sgs_result *r) {
    return q->last || q->window.to == SGS_NO_DAY || q->window.to >= r->today;
}

static lastro_status read_source(reader *rd) {
    lastro_status st;
    if (!rd->q->last)
        st = read_window(rd);
    else
        st = rd->q->last <= SGS_LATEST_MAX ? read_few(rd) : read_many(rd);
    if (st == LASTRO_OK)
        finish(rd);
    return st;
}

static const char *because(const sgs_plugin *plugin, lastro_call *call, const reader *rd) {
    if (!sgs_snapshot_exists(rd->q->code))
        return NULL;
    if (lastro->offline(call))
        return "Servidor sem rede (--offline)";
    if (!rd->unreachable || !plugin->snapshot_when_unreachable)
        return NULL;
    return rd->answered ? "O SGS respondeu sem entregar dado" : "O SGS não pôde ser lido";
}

lastro_status sgs_read(sgs_plugin *plugin, lastro_call *call, const sgs_query *q, sgs_result *ret,
                       lastro_error *err) {
    *ret = (sgs_result){.code = q->code, .known = sgs_catalog_find(&plugin->catalog, q->code)};
    ret->today = ret->as_of = sgs_brasilia_day(lastro->now(call));
    reader rd = {.plugin = plugin,
                 .call = call,
                 .q = q,
                 .r = ret,
                 .err = err,
                 .pace = ret->known ? ret->known->pace : SGS_PACE_UNKNOWN};
    const char *why = because(plugin, call, &rd);
    lastro_status st = why ? LASTRO_EOFFLINE : read_source(&rd);
    if (st != LASTRO_OK && !why)
        why = because(plugin, call, &rd);
    if (st != LASTRO_OK && why) {
        ret->applied_reason = NULL;
        ret->note_count = 0;
        st = sgs_snapshot_read(call, q, why, ret, err);
        if (st == LASTRO_OK && !q->last)
            note_cut_period(&rd);
    }
    if (st == LASTRO_OK) {
        sgs_notes_on_rows(call, ret, reaches_now(q, ret));
        sgs_notes_on_nature(call, ret);
    }
    return st;
}
