/* SPDX-License-Identifier: MIT */
#include "olinda.h"

#include "filter.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOCUS "Expectativas"
#define PTAX "PTAX"
#define NUMBERS "Media,Mediana,DesvioPadrao,Minimo,Maximo"
#define ASKED ",numeroRespondentes,baseCalculo"
#define QUOTE "cotacaoCompra,cotacaoVenda,dataHoraCotacao"
#define CURRENCY "paridadeCompra,paridadeVenda," QUOTE ",tipoBoletim"

typedef struct {
    const char *service, *name, *type, *properties;
    const char *pool;                    /* whose rows; NULL: those of its own name */
    const char *currency, *first, *last; /* names of the function's parameters, or NULL */
} resource;

/* The service's own list ($metadata, 15/06/2026); singular and plural names are its own. */
static const resource resources[] = {
    {FOCUS, "ExpectativaMercadoMensais", "ExpectativaMercadoMensal",
     "Indicador,Data,DataReferencia," NUMBERS ASKED, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTrimestrais", "ExpectativaMercadoTrimestral",
     "Indicador,Data,DataReferencia," NUMBERS ASKED, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoAnuais", "ExpectativaMercadoAnual",
     "Indicador,IndicadorDetalhe,Data,DataReferencia," NUMBERS ASKED, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoInflacao12Meses", "ExpectativaMercadoInflacao12Meses",
     "Indicador,Data,Suavizada," NUMBERS ASKED, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoInflacao24Meses", "ExpectativaMercadoInflacao12Meses",
     "Indicador,Data,Suavizada," NUMBERS ASKED, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoSelic", "ExpectativaMercadoSelic", "Indicador,Data,Reuniao," NUMBERS ASKED,
     NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTop5Mensais", "ExpectativasMercadoTop5Mensal",
     "Indicador,Data,DataReferencia,tipoCalculo," NUMBERS, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativaMercadoTop5Trimestral", "ExpectativaMercadoTop5Trimestral",
     "Indicador,Data,DataReferencia,tipoCalculo," NUMBERS ",numeroRespondentes", NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTop5Anuais", "ExpectativasMercadoTop5Anual",
     "Indicador,Data,DataReferencia,tipoCalculo," NUMBERS, NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTop5Inflacao12Meses", "ExpectativaMercadoInflacaoH12",
     "Indicador,Data,Suavizada," NUMBERS ",numeroRespondentes,tipoCalculo", NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTop5Inflacao24Meses", "ExpectativaMercadoInflacaoH24",
     "Indicador,Data,Suavizada," NUMBERS ",numeroRespondentes,tipoCalculo", NULL, NULL, NULL, NULL},
    {FOCUS, "ExpectativasMercadoTop5Selic", "ExpectativasMercadoSelicTop5",
     "indicador,Data,reuniao,tipoCalculo,media,mediana,desvioPadrao,coeficienteVariacao,minimo,maximo", NULL,
     NULL, NULL, NULL},
    {FOCUS, "DatasReferencia", "DatasReferencia", "Indicador,periodo,DataReferencia1,DataReferencia2", NULL,
     NULL, NULL, NULL},
    {PTAX, "Moedas", "TipoMoeda", "simbolo,nomeFormatado,tipoMoeda", NULL, NULL, NULL, NULL},
    {PTAX, "CotacaoDolarDia", "TipoCotacaoDolar", QUOTE, "CotacaoDolar", NULL, "dataCotacao", "dataCotacao"},
    {PTAX, "CotacaoDolarPeriodo", "TipoCotacaoDolar", QUOTE, "CotacaoDolar", NULL, "dataInicial",
     "dataFinalCotacao"},
    {PTAX, "CotacaoMoedaDia", "TipoCotacaoMoeda", CURRENCY, "CotacaoMoeda", "moeda", "dataCotacao",
     "dataCotacao"},
    {PTAX, "CotacaoMoedaPeriodo", "TipoCotacaoMoeda", CURRENCY, "CotacaoMoeda", "moeda", "dataInicial",
     "dataFinalCotacao"},
};

/* ---- loading ---- */

static sim_pool *pool_find(const sim_olinda *o, const char *name) {
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->pool[i].name, name) == 0)
            return &o->pool[i];
    return NULL;
}

static sim_pool *pool_open(sim_olinda *o, const char *name) {
    sim_pool *found = pool_find(o, name);
    if (found)
        return found;
    o->pool = sim_grow(o->pool, o->count + 1, sizeof *o->pool);
    o->pool[o->count] = (sim_pool){.name = sim_copy(name, strlen(name))};
    return &o->pool[o->count++];
}

/* Which rows a file holds: RESOURCE_whatever.json, CotacaoMoedaDia_EUR_whatever.json. A day and a
 * period are the same rows. */
static void pool_name(const char *file, char *ret, size_t room) {
    int n = (int)strcspn(file, "_.");
    const char *rest = file[n] == '_' ? file + n + 1 : "";
    if (strncmp(file, "CotacaoDolar", 12) == 0)
        snprintf(ret, room, "CotacaoDolar");
    else if (strncmp(file, "CotacaoMoeda", 12) == 0)
        snprintf(ret, room, "CotacaoMoeda_%.*s", (int)strcspn(rest, "_."), rest);
    else
        snprintf(ret, room, "%.*s", n, file);
}

static void load_folder(sim_olinda *o, const char *data, const char *sub) {
    size_t count;
    char *folder = path_join(data, sub), **names = folder_list(folder, ".json", &count);
    for (size_t i = 0; i < count; i++) {
        char pool[128], *path = path_join(folder, names[i]), *text = file_read(path, NULL);
        pool_name(names[i], pool, sizeof pool);
        if (!text || !rows_take(&pool_open(o, pool)->rows, text))
            fprintf(stderr, "bcb-sim: %s: not an Olinda body\n", path);
        free(path);
    }
    folder_list_free(names, count);
    free(folder);
}

void olinda_load(sim_olinda *o, const char *data) {
    load_folder(o, data, "focus");
    load_folder(o, data, "ptax");
    for (size_t i = 0; i < o->count; i++) {
        if (strncmp(o->pool[i].name, "Cotacao", 7) == 0)
            rows_merge(&o->pool[i].rows, "dataHoraCotacao");
        else if (strcmp(o->pool[i].name, "Moedas") == 0)
            rows_merge(&o->pool[i].rows, "simbolo");
    }
}

void olinda_free(sim_olinda *o) {
    for (size_t i = 0; i < o->count; i++) {
        free(o->pool[i].name);
        rows_free(&o->pool[i].rows);
    }
    free(o->pool);
    *o = (sim_olinda){0};
}

/* ---- answering ---- */

typedef struct {
    const sim_world *w;
    const sim_request *req;
    sim_reply *ret;
    const resource *res;
    const sim_rows *rows; /* NULL: none recorded */
    char now[20];
    bool ranged, impossible; /* a function with days; days that select nothing */
    sim_day first, last;
    const char *filter, *select, *orderby;
    bool ordered_down;
    char order_key[64];
    long top, skip;
} call;

static bool fail(const call *c, const char *message) {
    text_addf(&c->ret->body, "/*{\n  \"codigo\" : 400,\n  \"mensagem\" : \"%s\"\n}*/", message);
    c->ret->status = 400;
    c->ret->type = TYPE_JSON;
    return false;
}

static bool fail_property(const call *c, const char *property) {
    char type[128];
    snprintf(type, sizeof type, "br.gov.bcb.olinda.servico.%s.%s", c->res->service, c->res->type);
    pages_add_bad_property(&c->w->pages, &c->ret->body, property, type);
    c->ret->status = 400;
    c->ret->type = TYPE_JSON;
    return false;
}

/* The argument of a function, quotes undone: name=@alias with the alias in the query, or
 * name='literal'. NULL: absent or without quotes. A new text. */
static char *function_arg(const call *c, const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at && *at && *at != ')'; at = strpbrk(at, ",)")) {
        at += *at == '(' || *at == ',';
        if (strncmp(at, name, n) != 0 || at[n] != '=')
            continue;
        const char *value = at + n + 1;
        size_t len = strcspn(value, ",)");
        char *alias = sim_copy(value, len);
        const char *given = *alias == '@' ? c->req->arg(c->req, alias) : alias;
        size_t g = given ? strlen(given) : 0;
        char *bare = g >= 2 && given[0] == '\'' && given[g - 1] == '\'' ? sim_copy(given + 1, g - 2) : NULL;
        free(alias);
        return bare;
    }
    return NULL;
}

/* Month first; anything else, such as an ISO date, is 200 with no rows (measured 11/08/2026). */
static bool take_days(call *c, const char *list) {
    char *first = function_arg(c, list, c->res->first), *last = function_arg(c, list, c->res->last);
    bool given = first && last;
    c->ranged = true;
    c->impossible = !given || !day_parse_us(first, &c->first) || !day_parse_us(last, &c->last);
    free(first);
    free(last);
    return given || fail(c, "The parameters of the function are missing or not quoted.");
}

static bool take_rows(call *c, const char *list) {
    char name[160];
    if (!c->res->currency)
        snprintf(name, sizeof name, "%s", c->res->pool ? c->res->pool : c->res->name);
    else {
        char *currency = function_arg(c, list, c->res->currency);
        if (!currency)
            return fail(c, "The parameters of the function are missing or not quoted.");
        snprintf(name, sizeof name, "%s_%.32s", c->res->pool, currency);
        free(currency);
    }
    const sim_pool *pool = pool_find(&c->w->olinda, name);
    c->rows = pool ? &pool->rows : NULL;
    return true;
}

static bool take_count(const call *c, const char *name, long *ret) {
    const char *text = c->req->arg(c->req, name);
    if (!text)
        return true;
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 9 || text[n])
        return fail(c, "The value of a count option is not a number.");
    *ret = strtol(text, NULL, 10);
    return true;
}

static bool check_names(const call *c, const char *list) {
    for (const char *at = list; *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, ", ");
        if (!name_listed(c->res->properties, (sim_slice){at, n})) {
            char *name = sim_copy(at, n);
            fail_property(c, name);
            free(name);
            return false;
        }
        at += n + strspn(at + n, " ,");
    }
    return true;
}

static bool take_order(call *c) {
    if (!c->orderby)
        return true;
    size_t n = strcspn(c->orderby, " ,");
    snprintf(c->order_key, sizeof c->order_key, "%.*s", (int)(n < 63 ? n : 63), c->orderby);
    c->ordered_down = strcmp(c->orderby + n, " desc") == 0;
    if (c->orderby[n] && !c->ordered_down && strcmp(c->orderby + n, " asc") != 0)
        return fail(c, "Only one property can be ordered by here.");
    return check_names(c, c->order_key);
}

static bool take_options(call *c) {
    c->filter = c->req->arg(c->req, "$filter");
    c->select = c->req->arg(c->req, "$select");
    c->orderby = c->req->arg(c->req, "$orderby");
    c->top = -1;
    if (!take_count(c, "$top", &c->top) || !take_count(c, "$skip", &c->skip) || !take_order(c) ||
        (c->select && !check_names(c, c->select)))
        return false;
    char property[64];
    switch (c->filter ? filter_run(c->filter, NULL, c->res->properties, property) : FILTER_YES) {
    case FILTER_MALFORMED:
        return fail(c, "The expression of $filter is malformed.");
    case FILTER_BAD_PROPERTY:
        return fail_property(c, property);
    default:
        return true;
    }
}

static bool row_wanted(const call *c, const sim_row *row) {
    char *stamp = row_text(row, c->ranged ? "dataHoraCotacao" : "Data"), property[64];
    sim_day day = 0;
    bool wanted = !stamp || strncmp(stamp, c->now, strlen(c->ranged ? c->now : "yyyy-MM-dd")) <= 0;
    if (c->ranged)
        wanted = wanted && stamp && day_parse_iso(stamp, &day) && day >= c->first && day <= c->last;
    free(stamp);
    return wanted && (!c->filter || filter_run(c->filter, row, c->res->properties, property) == FILTER_YES);
}

static void add_row(const call *c, const sim_row *row) {
    sim_text *t = &c->ret->body;
    const char *sep = "{";
    for (size_t i = 0; i < row->count; i++) {
        const sim_member *m = &row->member[i];
        if (c->select && !name_listed(c->select, m->key))
            continue;
        text_addf(t, "%s\"%.*s\":", sep, (int)m->key.len, m->key.at);
        text_add(t, m->raw.at, m->raw.len);
        sep = ",";
    }
    text_adds(t, *sep == '{' ? "{}" : "}");
}

typedef struct {
    const sim_row *row;
    char *key;
    bool number, down;
    size_t arrival;
} ordered;

static int by_order(const void *a, const void *b) {
    const ordered *x = a, *y = b;
    int order = value_order(x->key, y->key, x->number && y->number);
    if (order != 0)
        return x->down ? -order : order;
    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static void order_rows(const call *c, const sim_row **rows, size_t count) {
    ordered *list = sim_alloc(count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const sim_slice *raw = row_find(rows[i], c->order_key);
        char *key = row_text(rows[i], c->order_key);
        list[i] =
            (ordered){rows[i], key ? key : sim_copy("", 0), raw && raw->at[0] != '"', c->ordered_down, i};
    }
    qsort(list, count, sizeof *list, by_order);
    for (size_t i = 0; i < count; i++) {
        rows[i] = list[i].row;
        free(list[i].key);
    }
    free(list);
}

/* The recorded bodies name this internal host, and the columns only when $select did. */
static void add_context(const call *c) {
    text_addf(&c->ret->body,
              "{\"@odata.context\":\"https://was-p.bcnet.bcb.gov.br/olinda/servico/%s/versao/v1/odata"
              "$metadata#%s%s",
              c->res->service, c->res->first ? "_" : "", c->res->name);
    if (c->select)
        text_addf(&c->ret->body, "(%s)", c->select);
    text_adds(&c->ret->body, "\",\"value\":[");
}

static void serve_rows(const call *c) {
    size_t all = c->rows && !c->impossible && !c->req->empty_value ? c->rows->count : 0, count = 0;
    const sim_row **wanted = sim_alloc(all, sizeof *wanted);
    for (size_t i = 0; i < all; i++)
        if (row_wanted(c, &c->rows->row[i]))
            wanted[count++] = &c->rows->row[i];
    if (c->orderby)
        order_rows(c, wanted, count);
    size_t from = (size_t)c->skip < count ? (size_t)c->skip : count;
    size_t to = c->top >= 0 && (size_t)c->top < count - from ? from + (size_t)c->top : count;
    add_context(c);
    for (size_t i = from; i < to; i++) {
        text_adds(&c->ret->body, i > from ? "," : "");
        add_row(c, wanted[i]);
    }
    text_adds(&c->ret->body, "]}");
    free(wanted);
    c->ret->status = 200;
    c->ret->type = TYPE_JSON;
    /* A survey asked for without a filter does not come within 40 s (measured 11/08/2026). */
    if (strcmp(c->res->service, FOCUS) == 0 && !c->filter && c->top < 0)
        c->ret->delay_ms = c->w->unfiltered_delay_ms;
}

static const resource *resource_find(const char *service, const char *path) {
    size_t n = strcspn(path, "(");
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        const resource *r = &resources[i];
        if (strcmp(r->service, service) == 0 && slice_is((sim_slice){path, n}, r->name))
            return r;
    }
    return NULL;
}

bool olinda_handle(const sim_world *w, const sim_request *req, sim_reply *ret) {
    static const char *const services[] = {FOCUS, PTAX};
    for (size_t i = 0; i < 2; i++) {
        char prefix[80];
        int n = snprintf(prefix, sizeof prefix, "/olinda/servico/%s/versao/v1/odata/", services[i]);
        if (strncmp(req->path, prefix, (size_t)n) != 0)
            continue;
        call c = {.w = w, .req = req, .ret = ret, .res = resource_find(services[i], req->path + n)};
        const char *list = strchr(req->path, '(');
        clock_print(&w->clock, c.now);
        if (!c.res)
            reply_text(ret, 404, TYPE_JSON, "/*{\n  \"codigo\" : 404,\n  \"mensagem\" : \"Not found\"\n}*/");
        else if (take_options(&c) && take_rows(&c, list) && (!c.res->first || take_days(&c, list)))
            serve_rows(&c);
        return true;
    }
    return false;
}
