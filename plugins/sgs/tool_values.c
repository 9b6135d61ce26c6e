/* SPDX-License-Identifier: MIT */
/* bcb_serie_valores */
#include "arguments.h"
#include "client.h"
#include "harmonise.h"
#include "output.h"
#include "tools.h"
#include <lastro/lastro.h>

static void put_rows(lastro_writer *out, const sgs_result *r) {
    size_t missing = sgs_rows_without_value(&r->rows);
    lastro_put_int(out, "totalRegistros", (int64_t)r->rows.count);
    if (missing)
        lastro_put_int(out, "semValor", (int64_t)missing);
    if (r->rows.count) {
        sgs_put_date(out, "periodoInicial", r->rows.at[0].day);
        sgs_put_date(out, "periodoFinal", r->rows.at[r->rows.count - 1].day);
    }
    sgs_put_rows(out, "dados", r);
}

SGS_HANDLER(sgs_tool_values) {
    sgs_plugin *plugin = self;
    sgs_harmony harmony;
    sgs_result r;
    sgs_query q = {.what = "Valores"};
    lastro_status st = sgs_read_arguments(args, &q, err);
    if (st == LASTRO_OK)
        st = sgs_harmony_read(args, sgs_catalog_find(&plugin->catalog, q.code), &harmony, err);
    if (st == LASTRO_OK)
        st = sgs_read(plugin, call, &q, &r, err);
    if (st == LASTRO_OK && harmony.wanted)
        st = sgs_harmony_check(&harmony, &r, err);
    if (st != LASTRO_OK)
        return st;
    if (!harmony.wanted && lastro_has(args, "agregacao"))
        sgs_note(
            &r, "agregacao foi ignorada, porque só vale junto com frequencia; os valores são os publicados.");
    lastro->begin_object(out);
    sgs_put_complete(out, &r);
    sgs_put_serie(call, out, &r);
    if (harmony.wanted)
        st = sgs_harmony_write(call, &harmony, q.window, &r, out, err);
    else
        put_rows(out, &r);
    sgs_put_chunking(out, &r);
    sgs_put_applied(out, &r);
    sgs_put_notes(out, &r);
    if (!r.rows.count)
        lastro_put_text(out, "observacao",
                        "A fonte respondeu sem nenhuma observação nesse período: a série existe, o período é "
                        "que está vazio "
                        "(feriado, fim de semana ou dado ainda não publicado).");
    else if (r.snapshot)
        lastro_put_text(out, "observacao",
                        "Dados de um instantâneo embutido, e não de uma leitura de agora; veja avisos.");
    lastro->end_object(out);
    return st;
}
