/* SPDX-License-Identifier: MIT */
#include "variation.h"
#include "day.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_day(const void *a, const void *b) {
    const observation *x = a, *y = b;
    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

void observations_sort(observation *o, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (by_day(&o[i - 1], &o[i]) > 0) {
            qsort(o, count, sizeof *o, by_day);
            return;
        }
}

/* ---- which rows to chain ---- */

static int32_t end_of(const observation *o) {
    return o->end != DAY_NONE ? o->end : day_next_month(o->day);
}

/* Of the rows of one day, from o[at] on, the one that keeps the chain on its day of the month. 226 has four
 * rows dated 01/03/2026: they end on 29/03, 30/03, 31/03 (deposits of 29 to 31 January) and 01/04. */
static size_t same_day_pick(const observation *o, size_t count, size_t at, int anniversary) {
    size_t last = at, first_day = count;
    for (size_t i = at; i < count && o[i].day == o[at].day; last = i++) {
        int day = day_of_month(end_of(&o[i]));
        if (day == anniversary)
            return i;
        if (day == 1)
            first_day = i;
    }
    return first_day < count ? first_day : last;
}

static void chain_periods(chain_rule rule, const observation *o, size_t count, chain *c) {
    int anniversary = count ? day_of_month(o[0].day) : 0;
    for (size_t at = 0; at < count;) {
        size_t row = same_day_pick(o, count, at, anniversary);
        c->rows[c->count++] = row;
        c->end = end_of(&o[row]);
        c->ends_inferred |= o[row].end == DAY_NONE;
        for (at = row + 1; at < count && o[at].day < c->end;)
            at++;
        if (at == count || o[at].day == c->end)
            continue;
        if (rule == CHAIN_PERIODS) {
            c->broken = true;
            return;
        }
        c->gaps++;
    }
}

void chain_select(chain_rule rule, const observation *o, size_t count, chain *ret) {
    size_t *rows = ret->rows;
    *ret = (chain){.rows = rows, .end = DAY_NONE};
    if (rule != CHAIN_EVERY) {
        chain_periods(rule, o, count, ret);
        return;
    }
    for (size_t i = 0; i < count; i++)
        rows[ret->count++] = i;
}

size_t months_missing(const observation *o, size_t count) {
    size_t missing = 0;
    for (size_t i = 1; i < count; i++) {
        int32_t step = day_month(o[i].day) - day_month(o[i - 1].day);
        missing += step > 1 ? (size_t)(step - 1) : 0;
    }
    return missing;
}

extremes observations_extremes(const observation *o, size_t count) {
    extremes e = {0, 0};
    for (size_t i = 1; i < count; i++) {
        if (exact_compare(o[i].value, o[e.highest].value) > 0)
            e.highest = i;
        if (exact_compare(o[i].value, o[e.lowest].value) < 0)
            e.lowest = i;
    }
    return e;
}

/* ---- does an unknown series hold rates? ---- */

/* Letters U+00C0 to U+00DF without accent; the 32 after them are their small forms. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo*ouuuuyts";

/* Lower case without accents, as far as Portuguese goes. */
static void fold(const char *name, size_t len, char *out, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < size; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c == 0xC3 && i + 1 < len)
            out[n++] = latin[(unsigned char)name[++i] & 0x1F];
        else
            out[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    out[n] = '\0';
}

static bool named_rate(const char *name, size_t len) {
    static const char *const words[] = {"variacao",      "%",      "inflacao", "juros",  "percentual",
                                        "rentabilidade", "ipca",   "igp",      "inpc",   "selic",
                                        "ao mes",        "ao ano", "ao dia",   "nucleo", "acumulad"};
    char text[512];
    fold(name, len, text, sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    const char *rate = strstr(text, "taxa");
    return rate && !strstr(rate, "taxa de cambio");
}

unsigned looks_like_rate(const char *name, size_t len, const observation *o, size_t count) {
    double highest = 0, total = 0, steps = 0, before = 0;
    bool up = false, down = false;
    for (size_t i = 0; i < count; i++) {
        double v = exact_approx(o[i].value);
        highest = fmax(highest, fabs(v));
        total += fabs(v);
        steps += i ? fabs(v - before) : 0;
        up |= v > 0, down |= v < 0;
        before = v;
    }
    unsigned looks = name && named_rate(name, len) ? LOOKS_NAMED : 0;
    if (count < 2 || highest >= 15)
        return looks;
    if (up && down)
        looks |= LOOKS_SIGNED;
    if (steps / (double)(count - 1) >= 0.2 * total / (double)count && total > 0)
        looks |= LOOKS_SWINGING;
    if (highest < 1 && o[count - 1].day - o[0].day < 5 * (int32_t)(count - 1))
        looks |= LOOKS_DAILY;
    return looks;
}
