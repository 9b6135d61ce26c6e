/* SPDX-License-Identifier: MIT */
/* service.c -- "series" version 1: series for other plugins. What it reads, it also records on the call. */
#include "arguments.h"
#include "client.h"
#include "output.h"
#include "tools.h"
#include <inttypes.h>
#include <lastro/lastro.h>

#define DESCRIPTION_PROPERTIES                                                                               \
    "\"codigo\":{\"type\":\"integer\"},\"nome\":{\"type\":\"string\"},\"conhecida\":{\"type\":\"boolean\"}," \
    "\"categoria\":{\"type\":\"string\"},\"periodicidade\":{\"type\":\"string\"},\"unidade\":{\"type\":"     \
    "\"string\"},"                                                                                           \
    "\"natureza\":{\"type\":\"string\"},\"encadeamento\":{\"type\":\"string\"},\"inicio\":{\"type\":"        \
    "\"string\"},"                                                                                           \
    "\"guia\":{\"type\":\"object\",\"properties\":{\"texto\":{\"type\":\"string\"},\"use\":{\"type\":"       \
    "\"array\","                                                                                             \
    "\"items\":{\"type\":\"integer\"}}},\"required\":[\"texto\",\"use\"],\"additionalProperties\":false},"   \
    "\"avisos\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

static const char code_only[] = "{\"type\":\"object\",\"properties\":{\"codigo\":{\"type\":\"integer\","
                                "\"minimum\":1}},\"required\":[\"codigo\"],"
                                "\"additionalProperties\":false}";
static const char description[] =
    "{\"type\":\"object\",\"properties\":{" DESCRIPTION_PROPERTIES "},"
    "\"required\":[\"codigo\",\"nome\",\"conhecida\",\"natureza\"],\"additionalProperties\":false}";
static const char observations_in[] =
    "{\"type\":\"object\",\"properties\":{\"codigo\":{\"type\":\"integer\",\"minimum\":1},"
    "\"dataInicial\":{\"type\":\"string\"},\"dataFinal\":{\"type\":\"string\"},"
    "\"ultimos\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},\"campo\":{\"type\":\"string\","
    "\"minLength\":1}},"
    "\"required\":[\"codigo\"],\"additionalProperties\":false}";
static const char observations_out[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"serie\":{\"type\":\"object\",\"properties\":{" DESCRIPTION_PROPERTIES
    ",\"periodicidadeInferida\":{\"type\":\"boolean\"},\"periodicidadeMedida\":{\"type\":\"string\"}},"
    "\"required\":[\"codigo\",\"nome\",\"conhecida\",\"natureza\"],\"additionalProperties\":false},"
    "\"observacoes\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"data\":{\"type\":"
    "\"string\"},"
    "\"dataFim\":{\"type\":\"string\"},\"valor\":{\"type\":[\"number\",\"null\"]},\"parcial\":{\"type\":"
    "\"boolean\"}},"
    "\"required\":[\"data\",\"valor\"],\"additionalProperties\":false}},"
    "\"chunking\":{\"type\":\"object\",\"properties\":{\"janelas\":{\"type\":\"integer\"},\"fatiaAnos\":{"
    "\"type\":"
    "\"integer\"}},\"required\":[\"janelas\",\"fatiaAnos\"],\"additionalProperties\":false},"
    "\"janelaAplicada\":{\"type\":\"object\",\"properties\":{\"dataInicial\":{\"type\":\"string\"},"
    "\"dataFinal\":{"
    "\"type\":\"string\"},\"motivo\":{\"type\":\"string\"}},\"required\":[\"dataInicial\",\"dataFinal\","
    "\"motivo\"],"
    "\"additionalProperties\":false},"
    "\"avisos\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"origem\":{\"enum\":[\"sgs\",\"snapshot\"]},\"completo\":{\"type\":\"boolean\"},\"aviso\":{\"type\":"
    "\"string\"}},"
    "\"required\":[\"serie\",\"observacoes\",\"origem\",\"completo\"],\"additionalProperties\":false}";

static void put_if(lastro_writer *w, const char *name, lastro_text text) {
    if (text.at)
        lastro_put_string(w, name, text);
}

/* Members of an open object. */
static void put_description(lastro_call *call, lastro_writer *w, const sgs_result *r) {
    const sgs_known *k = r->known;
    lastro_put_int(w, "codigo", r->code);
    sgs_put_name(call, w, r);
    lastro_put_bool(w, "conhecida", k != NULL);
    lastro_put_string(w, "natureza", k && k->nature.at ? k->nature : (lastro_text){"desconhecida", 12});
    if (!k)
        return;
    put_if(w, "categoria", k->category);
    put_if(w, "unidade", k->unit);
    put_if(w, "encadeamento", k->chaining);
    if (k->start != SGS_NO_DAY)
        sgs_put_date(w, "inicio", k->start);
    if (k->guide.at || k->guide_use) {
        lastro_put_object(w, "guia");
        lastro_put_string(w, "texto", k->guide.at ? k->guide : (lastro_text){"", 0});
        lastro_put_array(w, "use");
        if (k->guide_use)
            for (size_t i = 0; i < lastro->count(k->guide_use); i++)
                lastro->write_value(w, lastro->at(k->guide_use, i));
        lastro->end_array(w);
        lastro->end_object(w);
    }
    if (k->note.at) {
        lastro_put_array(w, "avisos");
        lastro->write_text(w, k->note.at, k->note.len);
        lastro->end_array(w);
    }
}

static SGS_HANDLER(describe) {
    const sgs_plugin *plugin = self;
    sgs_query q = {0};
    lastro_status st = sgs_read_arguments(args, &q, err);
    if (st != LASTRO_OK)
        return st;
    sgs_result r = {.code = q.code, .known = sgs_catalog_find(&plugin->catalog, q.code)};
    lastro->begin_object(out);
    put_description(call, out, &r);
    if (r.known)
        put_if(out, "periodicidade", r.known->pace_label);
    lastro->end_object(out);
    return LASTRO_OK;
}

static void put_series(lastro_call *call, lastro_writer *out, const sgs_result *r) {
    bool inferred;
    const char *pace = sgs_result_pace(r, &inferred), *measured = sgs_pace_label(r->measured);
    lastro_put_object(out, "serie");
    put_description(call, out, r);
    if (pace)
        lastro_put_text(out, "periodicidade", pace);
    if (inferred)
        lastro_put_bool(out, "periodicidadeInferida", true);
    if (measured)
        lastro_put_text(out, "periodicidadeMedida", measured);
    lastro->end_object(out);
}

static SGS_HANDLER(observations) {
    sgs_result r;
    sgs_query q = {0};
    lastro_status st = sgs_read_arguments(args, &q, err);
    if (st != LASTRO_OK)
        return st;
    q.last = (uint32_t)lastro_get_int(args, "ultimos", 0);
    q.field = lastro_copy(call, lastro_get_text(args, "campo", NULL));
    st = sgs_read(self, call, &q, &r, err);
    if (st != LASTRO_OK)
        return st;
    lastro->begin_object(out);
    sgs_put_complete(out, &r);
    lastro_put_text(out, "origem", r.snapshot ? "snapshot" : "sgs");
    put_series(call, out, &r);
    sgs_put_rows(out, "observacoes", &r);
    sgs_put_chunking(out, &r);
    sgs_put_applied(out, &r);
    sgs_put_notes(out, &r);
    lastro->end_object(out);
    return LASTRO_OK;
}

/* describe: no network, nothing recorded. observations: with `ultimos` the newest rows, else the window (open
 * ends as in bcb_serie_valores); `campo` names the member of the consumer's answer that the rows feed, for
 * field sources. */
static const lastro_method describe_method = {sizeof describe_method, "describe", code_only, description,
                                              describe};
static const lastro_method observations_method = {sizeof observations_method, "observations", observations_in,
                                                  observations_out, observations};
static const lastro_method *const methods[] = {&describe_method, &observations_method, NULL};
const lastro_service sgs_series_service = {sizeof sgs_series_service, "series", 1, methods};
