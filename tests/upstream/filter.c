/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *at;
    const sim_row *row;
    const char *known;
    char *bad;           /* receives the unknown property */
    filter_result error; /* NO: none so far */
    int depth;
} run;

enum { DEPTH_MOST = 32 };

bool name_listed(const char *list, sim_slice name) {
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if (n == name.len && memcmp(at, name.at, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

int value_order(const char *a, const char *b, bool numbers) {
    if (!numbers)
        return strcmp(a, b);
    double x = strtod(a, NULL), y = strtod(b, NULL);
    return (x > y) - (x < y);
}

static void space(run *r) {
    r->at += strspn(r->at, " \t");
}

static bool malformed(run *r) {
    if (r->error == FILTER_NO)
        r->error = FILTER_MALFORMED;
    return false;
}

static sim_slice word(run *r) {
    space(r);
    const char *start = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    return (sim_slice){start, (size_t)(r->at - start)};
}

static bool next_word_is(run *r, const char *text) {
    const char *back = r->at;
    if (slice_is(word(r), text))
        return true;
    r->at = back;
    return false;
}

/* 'text' with '' for a quote, a number, or null (NULL with *ret_null); a new text. */
static char *literal(run *r, bool *ret_null, bool *ret_number) {
    sim_text t = {0};
    space(r);
    *ret_null = *ret_number = false;
    if (*r->at != '\'') {
        sim_slice s = {r->at, strspn(r->at, "0123456789.+-eE")};
        *ret_number = s.len > 0;
        *ret_null = !*ret_number && next_word_is(r, "null");
        if (!*ret_number)
            return NULL;
        r->at += s.len;
        return sim_copy(s.at, s.len);
    }
    text_add(&t, "", 0);
    for (r->at++; *r->at && !(r->at[0] == '\'' && r->at[1] != '\''); r->at++) {
        r->at += r->at[0] == '\'';
        text_add(&t, r->at, 1);
    }
    if (*r->at == '\'') {
        r->at++;
        return t.at;
    }
    text_free(&t);
    return NULL;
}

/* eq, ne, lt, le, gt, ge as the set of orders that satisfy them: bit 0 less, 1 equal, 2 greater */
static unsigned operator_set(sim_slice s) {
    static const struct {
        const char *name;
        unsigned set;
    } operators[] = {{"eq", 2}, {"ne", 5}, {"lt", 1}, {"le", 3}, {"gt", 4}, {"ge", 6}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (slice_is(s, operators[i].name))
            return operators[i].set;
    return 0;
}

static bool compare(const run *r, sim_slice name, unsigned set, const char *right, bool numbers) {
    if (!r->row)
        return true;
    char *key = sim_copy(name.at, name.len), *left = row_text(r->row, key);
    bool yes;
    if (!left || !right) /* null equals only null */
        yes = (!left && !right) ? (set & 2u) != 0 : set == 5u;
    else {
        int order = value_order(left, right, numbers);
        yes = (set & (order < 0 ? 1u : order == 0 ? 2u : 4u)) != 0;
    }
    free(key);
    free(left);
    return yes;
}

static bool comparison(run *r) {
    sim_slice name = word(r);
    if (name.len == 0)
        return malformed(r);
    if (!name_listed(r->known, name) && r->error == FILTER_NO) {
        r->error = FILTER_BAD_PROPERTY;
        snprintf(r->bad, 64, "%.*s", (int)(name.len < 63 ? name.len : 63), name.at);
    }
    unsigned set = operator_set(word(r));
    bool null, number;
    char *right = set ? literal(r, &null, &number) : NULL;
    if (!set || (!right && !null))
        return malformed(r);
    bool yes = compare(r, name, set, right, number);
    free(right);
    return yes;
}

static bool any_of(run *r);

static bool term(run *r) {
    space(r);
    if (*r->at != '(')
        return comparison(r);
    if (++r->depth > DEPTH_MOST)
        return malformed(r);
    r->at++;
    bool yes = any_of(r);
    space(r);
    r->depth--;
    if (*r->at != ')')
        return malformed(r);
    r->at++;
    return yes;
}

/* Both sides are always read, so that each property is checked. */
static bool all_of(run *r) {
    bool yes = term(r);
    while (r->error != FILTER_MALFORMED && next_word_is(r, "and")) {
        bool right = term(r);
        yes = yes && right;
    }
    return yes;
}

static bool any_of(run *r) {
    bool yes = all_of(r);
    while (r->error != FILTER_MALFORMED && next_word_is(r, "or")) {
        bool right = all_of(r);
        yes = yes || right;
    }
    return yes;
}

filter_result filter_run(const char *text, const sim_row *row, const char *known, char ret_property[64]) {
    run r = {.at = text, .row = row, .known = known, .bad = ret_property, .error = FILTER_NO};
    bool yes = any_of(&r);
    space(&r);
    if (*r.at)
        malformed(&r);
    if (r.error != FILTER_NO)
        return r.error;
    return yes ? FILTER_YES : FILTER_NO;
}
