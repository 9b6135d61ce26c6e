/* SPDX-License-Identifier: MIT */
#include "day.h"
#include "variacao.h"

#include <inttypes.h>

void variacao_notice(variacao_job *j, const char *fmt, ...) {
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

static void add_list(variacao_job *j, const lastro_value *list) {
    lastro_iter it;
    for (lastro->iterate(list, &it); lastro->next(&it);) {
        lastro_text text = lastro->text(it.value);
        bool seen = !text.len;
        for (size_t i = 0; i < j->notice_count; i++)
            seen |= lastro_text_is(text, j->notices[i]);
        if (!seen)
            variacao_notice(j, "%.*s", (int)text.len, text.at);
    }
}

void variacao_pass_notices(variacao_job *j) {
    add_list(j, lastro_get(j->s.answer, "avisos"));
    add_list(j, lastro_get(j->s.about, "avisos"));
}

/* An unknown series: a level by assumption, said aloud, and louder when it looks like rates. */
void variacao_warn_unknown(variacao_job *j, unsigned looks) {
    static const struct {
        unsigned bit;
        const char *text;
    } signs[] = {
        {LOOKS_NAMED, "o nome ou a unidade fala em taxa ou variação"},
        {LOOKS_SIGNED, "os valores são pequenos e trocam de sinal"},
        {LOOKS_SWINGING, "os valores são pequenos e oscilam muito de um ponto ao outro"},
        {LOOKS_DAILY, "os valores são diários e menores que 1, como os de uma taxa"},
    };
    char why[400] = "";
    for (size_t i = 0, len = 0; i < LASTRO_COUNT(signs); i++)
        if (looks & signs[i].bit)
            len += (size_t)snprintf(why + len, sizeof why - len, "%s%s", len ? "; " : "", signs[i].text);
    if (looks)
        variacao_notice(
            j,
            "ATENÇÃO: a série %" PRId64 " está fora do catálogo e parece ser de taxas, não de nível: %s. "
            "A variação de nível de uma taxa não é a inflação nem o rendimento do período; não a apresente "
            "assim. Confira a natureza da série na fonte; se cada valor for a taxa do próprio período, sem "
            "sobreposição, vale analise.alternativa.",
            j->code, why);
    else
        variacao_notice(
            j,
            "A série %" PRId64 " está fora do catálogo e a natureza dela não é conhecida: o cálculo SUPÕE "
            "que é um nível e compara o último valor com o primeiro. Se cada valor for a taxa do seu "
            "período, o resultado não vale.",
            j->code);
}

void variacao_warn_level(variacao_job *j) {
    const exact *from = &j->s.values[0].value;
    if (series_is(j->s.about, "encadeamento", "nao_se_acumula") && series_in_percent(j->s.about))
        variacao_notice(
            j,
            "A série é uma taxa ou razão em %%: o que ela mudou é diferencaAbsoluta, em pontos percentuais. "
            "variacaoPercentual é quanto o próprio percentual mudou em termos relativos, não inflação nem "
            "rendimento do período.%s",
            series_guidance(j->call, j->s.about));
    if (series_is(j->s.about, "encadeamento", "soma"))
        variacao_notice(j, "A série é um fluxo: a variação compara só o período da primeira data com o da "
                           "última (a época do ano "
                           "pesa); para o total de um intervalo, some os valores.");
    if (from->digits < 0)
        variacao_notice(
            j,
            "O valor inicial é negativo e o divisor é o módulo dele: variação positiva significa que o valor "
            "subiu.");
}

void variacao_warn_chain(variacao_job *j) {
    char day[16];
    size_t missing = j->rule == CHAIN_EVERY && series_is(j->s.about, "periodicidade", "Mensal")
                         ? months_missing(j->s.values, j->s.count)
                         : 0;
    if (missing)
        variacao_notice(j,
                        "Falta%s %zu %s entre a primeira e a última observação: o acumulado não %s inclui.",
                        missing == 1 ? "" : "m", missing, variacao_plural(missing, "mês", "meses"),
                        variacao_plural(missing, "o", "os"));
    if (j->s.empty)
        variacao_notice(j, "O acumulado deixa de fora %zu %s que a fonte publica sem valor.", j->s.empty,
                        variacao_plural(j->s.empty, "observação", "observações"));
    if (j->rows.gaps)
        variacao_notice(j,
                        "Em %zu %s não há linha que comece onde a anterior termina; foi usada a primeira "
                        "depois, e os dias entre "
                        "elas ficam sem rendimento.",
                        j->rows.gaps, variacao_plural(j->rows.gaps, "ponto", "pontos"));
    if (j->rows.broken) {
        day_print(j->rows.end, day);
        variacao_notice(j,
                        "Não há linha que comece em %s, onde termina a última encadeada: o acumulado vai só "
                        "até essa data.",
                        day);
    }
    if (j->rows.ends_inferred)
        variacao_notice(j, "A fonte não trouxe dataFim em todas as linhas: o fim do período foi tomado como "
                           "o mesmo dia do mês "
                           "seguinte (29, 30 e 31 passam ao dia 1º quando o mês não os tem).");
}
