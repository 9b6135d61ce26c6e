/* SPDX-License-Identifier: MIT */
#include "harmonise.h"

#include "output.h"
#include <inttypes.h>
#include <lastro/lastro.h>

static const struct {
    const char *name, *period;
    sgs_pace pace;
} targets[] = {
    {"mensal", "mês", SGS_PACE_MONTHLY},
    {"trimestral", "trimestre", SGS_PACE_QUARTERLY},
    {"anual", "ano", SGS_PACE_YEARLY},
};
static const struct {
    const char *name, *rule;
    sgs_how how;
} hows[] = {
    {"ultimo", "o último valor do período, literal", SGS_LAST},
    {"primeiro", "o primeiro valor do período, literal", SGS_FIRST},
    {"media", "a média simples dos valores do período, com 4 casas", SGS_MEAN},
    {"soma", "a soma dos valores do período, com 4 casas", SGS_SUM},
    {"acumulada", "a composição das taxas do período, (Π(1 + v/100) − 1) × 100, com 4 casas", SGS_COMPOUND},
};

static const char *period_name(sgs_pace p) {
    for (size_t i = 0; i < LASTRO_COUNT(targets); i++)
        if (targets[i].pace == p)
            return targets[i].period;
    return "período";
}

static bool chains_as(const sgs_known *k, const char *what) {
    return k && lastro_text_is(k->chaining, what);
}

/* Compounding what is no rate of its own period gives a number that looks right and is false. */
static lastro_status refuse_compound(const sgs_known *k, lastro_error *err) {
    if (chains_as(k, "produto_mensal") || chains_as(k, "produto_periodos"))
        return lastro_fail(
            err, LASTRO_EARGS,
            "agregacao \"acumulada\" não vale para a série %" PRId64
            " (%.*s): cada linha já é a taxa de um mês "
            "inteiro, e compor todas contaria o mesmo mês muitas vezes. Use bcb_variacao, que encadeia um "
            "período por mês, ou agregacao \"primeiro\" com frequencia \"mensal\".",
            k->code, (int)k->name.len, k->name.at);
    if (!k || chains_as(k, "produto") || !k->chaining.at)
        return LASTRO_OK;
    return lastro_fail(err, LASTRO_EARGS,
                       "agregacao \"acumulada\" não vale para a série %" PRId64
                       " (%.*s): ela compõe taxas do período, e esta "
                       "série não é uma.%s%.*s Use \"ultimo\" ou \"media\", ou bcb_variacao para a variação "
                       "entre duas datas.",
                       k->code, (int)k->name.len, k->name.at, k->guide.at ? " " : "", (int)k->guide.len,
                       k->guide.at ? k->guide.at : "");
}

static lastro_status refuse_finer(const sgs_harmony *h, sgs_pace source, lastro_error *err) {
    return lastro_fail(
        err, LASTRO_EARGS,
        "a série tem periodicidade %s e frequencia \"%s\" é mais fina: repartir um período inventaria dado. "
        "Peça "
        "uma frequencia igual ou mais grossa, ou omita frequencia para ter os valores como publicados.",
        sgs_pace_label(source), h->target_name);
}

lastro_status sgs_harmony_read(const lastro_value *args, const sgs_known *known, sgs_harmony *ret,
                               lastro_error *err) {
    lastro_text target = lastro_get_text(args, "frequencia", NULL);
    lastro_text how = lastro_get_text(args, "agregacao", "ultimo");
    *ret = (sgs_harmony){.how_name = hows[0].name};
    for (size_t i = 0; i < LASTRO_COUNT(hows); i++)
        if (lastro_text_is(how, hows[i].name)) {
            ret->how = hows[i].how;
            ret->how_name = hows[i].name;
        }
    for (size_t i = 0; i < LASTRO_COUNT(targets); i++)
        if (lastro_text_is(target, targets[i].name)) {
            ret->wanted = true;
            ret->target = targets[i].pace;
            ret->target_name = targets[i].name;
        }
    if (!ret->wanted)
        return LASTRO_OK;
    if (known && !sgs_aggregate_allowed(known->pace, ret->target))
        return refuse_finer(ret, known->pace, err);
    return ret->how == SGS_COMPOUND ? refuse_compound(known, err) : LASTRO_OK;
}

lastro_status sgs_harmony_check(const sgs_harmony *h, const sgs_result *r, lastro_error *err) {
    return sgs_aggregate_allowed(r->measured, h->target) ? LASTRO_OK : refuse_finer(h, r->measured, err);
}

static void write_point(lastro_writer *w, const sgs_point *p) {
    lastro->begin_object(w);
    sgs_put_date(w, "data", p->period.from);
    if (p->computed[0])
        lastro_put_decimal(w, "valor", (lastro_text){p->computed, strlen(p->computed)});
    else
        lastro_put_decimal(w, "valor", p->value);
    lastro_put_int(w, "observacoes", (int64_t)p->used);
    if (p->incomplete)
        lastro_put_bool(w, "periodoIncompleto", true);
    lastro->end_object(w);
}

static void note_on_use(lastro_call *call, const sgs_harmony *h, sgs_result *r, size_t incomplete,
                        size_t too_large) {
    if (too_large)
        sgs_note(r, lastro_format(call,
                                  "Em %zu ponto(s) o resultado é grande demais para ser dado com 4 casas "
                                  "certas: valor é null. Sem frequencia, as observações vêm inteiras.",
                                  too_large));
    if (incomplete)
        sgs_note(
            r, lastro_format(
                   call,
                   "%zu ponto(s) marcado(s) com periodoIncompleto não reúnem o %s inteiro (período em curso, "
                   "cortado pelas datas pedidas ou com observações faltando); não os compare com os demais.",
                   incomplete, period_name(h->target)));
    if (h->how == SGS_SUM && sgs_known_is(r->known, "taxa"))
        sgs_note(r,
                 "A série é de taxas, e porcentagens não se somam: para o acumulado do período use agregacao "
                 "\"acumulada\".");
    if (h->how == SGS_COMPOUND && !r->known)
        sgs_note(r, "A série não está no catálogo: agregacao \"acumulada\" só faz sentido se cada valor for "
                    "uma taxa em % do "
                    "próprio período.");
}

static void write_about(lastro_call *call, lastro_writer *w, const sgs_harmony *h, const sgs_result *r,
                        size_t incomplete) {
    bool inferred;
    const char *source = sgs_result_pace(r, &inferred);
    size_t rule = 0, missing = sgs_rows_without_value(&r->rows);
    while (hows[rule].how != h->how)
        rule++;
    const char *note = lastro_format(
        call,
        "De %s para %s, calculado por este servidor: cada ponto é %s. A data do ponto é o primeiro "
        "dia do %s. Observações sem valor ficam fora.",
        source ? source : "periodicidade desconhecida", h->target_name, hows[rule].rule,
        period_name(h->target));
    lastro_put_object(w, "harmonizacao");
    lastro_put_text(w, "frequencia", h->target_name);
    lastro_put_text(w, "agregacao", h->how_name);
    lastro_put_int(w, "observacoesOriginais", (int64_t)r->rows.count);
    if (missing)
        lastro_put_int(w, "observacoesSemValor", (int64_t)missing);
    if (incomplete)
        lastro_put_int(w, "periodosIncompletos", (int64_t)incomplete);
    lastro_put_bool(w, "derived", true);
    lastro_put_text(w, "nota", note);
    lastro->end_object(w);
    lastro->derived(call, "sgs", note);
}

lastro_status sgs_harmony_write(lastro_call *call, const sgs_harmony *h, sgs_window asked, sgs_result *r,
                                lastro_writer *out, lastro_error *err) {
    size_t count = 0, incomplete = 0, too_large = 0;
    sgs_plan plan = {.source = r->known && r->known->pace ? r->known->pace : r->measured,
                     .target = h->target,
                     .how = h->how,
                     .asked = r->applied_reason ? r->applied : asked,
                     .today = r->as_of,
                     .partial = sgs_result_partial(r)};
    sgs_point *points = lastro->alloc(call, (r->rows.count + 1) * sizeof *points);
    if (!points)
        return lastro_fail(err, LASTRO_ENOMEM, "memória da chamada esgotada ao agregar %zu observações",
                           r->rows.count);
    count = sgs_aggregate(&r->rows, &plan, points);
    lastro_put_int(out, "totalRegistros", (int64_t)count);
    if (count) {
        sgs_put_date(out, "periodoInicial", points[0].period.from);
        sgs_put_date(out, "periodoFinal", points[count - 1].period.from);
    }
    lastro_put_array(out, "dados");
    for (size_t i = 0; i < count; i++) {
        write_point(out, &points[i]);
        incomplete += points[i].incomplete;
        too_large += points[i].used && !points[i].value.at && !points[i].computed[0];
    }
    lastro->end_array(out);
    write_about(call, out, h, r, incomplete);
    note_on_use(call, h, r, incomplete, too_large);
    return LASTRO_OK;
}
