/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <inttypes.h>
#include <lastro/lastro.h>

void sgs_put_complete(lastro_writer *w, const sgs_result *r) {
    lastro_put_bool(w, "completo", !r->incomplete);
    if (r->incomplete)
        lastro_put_text(w, "aviso", r->incomplete);
}

void sgs_put_date(lastro_writer *w, const char *name, sgs_day d) {
    char text[SGS_DATE_SIZE];
    if (d == SGS_NO_DAY) {
        lastro_put_null(w, name);
        return;
    }
    sgs_date_write(d, text);
    lastro_put_text(w, name, text);
}

void sgs_put_name(lastro_call *call, lastro_writer *w, const sgs_result *r) {
    if (r->known)
        lastro_put_string(w, "nome", r->known->name);
    else
        lastro_put_text(w, "nome", lastro_format(call, "Série %" PRId64, r->code));
}

void sgs_put_serie(lastro_call *call, lastro_writer *w, const sgs_result *r) {
    static const lastro_text none = {NULL, 0};
    bool inferred;
    const char *pace = sgs_result_pace(r, &inferred);
    lastro_put_object(w, "serie");
    lastro_put_int(w, "codigo", r->code);
    sgs_put_name(call, w, r);
    lastro_put_string(w, "categoria", r->known ? r->known->category : (lastro_text){"Desconhecida", 12});
    lastro_put_text(w, "periodicidade", pace ? pace : "Desconhecida");
    if (inferred)
        lastro_put_bool(w, "periodicidadeInferida", true);
    lastro_put_string(w, "unidade", r->known ? r->known->unit : none);
    lastro_put_string(w, "natureza", r->known ? r->known->nature : none);
    sgs_put_date(w, "inicio", r->known ? r->known->start : SGS_NO_DAY);
    lastro->end_object(w);
}

void sgs_put_rows(lastro_writer *w, const char *name, const sgs_result *r) {
    sgs_day partial = sgs_result_partial(r);
    lastro_put_array(w, name);
    for (size_t i = 0; i < r->rows.count; i++) {
        const sgs_row *row = &r->rows.at[i];
        lastro->begin_object(w);
        sgs_put_date(w, "data", row->day);
        if (row->end != SGS_NO_DAY)
            sgs_put_date(w, "dataFim", row->end);
        lastro_put_decimal(w, "valor", row->value);
        if (row->day == partial)
            lastro_put_bool(w, "parcial", true);
        lastro->end_object(w);
    }
    lastro->end_array(w);
}

void sgs_put_chunking(lastro_writer *w, const sgs_result *r) {
    if (r->windows < 2)
        return;
    lastro_put_object(w, "chunking");
    lastro_put_int(w, "janelas", (int64_t)r->windows);
    lastro_put_int(w, "fatiaAnos", SGS_SLICE_YEARS);
    lastro->end_object(w);
}

void sgs_put_applied(lastro_writer *w, const sgs_result *r) {
    if (!r->applied_reason)
        return;
    lastro_put_object(w, "janelaAplicada");
    sgs_put_date(w, "dataInicial", r->applied.from);
    sgs_put_date(w, "dataFinal", r->applied.to);
    lastro_put_text(w, "motivo", r->applied_reason);
    lastro->end_object(w);
}

void sgs_put_notes(lastro_writer *w, const sgs_result *r) {
    if (!r->note_count)
        return;
    lastro_put_array(w, "avisos");
    for (size_t i = 0; i < r->note_count; i++)
        lastro_add_text(w, r->notes[i]);
    lastro->end_array(w);
}
