/* SPDX-License-Identifier: MIT */
/* bcb_serie_metadados: SGS has no metadata endpoint, so this is what ultimos/20 shows plus what the catalogue
 * knows. */
#include "arguments.h"
#include "client.h"
#include "output.h"
#include "provenance.h"
#include "tools.h"
#include "url.h"
#include <inttypes.h>
#include <lastro/lastro.h>

enum { DAILY_YEARS = 3 }; /* of urlConsulta: an open address of a daily series answers 406 */

static const char *window_address(lastro_call *call, const sgs_result *r) {
    sgs_pace pace = r->known && r->known->pace ? r->known->pace : r->measured;
    sgs_day last = r->rows.count ? r->rows.at[r->rows.count - 1].day : r->today;
    sgs_window w = {SGS_NO_DAY, SGS_NO_DAY};
    if (pace == SGS_PACE_DAILY)
        w = (sgs_window){sgs_add_years(last, -DAILY_YEARS), last};
    return sgs_window_url(call, r->code, w);
}

static void put_last(lastro_writer *out, const sgs_result *r) {
    sgs_day partial = sgs_result_partial(r);
    if (!r->rows.count)
        return;
    const sgs_row *row = &r->rows.at[r->rows.count - 1];
    lastro_put_object(out, "ultimoValor");
    sgs_put_date(out, "data", row->day);
    if (row->end != SGS_NO_DAY)
        sgs_put_date(out, "dataFim", row->end);
    lastro_put_decimal(out, "valor", row->value);
    if (row->day == partial)
        lastro_put_bool(out, "parcial", true);
    lastro->end_object(out);
}

static void put_known(lastro_writer *out, const sgs_known *k) {
    static const lastro_text none = {NULL, 0};
    lastro_put_string(out, "unidade", k ? k->unit : none);
    lastro_put_string(out, "natureza", k ? k->nature : none);
    lastro_put_string(out, "encadeamento", k ? k->chaining : none);
    sgs_put_date(out, "inicio", k ? k->start : SGS_NO_DAY);
    if (!k)
        return;
    if (k->guide.at)
        lastro_put_string(out, "guia", k->guide);
    if (k->note.at)
        lastro_put_string(out, "nota", k->note);
    lastro_put_text(out, "fonteNome", k->from_portal ? "portal" : "medido");
    if (k->contested)
        lastro_put_bool(out, "contestada", true);
}

static const char *remark(const sgs_result *r) {
    if (r->snapshot)
        return "O último valor vem de um instantâneo embutido, e não de uma leitura de agora; veja avisos.";
    if (!r->rows.count)
        return "Nome, unidade, natureza e início vêm do catálogo deste servidor; da fonte não veio valor.";
    if (!r->known)
        return "Série fora do catálogo deste servidor: nome, unidade e natureza não são conhecidos aqui, e a "
               "periodicidade, "
               "se consta, foi medida nas últimas datas. O SGS não publica metadados por API; veja o site do "
               "SGS.";
    return "O SGS não publica metadados por API: nome, unidade, natureza e início vêm do catálogo deste "
           "servidor; o último "
           "valor, da fonte.";
}

static void put_all(lastro_call *call, lastro_writer *out, const sgs_result *r) {
    char target[SGS_URL_SIZE];
    bool inferred;
    const char *pace = sgs_result_pace(r, &inferred);
    lastro->begin_object(out);
    sgs_put_complete(out, r);
    lastro_put_int(out, "codigo", r->code);
    sgs_put_name(call, out, r);
    lastro_put_string(out, "categoria",
                      r->known ? r->known->category : (lastro_text){"Não categorizada", 17});
    lastro_put_text(out, "periodicidade", pace ? pace : "Não informada");
    if (inferred)
        lastro_put_bool(out, "periodicidadeInferida", true);
    put_known(out, r->known);
    lastro_put_text(out, "fonte", "Banco Central do Brasil");
    put_last(out, r);
    lastro_put_text(out, "urlConsulta", window_address(call, r));
    sgs_url_latest(target, r->code, 10);
    lastro_put_text(out, "urlUltimos10", lastro_format(call, SGS_BASE "%s", target));
    sgs_put_notes(out, r);
    lastro_put_text(out, "observacao", remark(r));
    lastro->end_object(out);
}

SGS_HANDLER(sgs_tool_metadata) {
    sgs_plugin *plugin = self;
    sgs_result r;
    sgs_query q = {.what = "Metadados", .last = SGS_LATEST_MAX};
    lastro_status st = sgs_read_arguments(args, &q, err);
    if (st != LASTRO_OK)
        return st;
    if (sgs_catalog_find(&plugin->catalog, q.code))
        q.what = NULL; /* a failure becomes part of the answer, which names the series already */
    st = sgs_read(plugin, call, &q, &r, err);
    if (st == LASTRO_ECANCELLED || st == LASTRO_ENOMEM || (st != LASTRO_OK && !r.known))
        return st;
    if (st == LASTRO_OK && !r.known && !r.rows.count)
        return lastro_fail(
            err, LASTRO_ENOTFOUND,
            "Metadados da série %" PRId64 ": a fonte respondeu sem nenhuma observação e o código não está no "
            "catálogo. Confira o código no site do SGS; bcb_series_populares lista as séries mais usadas.",
            r.code);
    if (st != LASTRO_OK) { /* the catalogue still answers for the rest */
        r.rows.count = 0;
        r.incomplete = lastro_format(call, "INCOMPLETO: o último valor não pôde ser lido. %s", err->text);
    }
    if (r.known)
        sgs_block_catalog(call, &plugin->catalog, lastro_format(call, "série %" PRId64, r.code));
    put_all(call, out, &r);
    return LASTRO_OK;
}
