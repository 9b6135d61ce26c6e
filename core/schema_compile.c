/* SPDX-License-Identifier: MIT */
/* schema_compile.c -- from a document to a schema: the queue of subschemas to be made, dynamic anchors, entry
 * and end. */
#include "schema_nodes.h"

#include <stdlib.h>
#include <string.h>

static const schema_op no_ops[1]; /* pointers to walk over, none of them is read */

/* The node of an entry, made or to be made. */
schema_node *schema_node_of(schema_builder *b, schema_entry *e) {
    if (e->node)
        return e->node;
    if (!schema_is_one(e->value))
        return (void)schema_refuse(b, e->value, "a schema must be an object, true or false"), NULL;
    if (b->s->count >= b->s->limits.subschemas)
        return (void)schema_refuse(b, e->value, "more than %u subschemas", b->s->limits.subschemas), NULL;
    struct schema_work *work = arena_new(&b->s->memory, struct schema_work);
    schema_node *n = arena_new(&b->s->memory, schema_node);
    if (!work || !n)
        return (void)schema_no_memory(b), NULL;
    *work = (struct schema_work){b->work, e};
    b->work = work;
    *n = (schema_node){
        .types = TYPES_ALL, .ops = no_ops, .resource = e->resource, .source = e->value, .next = b->s->nodes};
    b->s->nodes = n;
    b->s->count++;
    return e->node = n;
}

static bool drain(schema_builder *b) {
    while (b->work) {
        struct schema_work *work = b->work;
        b->work = work->next;
        if (!schema_make(b, work->entry))
            return false;
    }
    return true;
}

/* Each resource's node for each dynamic anchor's name that a $dynamicRef asks for. */
static bool make_dynamic(schema_builder *b) {
    uint16_t count;
    const schema_resource *newest;
    do {
        count = b->dynamic_count;
        newest = b->s->resources;
        for (schema_resource *r = b->s->resources; count && r; r = r->next) {
            r->dynamic = arena_array(&b->s->memory, const schema_node *, count);
            if (!r->dynamic)
                return schema_no_memory(b);
            for (uint16_t i = 0; i < count; i++) {
                char *key = arena_printf(&b->s->memory, "%s#%s", r->uri, b->dynamic_names[i]);
                schema_target *t = key ? schema_target_find(b, key) : NULL;
                schema_entry *e = t && t->dynamic ? schema_entry_make(b, t->value, t->resource) : NULL;
                if (e && !(r->dynamic[i] = schema_node_of(b, e)))
                    return false;
            }
        }
        if (!drain(b))
            return false;
    } while (count != b->dynamic_count || newest != b->s->resources);
    return true;
}

/* ---- entry ---- */

static uint32_t or_default(uint32_t n, uint32_t otherwise) {
    return n ? n : otherwise;
}

static bool build(schema_builder *b, const json_value *root) {
    const schema_options *o = b->opts;
    const char *base = o->base_uri ? o->base_uri : "";
    const char *uri = arena_strndup(&b->s->memory, base, strcspn(base, "#"));
    if (!uri)
        return schema_no_memory(b);
    if (!schema_is_one(root))
        return schema_refuse(b, root, "a schema must be an object, true or false");
    schema_resource *r = schema_load(b, uri, root, o->draft == SCHEMA_DRAFT_7 ? DRAFT_7 : DRAFT_2020);
    schema_entry *e = r ? schema_entry_make(b, root, r) : NULL;
    b->s->root = e ? schema_node_of(b, e) : NULL;
    if (!b->s->root || !drain(b) || !make_dynamic(b))
        return false;
    b->s->draft = b->s->root->resource->draft == DRAFT_7 ? SCHEMA_DRAFT_7 : SCHEMA_DRAFT_2020_12;
    return schema_check(b);
}

schema *schema_compile(const json_value *root, const schema_options *opts, schema_error *err) {
    static const schema_options none;
    schema *s = calloc(1, sizeof *s);
    schema_builder b = {.s = s, .opts = opts ? opts : &none, .err = err, .document = root};
    if (!s)
        return (void)schema_no_memory(&b), NULL;
    arena_init(&s->memory, SCHEMA_MEMORY_MAX);
    s->limits = b.opts->limits;
    s->limits.subschemas = or_default(s->limits.subschemas, SCHEMA_SUBSCHEMAS_DEFAULT);
    s->limits.depth = or_default(s->limits.depth, SCHEMA_DEPTH_DEFAULT);
    s->limits.steps = s->limits.steps ? s->limits.steps : SCHEMA_STEPS_DEFAULT;
    bool ok = build(&b, root);
    free(b.entries.slots);
    free(b.targets.slots);
    if (ok)
        return s;
    schema_destroy(s);
    return NULL;
}

void schema_destroy(schema *s) {
    if (!s)
        return;
    for (struct schema_regex *r = s->regexes; r; r = r->next)
        regex_free(r->re);
    arena_free(&s->memory);
    free(s);
}

schema_draft schema_draft_of(const schema *s) {
    return s->draft;
}

size_t schema_subschemas(const schema *s) {
    return s->count;
}
