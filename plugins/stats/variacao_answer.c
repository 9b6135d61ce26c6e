/* SPDX-License-Identifier: MIT */
#include "day.h"
#include "stats.h"
#include "variacao.h"

/* ---- how it was computed ---- */

static const char rounding[] = "Conta exata sobre os decimais publicados, arredondada uma só vez (até 4 "
                               "casas; a formatada, 2; meio para longe do "
                               "zero). Máximo, mínimo e pontas: como publicados.";

static const char *periods_note(const variacao_job *j) {
    char from[16], to[16];
    day_print(j->s.values[j->rows.rows[0]].day, from);
    day_print(j->rows.end, to);
    return lastro_format(
        j->call,
        "Cada linha da série é a taxa de um mês que começa na sua data: das %zu observações foi "
        "encadeada uma por mês, cada uma a partir do fim da anterior, de %s a %s%s.",
        j->s.count, from, to,
        j->rule == CHAIN_MONTHLY ? " (o resultado depende do dia de aniversário: em 2024 ia de "
                                   "6,95 % a 7,14 %; o do dia 1º é o da série mensal 7828)"
                                 : "");
}

static const char *chain_note(const variacao_job *j) {
    const char *rows = "As taxas das duas pontas entram.";
    if (j->rule != CHAIN_EVERY)
        rows = periods_note(j);
    else if (series_is(j->s.about, "periodicidade", "Diária"))
        rows = "As taxas das duas pontas entram; a Calculadora do Cidadão do BCB deixa a data final de fora.";
    else if (series_is(j->s.about, "periodicidade", "Mensal"))
        rows = "As taxas das duas pontas entram, como publicadas e já arredondadas: o acumulado oficial do "
               "produtor pode diferir em 0,01 ou 0,02 ponto.";
    return lastro_format(
        j->call,
        "Acumulado composto de %zu taxas: (Π(1 + taxa/100) − 1) × 100, sem arredondamento no "
        "meio. %s %s",
        j->rows.count, rows ? rows : "", rounding);
}

static const char *method_note(const variacao_job *j) {
    const char *note =
        j->chained ? chain_note(j)
                   : lastro_format(j->call,
                                   "Variação de nível: (último − primeiro) ÷ |primeiro| × 100, entre a "
                                   "primeira e a última observação com valor. %s",
                                   rounding);
    return note ? note : rounding;
}

/* ---- the answer ---- */

static void put_about(const variacao_job *j, lastro_writer *out) {
    static const char *const copied[] = {"periodicidadeInferida", "encadeamento"};
    lastro_put_object(out, "serie");
    lastro_put_int(out, "codigo", j->code);
    lastro_put_text(out, "nome", series_text(j->call, j->s.about, "nome", "sem nome"));
    lastro_put_text(out, "categoria", series_text(j->call, j->s.about, "categoria", "Desconhecida"));
    lastro_put_string(out, "unidade", lastro_get_text(j->s.about, "unidade", NULL));
    if (series_is(j->s.about, "natureza", "desconhecida"))
        lastro_put_null(out, "natureza"); /* as the tools of plugin sgs have it */
    else
        lastro_put_string(out, "natureza", lastro_get_text(j->s.about, "natureza", NULL));
    lastro_put_text(out, "periodicidade", series_text(j->call, j->s.about, "periodicidade", "Desconhecida"));
    for (size_t i = 0; i < LASTRO_COUNT(copied); i++) {
        const lastro_value *v = lastro_get(j->s.about, copied[i]);
        if (v && !lastro_is(v, LASTRO_NULL))
            lastro_put_value(out, copied[i], v);
    }
    lastro->end_object(out);
}

static void put_window(const variacao_job *j, lastro_writer *out) {
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

static void put_change(lastro_writer *out, const variacao_change *c) {
    put_digits(out, "variacaoPercentual", c->known ? c->percent : NULL);
    lastro_put_text(out, "variacaoFormatada", c->known ? c->formatted : NULL);
    if (c->why)
        lastro_put_text(out, "motivo", c->why);
}

static void put_chained(const variacao_job *j, lastro_writer *out) {
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

static void put_level(const variacao_job *j, lastro_writer *out) {
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

static void put_analysis(const variacao_job *j, lastro_writer *out) {
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
                        series_in_percent(j->s.about) ? "pontos percentuais"
                                                      : series_text(j->call, j->s.about, "unidade", NULL));
    put_change(out, &j->result);
    if (j->chained)
        put_chained(j, out);
    else
        put_level(j, out);
    lastro->end_object(out);
}

static void put_statistics(const variacao_job *j, const exact *values, lastro_writer *out) {
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

static void put_derivation(const variacao_job *j, lastro_writer *out) {
    const char *note = method_note(j);
    lastro_put_object(out, "derivacao");
    lastro_put_bool(out, "derived", true);
    lastro_put_text(out, "motor", STATS_ENGINE);
    lastro_put_text(out, "nota", note);
    lastro->end_object(out);
    lastro->derived(j->call, STATS_ENGINE,
                    j->chained
                        ? "variação por encadeamento, média e amplitude; a conta está em derivacao.nota"
                        : "variação de nível, média e amplitude; a conta está em derivacao.nota");
}

/* Whether the series came whole stands in the first members; an answer on a part of it says so. */
static void put_completeness(const variacao_job *j, lastro_writer *out) {
    bool whole = lastro_get_bool(j->s.answer, "completo", true);
    lastro_put_bool(out, "completo", whole);
    if (!whole)
        lastro_put_text(
            out, "aviso",
            series_text(j->call, j->s.answer, "aviso",
                        "INCOMPLETO: parte da janela não pôde ser lida da fonte; o resultado vale só para as "
                        "observações obtidas."));
}

lastro_status variacao_write(const variacao_job *j, lastro_writer *out, lastro_error *err) {
    static const char *const passed[] = {"chunking", "janelaAplicada"};
    size_t pass = j->own_window ? 1 : LASTRO_COUNT(passed);
    exact *values = lastro->alloc(j->call, j->s.count * sizeof *values);
    if (!values)
        return lastro_fail(err, LASTRO_ENOMEM, "%s: %zu observações não cabem na memória da chamada",
                           variacao_doing, j->s.count);
    for (size_t i = 0; i < j->s.count; i++)
        values[i] = j->s.values[i].value;
    lastro->begin_object(out);
    put_completeness(j, out);
    put_about(j, out);
    put_window(j, out);
    put_analysis(j, out);
    put_statistics(j, values, out);
    put_derivation(j, out);
    for (size_t i = 0; i < pass; i++)
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
