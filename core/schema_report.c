/* SPDX-License-Identifier: MIT */
/* schema_report.c -- from what failed to what helps: paths, the nearest name, what to send instead. */
#include "schema_nodes.h"

#include <stdio.h>
#include <string.h>

enum {
    CHOICES_MAX = 64,
    WALK_DEPTH = 8,
    WALK_VISITS = 1000,
    TOLD_MAX = 4000,
    NEAREST_MAX = 48,
    HINT_MAX = 120
};

/* ---- paths ---- */

typedef struct {
    char *at;
    size_t len; /* counted also when at is NULL: first measured, then written */
} text_out;

static void put(text_out *out, const char *text, size_t len) {
    if (out->at)
        memcpy(out->at + out->len, text, len);
    out->len += len;
}

static void put_number(text_out *out, uint32_t n) {
    char text[16];
    put(out, text, (size_t)snprintf(text, sizeof text, "%u", n));
}

#define NUL_SHOWN "\xef\xbf\xbd" /* U+FFFD: paths are C strings */

static void put_token(text_out *out, json_text token) {
    put(out, "/", 1);
    for (size_t i = 0; i < token.len; i++) {
        char c = token.at[i];
        if (c == '~' || c == '/')
            put(out, c == '~' ? "~0" : "~1", 2);
        else
            put(out, c ? &c : NUL_SHOWN, c ? 1 : 3);
    }
}

static void put_instance(text_out *out, const schema_frame *f) {
    if (f->member)
        put_token(out, json_text_of(f->member));
    if (f->item != NO_INDEX) {
        put(out, "/", 1);
        put_number(out, f->item);
    }
}

static void put_schema(text_out *out, const schema_frame *f) {
    if (f->keyword)
        put_token(out, (json_text){f->keyword, strlen(f->keyword)});
    if (f->key)
        put_token(out, json_text_of(f->key));
    if (f->index != NO_INDEX) {
        put(out, "/", 1);
        put_number(out, f->index);
    }
}

/* For people: periodo.inicio, codigos[2]. */
static void put_member(text_out *out, const schema_frame *f) {
    if (f->member) {
        if (out->len)
            put(out, ".", 1);
        json_text t = json_text_of(f->member);
        for (size_t i = 0; i < t.len; i++)
            put(out, t.at[i] ? t.at + i : NUL_SHOWN, t.at[i] ? 1 : 3);
    }
    if (f->item != NO_INDEX) {
        put(out, "[", 1);
        put_number(out, f->item);
        put(out, "]", 1);
    }
}

typedef void put_fn(text_out *out, const schema_frame *f);

/* The frames from the outermost on; there are at most as many as the depth limit allows, so no recursion. */
static char *path_of(arena *a, const schema_frame *up, put_fn *fn) {
    size_t n = 0;
    for (const schema_frame *f = up; f; f = f->up)
        n++;
    const schema_frame **list = arena_array(a, const schema_frame *, n + 1);
    if (!list)
        return NULL;
    size_t i = n;
    for (const schema_frame *f = up; f; f = f->up)
        list[--i] = f;
    text_out measure = {0};
    for (i = 0; i < n; i++)
        fn(&measure, list[i]);
    text_out out = {.at = arena_alloc(a, measure.len + 1)};
    if (!out.at)
        return NULL;
    for (i = 0; i < n; i++)
        fn(&out, list[i]);
    out.at[out.len] = '\0';
    return out.at;
}

static uint32_t depth_of(const schema_frame *up) {
    uint32_t n = 0;
    for (; up; up = up->up)
        n += (up->member ? 1u : 0u) + (up->item != NO_INDEX ? 1u : 0u);
    return n;
}

/* ---- telling ---- */

static schema_failure *tell_to(schema_eval *e, schema_collector *to, schema_message message,
                               const char *keyword, const schema_frame *up, const json_value *v,
                               const json_value *rule) {
    schema_told *told = arena_new(e->a, schema_told);
    if (!told)
        return NULL;
    schema_frame last = {.up = up, .keyword = *keyword ? keyword : NULL, .index = NO_INDEX, .item = NO_INDEX};
    told->depth = depth_of(up);
    told->failure = (schema_failure){
        .message = message,
        .keyword = keyword,
        .instance_path = path_of(e->a, up, put_instance),
        .schema_path = path_of(e->a, &last, put_schema),
        .member = path_of(e->a, up, put_member),
        .value = v,
        .rule = rule,
    };
    if (!told->failure.instance_path || !told->failure.schema_path || !told->failure.member)
        return NULL;
    *to->last = told;
    to->last = &told->next;
    to->count++;
    return &told->failure;
}

schema_failure *schema_tell(schema_eval *e, schema_message message, const char *keyword,
                            const schema_frame *up, const json_value *v, const json_value *rule) {
    if (e->out->count >= e->out->max || (e->told >= TOLD_MAX && e->out != e->all)) {
        e->out->more = true;
        return NULL;
    }
    e->told++;
    return tell_to(e, e->out, message, keyword, up, v, rule);
}

bool schema_stop(schema_eval *e, schema_message why, const schema_frame *up, const json_value *v,
                 const json_value *rule) {
    if (e->stopped)
        return false;
    e->stopped = true;
    e->why = why;
    if (e->all) {
        schema_failure *f = tell_to(e, e->all, why, "", up, v, rule);
        if (f)
            f->limit = why == SCHEMA_SAYS_LIMIT_DEPTH ? e->s->limits.depth : e->s->limits.steps;
    }
    return false;
}

/* ---- the nearest name ---- */

/* Base letters of U+00C0 to U+00FF. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo/ouuuuyty";

/* Small letters without accents, marks that only separate words left out. */
static size_t fold(json_text t, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < t.len && n < NEAREST_MAX; i++) {
        unsigned char c = (unsigned char)t.at[i];
        if (c == 0xc3 && i + 1 < t.len)
            out[n++] = latin[(unsigned char)t.at[++i] & 63];
        else if (c >= 'A' && c <= 'Z')
            out[n++] = (char)(c + 32);
        else if (!strchr("_-. \"", c) || !c)
            out[n++] = (char)c;
    }
    return n;
}

/* Insertions, deletions, substitutions and swaps of neighbours that make a of b. */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m) {
    unsigned char rows[3][NEAREST_MAX + 1];
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = (unsigned char)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned char *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = (unsigned char)i;
        for (size_t k = 1; k <= m; k++) {
            unsigned best = before[k - 1] + (a[i - 1] != b[k - 1] ? 1u : 0u);
            if (before[k] + 1u < best)
                best = before[k] + 1u;
            if (now[k - 1] + 1u < best)
                best = now[k - 1] + 1u;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && earlier[k - 2] + 1u < best)
                best = earlier[k - 2] + 1u;
            now[k] = (unsigned char)best;
        }
    }
    return rows[n % 3][m];
}

/* A name that is the other's beginning or end (data / dataInicial) is near too, when it is no accident. */
static bool is_part(const char *a, size_t n, const char *b, size_t m) {
    return n >= 4 && n < m && (!memcmp(a, b, n) || !memcmp(a, b + m - n, n));
}

/* {NULL, 0}: none is near enough to be worth proposing. */
static json_text nearest(json_text name, const json_text *list, size_t count) {
    char a[NEAREST_MAX], b[NEAREST_MAX];
    size_t n = fold(name, a);
    unsigned best = (unsigned)(n / 3 > 2 ? n / 3 : n > 3 ? 2 : 1) + 1;
    json_text found = {0};
    for (size_t i = 0; i < count; i++) {
        size_t m = fold(list[i], b);
        unsigned d = edit_distance(a, n, b, m);
        if (d >= best && (is_part(a, n, b, m) || is_part(b, m, a, n)) && !found.at)
            d = best - 1;
        if (d < best && d < m) {
            best = d;
            found = list[i];
        }
    }
    return found;
}

/* ---- values as text ---- */

/* v as compact JSON; cut: a value longer than HINT_MAX gives {NULL, 0}. */
static json_text as_json(schema_eval *e, const json_value *v) {
    json_writer w;
    json_writer_init(&w, HINT_MAX);
    json_write_value(&w, v);
    json_text t = {0};
    if (json_writer_finish(&w)) {
        t.len = w.len;
        t.at = arena_strndup(e->a, w.data, w.len);
    }
    json_writer_free(&w);
    return t.at ? t : (json_text){0};
}

static json_text quoted(schema_eval *e, json_text t) {
    char *p = t.at ? arena_printf(e->a, "\"%.*s\"", (int)t.len, t.at) : NULL;
    return (json_text){p, p ? t.len + 2 : 0};
}

static json_text listed(schema_eval *e, json_text t) {
    char *p = t.at ? arena_printf(e->a, "[%.*s]", (int)t.len, t.at) : NULL;
    return (json_text){p, p ? t.len + 2 : 0};
}

/* The value that a text spells, NULL when it is no JSON. */
static const json_value *spelt(schema_eval *e, json_text t) {
    static const json_limits limits = {.depth = 32, .bytes = 4096, .nodes = 512};
    return t.len <= limits.bytes ? json_read_copy(e->a, t.at, t.len, &limits, NULL) : NULL;
}

static bool accepts(uint32_t types, const json_value *v) {
    return types >> json_kind_of(v) & 1 ||
           (json_is(v, JSON_NUMBER) && (types & SCHEMA_INTEGER_BIT) && json_number_is_integer(v));
}

static bool is_scalar(const json_value *v) {
    return json_kind_of(v) >= JSON_BOOL && json_kind_of(v) <= JSON_STRING;
}

static void hint_type(schema_eval *e, schema_failure *f) {
    const json_value *v = f->value, *inner = json_is(v, JSON_STRING) ? spelt(e, json_text_of(v)) : NULL;
    if (inner && accepts(f->types, inner)) {
        f->message = is_scalar(inner) ? SCHEMA_SAYS_TYPE_QUOTED : SCHEMA_SAYS_TYPE_JSON_TEXT;
        f->hint = is_scalar(inner) ? as_json(e, inner) : (json_text){0};
        if (is_scalar(inner) && !f->hint.at)
            f->message = SCHEMA_SAYS_TYPE;
    } else if (json_is(v, JSON_NULL)) {
        f->message = SCHEMA_SAYS_TYPE_NULL;
    } else if ((f->types >> JSON_STRING & 1) && (json_is(v, JSON_NUMBER) || json_is(v, JSON_BOOL))) {
        f->hint = quoted(e, as_json(e, v));
    } else if ((f->types >> JSON_ARRAY & 1) && is_scalar(v)) {
        f->hint = listed(e, as_json(e, v));
    }
    if (f->hint.at && f->message == SCHEMA_SAYS_TYPE)
        f->message = f->types >> JSON_STRING & 1 ? SCHEMA_SAYS_TYPE_UNQUOTED : SCHEMA_SAYS_TYPE_UNLISTED;
}

void schema_tell_type(schema_eval *e, uint32_t types, const char *keyword, const schema_frame *up,
                      const json_value *v, const json_value *rule) {
    schema_failure *f = schema_tell(e, SCHEMA_SAYS_TYPE, keyword, up, v, rule);
    if (!f)
        return;
    f->types = types;
    hint_type(e, f);
}

/* ---- keywords ---- */

static const schema_message says_of[KW_COUNT] = {
    [KW_CONST] = SCHEMA_SAYS_CONST,
    [KW_ENUM] = SCHEMA_SAYS_ENUM,
    [KW_MINIMUM] = SCHEMA_SAYS_MINIMUM,
    [KW_MAXIMUM] = SCHEMA_SAYS_MAXIMUM,
    [KW_EXCLUSIVE_MINIMUM] = SCHEMA_SAYS_EXCLUSIVE_MINIMUM,
    [KW_EXCLUSIVE_MAXIMUM] = SCHEMA_SAYS_EXCLUSIVE_MAXIMUM,
    [KW_MULTIPLE_OF] = SCHEMA_SAYS_MULTIPLE_OF,
    [KW_PATTERN] = SCHEMA_SAYS_PATTERN,
    [KW_FORMAT] = SCHEMA_SAYS_FORMAT,
    [KW_NOT] = SCHEMA_SAYS_NOT,
};

/* Values as JSON, and the one that was probably meant. */
static void list_values(schema_eval *e, schema_failure *f, const json_value *const *values, size_t count) {
    json_text *list = arena_array(e->a, json_text, count + 1);
    size_t n = 0;
    for (size_t i = 0; list && i < count && n < CHOICES_MAX; i++) {
        list[n] = as_json(e, values[i]);
        n += list[n].at != NULL;
    }
    f->choices = list;
    f->choice_count = list ? n : 0;
    if (!is_scalar(f->value))
        return;
    json_text given = as_json(e, f->value);
    f->nearest = given.at ? nearest(given, list, f->choice_count) : (json_text){0};
    if (f->nearest.at && f->message == SCHEMA_SAYS_ENUM)
        f->message = SCHEMA_SAYS_ENUM_NEAREST;
}

static void list_rule(schema_eval *e, schema_failure *f, const json_value *rule) {
    size_t n = 0;
    const json_value **values = arena_array(e->a, const json_value *, json_count(rule) + 1);
    for (json_iter it = json_iterate(rule); values && json_next(&it);)
        values[n++] = it.value;
    list_values(e, f, values, n);
}

static const schema_node *node_of(const schema *s, const schema_op *op) {
    for (const schema_node *n = s->nodes; n; n = n->next)
        if (op >= n->ops && op < n->ops + n->op_count)
            return n;
    return NULL;
}

/* The first of the schema's examples, else its default, when it would be valid by this very keyword's kind.
 */
static void add_example(schema_eval *e, schema_failure *f, const schema_op *op, schema_message with) {
    const schema_node *n = node_of(e->s, op);
    const json_value *example = n ? json_at(json_member(n->source, "examples"), 0) : NULL;
    if (!example && n)
        example = json_member(n->source, "default");
    if (!json_is(example, JSON_STRING))
        return;
    f->hint = as_json(e, example);
    if (f->hint.at)
        f->message = with;
}

void schema_tell_op(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v) {
    schema_failure *f =
        schema_tell(e, says_of[op->keyword], schema_keywords[op->keyword].name, up, v, op->rule);
    if (!f)
        return;
    if (op->code == OP_ENUM)
        list_rule(e, f, op->rule);
    else if (op->code == OP_CONST)
        list_values(e, f, &op->rule, 1);
    else if (op->code == OP_PATTERN)
        add_example(e, f, op, SCHEMA_SAYS_PATTERN_EXAMPLE);
    else if (op->code == OP_FORMAT)
        add_example(e, f, op, SCHEMA_SAYS_FORMAT_EXAMPLE);
}

void schema_tell_bound(schema_eval *e, schema_message message, const schema_op *op, const schema_frame *up,
                       const json_value *v, uint64_t limit, uint64_t count) {
    schema_failure *f = schema_tell(e, message, schema_keywords[op->keyword].name, up, v, op->rule);
    if (!f)
        return;
    f->limit = limit;
    f->count = count;
}

void schema_tell_missing(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v) {
    const schema_object *o = op->u.object;
    bool *seen = arena_zalloc(e->a, o->count);
    if (!seen)
        return;
    for (json_iter it = json_iterate(v); json_next(&it);) {
        const schema_property *p = schema_property_find(o, it.key);
        if (p)
            seen[p - o->list] = true;
    }
    for (const schema_property *p = o->list; p < o->list + o->count; p++) {
        json_text name = json_text_of(p->key);
        if (!p->required || seen[p - o->list])
            continue;
        schema_failure *f = schema_tell(e, SCHEMA_SAYS_REQUIRED, "required", up, v, o->required_rule);
        if (!f)
            return;
        f->name = name;
        f->types = p->node ? p->node->types : 0;
    }
}

/* ---- unknown members ---- */

typedef struct {
    json_text *list;
    size_t count;
    unsigned visits; /* subschemas still to be looked at */
} names;

static void add_name(names *out, json_text name) {
    for (size_t i = 0; i < out->count; i++)
        if (out->list[i].len == name.len && !memcmp(out->list[i].at, name.at, name.len))
            return;
    if (out->count < CHOICES_MAX)
        out->list[out->count++] = name;
}

static void names_of_object(names *out, const schema_object *o) {
    for (const schema_property *p = o->list; p < o->list + o->count; p++)
        if (p->node && !p->node->refuses)
            add_name(out, json_text_of(p->key));
}

static void names_of_node(names *out, const schema_node *n, int depth);

static void names_of_branches(names *out, const schema_branches *b, int depth) {
    for (uint32_t i = 0; i < b->count && i < CHOICES_MAX; i++)
        names_of_node(out, b->list[i], depth);
}

/* The names that n and what it refers to on the same instance know. */
static void names_of_node(names *out, const schema_node *n, int depth) {
    if (!n || depth == 0 || out->count == CHOICES_MAX || !out->visits)
        return;
    out->visits--;
    for (const schema_op *op = n->ops; op < n->ops + n->op_count; op++)
        switch (op->code) {
        case OP_OBJECT:
            names_of_object(out, op->u.object);
            break;
        case OP_REF:
        case OP_DYNAMIC_REF:
            names_of_node(out, op->u.node, depth - 1);
            break;
        case OP_ALL_OF:
        case OP_ANY_OF:
        case OP_ONE_OF:
            names_of_branches(out, op->u.branches, depth - 1);
            break;
        case OP_IF:
            names_of_node(out, op->u.condition->test, depth - 1);
            names_of_node(out, op->u.condition->then, depth - 1);
            names_of_node(out, op->u.condition->otherwise, depth - 1);
            break;
        default:
            break;
        }
}

void schema_tell_unknown(schema_eval *e, const schema_op *op, const char *keyword, const schema_frame *up,
                         const json_value *v, const json_value *key) {
    schema_failure *f = schema_tell(e, SCHEMA_SAYS_UNKNOWN, keyword, up, v, op->rule);
    if (!f)
        return;
    schema_frame at = {.up = up, .index = NO_INDEX, .member = key, .item = NO_INDEX};
    const char *path = path_of(e->a, &at, put_instance);
    f->instance_path = path ? path : f->instance_path;
    f->value = key + 1;
    f->name = json_text_of(key);
    names all = {.list = arena_array(e->a, json_text, CHOICES_MAX), .visits = WALK_VISITS};
    if (!all.list)
        return;
    if (op->code == OP_OBJECT)
        names_of_object(&all, op->u.object);
    else
        names_of_node(&all, node_of(e->s, op), WALK_DEPTH);
    f->choices = all.list;
    f->choice_count = all.count;
    f->nearest = nearest(f->name, all.list, all.count);
    f->message = !all.count      ? SCHEMA_SAYS_UNKNOWN_NONE
                 : f->nearest.at ? SCHEMA_SAYS_UNKNOWN_NEAREST
                                 : SCHEMA_SAYS_UNKNOWN;
}

void schema_tell_name(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                      const json_value *key, const schema_collector *why) {
    schema_failure *f = schema_tell(e, SCHEMA_SAYS_NAME, schema_keywords[op->keyword].name, up, v, op->rule);
    if (!f)
        return;
    f->name = json_text_of(key);
    const schema_failure *inner = why->first ? &why->first->failure : NULL;
    if (inner && (inner->message == SCHEMA_SAYS_ENUM || inner->message == SCHEMA_SAYS_ENUM_NEAREST)) {
        f->message = SCHEMA_SAYS_NAME_ENUM;
        f->choices = inner->choices;
        f->choice_count = inner->choice_count;
    } else if (inner &&
               (inner->message == SCHEMA_SAYS_PATTERN || inner->message == SCHEMA_SAYS_PATTERN_EXAMPLE)) {
        f->message = SCHEMA_SAYS_NAME_PATTERN;
        f->rule = inner->rule;
    }
}

/* ---- anyOf and oneOf ---- */

/* How near a branch came: 0 another type, 1 another constant here or in a member (a discriminator), 2
 * something else; then how deep it got, then how little it has to say. */
typedef struct {
    unsigned grade;
    uint32_t deepest;
    size_t count;
} nearness;

static nearness grade(const schema_collector *c, uint32_t base) {
    nearness n = {.grade = c->first ? 2 : 0, .count = c->count};
    for (const schema_told *t = c->first; t; t = t->next) {
        schema_message m = t->failure.message;
        unsigned g = 2;
        if (t->depth == base && m >= SCHEMA_SAYS_TYPE && m <= SCHEMA_SAYS_TYPE_JSON_TEXT)
            g = 0;
        else if (t->depth <= base + 1 && m >= SCHEMA_SAYS_ENUM && m <= SCHEMA_SAYS_CONST)
            g = 1;
        n.grade = g < n.grade ? g : n.grade;
        n.deepest = t->depth > n.deepest ? t->depth : n.deepest;
    }
    return n;
}

static bool nearer(nearness a, nearness b) {
    if (a.grade != b.grade)
        return a.grade > b.grade;
    if (a.deepest != b.deepest)
        return a.deepest > b.deepest;
    return a.count < b.count;
}

/* Every branch says one of these messages first, right here. */
static bool all_say(const schema_collector *told, size_t n, uint32_t base, schema_message from,
                    schema_message to) {
    for (size_t i = 0; i < n; i++) {
        const schema_told *t = told[i].first;
        if (!t || t->next || t->depth != base || t->failure.message < from || t->failure.message > to)
            return false;
    }
    return n > 0;
}

static void tell_types(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                       const schema_collector *told, size_t n) {
    uint32_t types = 0;
    for (size_t i = 0; i < n; i++)
        for (const schema_told *t = told[i].first; t; t = t->next)
            types |= t->failure.types;
    schema_tell_type(e, types, schema_keywords[op->keyword].name, up, v, op->rule);
}

/* Constants and enums of all branches together. */
static void tell_values(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                        const schema_collector *told, size_t n) {
    schema_failure *f = schema_tell(e, SCHEMA_SAYS_ENUM, schema_keywords[op->keyword].name, up, v, op->rule);
    const json_value *values[CHOICES_MAX];
    size_t count = 0;
    for (size_t i = 0; f && i < n; i++) {
        const schema_failure *one = &told[i].first->failure;
        if (one->message == SCHEMA_SAYS_CONST && count < CHOICES_MAX)
            values[count++] = one->rule;
        for (json_iter it = json_iterate(one->message == SCHEMA_SAYS_CONST ? NULL : one->rule);
             count < CHOICES_MAX && json_next(&it);)
            values[count++] = it.value;
    }
    if (f)
        list_values(e, f, values, count);
}

static void tell_any_required(schema_eval *e, const schema_op *op, const schema_frame *up,
                              const json_value *v, const schema_collector *told, size_t n) {
    schema_failure *f =
        schema_tell(e, SCHEMA_SAYS_ANY_REQUIRED, schema_keywords[op->keyword].name, up, v, op->rule);
    names all = {.list = arena_array(e->a, json_text, CHOICES_MAX)};
    for (size_t i = 0; f && all.list && i < n; i++)
        add_name(&all, told[i].first->failure.name);
    if (f) {
        f->choices = all.list;
        f->choice_count = all.count;
    }
}

static void tell_best(schema_eval *e, const schema_collector *best) {
    for (schema_told *t = best->first, *next; t; t = next) {
        next = t->next;
        if (e->out->count >= e->out->max) {
            e->out->more = true;
            return;
        }
        t->next = NULL;
        *e->out->last = t;
        e->out->last = &t->next;
        e->out->count++;
    }
}

void schema_tell_branches(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                          schema_collector *told, size_t n) {
    uint32_t base = depth_of(up);
    size_t best = 0;
    nearness near = {0};
    for (size_t i = 0; i < n; i++) {
        nearness one = grade(&told[i], base);
        if (i == 0 || nearer(one, near)) {
            near = one;
            best = i;
        }
    }
    if (all_say(told, n, base, SCHEMA_SAYS_ENUM, SCHEMA_SAYS_CONST))
        tell_values(e, op, up, v, told, n);
    else if (all_say(told, n, base, SCHEMA_SAYS_REQUIRED, SCHEMA_SAYS_REQUIRED))
        tell_any_required(e, op, up, v, told, n);
    else if (near.grade > 0)
        tell_best(e, &told[best]);
    else if (all_say(told, n, base, SCHEMA_SAYS_TYPE, SCHEMA_SAYS_TYPE_JSON_TEXT))
        tell_types(e, op, up, v, told, n);
    else
        schema_tell(e, SCHEMA_SAYS_ANY_OF, schema_keywords[op->keyword].name, up, v, op->rule);
}
