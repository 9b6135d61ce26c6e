/* SPDX-License-Identifier: MIT */
#include "series.h"

#include "day.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static lastro_status ask(lastro_call *call, const char *method, const series_window *window,
                         const char *doing, const lastro_value **ret, lastro_error *err) {
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    lastro_put_int(w, "codigo", window->code);
    if (window->from)
        lastro_put_text(w, "dataInicial", window->from);
    if (window->to)
        lastro_put_text(w, "dataFinal", window->to);
    if (window->last)
        lastro_put_int(w, "ultimos", window->last);
    lastro->end_object(w);
    lastro_service_call request = {
        .size = sizeof request, .service = "series", .version = 1, .method = method};
    request.args = lastro->finish(call, w, err);
    if (!request.args)
        return LASTRO_EINTERNAL;
    lastro_status s = lastro->service(call, &request);
    if (s != LASTRO_OK)
        return lastro_fail(err, s, "%s da série %lld: %s", doing, (long long)window->code,
                           request.error.text);
    *ret = request.result;
    return LASTRO_OK;
}

lastro_status series_describe(lastro_call *call, int64_t code, const char *doing, const lastro_value **ret,
                              lastro_error *err) {
    return ask(call, "describe", &(series_window){.code = code}, doing, ret, err);
}

static bool read_day(const lastro_value *row, const char *name, int32_t *ret) {
    lastro_text text = lastro_get_text(row, name, NULL);
    return text.at && day_parse(text.at, text.len, ret);
}

/* False: a date or a number that cannot be read. */
static bool read_row(const lastro_value *row, size_t place, series *s) {
    const lastro_value *value = lastro_get(row, "valor");
    observation o = {.end = DAY_NONE, .source = place};
    if (!read_day(row, "data", &o.day) ||
        (lastro_has(row, "dataFim") && !lastro_is(lastro_get(row, "dataFim"), LASTRO_NULL) &&
         !read_day(row, "dataFim", &o.end)))
        return false;
    if (lastro_is(value, LASTRO_NULL)) {
        s->empty_days[s->empty++] = o.day;
        return true;
    }
    lastro_text digits = lastro->text(value);
    if (!lastro_is(value, LASTRO_NUMBER) || !exact_parse(digits.at, digits.len, &o.value))
        return false;
    s->values[s->count++] = o;
    return true;
}

lastro_status series_read(lastro_call *call, const series_window *window, const char *doing, series *ret,
                          lastro_error *err) {
    *ret = (series){0};
    lastro_status status = ask(call, "observations", window, doing, &ret->answer, err);
    if (status != LASTRO_OK)
        return status;
    ret->about = lastro_get(ret->answer, "serie");
    ret->rows = lastro_get(ret->answer, "observacoes");
    size_t count = lastro->count(ret->rows), place = 0;
    ret->values = lastro->alloc(call, (count + 1) * sizeof *ret->values);
    ret->empty_days = lastro->alloc(call, (count + 1) * sizeof *ret->empty_days);
    if (!ret->values || !ret->empty_days)
        return lastro_fail(err, LASTRO_ENOMEM,
                           "%s da série %lld: %zu observações não cabem na memória da chamada", doing,
                           (long long)window->code, count);
    lastro_iter it;
    for (lastro->iterate(ret->rows, &it); lastro->next(&it); place++)
        if (!read_row(it.value, place, ret))
            return lastro_fail(
                err, LASTRO_EUPSTREAM,
                "%s da série %lld: a observação %zu traz data ou valor que não se pode ler; nada foi "
                "calculado",
                doing, (long long)window->code, place + 1);
    observations_sort(ret->values, ret->count);
    qsort(ret->empty_days, ret->empty, sizeof *ret->empty_days, by_number);
    return LASTRO_OK;
}

bool series_keep_last(series *s, size_t last) {
    size_t rows = s->count + s->empty;
    if (rows < last)
        return false;
    /* from the newest back: the first row kept, and how many without value are newer */
    size_t values = s->count, empty = s->empty;
    for (size_t kept = 0; kept < last; kept++)
        if (!empty || (values && s->values[values - 1].day > s->empty_days[empty - 1]))
            values--;
        else
            empty--;
    s->values += values, s->count -= values;
    s->empty_days += empty, s->empty -= empty;
    return true;
}

lastro_text series_digits(const series *s, const observation *o) {
    return lastro->text(lastro_get(lastro->at(s->rows, o->source), "valor"));
}

lastro_text series_date(const series *s, const observation *o) {
    return lastro_get_text(lastro->at(s->rows, o->source), "data", "");
}

/* ---- what is known of a series ---- */

const char *series_text(lastro_call *call, const lastro_value *object, const char *name,
                        const char *fallback) {
    lastro_text text = lastro_get_text(object, name, NULL);
    const char *copy = text.at ? lastro_copy(call, text) : NULL;
    return copy ? copy : fallback;
}

bool series_is(const lastro_value *about, const char *name, const char *what) {
    return lastro_text_is(lastro_get_text(about, name, NULL), what);
}

bool series_in_percent(const lastro_value *about) {
    static const char *const units[] = {"Percentual", "Variação percentual", "Pontos percentuais", "%"};
    lastro_text unit = lastro_get_text(about, "unidade", "");
    for (size_t i = 0; i < LASTRO_COUNT(units); i++)
        if (unit.len >= strlen(units[i]) && memcmp(unit.at, units[i], strlen(units[i])) == 0)
            return true;
    return false;
}

/* text has the number code, not as a part of a longer one. */
static bool names_code(const char *text, const char *code) {
    size_t len = strlen(code);
    for (const char *at = text; (at = strstr(at, code)) != NULL; at++)
        if ((at == text || !strchr("0123456789", at[-1])) && !(at[len] >= '0' && at[len] <= '9'))
            return true;
    return false;
}

const char *series_guidance(lastro_call *call, const lastro_value *about) {
    const lastro_value *guia = lastro_get(about, "guia");
    const char *text = series_text(call, guia, "texto", NULL);
    char codes[128] = "", code[24];
    size_t len = 0;
    lastro_iter it;
    for (lastro->iterate(lastro_get(guia, "use"), &it); lastro->next(&it);) {
        lastro_text digits = lastro->text(it.value);
        snprintf(code, sizeof code, "%.*s", (int)digits.len, digits.at);
        if (len < sizeof codes - sizeof code && !(text && names_code(text, code)))
            len += (size_t)snprintf(codes + len, sizeof codes - len, "%s%s", len ? ", " : "", code);
    }
    if (!text && !len)
        return "";
    const char *full = lastro_format(call, "%s%s%s%s%s", text ? " " : "", text ? text : "",
                                     len ? " Séries indicadas: " : "", codes, len ? "." : "");
    return full ? full : "";
}
