/* SPDX-License-Identifier: MIT */
/* schema_make.c -- one subschema becomes a node: its keywords are checked, its patterns compiled, its names
 * hashed. */
#include "schema_nodes.h"

#include <stdlib.h>
#include <string.h>

enum {
    KIND_NUMBER = 1u << JSON_NUMBER,
    KIND_STRING = 1u << JSON_STRING,
    KIND_ARRAY = 1u << JSON_ARRAY,
    KIND_OBJECT = 1u << JSON_OBJECT
};
enum { LOOK_AT_EACH = 8, ENUM_LOOK_AT_EACH = 16, OPS_MAX = 48 };

/* A node being made: its keywords by number, and the ops so far. */
typedef struct {
    schema_builder *b;
    schema_entry *entry;
    schema_node *node;
    const json_value *rules[KW_COUNT];
    schema_op ops[OPS_MAX];
    uint16_t count;
} making;

static const char *rule_wants[RULE_KINDS] = {
    [RULE_BOOL] = "true or false",
    [RULE_STRING] = "a text",
    [RULE_NUMBER] = "a number",
    [RULE_POSITIVE] = "a number greater than 0",
    [RULE_COUNT] = "a non-negative integer",
    [RULE_TYPE] = "a type's name, or a list of them",
    [RULE_LIST] = "a list",
    [RULE_NAMES] = "a list of texts",
    [RULE_NAME_LISTS] = "an object of lists of texts",
    [RULE_SCHEMA] = "a schema (an object, true or false)",
    [RULE_SCHEMAS] = "a list of at least one schema",
    [RULE_SCHEMA_MAP] = "an object of schemas",
    [RULE_ITEMS] = "a schema, or in draft-07 a list of them",
    [RULE_DEPENDENCIES] = "an object of schemas and lists of names",
};

static bool is_text(const json_value *v) {
    return json_is(v, JSON_STRING);
}

static bool is_names(const json_value *v) {
    bool ok = json_is(v, JSON_ARRAY);
    for (json_iter it = json_iterate(v); ok && json_next(&it);)
        ok = is_text(it.value);
    return ok;
}

static bool is_dependency(const json_value *v) {
    return schema_is_one(v) || is_names(v);
}

static bool all_are(const json_value *v, json_kind kind, bool (*test)(const json_value *)) {
    bool ok = json_is(v, kind);
    for (json_iter it = json_iterate(v); ok && json_next(&it);)
        ok = test(it.value);
    return ok;
}

static int sign_of(const json_value *number) {
    json_text t = json_text_of(number);
    bool zero = true;
    for (size_t i = 0; i < t.len && t.at[i] != 'e' && t.at[i] != 'E'; i++)
        zero = zero && (t.at[i] < '1' || t.at[i] > '9');
    return zero ? 0 : t.at[0] == '-' ? -1 : 1;
}

static bool rule_fits(rule_kind kind, const json_value *v, uint8_t draft) {
    switch (kind) {
    case RULE_BOOL:
        return json_is(v, JSON_BOOL);
    case RULE_STRING:
        return is_text(v);
    case RULE_NUMBER:
        return json_is(v, JSON_NUMBER);
    case RULE_POSITIVE:
        return json_is(v, JSON_NUMBER) && sign_of(v) > 0;
    case RULE_COUNT:
        return json_is(v, JSON_NUMBER) && sign_of(v) >= 0 && json_number_is_integer(v);
    case RULE_TYPE:
        return is_text(v) || (is_names(v) && json_count(v));
    case RULE_LIST:
        return json_is(v, JSON_ARRAY);
    case RULE_NAMES:
        return is_names(v);
    case RULE_NAME_LISTS:
        return all_are(v, JSON_OBJECT, is_names);
    case RULE_SCHEMA:
        return schema_is_one(v);
    case RULE_SCHEMAS:
        return all_are(v, JSON_ARRAY, schema_is_one) && json_count(v);
    case RULE_SCHEMA_MAP:
        return all_are(v, JSON_OBJECT, schema_is_one);
    case RULE_ITEMS:
        return schema_is_one(v) || (draft == DRAFT_7 && all_are(v, JSON_ARRAY, schema_is_one));
    case RULE_DEPENDENCIES:
        return all_are(v, JSON_OBJECT, is_dependency);
    default:
        return true;
    }
}

/* ---- pieces ---- */

static void *take(making *m, size_t count, size_t size) {
    void *p = arena_zalloc(&m->b->s->memory, count * size);
    if (!p)
        schema_no_memory(m->b);
    return p;
}

static schema_op *add_op(making *m, schema_op_code code, uint32_t kinds, keyword_id keyword) {
    schema_op *op = &m->ops[m->count++];
    *op = (schema_op){.code = (uint8_t)code,
                      .kinds = (uint8_t)kinds,
                      .keyword = (uint8_t)keyword,
                      .rule = m->rules[keyword]};
    return op;
}

static schema_node *child(making *m, const json_value *v) {
    schema_entry *e = schema_entry_make(m->b, v, m->entry->resource);
    return e ? schema_node_of(m->b, e) : NULL;
}

static schema_branches *children(making *m, const json_value *list) {
    schema_branches *r = take(m, 1, sizeof *r);
    if (!r || !(r->list = take(m, json_count(list), sizeof *r->list)))
        return NULL;
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (!(r->list[r->count++] = child(m, it.value)))
            return NULL;
    return r;
}

static regex *pattern(making *m, const json_value *at) {
    const schema_limits *limits = &m->b->s->limits;
    json_text text = json_text_of(at);
    char why[160];
    struct schema_regex *r = take(m, 1, sizeof *r);
    if (!r)
        return NULL;
    r->re = regex_compile(text.at, text.len, limits->regex_match, limits->regex_heap_kib, why, sizeof why);
    if (!r->re)
        return (void)schema_refuse(m->b, at, "the pattern '%.*s' is unusable: %s",
                                   (int)(text.len < 100 ? text.len : 100), text.at, why),
               NULL;
    r->next = m->b->s->regexes;
    m->b->s->regexes = r;
    m->b->s->regex_bytes += regex_size(r->re);
    if (m->b->s->regex_bytes > SCHEMA_REGEX_MAX)
        return (void)schema_refuse(m->b, at, "the patterns take more than %d MiB", SCHEMA_REGEX_MAX >> 20),
               NULL;
    return r->re;
}

static uint64_t bound_of(const json_value *number) {
    int64_t n;
    return json_int64(number, &n) ? (uint64_t)n : UINT64_MAX; /* checked: a non-negative integer */
}

/* ---- keywords ---- */

static const struct {
    const char *name;
    uint8_t bits;
} types[] = {
    {"null", 1u << JSON_NULL},
    {"boolean", 1u << JSON_BOOL},
    {"number", 1u << JSON_NUMBER | SCHEMA_INTEGER_BIT},
    {"string", 1u << JSON_STRING},
    {"array", 1u << JSON_ARRAY},
    {"object", 1u << JSON_OBJECT},
    {"integer", SCHEMA_INTEGER_BIT},
};

static bool add_type(making *m, const json_value *name, uint8_t *bits) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_text_is(name, types[i].name)) {
            *bits |= types[i].bits;
            return true;
        }
    json_text t = json_text_of(name);
    return schema_refuse(m->b, name, "there is no type '%.*s'", (int)t.len, t.at);
}

static bool make_type(making *m) {
    const json_value *rule = m->rules[KW_TYPE];
    if (!rule)
        return true;
    m->node->types = 0;
    if (is_text(rule))
        return add_type(m, rule, &m->node->types);
    for (json_iter it = json_iterate(rule); json_next(&it);)
        if (!add_type(m, it.value, &m->node->types))
            return false;
    return true;
}

static int by_hash(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Many values are found by hash; hash and item lie together while sorting. */
static bool sort_enum(making *m, schema_enum *e) {
    struct pair {
        uint64_t hash;
        const json_value *item;
    } *pairs = calloc(e->count, sizeof *pairs);
    uint64_t *hashes = take(m, e->count, sizeof *hashes);
    if (!pairs || !hashes) {
        free(pairs);
        return schema_no_memory(m->b);
    }
    for (uint32_t i = 0; i < e->count; i++)
        pairs[i] = (struct pair){schema_hash(e->items[i]), e->items[i]};
    qsort(pairs, e->count, sizeof *pairs, by_hash);
    for (uint32_t i = 0; i < e->count; i++) {
        hashes[i] = pairs[i].hash;
        e->items[i] = pairs[i].item;
    }
    free(pairs);
    e->hashes = hashes;
    return true;
}

static bool make_enum(making *m) {
    const json_value *rule = m->rules[KW_ENUM];
    if (!rule)
        return true;
    schema_enum *e = take(m, 1, sizeof *e);
    if (!e || !(e->items = take(m, json_count(rule) + 1, sizeof *e->items)))
        return false;
    for (json_iter it = json_iterate(rule); json_next(&it);)
        e->items[e->count++] = it.value;
    add_op(m, OP_ENUM, TYPES_ALL, KW_ENUM)->u.values = e;
    return e->count <= ENUM_LOOK_AT_EACH || sort_enum(m, e);
}

/* Keywords that are one op with a number. */
static const struct {
    uint8_t keyword, code, kinds;
} bounds[] = {
    {KW_MINIMUM, OP_NUMBER_BOUND, KIND_NUMBER},
    {KW_MAXIMUM, OP_NUMBER_BOUND, KIND_NUMBER},
    {KW_EXCLUSIVE_MINIMUM, OP_NUMBER_BOUND, KIND_NUMBER},
    {KW_EXCLUSIVE_MAXIMUM, OP_NUMBER_BOUND, KIND_NUMBER},
    {KW_MULTIPLE_OF, OP_MULTIPLE_OF, KIND_NUMBER},
    {KW_MIN_LENGTH, OP_MIN_LENGTH, KIND_STRING},
    {KW_MAX_LENGTH, OP_MAX_LENGTH, KIND_STRING},
    {KW_MIN_ITEMS, OP_MIN_COUNT, KIND_ARRAY},
    {KW_MAX_ITEMS, OP_MAX_COUNT, KIND_ARRAY},
    {KW_MIN_PROPERTIES, OP_MIN_COUNT, KIND_OBJECT},
    {KW_MAX_PROPERTIES, OP_MAX_COUNT, KIND_OBJECT},
};

static bool make_values(making *m) {
    if (m->rules[KW_CONST])
        add_op(m, OP_CONST, TYPES_ALL, KW_CONST);
    if (!make_enum(m))
        return false;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        keyword_id k = bounds[i].keyword;
        if (m->rules[k])
            add_op(m, bounds[i].code, bounds[i].kinds, k)->u.bound =
                schema_keywords[k].rule == RULE_COUNT ? bound_of(m->rules[k]) : 0;
    }
    return true;
}

static bool make_texts(making *m) {
    const json_value *rule = m->rules[KW_PATTERN], *name = m->rules[KW_FORMAT];
    if (rule) {
        const regex *re = pattern(m, rule);
        if (!re)
            return false;
        add_op(m, OP_PATTERN, KIND_STRING, KW_PATTERN)->u.re = re;
    }
    schema_format_fn *fn =
        name && m->entry->resource->assert_format ? schema_format_find(json_text_of(name)) : NULL;
    if (fn)
        add_op(m, OP_FORMAT, KIND_STRING, KW_FORMAT)->u.format = fn;
    return true;
}

static bool key_is(const schema_property *p, json_text name) {
    json_text key = json_text_of(p->key);
    return key.len == name.len && !memcmp(key.at, name.at, name.len);
}

/* The property of that name in a table being filled; a new one when there is none. */
static schema_property *property_slot(schema_property *list, schema_object *o, uint32_t *slots,
                                      const json_value *key) {
    json_text name = json_text_of(key);
    size_t i = (size_t)schema_hash_text(name.at, name.len) & o->mask;
    while (slots[i] && !key_is(&list[slots[i] - 1], name))
        i = (i + 1) & o->mask;
    if (!slots[i]) {
        list[o->count].key = key;
        slots[i] = ++o->count;
    }
    return &list[slots[i] - 1];
}

static bool make_properties(making *m, schema_object *o) {
    const json_value *map = m->rules[KW_PROPERTIES], *names = m->rules[KW_REQUIRED];
    size_t most = json_count(map) + json_count(names), size = 16;
    while (size < most * 2)
        size *= 2;
    schema_property *list = take(m, most + 1, sizeof *list);
    uint32_t *slots = list ? take(m, size, sizeof *slots) : NULL;
    if (!slots)
        return false;
    o->mask = (uint32_t)(size - 1);
    for (json_iter it = json_iterate(map); json_next(&it);)
        if (!(property_slot(list, o, slots, it.key)->node = child(m, it.value)))
            return false;
    for (json_iter it = json_iterate(names); json_next(&it);) {
        schema_property *p = property_slot(list, o, slots, it.value);
        o->required += !p->required;
        p->required = true;
    }
    o->list = list;
    o->slots = slots;
    if (o->count <= LOOK_AT_EACH)
        o->mask = 0;
    return true;
}

static bool make_patterns(making *m, schema_object *o) {
    const json_value *map = m->rules[KW_PATTERN_PROPERTIES];
    schema_pattern *list = take(m, json_count(map) + 1, sizeof *list);
    if (!list)
        return false;
    o->patterns = list;
    for (json_iter it = json_iterate(map); json_next(&it);) {
        schema_pattern *p = &list[o->pattern_count++];
        p->key = it.key;
        if (!(p->re = pattern(m, it.key)) || !(p->node = child(m, it.value)))
            return false;
    }
    return true;
}

static bool make_object(making *m) {
    const json_value *additional = m->rules[KW_ADDITIONAL_PROPERTIES], *names = m->rules[KW_PROPERTY_NAMES];
    if (names) {
        const schema_node *n = child(m, names);
        if (!n)
            return false;
        add_op(m, OP_NAMES, KIND_OBJECT, KW_PROPERTY_NAMES)->u.node = n;
    }
    if (!m->rules[KW_PROPERTIES] && !m->rules[KW_REQUIRED] && !m->rules[KW_PATTERN_PROPERTIES] && !additional)
        return true;
    schema_object *o = take(m, 1, sizeof *o);
    if (!o || !make_properties(m, o) || !make_patterns(m, o))
        return false;
    if (additional && !(o->additional = child(m, additional)))
        return false;
    o->required_rule = m->rules[KW_REQUIRED];
    add_op(m, OP_OBJECT, KIND_OBJECT, KW_PROPERTIES)->u.object = o;
    return true;
}

static bool make_array(making *m) {
    bool old = m->entry->resource->draft == DRAFT_7;
    bool list = json_is(m->rules[KW_ITEMS], JSON_ARRAY);
    const json_value *prefix = old ? (list ? m->rules[KW_ITEMS] : NULL) : m->rules[KW_PREFIX_ITEMS];
    const json_value *rest = list ? m->rules[KW_ADDITIONAL_ITEMS] : m->rules[KW_ITEMS];
    if (!prefix && !rest)
        return true;
    schema_array *r = take(m, 1, sizeof *r);
    schema_branches *nodes = r && prefix ? children(m, prefix) : NULL;
    if (!r || (prefix && !nodes))
        return false;
    if (nodes) {
        r->prefix = nodes->list;
        r->prefix_count = nodes->count;
    }
    r->prefix_keyword = old ? "items" : "prefixItems";
    r->rest_keyword = list ? "additionalItems" : "items";
    if (rest && !(r->rest = child(m, rest)))
        return false;
    add_op(m, OP_ARRAY, KIND_ARRAY, KW_ITEMS)->u.array = r;
    return true;
}

static bool make_contains(making *m) {
    const json_value *rule = m->rules[KW_CONTAINS], *min = m->rules[KW_MIN_CONTAINS],
                     *max = m->rules[KW_MAX_CONTAINS];
    if (rule) {
        schema_contains *c = take(m, 1, sizeof *c);
        if (!c || !(c->node = child(m, rule)))
            return false;
        c->min = min ? bound_of(min) : 1;
        c->max = max ? bound_of(max) : UINT64_MAX;
        c->min_rule = min;
        c->max_rule = max;
        c->marks = m->entry->resource->draft != DRAFT_7;
        add_op(m, OP_CONTAINS, KIND_ARRAY, KW_CONTAINS)->u.contains = c;
    }
    if (json_bool(m->rules[KW_UNIQUE_ITEMS]))
        add_op(m, OP_UNIQUE, KIND_ARRAY, KW_UNIQUE_ITEMS);
    return true;
}

static bool make_dependent(making *m, keyword_id k) {
    const json_value *map = m->rules[k];
    if (!map || !json_count(map))
        return true;
    schema_dependents *d = take(m, 1, sizeof *d);
    schema_dependent *list = d ? take(m, json_count(map), sizeof *list) : NULL;
    if (!list)
        return false;
    d->list = list;
    for (json_iter it = json_iterate(map); json_next(&it);) {
        schema_dependent *one = &list[d->count++];
        one->key = it.key;
        if (json_is(it.value, JSON_ARRAY))
            one->names = it.value;
        else if (!(one->node = child(m, it.value)))
            return false;
    }
    add_op(m, OP_DEPENDENT, KIND_OBJECT, k)->u.dependents = d;
    return true;
}

static bool make_dependents(making *m) {
    return make_dependent(m, KW_DEPENDENT_REQUIRED) && make_dependent(m, KW_DEPENDENT_SCHEMAS) &&
           make_dependent(m, KW_DEPENDENCIES);
}

static bool make_ref(making *m, keyword_id k, schema_op_code code) {
    const schema_target *anchor;
    if (!m->rules[k])
        return true;
    schema_entry *e = schema_resolve(m->b, m->entry->resource, m->rules[k], &anchor);
    schema_node *n = e ? schema_node_of(m->b, e) : NULL;
    if (!n)
        return false;
    schema_op *op = add_op(m, OP_REF, TYPES_ALL, k);
    op->u.node = n;
    if (code != OP_DYNAMIC_REF || !anchor || !anchor->dynamic)
        return true;
    op->code = (uint8_t)code;
    const char *name = strchr(anchor->key, '#') + 1;
    schema_builder *b = m->b;
    while (op->number < b->dynamic_count && strcmp(b->dynamic_names[op->number], name) != 0)
        op->number++;
    if (op->number < b->dynamic_count)
        return true;
    if (b->dynamic_count == SCHEMA_DYNAMIC_MAX)
        return schema_refuse(b, m->rules[k], "more than %d names of dynamic anchors", SCHEMA_DYNAMIC_MAX);
    b->dynamic_names[b->dynamic_count++] = name;
    b->s->dynamic = true;
    return true;
}

static bool make_refs(making *m) {
    return make_ref(m, KW_REF, OP_REF) && make_ref(m, KW_DYNAMIC_REF, OP_DYNAMIC_REF);
}

static const struct {
    uint8_t keyword, code;
} branchings[] = {{KW_ALL_OF, OP_ALL_OF}, {KW_ANY_OF, OP_ANY_OF}, {KW_ONE_OF, OP_ONE_OF}};

static bool make_branches(making *m) {
    for (size_t i = 0; i < sizeof branchings / sizeof *branchings; i++) {
        keyword_id k = branchings[i].keyword;
        if (!m->rules[k])
            continue;
        const schema_branches *list = children(m, m->rules[k]);
        if (!list)
            return false;
        add_op(m, branchings[i].code, TYPES_ALL, k)->u.branches = list;
    }
    return true;
}

static bool make_condition(making *m) {
    if (m->rules[KW_NOT]) {
        const schema_node *n = child(m, m->rules[KW_NOT]);
        if (!n)
            return false;
        add_op(m, OP_NOT, TYPES_ALL, KW_NOT)->u.node = n;
    }
    if (!m->rules[KW_IF])
        return true;
    schema_condition *c = take(m, 1, sizeof *c);
    if (!c || !(c->test = child(m, m->rules[KW_IF])))
        return false;
    if (m->rules[KW_THEN] && !(c->then = child(m, m->rules[KW_THEN])))
        return false;
    if (m->rules[KW_ELSE] && !(c->otherwise = child(m, m->rules[KW_ELSE])))
        return false;
    add_op(m, OP_IF, TYPES_ALL, KW_IF)->u.condition = c;
    return true;
}

static bool make_unevaluated(making *m) {
    static const struct {
        uint8_t keyword, kind;
    } both[] = {{KW_UNEVALUATED_ITEMS, KIND_ARRAY}, {KW_UNEVALUATED_PROPERTIES, KIND_OBJECT}};
    for (size_t i = 0; i < 2; i++) {
        const json_value *rule = m->rules[both[i].keyword];
        const schema_node *n = rule ? child(m, rule) : NULL;
        if (rule && !n)
            return false;
        if (n) {
            add_op(m, OP_UNEVALUATED, both[i].kind, both[i].keyword)->u.node = n;
            m->node->unevaluated = true;
        }
    }
    return true;
}

/* Nothing can fail there, but what is there is compiled too, so that it is known to be usable. */
static bool make_definitions(making *m) {
    static const uint8_t maps[] = {KW_DEFS, KW_DEFINITIONS};
    for (size_t i = 0; i < sizeof maps; i++)
        for (json_iter it = json_iterate(m->rules[maps[i]]); json_next(&it);)
            if (!child(m, it.value))
                return false;
    return true;
}

/* In the order of evaluation: the cheap and telling ones first, unevaluated* last. */
static bool (*const makers[])(making *) = {
    make_type,       make_values, make_texts,    make_object,    make_array,       make_contains,
    make_dependents, make_refs,   make_branches, make_condition, make_unevaluated, make_definitions,
};

/* ---- nodes ---- */

static bool read_rules(making *m) {
    const schema_resource *r = m->entry->resource;
    for (json_iter it = json_iterate(m->entry->value); json_next(&it);) {
        json_text name = json_text_of(it.key);
        keyword_id k = schema_keyword_find(name.at, name.len);
        if (k == KW_COUNT || !(schema_keywords[k].drafts & r->draft) ||
            !(schema_keywords[k].vocab & (r->vocab | VOCAB_FORMAT)))
            continue;
        if (!rule_fits(schema_keywords[k].rule, it.value, r->draft))
            return schema_refuse(m->b, it.value, "%s must be %s", schema_keywords[k].name,
                                 rule_wants[schema_keywords[k].rule]);
        m->rules[k] = it.value;
    }
    if (r->draft == DRAFT_7 && m->rules[KW_REF]) { /* draft-07: $ref stands alone */
        const json_value *ref = m->rules[KW_REF], *definitions = m->rules[KW_DEFINITIONS];
        memset(m->rules, 0, sizeof m->rules);
        m->rules[KW_REF] = ref;
        m->rules[KW_DEFINITIONS] = definitions;
    }
    return true;
}

bool schema_make(schema_builder *b, schema_entry *e) {
    making m = {.b = b, .entry = e, .node = e->node};
    if (json_is(e->value, JSON_BOOL)) {
        e->node->refuses = !json_bool(e->value);
        if (e->node->refuses)
            e->node->types = 0;
        return true;
    }
    if (!read_rules(&m))
        return false;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (!makers[i](&m))
            return false;
    schema_op *ops = take(&m, m.count, sizeof *ops);
    if (!ops)
        return false;
    memcpy(ops, m.ops, m.count * sizeof *ops);
    e->node->ops = ops;
    e->node->op_count = m.count;
    return true;
}
