/* SPDX-License-Identifier: MIT */
/* variacao.c -- bcb_variacao: how much a series changed between two dates, by the method its nature asks for. */
#include "day.h"
#include "series.h"
#include "stats.h"

#include <inttypes.h>
#include <math.h>

enum { PLACES = 4, PLACES_FORMATTED = 2, MAX_NOTICES = 24, PERIODS_MAX = 1000000, SERVICE_LAST_MAX = 1000 };
static const char doing[] = "cálculo da variação";

typedef struct change {
    bool known;              /* false: there is no such figure; why says the reason */
    const char *why;
    char percent[72], formatted[72];
} change;

/* One call's work. */
typedef struct job {
    lastro_call *call;
    int64_t code;
    series s;
    bool chained;
    chain_rule rule;
    chain rows;
    change result;
    bool assumed;            /* the series is unknown: its being a level is our assumption */
    change alternative;      /* an unknown series that looks like rates: chained */
    const char *notices[MAX_NOTICES];
    size_t notice_count;
} job;

__attribute__((format(printf, 2, 3))) static void notice(job *j, const char *fmt, ...) {
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    lastro_trim_utf8(text, strlen(text));
    const char *kept = j->notice_count < MAX_NOTICES ? lastro_format(j->call, "%s", text) : NULL;
    if (kept)
        j->notices[j->notice_count++] = kept;
}

static const char *plural(size_t n, const char *one, const char *many) {
    return n == 1 ? one : many;
}

/* ---- what the service knows of the series ---- */

static const char *about(const job *j, const lastro_value *serie, const char *name, const char *fallback) {
    lastro_text text = lastro_get_text(serie, name, NULL);
    const char *copy = text.at ? lastro_copy(j->call, text) : NULL;
    return copy ? copy : fallback;
}

static bool is(const lastro_value *serie, const char *name, const char *what) {
    return lastro_text_is(lastro_get_text(serie, name, NULL), what);
}

/* text has the number code, not as a part of a longer one. */
static bool names_code(const char *text, const char *code) {
    size_t len = strlen(code);
    for (const char *at = text; (at = strstr(at, code)) != NULL; at++)
        if ((at == text || !strchr("0123456789", at[-1])) && !(at[len] >= '0' && at[len] <= '9'))
            return true;
    return false;
}

/* " Leia … Séries indicadas: 11, 4390." (those the text does not name) or "" */
static const char *guidance(const job *j, const lastro_value *serie) {
    const lastro_value *guia = lastro_get(serie, "guia");
    const char *text = about(j, guia, "texto", NULL);
    char codes[128] = "", code[24];
    size_t len = 0;
    lastro_iter it;
    for (lastro->iterate(lastro_get(guia, "use"), &it); lastro->next(&it);) {
        lastro_text digits = lastro->text(it.value);
        snprintf(code, sizeof code, "%.*s", (int)digits.len, digits.at);
        if (len < sizeof codes - sizeof code && !(text && names_code(text, code)))
            len += (size_t)snprintf(codes + len, sizeof codes - len, "%s%s", len ? ", " : "", code);
    }
    if (!text && !len)
        return "";
    const char *full = lastro_format(j->call, "%s%s%s%s%s", text ? " " : "", text ? text : "",
                                     len ? " Séries indicadas: " : "", codes, len ? "." : "");
    return full ? full : "";
}

/* Natures of which no change can be computed, and what they hold already. */
static const struct {
    const char *nature, *holds;
} accumulated[] = {
    {"acumulado_no_ano", "o acumulado desde janeiro de cada ano"},
    {"acumulado_12_meses", "o acumulado em 12 meses"},
};

/* Before the network: a series that is already an accumulation is refused. */
static lastro_status refuse_accumulated(const job *j, const lastro_value *serie, lastro_error *err) {
    for (size_t i = 0; i < LASTRO_COUNT(accumulated); i++)
        if (is(serie, "natureza", accumulated[i].nature))
            return lastro_fail(err, LASTRO_EARGS,
                               "%s da série %" PRId64 " (%s): cada ponto dela já é %s, e pontos vizinhos cobrem em "
                               "parte os mesmos meses; a variação entre dois deles não mede um período, e nada foi "
                               "consultado. Os valores publicados: bcb_serie_valores, bcb_serie_ultimos.%s",
                               doing, j->code, about(j, serie, "nome", "sem nome"), accumulated[i].holds,
                               guidance(j, serie));
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

static void choose_method(job *j) {
    for (size_t i = 0; i < LASTRO_COUNT(chainings); i++)
        if (is(j->s.about, "encadeamento", chainings[i].chaining)) {
            j->chained = true;
            j->rule = chainings[i].rule;
        }
    j->assumed = !j->chained && (is(j->s.about, "natureza", "desconhecida") || !lastro_has(j->s.about, "natureza"));
}

static bool in_percent(const job *j) {
    static const char *const units[] = {"Percentual", "Variação percentual", "Pontos percentuais", "%"};
    lastro_text unit = lastro_get_text(j->s.about, "unidade", "");
    for (size_t i = 0; i < LASTRO_COUNT(units); i++)
        if (unit.len >= strlen(units[i]) && memcmp(unit.at, units[i], strlen(units[i])) == 0)
            return true;
    return false;
}

/* ---- arithmetic ---- */

static change change_of(bool ok, const exact_figure *full, const exact_figure *short_, const char *why) {
    change c = {.known = ok, .why = ok ? NULL : why};
    if (ok) {
        exact_print(full, c.percent, sizeof c.percent);
        exact_print_percent(short_, c.formatted, sizeof c.formatted);
    }
    return c;
}

static change level_change(const series *s) {
    exact from = s->values[0].value, to = s->values[s->count - 1].value;
    exact_figure full, two;
    if (!from.digits)
        return (change){.why = "O valor inicial é zero: não há variação percentual a partir de zero. Use "
                               "diferencaAbsoluta."};
    bool ok = exact_change_percent(from, to, PLACES, &full) && exact_change_percent(from, to, PLACES_FORMATTED, &two);
    return change_of(ok, &full, &two, "A variação tem mais algarismos do que cabem na resposta.");
}

static lastro_status chain_change(job *j, change *ret, lastro_error *err) {
    size_t count = j->s.count;
    j->rows.rows = lastro->alloc(j->call, count * sizeof *j->rows.rows);
    exact *rates = lastro->alloc(j->call, count * sizeof *rates);
    if (!j->rows.rows || !rates)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: %zu observações não cabem na memória da chamada", doing, count);
    chain_select(j->rule, j->s.values, count, &j->rows);
    for (size_t i = 0; i < j->rows.count; i++)
        rates[i] = j->s.values[j->rows.rows[i]].value;
    exact_figure full, two;
    bool ok = exact_chain_percent(rates, j->rows.count, PLACES, &full) &&
              exact_chain_percent(rates, j->rows.count, PLACES_FORMATTED, &two);
    *ret = change_of(ok, &full, &two, "O acumulado tem mais algarismos do que cabem na resposta.");
    return LASTRO_OK;
}

/* ---- notices ---- */

static void add_service_notices(job *j, const lastro_value *list) {
    lastro_iter it;
    for (lastro->iterate(list, &it); lastro->next(&it);) {
        lastro_text text = lastro->text(it.value);
        bool seen = !text.len;
        for (size_t i = 0; i < j->notice_count; i++)
            seen |= lastro_text_is(text, j->notices[i]);
        if (!seen)
            notice(j, "%.*s", (int)text.len, text.at);
    }
}

/* An unknown series: a level by assumption, said aloud, and louder when it looks like rates. */
static lastro_status warn_unknown(job *j, lastro_error *err) {
    static const struct {
        unsigned bit;
        const char *text;
    } signs[] = {
        {LOOKS_NAMED, "o nome ou a unidade fala em taxa ou variação"},
        {LOOKS_SIGNED, "os valores são pequenos e trocam de sinal"},
        {LOOKS_SWINGING, "os valores são pequenos e oscilam muito de um ponto ao outro"},
        {LOOKS_DAILY, "os valores são diários e menores que 1, como os de uma taxa"},
    };
    lastro_text name = lastro_get_text(j->s.about, "nome", ""), unit = lastro_get_text(j->s.about, "unidade", "");
    unsigned looks = looks_like_rate(name.at, name.len, j->s.values, j->s.count) |
                     looks_like_rate(unit.at, unit.len, j->s.values, j->s.count);
    if (!looks) {
        notice(j, "A série %" PRId64 " está fora do catálogo e a natureza dela não é conhecida: o cálculo SUPÕE que é um "
                  "nível e compara o último valor com o primeiro. Se cada valor for a taxa do seu período, o resultado "
                  "não vale.",
               j->code);
        return LASTRO_OK;
    }
    char why[400] = "";
    for (size_t i = 0, len = 0; i < LASTRO_COUNT(signs); i++)
        if (looks & signs[i].bit)
            len += (size_t)snprintf(why + len, sizeof why - len, "%s%s", len ? "; " : "", signs[i].text);
    j->rule = CHAIN_EVERY;
    lastro_status s = chain_change(j, &j->alternative, err);
    if (s != LASTRO_OK)
        return s;
    notice(j, "ATENÇÃO: a série %" PRId64 " está fora do catálogo e parece ser de taxas, não de nível: %s. A variação de "
              "nível de uma taxa não é a inflação nem o rendimento do período; não a apresente assim. Confira a "
              "natureza da série na fonte; se cada valor for a taxa do próprio período, sem sobreposição, vale "
              "analise.alternativa.",
           j->code, why);
    return LASTRO_OK;
}

static void warn_level(job *j) {
    const exact *from = &j->s.values[0].value;
    if (is(j->s.about, "encadeamento", "nao_se_acumula") && in_percent(j))
        notice(j, "A série é uma taxa ou razão em %%: o que ela mudou é diferencaAbsoluta, em pontos percentuais. "
                  "variacaoPercentual é quanto o próprio percentual mudou em termos relativos, não inflação nem "
                  "rendimento do período.%s",
               guidance(j, j->s.about));
    if (is(j->s.about, "encadeamento", "soma"))
        notice(j, "A série é um fluxo: a variação compara só o período da primeira data com o da última (a época do ano "
                  "pesa); para o total de um intervalo, some os valores.");
    if (from->digits < 0)
        notice(j, "O valor inicial é negativo e o divisor é o módulo dele: variação positiva significa que o valor "
                  "subiu.");
}

static void warn_chain(job *j) {
    char day[16];
    size_t missing = j->rule == CHAIN_EVERY && is(j->s.about, "periodicidade", "Mensal")
                         ? months_missing(j->s.values, j->s.count)
                         : 0;
    if (missing)
        notice(j, "Falta%s %zu %s entre a primeira e a última observação: o acumulado não %s inclui.",
               missing == 1 ? "" : "m", missing, plural(missing, "mês", "meses"), plural(missing, "o", "os"));
    if (j->s.empty)
        notice(j, "O acumulado deixa de fora %zu %s que a fonte publica sem valor.", j->s.empty,
               plural(j->s.empty, "observação", "observações"));
    if (j->rows.gaps)
        notice(j, "Em %zu %s não há linha que comece onde a anterior termina; foi usada a primeira depois, e os dias entre "
                  "elas ficam sem rendimento.",
               j->rows.gaps, plural(j->rows.gaps, "ponto", "pontos"));
    if (j->rows.broken) {
        day_print(j->rows.end, day);
        notice(j, "Não há linha que comece em %s, onde termina a última encadeada: o acumulado vai só até essa data.", day);
    }
    if (j->rows.ends_inferred)
        notice(j, "A fonte não trouxe dataFim em todas as linhas: o fim do período foi tomado como o mesmo dia do mês "
                  "seguinte (29, 30 e 31 passam ao dia 1º quando o mês não os tem).");
}

/* ---- how it was computed ---- */

static const char rounding[] =
    "Conta exata sobre os decimais publicados, arredondada uma só vez (até 4 casas; a formatada, 2; meio para longe do "
    "zero). Máximo, mínimo e pontas: como publicados.";

static const char *chain_note(const job *j) {
    const char *every = lastro_format(j->call, "Acumulado composto de %zu taxas: (Π(1 + taxa/100) − 1) × 100, sem "
                                               "arredondamento no meio.", j->rows.count);
    char from[16], to[16];
    if (j->rule == CHAIN_EVERY)
        return lastro_format(j->call,
                             "%s Entram as taxas da primeira e da última data, como publicadas e já arredondadas: o "
                             "acumulado oficial do produtor pode diferir em 0,01 ou 0,02 ponto%s. %s",
                             every,
                             is(j->s.about, "periodicidade", "Diária")
                                 ? "; a Calculadora do Cidadão do BCB deixa a data final de fora"
                                 : "",
                             rounding);
    day_print(j->s.values[j->rows.rows[0]].day, from);
    day_print(j->rows.end, to);
    return lastro_format(j->call,
                         "%s Cada linha da série é a taxa de um mês que começa na sua data: das %zu observações foi "
                         "encadeada uma por mês, cada uma a partir do fim da anterior, de %s a %s%s. %s",
                         every, j->s.count, from, to,
                         j->rule == CHAIN_MONTHLY ? " (o resultado depende do dia de aniversário: em 2024 ia de 6,95 % a "
                                                    "7,14 %; o do dia 1º é o da série mensal 7828)"
                                                  : "",
                         rounding);
}

static const char *method_note(const job *j) {
    const char *note = j->chained ? chain_note(j)
                                  : lastro_format(j->call,
                                                  "Variação de nível: (último − primeiro) ÷ |primeiro| × 100, entre a "
                                                  "primeira e a última observação com valor. %s",
                                                  rounding);
    return note ? note : rounding;
}

/* ---- the answer ---- */

static void put_about(const job *j, lastro_writer *out) {
    static const char *const copied[] = {"periodicidadeInferida", "encadeamento"};
    lastro_put_object(out, "serie");
    lastro_put_int(out, "codigo", j->code);
    lastro_put_text(out, "nome", about(j, j->s.about, "nome", "sem nome"));
    lastro_put_text(out, "categoria", about(j, j->s.about, "categoria", "Desconhecida"));
    lastro_put_string(out, "unidade", lastro_get_text(j->s.about, "unidade", NULL));
    if (is(j->s.about, "natureza", "desconhecida"))
        lastro_put_null(out, "natureza"); /* as the tools of plugin sgs have it */
    else
        lastro_put_string(out, "natureza", lastro_get_text(j->s.about, "natureza", NULL));
    lastro_put_text(out, "periodicidade", about(j, j->s.about, "periodicidade", "Desconhecida"));
    for (size_t i = 0; i < LASTRO_COUNT(copied); i++) {
        const lastro_value *v = lastro_get(j->s.about, copied[i]);
        if (v && !lastro_is(v, LASTRO_NULL))
            lastro_put_value(out, copied[i], v);
    }
    lastro->end_object(out);
}

static void put_window(const job *j, lastro_writer *out) {
    lastro_put_object(out, "periodo");
    lastro_put_string(out, "dataInicial", series_date(&j->s, &j->s.values[0]));
    lastro_put_string(out, "dataFinal", series_date(&j->s, &j->s.values[j->s.count - 1]));
    lastro_put_int(out, "totalPeriodos", (int64_t)j->s.count);
    lastro_put_int(out, "observacoesSemValor", (int64_t)j->s.empty);
    lastro->end_object(out);
}

static void put_digits(lastro_writer *out, const char *name, const char *digits) {
    lastro_put_decimal(out, name, (lastro_text){digits, digits ? strlen(digits) : 0});
}

static void put_figure(lastro_writer *out, const char *name, bool known, const exact_figure *figure) {
    char text[72] = "";
    if (known)
        exact_print(figure, text, sizeof text);
    put_digits(out, name, known ? text : NULL);
}

static void put_change(lastro_writer *out, const change *c) {
    put_digits(out, "variacaoPercentual", c->known ? c->percent : NULL);
    lastro_put_text(out, "variacaoFormatada", c->known ? c->formatted : NULL);
    if (c->why)
        lastro_put_text(out, "motivo", c->why);
}

static void put_chained(const job *j, lastro_writer *out) {
    char day[16];
    lastro_put_int(out, "observacoesEncadeadas", (int64_t)j->rows.count);
    if (j->rule == CHAIN_EVERY)
        return;
    lastro_put_object(out, "cobertura");
    lastro_put_string(out, "inicio", series_date(&j->s, &j->s.values[j->rows.rows[0]]));
    day_print(j->rows.end, day);
    lastro_put_text(out, "fim", day);
    lastro->end_object(out);
}

static void put_level(const job *j, lastro_writer *out) {
    if (j->assumed)
        lastro_put_bool(out, "metodoSuposto", true);
    if (!j->alternative.known)
        return;
    lastro_put_object(out, "alternativa");
    lastro_put_text(out, "metodo", "encadeamento");
    put_change(out, &j->alternative);
    lastro_put_text(out, "condicao", "Só se cada valor for a taxa percentual do próprio período.");
    lastro->end_object(out);
}

static void put_analysis(const job *j, lastro_writer *out) {
    const observation *first = &j->s.values[0], *last = &j->s.values[j->s.count - 1];
    exact_figure difference;
    bool known = !j->chained && exact_difference(first->value, last->value, PLACES, &difference);
    lastro_put_object(out, "analise");
    lastro_put_text(out, "metodo", j->chained ? "encadeamento" : "nivel");
    lastro_put_decimal(out, "valorInicial", series_digits(&j->s, first));
    lastro_put_decimal(out, "valorFinal", series_digits(&j->s, last));
    put_figure(out, "diferencaAbsoluta", known, &difference);
    if (known)
        lastro_put_text(out, "unidadeDaDiferenca",
                        in_percent(j) ? "pontos percentuais" : about(j, j->s.about, "unidade", NULL));
    put_change(out, &j->result);
    if (j->chained)
        put_chained(j, out);
    else
        put_level(j, out);
    lastro->end_object(out);
}

static void put_statistics(const job *j, const exact *values, lastro_writer *out) {
    extremes e = observations_extremes(j->s.values, j->s.count);
    const observation *highest = &j->s.values[e.highest], *lowest = &j->s.values[e.lowest];
    exact_figure mean, range;
    bool has_mean = exact_mean(values, j->s.count, PLACES, &mean);
    bool has_range = exact_difference(lowest->value, highest->value, PLACES, &range);
    lastro_put_object(out, "estatisticas");
    lastro_put_decimal(out, "maximo", series_digits(&j->s, highest));
    lastro_put_string(out, "dataMaximo", series_date(&j->s, highest));
    lastro_put_decimal(out, "minimo", series_digits(&j->s, lowest));
    lastro_put_string(out, "dataMinimo", series_date(&j->s, lowest));
    put_figure(out, "media", has_mean, &mean);
    put_figure(out, "amplitude", has_range, &range);
    lastro->end_object(out);
}

static void put_derivation(const job *j, lastro_writer *out) {
    const char *note = method_note(j);
    lastro_put_object(out, "derivacao");
    lastro_put_bool(out, "derived", true);
    lastro_put_text(out, "motor", STATS_ENGINE);
    lastro_put_text(out, "nota", note);
    lastro->end_object(out);
    lastro->derived(j->call, STATS_ENGINE,
                    j->chained ? "variação por encadeamento, média e amplitude; a conta está em derivacao.nota"
                               : "variação de nível, média e amplitude; a conta está em derivacao.nota");
}

/* Whether the series came whole stands in the first members; an answer on a part of it says so. */
static void put_completeness(const job *j, lastro_writer *out) {
    bool whole = lastro_get_bool(j->s.answer, "completo", true);
    lastro_put_bool(out, "completo", whole);
    if (!whole)
        lastro_put_text(out, "aviso",
                        about(j, j->s.answer, "aviso",
                              "INCOMPLETO: parte da janela não pôde ser lida da fonte; o resultado vale só para as "
                              "observações obtidas."));
}

static lastro_status write_answer(job *j, lastro_writer *out, lastro_error *err) {
    static const char *const passed[] = {"chunking", "janelaAplicada"};
    exact *values = lastro->alloc(j->call, j->s.count * sizeof *values);
    if (!values)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: %zu observações não cabem na memória da chamada", doing, j->s.count);
    for (size_t i = 0; i < j->s.count; i++)
        values[i] = j->s.values[i].value;
    lastro->begin_object(out);
    put_completeness(j, out);
    put_about(j, out);
    put_window(j, out);
    put_analysis(j, out);
    put_statistics(j, values, out);
    put_derivation(j, out);
    for (size_t i = 0; i < LASTRO_COUNT(passed); i++)
        if (lastro_has(j->s.answer, passed[i]))
            lastro_put_value(out, passed[i], lastro_get(j->s.answer, passed[i]));
    if (j->notice_count) {
        lastro_put_array(out, "avisos");
        for (size_t i = 0; i < j->notice_count; i++)
            lastro_add_text(out, j->notices[i]);
        lastro->end_array(out);
    }
    lastro->end_object(out);
    return LASTRO_OK;
}

/* ---- the question ---- */

/* `periodos` above 1 wins over dates; 1 or less means dates. Either way the answer says what was set aside. */
static series_window read_window(job *j, const lastro_value *args) {
    series_window w = {.code = j->code, .from = about(j, args, "dataInicial", NULL), .to = about(j, args, "dataFinal", NULL)};
    if (!lastro_has(args, "periodos"))
        return w;
    lastro_text written = lastro->text(lastro_get(args, "periodos"));
    double asked = lastro->number(lastro_get(args, "periodos"));
    if (!(asked > 1)) {
        notice(j, "periodos=%.*s foi ignorado: a variação precisa de 2 períodos ou mais. %s", (int)written.len, written.at,
               w.from || w.to ? "Valeram as datas." : "Valeu a janela padrão, sem datas.");
        return w;
    }
    double whole = fmin(fmax(floor(asked), 2), PERIODS_MAX);
    if (whole < asked || whole > asked)
        notice(j, "periodos=%.*s foi lido como %.0f.", (int)written.len, written.at, whole);
    if (w.from || w.to)
        notice(j, "periodos=%.0f tem precedência: dataInicial e dataFinal foram ignoradas. Para usar as datas, chame sem "
                  "periodos.",
               whole);
    return (series_window){.code = j->code, .last = (int64_t)whole};
}

/* The service gives 1000 of the newest observations; more come out of a window: of a daily series one wide enough (SGS
 * gives no more than 10 years to an open one), of any other all there is. */
static lastro_status read_series(job *j, const lastro_value *description, const series_window *w, lastro_error *err) {
    if (w->last <= SERVICE_LAST_MAX)
        return series_read(j->call, w, doing, &j->s, err);
    char from[16];
    series_window wide = {.code = w->code};
    if (is(description, "periodicidade", "Diária")) {
        int64_t days = w->last * 12 / 5; /* a business day is 1.45 days; holidays and a reserve */
        int64_t first = lastro->now(j->call) / 86400000 - days, oldest = -43829; /* 01/01/1850: before any series */
        day_print((int32_t)(first > oldest ? first : oldest), from);
        wide.from = from;
    }
    lastro_status s = series_read(j->call, &wide, doing, &j->s, err);
    if (s != LASTRO_OK)
        return s;
    if (!series_keep_last(&j->s, (size_t)w->last))
        notice(j, "Foram pedidas as últimas %" PRId64 " observações; a janela consultada trouxe %zu, e o cálculo vale para "
                  "elas. Para ir mais longe, use dataInicial e dataFinal.",
               w->last, j->s.count + j->s.empty);
    return LASTRO_OK;
}

static lastro_status too_few(const job *j, lastro_error *err) {
    return lastro_fail(err, LASTRO_ENOTFOUND,
                       "%s da série %" PRId64 " (%s): a janela traz %zu %s com valor%s, e a variação precisa de pelo menos 2. "
                       "Amplie dataInicial e dataFinal, ou peça as últimas observações com periodos (por exemplo, 12).",
                       doing, j->code, about(j, j->s.about, "nome", "sem nome"), j->s.count,
                       plural(j->s.count, "observação", "observações"), j->s.empty ? " (há outras sem valor)" : "");
}

static lastro_status compute(job *j, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    choose_method(j);
    if (j->chained) {
        s = chain_change(j, &j->result, err);
        warn_chain(j);
        return s;
    }
    j->result = level_change(&j->s);
    if (j->assumed)
        s = warn_unknown(j, err);
    warn_level(j);
    return s;
}

lastro_status bcb_variacao_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                               lastro_error *err) {
    (void)self;
    job *j = lastro->alloc(call, sizeof *j);
    const lastro_value *description;
    if (!j)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: memória da chamada esgotada", doing);
    j->call = call;
    j->code = lastro_get_int(args, "codigo", 0);
    lastro_status s = series_describe(call, j->code, doing, &description, err);
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
    add_service_notices(j, lastro_get(j->s.answer, "avisos"));
    add_service_notices(j, lastro_get(j->s.about, "avisos"));
    s = compute(j, err);
    return s == LASTRO_OK ? write_answer(j, out, err) : s;
}
