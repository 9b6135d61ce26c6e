/* SPDX-License-Identifier: MIT */
/* sgs.c -- the plugin for the time series of the Banco Central do Brasil (SGS): what it registers. */
#include "sgs.h"

#include "classify.h"
#include "embedded.h"
#include "tools.h"
#include "url.h"
#include <lastro/lastro.h>
#include <stdlib.h>

/* A real series answers ultimos/N in 75 to 410 ms, a code that does not exist after 30 s (measured 2026-08-11
 * and 2026-09-24): two attempts of 6 s tell them apart, and four if the answers come fast. */
static const lastro_request_class small_class = {
    .size = sizeof small_class,
    .name = SGS_CLASS_SMALL,
    .attempt_ms = SGS_SMALL_MS,
    .attempts = 4,
    .budget_ms = 13500,
    .wait_ms = 1000,
    .wait_max_ms = 8000,
};
/* SGS itself gives up at about 30 s. */
static const lastro_request_class window_class = {
    .size = sizeof window_class,
    .name = SGS_CLASS_WINDOW,
    .attempt_ms = SGS_WINDOW_MS,
    .attempts = 3,
    .budget_ms = 93000,
    .wait_ms = 1000,
    .wait_max_ms = 8000,
};
static const lastro_request_class *const classes[] = {&small_class, &window_class, NULL};

/* Ten at once: two daily series of ten years in about 9 s instead of 11 (measured 2026-08-11). */
static const lastro_source sgs_source = {
    .size = sizeof sgs_source,
    .name = SGS_SOURCE,
    .title = "Banco Central do Brasil – SGS, Sistema Gerenciador de Séries Temporais",
    .base_url = SGS_BASE,
    .license = "ODbL-1.0",
    .license_url = "https://opendatacommons.org/licenses/odbl/1-0/",
    .citation = "Banco Central do Brasil, Sistema Gerenciador de Séries Temporais (SGS), {detail}. Extraído "
                "em {date}. "
                "Licença {license}.",
    .utc_offset_min = -180,
    .parallel = 10,
    .classes = classes,
    .classify = sgs_classify,
};
static const lastro_source catalog_source = {
    .size = sizeof catalog_source,
    .name = SGS_CATALOG_SOURCE,
    .title = "Lastro – catálogo curado de séries do BCB",
    .license = "ODbL-1.0",
    .license_url = "https://opendatacommons.org/licenses/odbl/1-0/",
    .citation = "Catálogo curado de séries do Lastro, a partir de dados públicos do Banco Central do Brasil: "
                "{detail}, de "
                "{date}. Licença {license}.",
    .utc_offset_min = -180,
    .local = true,
};

/* Longest honest case: a probe (13.5 s) and then a window (93 s). */
enum { WINDOW_DEADLINE_MS = 120000, LATEST_DEADLINE_MS = 30000 };

static const lastro_tool values_tool = {sizeof values_tool, LASTRO_TOOL_PROVENANCE,
                                        contract_bcb_serie_valores, WINDOW_DEADLINE_MS, sgs_tool_values};
static const lastro_tool latest_tool = {sizeof latest_tool, LASTRO_TOOL_PROVENANCE,
                                        contract_bcb_serie_ultimos, WINDOW_DEADLINE_MS, sgs_tool_latest};
static const lastro_tool metadata_tool = {sizeof metadata_tool, LASTRO_TOOL_PROVENANCE_LIST,
                                          contract_bcb_serie_metadados, LATEST_DEADLINE_MS,
                                          sgs_tool_metadata};
static const lastro_tool popular_tool = {sizeof popular_tool, LASTRO_TOOL_PROVENANCE,
                                         contract_bcb_series_populares, 0, sgs_tool_popular};
static const lastro_tool *const tools[] = {&values_tool, &latest_tool, &metadata_tool, &popular_tool};

static const struct {
    const char *tool, *text;
} instructions[] = {
    {"bcb_serie_valores",
     "Séries do SGS: bcb_serie_valores dá todos os valores de um período (as diárias longas são fatiadas e "
     "unidas aqui), "
     "bcb_serie_ultimos os mais recentes, em ordem crescente de data. A data de um ponto mensal, trimestral "
     "ou anual é o "
     "primeiro dia do período. Cite a fonte e a data de extração que vêm em provenance."},
    {"bcb_series_populares",
     "Sem saber o código: bcb_series_populares lista um catálogo curado por tema, sem rede; "
     "bcb_serie_metadados diz unidade, "
     "natureza e início de uma série. Série fora do catálogo também pode ser consultada pelo código."},
};

static lastro_status register_all(const lastro_host *host, lastro_registrar *r, lastro_error *err) {
    lastro_status st = host->add_source(r, &sgs_source, err);
    if (st == LASTRO_OK)
        st = host->add_source(r, &catalog_source, err);
    for (size_t i = 0; st == LASTRO_OK && i < LASTRO_COUNT(tools); i++)
        st = host->add_tool(r, tools[i], err);
    if (st == LASTRO_OK)
        st = host->add_service(r, &sgs_series_service, err);
    for (size_t i = 0; st == LASTRO_OK && i < LASTRO_COUNT(instructions); i++)
        st = host->add_instructions(r, instructions[i].tool, instructions[i].text, err);
    return st;
}

static void sgs_shutdown(void *self) {
    sgs_plugin *p = self;
    sgs_doubts_end(&p->doubts);
    sgs_catalog_free(&p->catalog);
    free(p);
}

static lastro_status sgs_init(const lastro_host *host, lastro_registrar *r, void **ret_self,
                              lastro_error *err) {
    lastro = host;
    sgs_plugin *p = calloc(1, sizeof *p);
    if (!p)
        return lastro_fail(err, LASTRO_ENOMEM, "no memory");
    sgs_doubts_start(&p->doubts);
    p->snapshot_when_unreachable =
        lastro_get_bool(lastro_get(host->config(r), "snapshot"), "whenUnreachable", false);
    lastro_status st =
        sgs_catalog_load(r, embedded_catalog_series, embedded_catalog_series_size, &p->catalog, err);
    if (st == LASTRO_OK)
        st = register_all(host, r, err);
    if (st != LASTRO_OK) {
        sgs_shutdown(p);
        return st;
    }
    *ret_self = p;
    return LASTRO_OK;
}

static const lastro_plugin plugin = {
    LASTRO_PLUGIN_HEAD, .name = "sgs",
    .version = "0.1.0", .description = "Time series of the Banco Central do Brasil (SGS)",
    .init = sgs_init,   .shutdown = sgs_shutdown,
};
LASTRO_PLUGIN(plugin)
