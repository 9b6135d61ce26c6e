/* SPDX-License-Identifier: MIT */
#include "messages.h"

#include "classify.h"
#include "snapshot.h"
#include <inttypes.h>
#include <lastro/lastro.h>

enum { PREFIX_SIZE = 192, NAME_SIZE = 120, SPAN_SIZE = 64 };

/* "Valores da série 433 (IPCA - Variação mensal): " */
static void write_prefix(char ret[PREFIX_SIZE], const sgs_query *q, const sgs_known *known) {
    char name[NAME_SIZE] = "";
    ret[0] = '\0';
    if (!q->what) /* the service: its caller says for what the series was read */
        return;
    if (known && snprintf(name, sizeof name, " (%.*s)", (int)known->name.len, known->name.at) >= NAME_SIZE)
        name[0] = '\0';
    snprintf(ret, PREFIX_SIZE, "%s da série %" PRId64 "%s: ", q->what, q->code, name);
}

/* " entre 01/01/2015 e 31/12/2017", or "" */
static void write_span(char ret[SPAN_SIZE], sgs_window w) {
    char from[SGS_DATE_SIZE], to[SGS_DATE_SIZE];
    ret[0] = '\0';
    if (w.from != SGS_NO_DAY)
        sgs_date_write(w.from, from);
    if (w.to != SGS_NO_DAY)
        sgs_date_write(w.to, to);
    if (w.from != SGS_NO_DAY && w.to != SGS_NO_DAY)
        snprintf(ret, SPAN_SIZE, " entre %s e %s", from, to);
    else if (w.from != SGS_NO_DAY)
        snprintf(ret, SPAN_SIZE, " a partir de %s", from);
    else if (w.to != SGS_NO_DAY)
        snprintf(ret, SPAN_SIZE, " até %s", to);
}

typedef struct {
    const sgs_failure *f;
    char prefix[PREFIX_SIZE], span[SPAN_SIZE];
    unsigned attempts, status;
} telling;

static lastro_status tell_not_found(const telling *t, lastro_error *err) {
    const sgs_known *known = t->f->known;
    char start[SGS_DATE_SIZE] = "";
    if (!known)
        return lastro_fail(
            err, LASTRO_ENOTFOUND,
            "%so SGS respondeu que não há valor%s. Ou o código não existe, ou a série não tem dado nesse "
            "período. Confira o código (bcb_series_populares ou o site do SGS) e o alcance com "
            "bcb_serie_ultimos.",
            t->prefix, t->span);
    if (known->start != SGS_NO_DAY)
        sgs_date_write(known->start, start);
    return lastro_fail(
        err, LASTRO_ENOTFOUND,
        "%sa série existe, mas o SGS respondeu que não há valor%s.%s%s%s Veja o último ponto com "
        "bcb_serie_ultimos e peça um período que o contenha.",
        t->prefix, t->span, *start ? " Ela começa em " : "", start, *start ? "." : "");
}

static lastro_status tell_refused(const telling *t, lastro_error *err) {
    if (sgs_body_of(t->f->answer->body) == SGS_BODY_TOO_LONG)
        return lastro_fail(
            err, LASTRO_EUPSTREAM,
            "%so SGS recusou o período%s por passar de 10 anos numa série diária. Informe dataInicial e "
            "dataFinal com no máximo 10 anos entre elas.",
            t->prefix, t->span);
    return lastro_fail(
        err, LASTRO_EUPSTREAM,
        "%so SGS recusou o pedido%s (HTTP %u). Repetir não adianta; confira o código e as datas.", t->prefix,
        t->span, t->status);
}

/* A page, or silence, from a request that a real series answers in under half a second. */
static lastro_status tell_suspect_small(const telling *t, lastro_error *err) {
    if (t->f->known)
        return lastro_fail(
            err, LASTRO_EUPSTREAM,
            "%so SGS não entregou dado em %u tentativas de até 6 s. O código está certo (consta do "
            "catálogo), então a causa provável é instabilidade da origem; tente de novo em alguns minutos.",
            t->prefix, t->attempts);
    return lastro_fail(
        err, LASTRO_ENOTFOUND,
        "%so SGS não entregou dado em %u tentativas de até 6 s. Há duas causas possíveis: (1) o código não "
        "existe (nesse caso o SGS segura a resposta por uns 30 s e manda uma página em vez de dados); (2) a "
        "origem está instável agora (uma série real responde em menos de 0,5 s). Confira o código "
        "(bcb_series_populares ou o site do SGS); se estiver certo, tente de novo em alguns minutos.%s",
        t->prefix, t->attempts,
        t->f->recalled ? " (Visto há menos de 1 minuto; desta vez a origem não foi consultada de novo.)"
                       : "");
}

static lastro_status tell_page(const telling *t, lastro_error *err) {
    if (t->f->small)
        return tell_suspect_small(t, err);
    sgs_body shape = sgs_body_of(t->f->answer->body);
    const char *what = shape == SGS_BODY_PAGE    ? "uma página"
                       : shape == SGS_BODY_EMPTY ? "um corpo vazio"
                       : shape == SGS_BODY_FAULT ? "um erro do servidor dele"
                                                 : "um corpo incompleto ou ilegível";
    return lastro_fail(
        err, t->f->known ? LASTRO_EUPSTREAM : LASTRO_ENOTFOUND,
        "%sem %u tentativas o SGS mandou %s no lugar dos dados%s. Há duas causas possíveis: (1) o "
        "código não existe%s; (2) a consulta demorou e a origem a cortou perto de 30 s, ou está instável. "
        "Confira o código, peça um período menor ou tente de novo em alguns minutos.",
        t->prefix, t->attempts, what, t->span, t->f->known ? " (improvável: consta do catálogo)" : "");
}

static lastro_status tell_timeout(const telling *t, lastro_error *err) {
    if (t->f->small)
        return tell_suspect_small(t, err);
    return lastro_fail(
        err, LASTRO_EUPSTREAM,
        "%ssem resposta do SGS%s em %u tentativas de até 30 s. Peça um período menor ou tente de novo em "
        "alguns minutos.",
        t->prefix, t->span, t->attempts);
}

static lastro_status tell_server(const telling *t, lastro_error *err) {
    return lastro_fail(
        err, LASTRO_EUPSTREAM,
        "%so SGS está com defeito (HTTP %u na última de %u tentativas). Nada indica erro no pedido; tente "
        "de novo em alguns minutos.",
        t->prefix, t->status, t->attempts);
}

static lastro_status tell_offline(const telling *t, lastro_error *err) {
    char codes[160];
    sgs_snapshot_list(codes, sizeof codes);
    return lastro_fail(
        err, LASTRO_EOFFLINE,
        "%so servidor está sem rede (--offline) e não há resposta guardada nem instantâneo desta "
        "série. Há instantâneo de: %s.",
        t->prefix, codes);
}

static lastro_status tell_simple(const telling *t, lastro_error *err) {
    static const struct {
        lastro_status status;
        const char *text;
    } by_outcome[] = {
        [LASTRO_FETCH_NETWORK] = {LASTRO_EUPSTREAM,
                                  "a rede falhou ao ler api.bcb.gov.br: sem conexão, resposta cortada no "
                                  "meio ou desvio não permitido (o log diz qual). Confira a rede; se ela "
                                  "está boa, a origem pode estar fora. Tente de novo em alguns minutos."},
        [LASTRO_FETCH_LIMITED] = {LASTRO_EUPSTREAM,
                                  "o SGS limitou a taxa de pedidos (HTTP 429) e a espera pedida não coube "
                                  "no orçamento da chamada. Espere um minuto e repita."},
        [LASTRO_FETCH_CANCELLED] = {LASTRO_ECANCELLED, "a chamada foi cancelada."},
        [LASTRO_FETCH_TOO_LARGE] = {LASTRO_EUPSTREAM,
                                    "a resposta do SGS passou do tamanho aceito. Peça um período menor."},
        [LASTRO_FETCH_DEADLINE] = {LASTRO_EDEADLINE,
                                   "o tempo da chamada acabou antes de a origem responder. Peça um período "
                                   "menor ou tente de novo."},
        [LASTRO_FETCH_UNSUPPORTED] = {LASTRO_EINTERNAL,
                                      "este servidor não consegue fazer pedidos HTTP agora (módulo de "
                                      "transporte ausente ou pedido malformado)."},
    };
    int32_t outcome = t->f->answer->outcome;
    bool known = outcome >= 0 && (size_t)outcome < LASTRO_COUNT(by_outcome) && by_outcome[outcome].text;
    if (!known)
        return lastro_fail(err, LASTRO_EUPSTREAM, "%so SGS não entregou dado utilizável.", t->prefix);
    return lastro_fail(err, by_outcome[outcome].status, "%s%s", t->prefix, by_outcome[outcome].text);
}

lastro_status sgs_explain(const sgs_failure *f, lastro_error *err) {
    static lastro_status (*const tell[])(const telling *, lastro_error *) = {
        [LASTRO_FETCH_NOT_FOUND] = tell_not_found, [LASTRO_FETCH_REFUSED] = tell_refused,
        [LASTRO_FETCH_TIMEOUT] = tell_timeout,     [LASTRO_FETCH_SERVER] = tell_server,
        [LASTRO_FETCH_MALFORMED] = tell_page,      [LASTRO_FETCH_OFFLINE] = tell_offline,
    };
    telling t = {.f = f, .attempts = f->answer->attempts, .status = f->answer->http_status};
    write_prefix(t.prefix, f->query, f->known);
    write_span(t.span, f->window);
    int32_t outcome = f->answer->outcome;
    if (outcome >= 0 && (size_t)outcome < LASTRO_COUNT(tell) && tell[outcome])
        return tell[outcome](&t, err);
    return tell_simple(&t, err);
}

lastro_status sgs_explain_inner(const sgs_query *q, const sgs_known *known, lastro_error *err) {
    char prefix[PREFIX_SIZE];
    lastro_error inner = *err;
    write_prefix(prefix, q, known);
    return lastro_fail(err, (lastro_status)inner.status, "%s%s", prefix, inner.text);
}

lastro_status sgs_bad_date(const char *member, lastro_text given, sgs_date_fault fault, lastro_error *err) {
    static const char *const why[] = {
        [SGS_DATE_FORM] = "não está em nenhum dos dois formatos aceitos",
        [SGS_DATE_YEAR] = "tem ano fora de 1800 a 2200",
        [SGS_DATE_MONTH] = "tem mês que não existe",
        [SGS_DATE_DAY] = "não existe no calendário: esse mês não tem esse dia",
    };
    int shown = given.len > 40 ? 40 : (int)given.len;
    return lastro_fail(
        err, LASTRO_EARGS,
        "%s \"%.*s\" %s. Use aaaa-mm-dd (2024-02-29) ou dd/mm/aaaa (29/02/2024). Nada foi consultado.",
        member, shown, given.at, why[fault]);
}

bool sgs_unreachable(const lastro_response *answer) {
    switch (answer->outcome) {
    case LASTRO_FETCH_TIMEOUT:
    case LASTRO_FETCH_NETWORK:
    case LASTRO_FETCH_LIMITED:
    case LASTRO_FETCH_SERVER:
    case LASTRO_FETCH_MALFORMED:
    case LASTRO_FETCH_OFFLINE:
    case LASTRO_FETCH_DEADLINE:
    case LASTRO_FETCH_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}
