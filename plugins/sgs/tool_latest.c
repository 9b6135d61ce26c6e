/* SPDX-License-Identifier: MIT */
/* bcb_serie_ultimos */
#include "arguments.h"
#include "client.h"
#include "output.h"
#include "tools.h"
#include <lastro/lastro.h>

enum { LATEST_DEFAULT = 10 };

SGS_HANDLER(sgs_tool_latest) {
    sgs_result r;
    sgs_query q = {.what = "Últimos valores"};
    lastro_status st = sgs_read_arguments(args, &q, err);
    if (st != LASTRO_OK)
        return st;
    int64_t count = lastro_get_int(args, "quantidade", LATEST_DEFAULT);
    if (count < 1 || count > SGS_LATEST_LIMIT)
        return lastro_fail(err, LASTRO_EARGS,
                           "quantidade vai de 1 a %d; para mais pontos use bcb_serie_valores com datas.",
                           SGS_LATEST_LIMIT);
    q.last = (uint32_t)count;
    st = sgs_read(self, call, &q, &r, err);
    if (st != LASTRO_OK)
        return st;
    lastro->begin_object(out);
    sgs_put_complete(out, &r);
    sgs_put_serie(call, out, &r);
    lastro_put_int(out, "totalRegistros", (int64_t)r.rows.count);
    sgs_put_rows(out, "dados", &r);
    sgs_put_chunking(out, &r);
    sgs_put_notes(out, &r);
    if (!r.rows.count)
        lastro_put_text(out, "observacao", "A fonte respondeu sem nenhuma observação para esta série.");
    lastro->end_object(out);
    return LASTRO_OK;
}
