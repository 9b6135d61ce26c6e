/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char html_default[] = "<?xml version=\"1.0\" encoding=\"pt-br\"?>\n<!DOCTYPE html>\n"
                                   "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"pt-br\">\n"
                                   "<head><title>Requisição inválida!</title></head>\n"
                                   "<body><h1>Requisição inválida!</h1></body>\n</html>\n";

#define SGS_ERROR(status, text)                                                                              \
    "{\"erro\":{\"statusCode\":" status ",\"detail\":\"br.gov.bcb.pec.sgs.comum.excecoes."                   \
    "SGSNegocioException: " text "\"}}"

static const char window_default[] =
    "{\"error\":\"O sistema aceita uma janela de consulta de, no máximo, 10 anos em séries de "
    "periodicidade diária\",\"message\":\"Para acessar uma série de periodicidade diária, é necessário "
    "informar a dataInicial\",\"syntax\":\"https://api.bcb.gov.br/dados/serie/bcdata.sgs.432/dados"
    "?formato=json&dataInicial=04/09/2016&dataFinal=04/09/2026\"}";

static const char property_default[] =
    "/*{\n  \"codigo\" : 400,\n  \"mensagem\" : \"The property 'X', used in a query expression, is not "
    "defined in type 'Y'.\"\n}*/";

static char *load(const char *data, const char *name, const char *otherwise) {
    char *path = path_join(data, name);
    char *text = file_read(path, NULL);
    free(path);
    return text ? text : sim_copy(otherwise, strlen(otherwise));
}

void pages_load(sim_pages *pages, const char *data) {
    pages->html = load(data, "errors/sgs_html_requisicao_invalida.html", html_default);
    pages->sgs_not_found =
        load(data, "errors/sgs_404_value_not_found.json", SGS_ERROR("404", "Value(s) not found"));
    pages->sgs_bad_date =
        load(data, "errors/sgs_400_invalid_initial_date.json", SGS_ERROR("400", "Invalid initial date"));
    pages->sgs_window = load(data, "errors/sgs_406_window_over_10_years.json", window_default);
    pages->olinda_bad_property = load(data, "errors/olinda_400_unknown_property.json", property_default);
}

void pages_free(sim_pages *pages) {
    free(pages->html);
    free(pages->sgs_not_found);
    free(pages->sgs_bad_date);
    free(pages->sgs_window);
    free(pages->olinda_bad_property);
}

/* Copies up to and with the next mark; returns what follows it, or NULL after copying the rest. */
static const char *copy_past(sim_text *t, const char *from, const char *mark) {
    const char *hit = strstr(from, mark);
    if (!hit) {
        text_adds(t, from);
        return NULL;
    }
    hit += strlen(mark);
    text_add(t, from, (size_t)(hit - from));
    return hit;
}

/* Replaces what follows each mark, for as long as its characters are in set. */
static void replace_after(sim_text *t, const char *mark, const char *set, const char *with) {
    sim_text new = {0};
    for (const char *at = t->at; at && (at = copy_past(&new, at, mark));) {
        text_adds(&new, with);
        at += strspn(at, set);
    }
    text_free(t);
    *t = new;
}

/* Two people met this body on 29/03/2025 and 20/08/2026: the examples run from ten years ago to
 * today (wilsonfreitas/python-bcb#19, wilsonfreitas/rbcb#64). */
void pages_add_window(const sim_pages *pages, sim_text *t, int code, sim_day today) {
    sim_text body = {0};
    char digits[16], first[11], last[11];
    snprintf(digits, sizeof digits, "%d", code);
    day_print_br(day_add_years(today, -10), first);
    day_print_br(today, last);
    text_adds(&body, pages->sgs_window);
    replace_after(&body, "bcdata.sgs.", "0123456789", digits);
    replace_after(&body, "dataInicial=", "0123456789/", first);
    replace_after(&body, "dataFinal=", "0123456789/", last);
    text_add(t, body.at, body.len);
    text_free(&body);
}

/* The two quoted names of the recorded body, in order. */
void pages_add_bad_property(const sim_pages *pages, sim_text *t, const char *property, const char *type) {
    const char *names[] = {property, type}, *at = pages->olinda_bad_property;
    for (size_t i = 0; i < 2 && at; i++) {
        at = copy_past(t, at, "'");
        if (!at)
            return;
        text_adds(t, names[i]);
        at = strchr(at, '\'');
        if (at) {
            text_adds(t, "'");
            at++;
        }
    }
    if (at)
        text_adds(t, at);
}
