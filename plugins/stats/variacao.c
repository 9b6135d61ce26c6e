/* SPDX-License-Identifier: MIT */
/* variacao.c -- bcb_variacao: how much a series changed between two dates, by the method its nature
 * asks for. */
#include "day.h"
#include "stats.h"
#include "variacao.h"

#include <inttypes.h>
#include <math.h>

enum { PERIODS_MAX = 1000000, SERVICE_LAST_MAX = 1000, DAYS_AHEAD = 120 };

/* Natures of which no change can be computed, and what they hold already. */
static const struct {
    const char *nature, *holds;
} accumulated[] = {
    {"acumulado_no_ano", "o acumulado desde janeiro de cada ano"},
    {"acumulado_12_meses", "o acumulado em 12 meses"},
};

/* Before the network: a series that is already an accumulation is refused. */
static lastro_status refuse_accumulated(const variacao_job *j, const lastro_value *serie, lastro_error *err) {
    for (size_t i = 0; i < LASTRO_COUNT(accumulated); i++)
        if (series_is(serie, "natureza", accumulated[i].nature))
            return lastro_fail(
                err, LASTRO_EARGS,
                "%s da série %" PRId64 " (%s): cada ponto dela já é %s, e pontos vizinhos cobrem em "
                "parte os mesmos meses; a variação entre dois deles não mede um período, e nada foi "
                "consultado. Os valores publicados: bcb_serie_valores, bcb_serie_ultimos.%s",
                variacao_doing, j->code, series_text(j->call, serie, "nome", "sem nome"),
                accumulated[i].holds, series_guidance(j->call, serie));
    return LASTRO_OK;
}

/* How a series of rates is chained, by what the catalogue says. */
static const struct {
    const char *chaining;
    chain_rule rule;
} chainings[] = {
    {"produto", CHAIN_EVERY},
    {"produto_mensal", CHAIN_MONTHLY},
    {"produto_periodos", CHAIN_PERIODS},
};

static void choose_method(variacao_job *j) {
    for (size_t i = 0; i < LASTRO_COUNT(chainings); i++)
        if (series_is(j->s.about, "encadeamento", chainings[i].chaining)) {
            j->chained = true;
            j->rule = chainings[i].rule;
        }
    j->assumed = !j->chained &&
                 (series_is(j->s.about, "natureza", "desconhecida") || !lastro_has(j->s.about, "natureza"));
}

/* ---- arithmetic ---- */

static variacao_change change_of(bool ok, const exact_figure *full, const exact_figure *short_,
                                 const char *why) {
    variacao_change c = {.known = ok, .why = ok ? NULL : why};
    if (ok) {
        exact_print(full, c.percent, sizeof c.percent);
        exact_print_percent(short_, c.formatted, sizeof c.formatted);
    }
    return c;
}

static variacao_change level_change(const series *s) {
    exact from = s->values[0].value, to = s->values[s->count - 1].value;
    exact_figure full, two;
    if (!from.digits)
        return (variacao_change){
            .why = "O valor inicial é zero: não há variação percentual a partir de zero. Use "
                   "diferencaAbsoluta."};
    bool ok = exact_change_percent(from, to, PLACES, &full) &&
              exact_change_percent(from, to, PLACES_FORMATTED, &two);
    return change_of(ok, &full, &two, "A variação tem mais algarismos do que cabem na resposta.");
}

static lastro_status chain_change(variacao_job *j, variacao_change *ret, lastro_error *err) {
    size_t count = j->s.count;
    j->rows.rows = lastro->alloc(j->call, count * sizeof *j->rows.rows);
    exact *rates = lastro->alloc(j->call, count * sizeof *rates);
    if (!j->rows.rows || !rates)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: %zu observações não cabem na memória da chamada",
                           variacao_doing, count);
    chain_select(j->rule, j->s.values, count, &j->rows);
    for (size_t i = 0; i < j->rows.count; i++)
        rates[i] = j->s.values[j->rows.rows[i]].value;
    exact_figure full, two;
    bool ok = exact_chain_percent(rates, j->rows.count, PLACES, &full) &&
              exact_chain_percent(rates, j->rows.count, PLACES_FORMATTED, &two);
    *ret = change_of(ok, &full, &two, "O acumulado tem mais algarismos do que cabem na resposta.");
    return LASTRO_OK;
}

/* ---- the question ---- */

/* `periodos` above 1 wins over dates; 1 or less means dates. Either way the answer says what was
 * set aside. */
static series_window read_window(variacao_job *j, const lastro_value *args) {
    series_window w = {.code = j->code,
                       .from = series_text(j->call, args, "dataInicial", NULL),
                       .to = series_text(j->call, args, "dataFinal", NULL)};
    if (!lastro_has(args, "periodos"))
        return w;
    lastro_text written = lastro->text(lastro_get(args, "periodos"));
    double asked = lastro->number(lastro_get(args, "periodos"));
    if (!(asked > 1)) {
        variacao_notice(j, "periodos=%.*s foi ignorado: a variação precisa de 2 períodos ou mais. %s",
                        (int)written.len, written.at,
                        w.from || w.to ? "Valeram as datas." : "Valeu a janela padrão, sem datas.");
        return w;
    }
    double whole = fmin(fmax(floor(asked), 2), PERIODS_MAX);
    if (whole < asked || whole > asked)
        variacao_notice(j, "periodos=%.*s foi lido como %.0f.", (int)written.len, written.at, whole);
    if (w.from || w.to)
        variacao_notice(j,
                        "periodos=%.0f tem precedência: dataInicial e dataFinal foram ignoradas. Para usar "
                        "as datas, chame sem periodos.",
                        whole);
    return (series_window){.code = j->code, .last = (int64_t)whole};
}

/* The service gives 1000 of the newest observations; more come out of a window: of a daily series one wide
 * enough (SGS gives no more than 10 years to an open one), of any other all there is. */
static lastro_status read_series(variacao_job *j, const lastro_value *description, const series_window *w,
                                 lastro_error *err) {
    if (w->last <= SERVICE_LAST_MAX)
        return series_read(j->call, w, variacao_doing, &j->s, err);
    char from[16], to[16];
    series_window wide = {.code = w->code};
    j->own_window = true;
    if (series_is(description, "periodicidade", "Diária")) {
        int64_t days = w->last * 12 / 5; /* a business day is 1.45 days; holidays and a reserve */
        int64_t today = lastro->now(j->call) / 86400000, first = today - days;
        int64_t oldest = -43829; /* 01/01/1850: before any series */
        day_print((int32_t)(first > oldest ? first : oldest), from);
        day_print((int32_t)today + DAYS_AHEAD, to); /* 432 runs ahead to the next Copom meeting */
        wide.from = from;
        wide.to = to;
    }
    lastro_status s = series_read(j->call, &wide, variacao_doing, &j->s, err);
    if (s != LASTRO_OK)
        return s;
    if (!series_keep_last(&j->s, (size_t)w->last))
        variacao_notice(j,
                        "Foram pedidas as últimas %" PRId64
                        " observações; a janela consultada trouxe %zu, e o cálculo vale para "
                        "elas. Para ir mais longe, use dataInicial e dataFinal.",
                        w->last, j->s.count + j->s.empty);
    return LASTRO_OK;
}

static lastro_status too_few(const variacao_job *j, lastro_error *err) {
    return lastro_fail(
        err, LASTRO_ENOTFOUND,
        "%s da série %" PRId64
        " (%s): a janela traz %zu %s com valor%s, e a variação precisa de pelo menos 2. "
        "Amplie dataInicial e dataFinal, ou peça as últimas observações com periodos (por exemplo, 12).",
        variacao_doing, j->code, series_text(j->call, j->s.about, "nome", "sem nome"), j->s.count,
        variacao_plural(j->s.count, "observação", "observações"), j->s.empty ? " (há outras sem valor)" : "");
}

/* An unknown series that looks like rates also gets the figure that would hold if it were. */
static lastro_status doubt(variacao_job *j, lastro_error *err) {
    lastro_text name = lastro_get_text(j->s.about, "nome", ""),
                unit = lastro_get_text(j->s.about, "unidade", "");
    unsigned looks = looks_like_rate(name.at, name.len, j->s.values, j->s.count) |
                     looks_like_rate(unit.at, unit.len, j->s.values, j->s.count);
    variacao_warn_unknown(j, looks);
    j->rule = CHAIN_EVERY;
    return looks ? chain_change(j, &j->alternative, err) : LASTRO_OK;
}

static lastro_status compute(variacao_job *j, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    choose_method(j);
    if (j->chained) {
        s = chain_change(j, &j->result, err);
        variacao_warn_chain(j);
        return s;
    }
    j->result = level_change(&j->s);
    if (j->assumed)
        s = doubt(j, err);
    variacao_warn_level(j);
    return s;
}

lastro_status stats_variacao_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                               lastro_error *err) {
    (void)self;
    variacao_job *j = lastro->alloc(call, sizeof *j);
    const lastro_value *description;
    if (!j)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: memória da chamada esgotada", variacao_doing);
    j->call = call;
    j->code = lastro_get_int(args, "codigo", 0);
    lastro_status s = series_describe(call, j->code, variacao_doing, &description, err);
    if (s == LASTRO_OK)
        s = refuse_accumulated(j, description, err);
    if (s != LASTRO_OK)
        return s;
    series_window window = read_window(j, args);
    s = read_series(j, description, &window, err);
    if (s != LASTRO_OK)
        return s;
    if (j->s.count < 2)
        return too_few(j, err);
    variacao_pass_notices(j);
    s = compute(j, err);
    return s == LASTRO_OK ? variacao_write(j, out, err) : s;
}
