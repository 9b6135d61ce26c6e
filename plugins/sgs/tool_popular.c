/* SPDX-License-Identifier: MIT */
/* bcb_series_populares: the catalogue, by category. No network. */
#include "fold.h"
#include "provenance.h"
#include "tools.h"
#include <lastro/lastro.h>

enum { CATEGORIES_MAX = 32 };

typedef struct {
    lastro_text name;
    size_t series;
} category;

/* In the order of their first series. */
static size_t list_categories(const sgs_catalog *c, category ret[CATEGORIES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        lastro_text name = c->series[i].category;
        size_t k = 0;
        while (k < count && !(ret[k].name.len == name.len && memcmp(ret[k].name.at, name.at, name.len) == 0))
            k++;
        if (k == count && count < CATEGORIES_MAX)
            ret[count++] = (category){name, 0};
        if (k < count)
            ret[k].series++;
    }
    return count;
}

static bool of_category(const sgs_known *k, lastro_text name) {
    return k->category.len == name.len && memcmp(k->category.at, name.at, name.len) == 0;
}

static void write_series(lastro_writer *w, const sgs_known *k) {
    lastro->begin_object(w);
    lastro_put_int(w, "codigo", k->code);
    lastro_put_string(w, "nome", k->name);
    lastro_put_string(w, "categoria", k->category);
    lastro_put_string(w, "periodicidade", k->pace_label);
    if (k->unit.at)
        lastro_put_string(w, "unidade", k->unit);
    lastro_put_string(w, "natureza", k->nature);
    lastro_put_text(w, "fonteNome", k->from_portal ? "portal" : "medido");
    lastro->end_object(w);
}

static void write_all(lastro_writer *out, const sgs_catalog *c, const category *categories, size_t count) {
    lastro_put_object(out, "series");
    for (size_t k = 0; k < count; k++) {
        lastro->key(out, categories[k].name.at, categories[k].name.len);
        lastro->begin_array(out);
        for (size_t i = 0; i < c->count; i++)
            if (of_category(&c->series[i], categories[k].name))
                write_series(out, &c->series[i]);
        lastro->end_array(out);
    }
    lastro->end_object(out);
}

static void write_matching(lastro_writer *out, const sgs_catalog *c, lastro_text wanted) {
    lastro_put_array(out, "series");
    for (size_t i = 0; i < c->count; i++)
        if (sgs_fold_contains(c->series[i].category, wanted))
            write_series(out, &c->series[i]);
    lastro->end_array(out);
}

static const char *remark(lastro_call *call, const category *categories, size_t count, bool nothing,
                          lastro_text wanted) {
    char names[600] = "";
    size_t len = 0;
    if (!nothing)
        return "O catálogo é uma seleção; o SGS tem milhares de séries. Qualquer uma se consulta pelo "
               "código: bcb_serie_metadados diz o que ela é; bcb_serie_valores e bcb_serie_ultimos dão os "
               "valores.";
    for (size_t k = 0; k < count && len < sizeof names - 80; k++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%.*s (%zu)", k ? ", " : "",
                                (int)(categories[k].name.len < 60 ? categories[k].name.len : 60),
                                categories[k].name.at, categories[k].series);
    return lastro_format(call,
                         "Nenhuma categoria contém \"%.*s\". Há: %s. Sem categoria, a lista vem inteira.",
                         (int)(wanted.len < 80 ? wanted.len : 80), wanted.at, names);
}

SGS_HANDLER(sgs_tool_popular) {
    const sgs_plugin *plugin = self;
    const sgs_catalog *c = &plugin->catalog;
    category categories[CATEGORIES_MAX];
    size_t count = list_categories(c, categories), total = 0, matched = 0;
    lastro_text wanted = lastro_get_text(args, "categoria", NULL);
    (void)err;
    for (size_t k = 0; k < count; k++) {
        if (wanted.at && !sgs_fold_contains(categories[k].name, wanted))
            continue;
        total += categories[k].series;
        matched++;
    }
    sgs_block_catalog(call, c, "catálogo curado de séries");
    lastro->begin_object(out);
    lastro_put_int(out, "totalSeries", (int64_t)total);
    lastro_put_int(out, "categorias", (int64_t)matched);
    if (wanted.at)
        write_matching(out, c, wanted);
    else
        write_all(out, c, categories, count);
    lastro_put_text(out, "observacao", remark(call, categories, count, wanted.at && !matched, wanted));
    lastro->end_object(out);
    return LASTRO_OK;
}
