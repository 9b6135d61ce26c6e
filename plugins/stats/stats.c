/* SPDX-License-Identifier: MIT */
/* stats.c -- statistics on BCB series. The series come from the service "series" (plugin sgs), which also
 * records where they were read; what is computed here is marked as derived. */
#include "stats.h"

#include "embedded.h"

static const lastro_tool bcb_variacao = {
    .size = sizeof(lastro_tool),
    .flags = LASTRO_TOOL_PROVENANCE,
    .contract = contract_bcb_variacao,
    .run = stats_variacao_run,
};

static const struct {
    const lastro_tool *tool;
    const char *name, *instructions;
} tools[] = {
    {&bcb_variacao, "bcb_variacao",
     "Quanto uma série variou entre duas datas: bcb_variacao. Ela encadeia as séries que já são taxas (IPCA, "
     "Selic do "
     "mês, poupança) e compara níveis nas demais; não some nem subtraia porcentagens por conta própria."},
};

static lastro_status stats_init(const lastro_host *host, lastro_registrar *r, void **ret_self,
                                lastro_error *err) {
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; i < LASTRO_COUNT(tools); i++) {
        lastro_status s = lastro->add_tool(r, tools[i].tool, err);
        if (s == LASTRO_OK)
            s = lastro->add_instructions(r, tools[i].name, tools[i].instructions, err);
        if (s != LASTRO_OK)
            return s;
    }
    return LASTRO_OK;
}

static const lastro_need needs[] = {{"series", 1}, {NULL, 0}};

static const lastro_plugin stats = {
    LASTRO_PLUGIN_HEAD,       .name = "stats",
    .version = STATS_VERSION, .description = "Statistics on the time series of the Banco Central do Brasil",
    .needs = needs,           .init = stats_init,
};
LASTRO_PLUGIN(stats)
