/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include "messages.h"
#include <lastro/lastro.h>

static lastro_status read_date(const lastro_value *args, const char *member, sgs_day *ret,
                               lastro_error *err) {
    *ret = SGS_NO_DAY;
    if (!lastro_has(args, member))
        return LASTRO_OK;
    lastro_text text = lastro_get_text(args, member, "");
    sgs_date_fault fault = sgs_date_read(text.at, text.len, ret);
    return fault == SGS_DATE_OK ? LASTRO_OK : sgs_bad_date(member, text, fault, err);
}

lastro_status sgs_read_arguments(const lastro_value *args, sgs_query *q, lastro_error *err) {
    q->code = lastro_get_int(args, "codigo", 0);
    if (q->code < 1)
        return lastro_fail(
            err, LASTRO_EARGS,
            "codigo tem de ser um inteiro a partir de 1, o número da série no SGS (433 é o IPCA). Veja "
            "códigos em bcb_series_populares.");
    lastro_status st = read_date(args, "dataInicial", &q->window.from, err);
    if (st == LASTRO_OK)
        st = read_date(args, "dataFinal", &q->window.to, err);
    if (st != LASTRO_OK)
        return st;
    if (q->window.from != SGS_NO_DAY && q->window.to != SGS_NO_DAY && q->window.from > q->window.to) {
        char from[SGS_DATE_SIZE], to[SGS_DATE_SIZE];
        sgs_date_write(q->window.from, from);
        sgs_date_write(q->window.to, to);
        return lastro_fail(
            err, LASTRO_EARGS,
            "dataInicial (%s) é depois de dataFinal (%s). Inverta as duas. Nada foi consultado.", from, to);
    }
    return LASTRO_OK;
}
