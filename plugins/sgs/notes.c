/* SPDX-License-Identifier: MIT */
#include "notes.h"

#include <lastro/lastro.h>

enum { ZERO_RUN = 12 };

void sgs_note(sgs_result *r, const char *text) {
    if (text && r->note_count < SGS_NOTES_MAX)
        r->notes[r->note_count++] = text;
}

const char *sgs_result_pace(const sgs_result *r, bool *ret_inferred) {
    *ret_inferred = false;
    if (r->known && r->known->pace != SGS_PACE_UNKNOWN)
        return sgs_pace_label(r->known->pace);
    *ret_inferred = r->measured != SGS_PACE_UNKNOWN;
    return sgs_pace_label(r->measured);
}

/* Accumulated within the month: the running month's row grows until the last business day
 * (finance-conventions 8; seen in the recorded 4390: 0.48 in mid June 2026, 1.12 at its end). */
sgs_day sgs_result_partial(const sgs_result *r) {
    static const int64_t codes[] = {4390, 4391, 4189, 4392};
    int year, month, day;
    sgs_day_split(r->as_of, &year, &month, &day);
    sgs_day first = sgs_day_of(year, month, 1);
    for (size_t i = 0; i < LASTRO_COUNT(codes) && !r->settled; i++)
        if (codes[i] == r->code && r->rows.count && r->rows.at[r->rows.count - 1].day == first)
            return first;
    return SGS_NO_DAY;
}

static void note_values(lastro_call *call, sgs_result *r) {
    size_t missing = sgs_rows_without_value(&r->rows);
    if (missing)
        sgs_note(
            r,
            lastro_format(
                call,
                "%zu de %zu datas vieram da fonte sem valor: estão na lista com valor null e ficam fora de "
                "qualquer conta.",
                missing, r->rows.count));
}

static void note_future(lastro_call *call, sgs_result *r) {
    char first[SGS_DATE_SIZE], last[SGS_DATE_SIZE];
    size_t n = 0;
    while (n < r->rows.count && r->rows.at[r->rows.count - 1 - n].day > r->today)
        n++;
    if (!n)
        return;
    sgs_date_write(r->rows.at[r->rows.count - n].day, first);
    sgs_date_write(r->rows.at[r->rows.count - 1].day, last);
    const char *why =
        r->code == 432
            ? "A meta Selic já decidida vale até a próxima reunião do Copom, e o SGS publica esses "
              "dias de antemão; não é projeção."
            : "A própria fonte os publica de antemão.";
    sgs_note(r, n == 1 ? lastro_format(call, "O último ponto tem data futura (%s). %s", last, why)
                       : lastro_format(call, "Os últimos %zu pontos têm data futura (%s a %s). %s", n, first,
                                       last, why));
}

static void note_partial(lastro_call *call, sgs_result *r) {
    char text[SGS_DATE_SIZE];
    sgs_day partial = sgs_result_partial(r);
    if (partial == SGS_NO_DAY)
        return;
    sgs_date_write(partial, text);
    sgs_note(r,
             lastro_format(
                 call,
                 "O ponto de %s é parcial: o mês ainda corria quando o dado foi lido, e o valor cresce até o "
                 "último dia útil. Não o compare com meses inteiros.",
                 text));
}

static void note_age(lastro_call *call, sgs_result *r) {
    char text[SGS_DATE_SIZE];
    if (!r->rows.count || r->snapshot) /* there the snapshot is old, and says so */
        return;
    sgs_pace pace = r->known && r->known->pace != SGS_PACE_UNKNOWN ? r->known->pace : r->measured;
    sgs_day last = r->rows.at[r->rows.count - 1].day, age = r->today - last;
    if (age <= sgs_pace_stale_days(pace))
        return;
    sgs_date_write(last, text);
    sgs_note(
        r,
        lastro_format(
            call,
            "O último ponto é de %s, há %d dias: velho para o ritmo da série. Ela pode ter sido encerrada; "
            "não o apresente como valor de hoje.",
            text, age));
}

static bool is_zero(lastro_text value) {
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] >= '1' && value.at[i] <= '9')
            return false;
    return value.len > 0;
}

/* A series whose production ended may go on as zeros (10845 to 10850, field case F046); TR was truly zero for
 * years. */
static void note_zeros(lastro_call *call, sgs_result *r) {
    size_t n = 0;
    while (n < r->rows.count && is_zero(r->rows.at[r->rows.count - 1 - n].value))
        n++;
    if (n >= ZERO_RUN)
        sgs_note(
            r,
            lastro_format(
                call,
                "Os últimos %zu pontos são todos zero. Pode ser o valor verdadeiro ou uma série que deixou "
                "de ser apurada: confira antes de usar.",
                n));
}

void sgs_notes_on_rows(lastro_call *call, sgs_result *r, bool about_now) {
    note_values(call, r);
    note_future(call, r);
    note_partial(call, r);
    if (about_now) {
        note_age(call, r);
        note_zeros(call, r);
    }
}

void sgs_notes_on_nature(lastro_call *call, sgs_result *r) {
    if (sgs_known_is(r->known, "acumulado") && r->known->guide.at)
        sgs_note(r, lastro_format(call, "%.*s", (int)r->known->guide.len, r->known->guide.at));
}
