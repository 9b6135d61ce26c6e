/* SPDX-License-Identifier: MIT */
/* schema_validate.c -- runs the nodes over an instance. First only the verdict; when it is "invalid" and
 * somebody wants to know why, once more with a collector. The C stack is bounded by the depth limit. */
#include "schema_nodes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Which members or items of one instance were evaluated; marks can be taken back to an earlier count. */
typedef struct {
    uint64_t *bits;
    uint32_t *journal;
    uint32_t size, marked;
} tracker;
enum { REGEX_TIMED = 8, REGEX_NS_PER_STEP = 100 };
enum { TRACK_INLINE = 64, UNIQUE_PAIRWISE = 12, UNIQUE_INLINE = 64 };

static bool evaluate(schema_eval *e, const schema_node *n, const json_value *v, tracker *t,
                     const schema_frame *up);

/* ---- bookkeeping ---- */

static bool spend(schema_eval *e, uint64_t steps, const schema_frame *up, const json_value *v) {
    if (e->steps < steps)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_STEPS, up, v, NULL);
    e->steps -= steps;
    return true;
}

static uint64_t nodes_in(const json_value *v) {
    return (uint64_t)(json_skip(v) - v);
}

static void mark(tracker *t, uint32_t i) {
    if (t->bits[i >> 6] >> (i & 63) & 1)
        return;
    t->bits[i >> 6] |= (uint64_t)1 << (i & 63);
    t->journal[t->marked++] = i;
}

static void take_back(tracker *t, uint32_t to) {
    while (t && t->marked > to) {
        uint32_t i = t->journal[--t->marked];
        t->bits[i >> 6] &= ~((uint64_t)1 << (i & 63));
    }
}

static bool is_marked(const tracker *t, uint32_t i) {
    return t->bits[i >> 6] >> (i & 63) & 1;
}

static uint32_t marks_of(const tracker *t) {
    return t ? t->marked : 0;
}

static schema_frame at_keyword(const schema_frame *up, const char *keyword) {
    return (schema_frame){.up = up, .keyword = keyword, .index = NO_INDEX, .item = NO_INDEX};
}

static const char *keyword_of(const schema_op *op) {
    return schema_keywords[op->keyword].name;
}

/* Evaluates without telling anybody what fails. */
static bool try(schema_eval *e, const schema_node *n, const json_value *v, tracker *t,
                const schema_frame *up) {
    schema_collector *out = e->out;
    uint32_t before = marks_of(t);
    e->out = NULL;
    bool ok = evaluate(e, n, v, t, up);
    e->out = out;
    if (!ok)
        take_back(t, before);
    return ok;
}

/* Tells of op when somebody listens; always false, so that failing is one line. */
static bool refuse(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v) {
    if (e->out)
        schema_tell_op(e, op, up, v);
    return false;
}

/* ---- values ---- */

static bool run_const(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                      const schema_frame *up) {
    (void)t;
    if (!spend(e, nodes_in(op->rule) / 4, up, v))
        return false;
    return json_equal(v, op->rule) || refuse(e, op, up, v);
}

/* The first of the hashes that is not below h. */
static uint32_t first_at_least(const uint64_t *hashes, uint32_t count, uint64_t h) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (hashes[mid] < h)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool run_enum(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                     const schema_frame *up) {
    (void)t;
    const schema_enum *list = op->u.values;
    if (!spend(e, nodes_in(v) / 4, up, v))
        return false;
    uint64_t h = list->hashes ? schema_hash(v) : 0;
    uint32_t i = list->hashes ? first_at_least(list->hashes, list->count, h) : 0;
    for (; i < list->count && (!list->hashes || list->hashes[i] == h); i++)
        if (json_equal(v, list->items[i]))
            return true;
    return refuse(e, op, up, v);
}

static bool run_number_bound(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                             const schema_frame *up) {
    (void)t;
    int order = json_number_compare(v, op->rule);
    bool ok = op->keyword == KW_MINIMUM             ? order >= 0
              : op->keyword == KW_MAXIMUM           ? order <= 0
              : op->keyword == KW_EXCLUSIVE_MINIMUM ? order > 0
                                                    : order < 0;
    return ok || refuse(e, op, up, v);
}

static bool run_multiple_of(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                            const schema_frame *up) {
    (void)t;
    return json_number_is_multiple(v, op->rule) || refuse(e, op, up, v);
}

static bool run_length(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    (void)t;
    json_text text = json_text_of(v);
    bool min = op->code == OP_MIN_LENGTH;
    if (min ? text.len / 4 >= op->u.bound : text.len <= op->u.bound) /* decided without counting */
        return true;
    if (!spend(e, text.len / 256, up, v))
        return false;
    uint64_t n = json_code_points(text.at, text.len);
    if (min ? n >= op->u.bound : n <= op->u.bound)
        return true;
    if (e->out)
        schema_tell_bound(e,
                          !min ? SCHEMA_SAYS_MAX_LENGTH
                          : n  ? SCHEMA_SAYS_MIN_LENGTH
                               : SCHEMA_SAYS_MIN_LENGTH_EMPTY,
                          op, up, v, op->u.bound, n);
    return false;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* PCRE2 does not tell how much work a search was, so its time is charged: many texts that each stay just
 * below the match limit must not add up without end. */
static regex_verdict search(schema_eval *e, const regex *re, json_text text) {
    bool timed = text.len >= REGEX_TIMED && !regex_is_plain(re);
    uint64_t from = timed ? now_ns() : 0;
    regex_verdict found = regex_search(re, text.at, text.len);
    uint64_t cost = timed ? (now_ns() - from) / REGEX_NS_PER_STEP : text.len / 64;
    e->steps -= cost < e->steps ? cost : e->steps;
    return found;
}

static bool run_pattern(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                        const schema_frame *up) {
    (void)t;
    regex_verdict found = search(e, op->u.re, json_text_of(v));
    if (found == REGEX_LIMIT)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_REGEX, up, v, op->rule);
    return found == REGEX_YES || refuse(e, op, up, v);
}

static bool run_format(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    (void)t;
    json_text text = json_text_of(v);
    return op->u.format(text.at, text.len) || refuse(e, op, up, v);
}

static bool run_count(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                      const schema_frame *up) {
    (void)t;
    static const schema_message says[KW_COUNT] = {
        [KW_MIN_ITEMS] = SCHEMA_SAYS_MIN_ITEMS,
        [KW_MAX_ITEMS] = SCHEMA_SAYS_MAX_ITEMS,
        [KW_MIN_PROPERTIES] = SCHEMA_SAYS_MIN_PROPERTIES,
        [KW_MAX_PROPERTIES] = SCHEMA_SAYS_MAX_PROPERTIES,
    };
    uint64_t n = json_count(v);
    if (op->code == OP_MIN_COUNT ? n >= op->u.bound : n <= op->u.bound)
        return true;
    if (e->out)
        schema_tell_bound(e, says[op->keyword], op, up, v, op->u.bound, n);
    return false;
}

/* ---- uniqueItems ---- */

typedef struct {
    uint64_t hash;
    const json_value *item;
    size_t index;
} hashed;

static bool tell_equal(schema_eval *e, const schema_op *op, const json_value *v, const schema_frame *up,
                       size_t i, size_t k) {
    if (e->out)
        schema_tell_bound(e, SCHEMA_SAYS_UNIQUE_ITEMS, op, up, v, i < k ? i : k, i < k ? k : i);
    return false;
}

static bool unique_pairwise(schema_eval *e, const schema_op *op, const json_value *v,
                            const schema_frame *up) {
    size_t i = 0;
    for (json_iter it = json_iterate(v); json_next(&it); i++) {
        size_t k = 0;
        for (json_iter before = json_iterate(v); k < i && json_next(&before); k++)
            if (json_equal(before.value, it.value))
                return tell_equal(e, op, v, up, k, i);
    }
    return true;
}

static int by_hash(const void *a, const void *b) {
    const hashed *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->index > y->index) - (x->index < y->index);
}

static bool run_unique(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    (void)t;
    size_t n = json_count(v), i = 0;
    if (!spend(e, nodes_in(v) * (n <= UNIQUE_PAIRWISE ? 4 : 2), up, v))
        return false;
    if (n <= UNIQUE_PAIRWISE)
        return unique_pairwise(e, op, v, up);
    hashed few[UNIQUE_INLINE], *list = n <= UNIQUE_INLINE ? few : arena_alloc(e->a, n * sizeof *list);
    if (!list)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_MEMORY, up, v, op->rule);
    for (json_iter it = json_iterate(v); json_next(&it); i++)
        list[i] = (hashed){schema_hash(it.value), it.value, i};
    qsort(list, n, sizeof *list, by_hash);
    for (i = 1; i < n; i++)
        for (size_t k = i; k-- && list[k].hash == list[i].hash;) {
            if (json_equal(list[k].item, list[i].item))
                return tell_equal(e, op, v, up, list[k].index, list[i].index);
            if (!spend(e, nodes_in(list[i].item), up, v))
                return false;
        }
    return true;
}

/* ---- objects ---- */

const schema_property *schema_property_find(const schema_object *o, const json_value *key) {
    size_t len = (size_t)(key->tag >> 16);
    const char *at = key->u.text;
    if (!o->mask) {
        for (const schema_property *p = o->list; p < o->list + o->count; p++)
            if (p->key->tag >> 16 == len && !memcmp(p->key->u.text, at, len))
                return p;
        return NULL;
    }
    for (size_t i = (size_t)schema_hash_text(at, len) & o->mask; o->slots[i]; i = (i + 1) & o->mask) {
        const schema_property *p = &o->list[o->slots[i] - 1];
        if (p->key->tag >> 16 == len && !memcmp(p->key->u.text, at, len))
            return p;
    }
    return NULL;
}

static bool eval_member(schema_eval *e, const schema_node *n, const char *keyword, const json_value *rule_key,
                        const json_value *key, const schema_frame *up) {
    if (n->types == TYPES_ALL && !n->op_count)
        return true;
    schema_frame f = {
        .up = up, .keyword = keyword, .key = rule_key, .index = NO_INDEX, .member = key, .item = NO_INDEX};
    return evaluate(e, n, key + 1, NULL, &f);
}

/* patternProperties for one member; *ret_matched: a pattern named it. */
static bool run_patterns(schema_eval *e, const schema_object *o, const json_value *key,
                         const schema_frame *up, bool *ret_matched) {
    json_text name = json_text_of(key);
    bool ok = true;
    for (const schema_pattern *p = o->patterns; p < o->patterns + o->pattern_count; p++) {
        regex_verdict found = search(e, p->re, name);
        if (found == REGEX_LIMIT)
            return schema_stop(e, SCHEMA_SAYS_LIMIT_REGEX, up, key, p->key);
        if (found == REGEX_NO)
            continue;
        *ret_matched = true;
        ok &= eval_member(e, p->node, "patternProperties", p->key, key, up);
        if (!ok && !e->out)
            return false;
    }
    return ok;
}

static bool run_member(schema_eval *e, const schema_op *op, const json_value *v, const json_value *key,
                       const schema_property *p, const schema_frame *up, bool *ret_evaluated) {
    const schema_object *o = op->u.object;
    bool named = p && p->node;
    bool ok = !named || eval_member(e, p->node, "properties", p->key, key, up);
    if (o->pattern_count && (ok || e->out))
        ok &= run_patterns(e, o, key, up, &named);
    *ret_evaluated = named || o->additional;
    if (named || !o->additional || (!ok && !e->out))
        return ok;
    if (!o->additional->refuses)
        return ok & eval_member(e, o->additional, "additionalProperties", NULL, key, up);
    if (e->out)
        schema_tell_unknown(e, op, "additionalProperties", up, v, key);
    return false;
}

static bool run_object(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    const schema_object *o = op->u.object;
    uint32_t seen = 0, i = 0;
    bool ok = spend(e, json_count(v) / 4, up, v);
    for (json_iter it = json_iterate(v); json_next(&it); i++) {
        const schema_property *p = o->count ? schema_property_find(o, it.key) : NULL;
        bool evaluated;
        seen += p && p->required;
        ok &= run_member(e, op, v, it.key, p, up, &evaluated);
        if (!ok && (!e->out || e->stopped))
            return false;
        if (t && evaluated)
            mark(t, i);
    }
    if (seen == o->required)
        return ok;
    if (e->out)
        schema_tell_missing(e, op, up, v);
    return false;
}

static bool run_names(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                      const schema_frame *up) {
    (void)t;
    bool ok = true;
    for (json_iter it = json_iterate(v); json_next(&it);) {
        schema_frame f = at_keyword(up, keyword_of(op));
        if (try(e, op->u.node, it.key, NULL, &f))
            continue;
        ok = false;
        if (!e->out || e->stopped)
            return false;
        schema_collector why = {.last = &why.first, .max = 1}, *out = e->out;
        e->out = &why;
        evaluate(e, op->u.node, it.key, NULL, &f);
        e->out = out;
        schema_tell_name(e, op, up, v, it.key, &why);
    }
    return ok;
}

/* Names that key asks for are all there. */
static bool run_names_there(schema_eval *e, const schema_op *op, const schema_dependent *d,
                            const json_value *v, const schema_frame *up) {
    bool ok = spend(e, json_count(d->names) * (1 + json_count(v) / 16), up, v);
    for (json_iter it = json_iterate(d->names); json_next(&it);) {
        json_text name = json_text_of(it.value);
        if (json_member_n(v, name.at, name.len))
            continue;
        ok = false;
        schema_failure *told =
            e->out ? schema_tell(e, SCHEMA_SAYS_DEPENDENT_REQUIRED, keyword_of(op), up, v, d->names) : NULL;
        if (told) {
            told->name = name;
            told->other = json_text_of(d->key);
        }
    }
    return ok;
}

static bool run_dependent(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                          const schema_frame *up) {
    const schema_dependents *list = op->u.dependents;
    bool ok = true;
    if (!spend(e, list->count * (1 + json_count(v) / 16), up, v))
        return false;
    for (const schema_dependent *d = list->list; d < list->list + list->count && (ok || e->out); d++) {
        json_text key = json_text_of(d->key);
        if (!json_member_n(v, key.at, key.len))
            continue;
        schema_frame f = {
            .up = up, .keyword = keyword_of(op), .key = d->key, .index = NO_INDEX, .item = NO_INDEX};
        ok &= d->node ? evaluate(e, d->node, v, t, &f) : run_names_there(e, op, d, v, up);
    }
    return ok;
}

/* ---- arrays ---- */

static bool eval_item(schema_eval *e, const schema_node *n, const char *keyword, uint32_t rule_index,
                      const json_value *v, uint32_t i, const schema_frame *up) {
    schema_frame f = {.up = up, .keyword = keyword, .index = rule_index, .item = i};
    return evaluate(e, n, v, NULL, &f);
}

static bool tell_extra(schema_eval *e, const schema_op *op, const char *keyword, const json_value *v,
                       const schema_frame *up, uint64_t limit) {
    if (e->out) {
        schema_failure *f = schema_tell(e, SCHEMA_SAYS_EXTRA_ITEM, keyword, up, v, op->rule);
        if (f) {
            f->limit = limit;
            f->count = json_count(v);
        }
    }
    return false;
}

static bool run_array(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                      const schema_frame *up) {
    const schema_array *a = op->u.array;
    uint32_t i = 0;
    bool ok = true;
    for (json_iter it = json_iterate(v); json_next(&it); i++) {
        if (i < a->prefix_count)
            ok &= eval_item(e, a->prefix[i], a->prefix_keyword, i, it.value, i, up);
        else if (!a->rest)
            break;
        else if (a->rest->refuses)
            return tell_extra(e, op, a->rest_keyword, v, up, a->prefix_count);
        else
            ok &= eval_item(e, a->rest, a->rest_keyword, NO_INDEX, it.value, i, up);
        if (!ok && (!e->out || e->stopped))
            return false;
        if (t)
            mark(t, i);
    }
    return ok;
}

static bool contains_tell(schema_eval *e, const schema_op *op, const json_value *v, const schema_frame *up,
                          uint64_t found) {
    const schema_contains *c = op->u.contains;
    schema_message says = found > c->max ? SCHEMA_SAYS_MAX_CONTAINS
                          : c->min_rule  ? SCHEMA_SAYS_MIN_CONTAINS
                                         : SCHEMA_SAYS_CONTAINS;
    if (e->out)
        schema_tell_bound(e, says, op, up, v, found > c->max ? c->max : c->min, found);
    return false;
}

static bool run_contains(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                         const schema_frame *up) {
    const schema_contains *c = op->u.contains;
    tracker *marks = c->marks ? t : NULL;
    uint64_t found = 0;
    uint32_t i = 0;
    for (json_iter it = json_iterate(v); json_next(&it) && !e->stopped; i++) {
        if (found >= c->min && c->max == UINT64_MAX && !marks)
            return true;
        schema_frame f = {.up = up, .keyword = keyword_of(op), .index = NO_INDEX, .item = i};
        if (!try(e, c->node, it.value, NULL, &f))
            continue;
        if (marks)
            mark(marks, i);
        if (++found > c->max && !e->out)
            return false;
    }
    return (found >= c->min && found <= c->max) || contains_tell(e, op, v, up, found);
}

/* ---- in place ---- */

static bool run_ref(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                    const schema_frame *up) {
    schema_frame f = at_keyword(up, keyword_of(op));
    return evaluate(e, op->u.node, v, t, &f);
}

static bool run_dynamic_ref(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                            const schema_frame *up) {
    const schema_node *n = op->u.node;
    for (const schema_scope *s = e->scope; s; s = s->up) /* the outermost one counts */
        if (s->resource->dynamic && s->resource->dynamic[op->number])
            n = s->resource->dynamic[op->number];
    schema_frame f = at_keyword(up, keyword_of(op));
    return evaluate(e, n, v, t, &f);
}

static schema_frame at_branch(const schema_op *op, uint32_t i, const schema_frame *up) {
    return (schema_frame){.up = up, .keyword = keyword_of(op), .index = i, .item = NO_INDEX};
}

static bool run_all_of(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    const schema_branches *b = op->u.branches;
    bool ok = true;
    for (uint32_t i = 0; i < b->count && (ok || (e->out && !e->stopped)); i++) {
        schema_frame f = at_branch(op, i, up);
        ok &= evaluate(e, b->list[i], v, t, &f);
    }
    return ok;
}

/* What each branch has against v, then the most helpful of it. */
static bool explain(schema_eval *e, const schema_op *op, const json_value *v, const schema_frame *up) {
    const schema_branches *b = op->u.branches;
    schema_collector *out = e->out;
    if (!out || e->stopped)
        return false;
    if (out->count >= out->max) {
        out->more = true;
        return false;
    }
    schema_collector *told = arena_array(e->a, schema_collector, b->count);
    if (!told)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_MEMORY, up, v, op->rule);
    for (uint32_t i = 0; i < b->count && !e->stopped; i++) {
        schema_frame f = at_branch(op, i, up);
        told[i] = (schema_collector){.last = &told[i].first, .max = SCHEMA_FAILURES_DEFAULT};
        e->out = &told[i];
        evaluate(e, b->list[i], v, NULL, &f);
    }
    e->out = out;
    if (!e->stopped)
        schema_tell_branches(e, op, up, v, told, b->count);
    return false;
}

static bool run_any_of(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    const schema_branches *b = op->u.branches;
    bool any = false;
    for (uint32_t i = 0; i < b->count && (!any || t) && !e->stopped; i++) {
        schema_frame f = at_branch(op, i, up);
        any |= try(e, b->list[i], v, t, &f);
    }
    return any || explain(e, op, v, up);
}

static bool run_one_of(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                       const schema_frame *up) {
    const schema_branches *b = op->u.branches;
    uint32_t fitting = 0, first = 0;
    for (uint32_t i = 0; i < b->count && !e->stopped; i++) {
        schema_frame f = at_branch(op, i, up);
        if (!try(e, b->list[i], v, t, &f))
            continue;
        if (++fitting == 1) {
            first = i;
        } else {
            if (e->out)
                schema_tell_bound(e, SCHEMA_SAYS_ONE_OF_MANY, op, up, v, first, i);
            return false;
        }
    }
    return fitting == 1 || explain(e, op, v, up);
}

static bool run_not(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                    const schema_frame *up) {
    (void)t;
    schema_frame f = at_keyword(up, keyword_of(op));
    return !try(e, op->u.node, v, NULL, &f) || refuse(e, op, up, v);
}

static bool run_if(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                   const schema_frame *up) {
    const schema_condition *c = op->u.condition;
    schema_frame f = at_keyword(up, "if");
    if (!c->then && !c->otherwise && !t)
        return true;
    bool yes = try(e, c->test, v, t, &f);
    const schema_node *next = yes ? c->then : c->otherwise;
    if (e->stopped)
        return false;
    f.keyword = yes ? "then" : "else";
    return !next || evaluate(e, next, v, t, &f);
}

/* ---- unevaluated ---- */

static bool run_unevaluated(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                            const schema_frame *up) {
    const schema_node *n = op->u.node;
    const char *keyword = keyword_of(op);
    uint32_t i = 0;
    bool ok = true;
    for (json_iter it = json_iterate(v); json_next(&it); i++) {
        if (is_marked(t, i))
            continue;
        if (n->refuses && !it.key)
            return tell_extra(e, op, keyword, v, up, i);
        if (n->refuses && e->out)
            schema_tell_unknown(e, op, keyword, up, v, it.key);
        ok &= !n->refuses && (it.key ? eval_member(e, n, keyword, NULL, it.key, up)
                                     : eval_item(e, n, keyword, NO_INDEX, it.value, i, up));
        if (!ok && (!e->out || e->stopped))
            return false;
        mark(t, i);
    }
    return ok;
}

/* ---- nodes ---- */

typedef bool run_fn(schema_eval *e, const schema_op *op, const json_value *v, tracker *t,
                    const schema_frame *up);
static run_fn *const runs[OPS] = {
    [OP_CONST] = run_const,
    [OP_ENUM] = run_enum,
    [OP_NUMBER_BOUND] = run_number_bound,
    [OP_MULTIPLE_OF] = run_multiple_of,
    [OP_MIN_LENGTH] = run_length,
    [OP_MAX_LENGTH] = run_length,
    [OP_PATTERN] = run_pattern,
    [OP_FORMAT] = run_format,
    [OP_MIN_COUNT] = run_count,
    [OP_MAX_COUNT] = run_count,
    [OP_UNIQUE] = run_unique,
    [OP_OBJECT] = run_object,
    [OP_NAMES] = run_names,
    [OP_ARRAY] = run_array,
    [OP_CONTAINS] = run_contains,
    [OP_DEPENDENT] = run_dependent,
    [OP_REF] = run_ref,
    [OP_DYNAMIC_REF] = run_dynamic_ref,
    [OP_ALL_OF] = run_all_of,
    [OP_ANY_OF] = run_any_of,
    [OP_ONE_OF] = run_one_of,
    [OP_NOT] = run_not,
    [OP_IF] = run_if,
    [OP_UNEVALUATED] = run_unevaluated,
};

static bool run_ops(schema_eval *e, const schema_node *n, const json_value *v, tracker *t,
                    const schema_frame *up) {
    uint32_t bit = 1u << json_kind_of(v);
    bool ok = true;
    for (const schema_op *op = n->ops, *end = op + n->op_count; op < end; op++)
        if ((op->kinds & bit) && !runs[op->code](e, op, v, t, up)) {
            ok = false;
            if (!e->out || e->stopped)
                break;
        }
    return ok && !e->stopped;
}

/* A node with unevaluated* has marks of its own; those are handed on when it succeeds. */
static __attribute__((noinline)) bool run_tracked(schema_eval *e, const schema_node *n, const json_value *v,
                                                  tracker *outer, const schema_frame *up) {
    uint64_t word = 0;
    uint32_t few[TRACK_INLINE];
    size_t count = json_count(v);
    tracker t = {.bits = &word, .journal = few, .size = (uint32_t)count};
    if (count > TRACK_INLINE) {
        t.bits = arena_zalloc(e->a, (count / 64 + 1) * sizeof *t.bits);
        t.journal = arena_alloc(e->a, count * sizeof *t.journal);
        if (!t.bits || !t.journal)
            return schema_stop(e, SCHEMA_SAYS_LIMIT_MEMORY, up, v, NULL);
    }
    if (!spend(e, count / 8, up, v) || !run_ops(e, n, v, &t, up))
        return false;
    for (uint32_t i = 0; outer && i < t.marked; i++)
        mark(outer, t.journal[i]);
    return true;
}

static __attribute__((noinline)) bool run_marked(schema_eval *e, const schema_node *n, const json_value *v,
                                                 tracker *t, const schema_frame *up) {
    return n->unevaluated && json_kind_of(v) >= JSON_ARRAY ? run_tracked(e, n, v, t, up)
                                                           : run_ops(e, n, v, t, up);
}

/* Entering another resource: the dynamic scope grows. */
static __attribute__((noinline)) bool run_scoped(schema_eval *e, const schema_node *n, const json_value *v,
                                                 tracker *t, const schema_frame *up) {
    schema_scope scope = {e->scope, n->resource};
    e->scope = &scope;
    bool ok = run_marked(e, n, v, t, up);
    e->scope = scope.up;
    return ok;
}

static bool type_fits(const schema_node *n, const json_value *v) {
    json_kind kind = json_kind_of(v);
    if (n->types >> kind & 1)
        return true;
    return kind == JSON_NUMBER && (n->types & SCHEMA_INTEGER_BIT) && json_number_is_integer(v);
}

static bool refuse_type(schema_eval *e, const schema_node *n, const json_value *v, const schema_frame *up) {
    if (e->out && n->refuses)
        schema_tell(e, SCHEMA_SAYS_FALSE, "", up, v, n->source);
    else if (e->out)
        schema_tell_type(e, n->types, "type", up, v, json_member(n->source, "type"));
    return false;
}

static bool evaluate(schema_eval *e, const schema_node *n, const json_value *v, tracker *t,
                     const schema_frame *up) {
    if (!e->steps)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_STEPS, up, v, NULL);
    e->steps--;
    if (!type_fits(n, v))
        return refuse_type(e, n, v, up);
    if (!n->op_count)
        return true;
    if (e->depth >= e->s->limits.depth)
        return schema_stop(e, SCHEMA_SAYS_LIMIT_DEPTH, up, v, NULL);
    e->depth++;
    bool ok;
    if (e->s->dynamic && (!e->scope || e->scope->resource != n->resource))
        ok = run_scoped(e, n, v, t, up);
    else
        ok = n->unevaluated ? run_marked(e, n, v, t, up) : run_ops(e, n, v, t, up);
    e->depth--;
    return ok;
}

/* ---- entry ---- */

static schema_verdict run(schema_eval *e, const json_value *instance) {
    bool ok = evaluate(e, e->s->root, instance, NULL, NULL);
    return e->stopped ? SCHEMA_UNDECIDED : ok ? SCHEMA_VALID : SCHEMA_INVALID;
}

static schema_verdict fill(schema_report *report, const schema_collector *out, arena *a,
                           schema_verdict verdict) {
    report->failures = arena_array(a, schema_failure, out->count + 1);
    report->more = out->more;
    for (const schema_told *t = out->first; t && report->failures; t = t->next)
        report->failures[report->count++] = t->failure;
    return report->failures ? verdict : SCHEMA_UNDECIDED;
}

schema_verdict schema_validate(const schema *s, const json_value *instance, arena *a, schema_report *report) {
    schema_eval e = {.s = s, .a = a, .steps = s->limits.steps};
    if (report) {
        report->count = 0;
        report->more = false;
        report->failures = NULL;
    }
    schema_verdict verdict = run(&e, instance);
    if (!report || verdict == SCHEMA_VALID)
        return verdict;
    schema_collector out = {.last = &out.first, .max = report->max ? report->max : SCHEMA_FAILURES_DEFAULT};
    schema_eval again = {.s = s, .a = a, .steps = s->limits.steps, .out = &out, .all = &out};
    schema_verdict told = run(&again, instance);
    if (verdict == SCHEMA_UNDECIDED &&
        told != SCHEMA_UNDECIDED) /* a time-charged limit that this time was not reached */
        schema_stop(&again, e.why, NULL, instance, NULL);
    return fill(report, &out, a, told == SCHEMA_UNDECIDED ? told : verdict);
}
