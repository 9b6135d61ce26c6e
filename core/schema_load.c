/* SPDX-License-Identifier: MIT */
/* schema_load.c -- documents: their subschemas, ids and anchors, and what a reference names. */
#include "schema_nodes.h"
#include "uri.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets of documents ---- */

struct schema_set {
    struct set_item {
        char *uri;
        const json_value *root;
    } * items;
    size_t count, cap;
};

schema_set *schema_set_create(void) {
    return calloc(1, sizeof(schema_set));
}

void schema_set_destroy(schema_set *set) {
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].uri);
    free(set->items);
    free(set);
}

bool schema_set_add(schema_set *set, const char *uri, const json_value *root) {
    size_t len = strcspn(uri, "#");
    for (size_t i = 0; i < set->count; i++)
        if (strlen(set->items[i].uri) == len && !memcmp(set->items[i].uri, uri, len)) {
            set->items[i].root = root;
            return true;
        }
    if (set->count == set->cap) {
        size_t cap = set->cap ? set->cap * 2 : 16;
        struct set_item *items = realloc(set->items, cap * sizeof *items);
        if (!items)
            return false;
        set->items = items;
        set->cap = cap;
    }
    char *copy = strndup(uri, len);
    if (!copy)
        return false;
    set->items[set->count++] = (struct set_item){copy, root};
    return true;
}

const json_value *schema_set_at(const schema_set *set, size_t i, const char **ret_uri) {
    if (!set || i >= set->count)
        return NULL;
    *ret_uri = set->items[i].uri;
    return set->items[i].root;
}

const json_value *schema_set_find(const schema_set *set, const char *uri) {
    for (size_t i = 0; set && i < set->count; i++)
        if (!strcmp(set->items[i].uri, uri))
            return set->items[i].root;
    return NULL;
}

/* ---- errors ---- */

/* The largest document that at lies in. */
static const schema_resource *document_of(const schema *s, const json_value *at) {
    const schema_resource *found = NULL;
    for (const schema_resource *r = s->resources; r; r = r->next)
        if (at >= r->root && at < json_skip(r->root) &&
            (!found || json_skip(r->root) - r->root > json_skip(found->root) - found->root))
            found = r;
    return found;
}

static size_t put_token(char *to, size_t room, json_text token) {
    size_t n = 0;
    if (room > 1)
        to[n++] = '/';
    for (size_t i = 0; i < token.len && n + 2 < room; i++) {
        char c = token.at[i];
        if (c == '~' || c == '/')
            to[n++] = '~';
        to[n++] = c == '~' ? '0' : c == '/' ? '1' : c;
    }
    return n;
}

/* The JSON pointer from root to at. */
static void put_path(char *path, size_t room, const json_value *root, const json_value *at) {
    size_t len = strlen(path);
    while (root != at && json_is(root, JSON_OBJECT) + json_is(root, JSON_ARRAY)) {
        json_iter it = json_iterate(root);
        size_t index = 0;
        while (json_next(&it) && at >= it.next)
            index++;
        char number[24];
        json_text token = {number, (size_t)snprintf(number, sizeof number, "%zu", index)};
        len += put_token(path + len, room - len, it.key ? json_text_of(it.key) : token);
        path[len < room ? len : room - 1] = '\0';
        if (at == it.key) /* a member is where its value is */
            return;
        root = it.value;
    }
}

bool schema_refuse(schema_builder *b, const json_value *at, const char *fmt, ...) {
    if (!b->err)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->err->text, sizeof b->err->text, fmt, ap);
    va_end(ap);
    b->err->path[0] = '\0';
    const schema_resource *r = at ? document_of(b->s, at) : NULL;
    if (r) {
        if (r->root != b->document)
            snprintf(b->err->path, sizeof b->err->path, "%.120s#", r->uri);
        put_path(b->err->path, sizeof b->err->path, r->root, at);
    }
    return false;
}

bool schema_no_memory(schema_builder *b) {
    return schema_refuse(b, NULL, "out of memory, or beyond %d MiB", SCHEMA_MEMORY_MAX >> 20);
}

/* ---- maps ---- */

typedef bool map_is(const void *item, const void *key);

static bool entry_is(const void *item, const void *key) {
    return ((const schema_entry *)item)->value == key;
}

static bool target_is(const void *item, const void *key) {
    return !strcmp(((const schema_target *)item)->key, key);
}

static uint64_t entry_hash(const void *key) {
    return (uint64_t)(uintptr_t)key / sizeof(json_value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t target_hash(const void *key) {
    return schema_hash_text(key, strlen(key));
}

static void **map_slot(const schema_map *m, uint64_t hash, map_is *is, const void *key) {
    size_t i = (size_t)(hash >> 20) & (m->size - 1);
    while (m->slots[i] && !is(m->slots[i], key))
        i = (i + 1) & (m->size - 1);
    return &m->slots[i];
}

static bool map_grow(schema_map *m, bool of_entries) {
    if (m->used * 2 < m->size)
        return true;
    schema_map wide = {.size = m->size ? m->size * 4 : 64, .used = m->used};
    wide.slots = calloc(wide.size, sizeof *wide.slots);
    if (!wide.slots)
        return false;
    for (size_t i = 0; i < m->size; i++) {
        void *item = m->slots[i];
        if (!item)
            continue;
        const void *key =
            of_entries ? (const void *)((schema_entry *)item)->value : ((schema_target *)item)->key;
        *map_slot(&wide, of_entries ? entry_hash(key) : target_hash(key), of_entries ? entry_is : target_is,
                  key) = item;
    }
    free(m->slots);
    *m = wide;
    return true;
}

schema_entry *schema_entry_find(schema_builder *b, const json_value *value) {
    return b->entries.size ? *map_slot(&b->entries, entry_hash(value), entry_is, value) : NULL;
}

schema_entry *schema_entry_make(schema_builder *b, const json_value *value, schema_resource *resource) {
    if (!map_grow(&b->entries, true))
        return (void)schema_no_memory(b), NULL;
    void **slot = map_slot(&b->entries, entry_hash(value), entry_is, value);
    if (*slot)
        return *slot;
    schema_entry *e = arena_new(&b->s->memory, schema_entry);
    if (!e)
        return (void)schema_no_memory(b), NULL;
    *e = (schema_entry){value, resource, NULL};
    b->entries.used++;
    return *slot = e;
}

schema_target *schema_target_find(schema_builder *b, const char *key) {
    return b->targets.size ? *map_slot(&b->targets, target_hash(key), target_is, key) : NULL;
}

/* The first to claim a key keeps it. */
static bool target_add(schema_builder *b, const char *key, schema_resource *resource, const json_value *value,
                       bool dynamic) {
    if (!map_grow(&b->targets, false))
        return schema_no_memory(b);
    void **slot = map_slot(&b->targets, target_hash(key), target_is, key);
    if (*slot)
        return true;
    schema_target *t = arena_new(&b->s->memory, schema_target);
    if (!t)
        return schema_no_memory(b);
    *t = (schema_target){key, resource, value, dynamic};
    b->targets.used++;
    *slot = t;
    return true;
}

static bool anchor_add(schema_builder *b, schema_resource *r, json_text name, const json_value *value,
                       bool dynamic) {
    char *key = arena_alloc(&b->s->memory, strlen(r->uri) + name.len + 2);
    if (!key)
        return schema_no_memory(b);
    size_t n = strlen(r->uri);
    memcpy(key, r->uri, n);
    key[n] = '#';
    memcpy(key + n + 1, name.at, name.len);
    key[n + 1 + name.len] = '\0';
    return target_add(b, key, r, value, dynamic);
}

/* ---- dialects ---- */

#define META_2020 "https://json-schema.org/draft/2020-12/schema"
#define VOCABULARY_2020 "https://json-schema.org/draft/2020-12/vocab/"
enum { VOCAB_NOTHING = 0, VOCAB_ASSERTS = 128 };

static const struct {
    const char *uri;
    uint8_t draft;
} dialects[] = {
    {META_2020, DRAFT_2020},
    {"http://json-schema.org/draft-07/schema", DRAFT_7},
    {"https://json-schema.org/draft-07/schema", DRAFT_7},
};

static const struct {
    const char *name;
    uint8_t bits;
} vocabularies[] = {
    {"core", VOCAB_CORE},
    {"applicator", VOCAB_APPLICATOR},
    {"validation", VOCAB_VALIDATION},
    {"unevaluated", VOCAB_UNEVALUATED},
    {"meta-data", VOCAB_NOTHING},
    {"content", VOCAB_NOTHING},
    {"format-annotation", VOCAB_FORMAT},
    {"format-assertion", VOCAB_FORMAT | VOCAB_ASSERTS},
};

static int vocabulary_bits(json_text uri) {
    size_t head = sizeof VOCABULARY_2020 - 1;
    if (uri.len <= head || memcmp(uri.at, VOCABULARY_2020, head) != 0)
        return -1;
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
        if (strlen(vocabularies[i].name) == uri.len - head &&
            !memcmp(vocabularies[i].name, uri.at + head, uri.len - head))
            return vocabularies[i].bits;
    return -1;
}

static uint8_t dialect_draft(const char *uri) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (!strcmp(dialects[i].uri, uri))
            return dialects[i].draft;
    return 0;
}

static char *without_fragment(schema_builder *b, json_text uri) {
    const char *hash = uri.len ? memchr(uri.at, '#', uri.len) : NULL;
    return arena_strndup(&b->s->memory, uri.at, hash ? (size_t)(hash - uri.at) : uri.len);
}

/* What a metaschema of somebody's own switches on. */
static bool custom_dialect(schema_builder *b, schema_resource *r, const json_value *at,
                           const json_value *meta) {
    const json_value *parent = json_member(meta, "$schema"), *list = json_member(meta, "$vocabulary");
    char *uri = parent ? without_fragment(b, json_text_of(parent)) : NULL;
    uint8_t draft = uri ? dialect_draft(uri) : 0;
    r->draft = draft ? draft : DRAFT_2020;
    r->vocab = VOCAB_ALL;
    if (r->draft == DRAFT_7 || !json_is(list, JSON_OBJECT))
        return true;
    uint8_t bits = VOCAB_CORE;
    for (json_iter it = json_iterate(list); json_next(&it);) {
        json_text name = json_text_of(it.key);
        int more = vocabulary_bits(name);
        if (more < 0 && json_bool(it.value))
            return schema_refuse(b, at, "$schema needs the vocabulary '%.*s', which is not known here",
                                 (int)name.len, name.at);
        bits |= (uint8_t)(more < 0 ? 0 : more);
    }
    r->vocab = bits & VOCAB_ALL;
    r->assert_format |= (bits & VOCAB_ASSERTS) != 0;
    return true;
}

static bool set_dialect(schema_builder *b, schema_resource *r, const json_value *at) {
    if (!json_is(at, JSON_STRING))
        return schema_refuse(b, at, "$schema must be a text");
    char *uri = without_fragment(b, json_text_of(at));
    if (!uri)
        return schema_no_memory(b);
    uint8_t draft = dialect_draft(uri);
    if (draft) {
        r->draft = draft;
        r->vocab = VOCAB_ALL;
        return true;
    }
    const json_value *meta = schema_set_find(b->opts->set, uri);
    if (!meta)
        return schema_refuse(
            b, at, "$schema '%s' is neither 2020-12 nor draft-07, nor a metaschema that was given", uri);
    return custom_dialect(b, r, at, meta);
}

/* ---- reading a document ---- */

typedef struct {
    struct load_item {
        const json_value *value;
        schema_resource *resource;
    } * items;
    size_t count, cap;
} load_stack;

static bool push(schema_builder *b, load_stack *stack, const json_value *v, schema_resource *r) {
    if (!json_is(v, JSON_OBJECT) && !json_is(v, JSON_BOOL))
        return true; /* told when it is compiled */
    if (stack->count == stack->cap) {
        size_t cap = stack->cap ? stack->cap * 2 : 64;
        struct load_item *items = realloc(stack->items, cap * sizeof *items);
        if (!items)
            return schema_no_memory(b);
        stack->items = items;
        stack->cap = cap;
    }
    stack->items[stack->count++] = (struct load_item){v, r};
    return true;
}

static bool push_all(schema_builder *b, load_stack *stack, const json_value *list, schema_resource *r) {
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (!push(b, stack, it.value, r))
            return false;
    return true;
}

static bool push_rule(schema_builder *b, load_stack *stack, rule_kind kind, const json_value *rule,
                      schema_resource *r) {
    bool list = json_is(rule, JSON_ARRAY), map = json_is(rule, JSON_OBJECT);
    switch (kind) {
    case RULE_SCHEMA:
        return push(b, stack, rule, r);
    case RULE_ITEMS:
        return list ? push_all(b, stack, rule, r) : push(b, stack, rule, r);
    case RULE_SCHEMAS:
        return !list || push_all(b, stack, rule, r);
    case RULE_SCHEMA_MAP:
    case RULE_DEPENDENCIES:
        return !map || push_all(b, stack, rule, r);
    default:
        return true;
    }
}

static schema_resource *resource_make(schema_builder *b, const char *uri, const json_value *root,
                                      const schema_resource *like) {
    schema_resource *r = arena_new(&b->s->memory, schema_resource);
    if (!r)
        return (void)schema_no_memory(b), NULL;
    *r = *like;
    r->uri = uri;
    r->root = root;
    r->next = b->s->resources;
    b->s->resources = r;
    return target_add(b, uri, r, root, false) ? r : NULL;
}

/* $id: a new resource, a new name of the document (v is its root), or in draft-07 an anchor. */
static bool read_id(schema_builder *b, schema_resource **r, const json_value *v, const json_value *id) {
    json_text text = json_text_of(id);
    const char *hash = text.len ? memchr(text.at, '#', text.len) : NULL;
    size_t len = hash ? (size_t)(hash - text.at) : text.len;
    json_text name = hash ? (json_text){hash + 1, text.len - len - 1} : (json_text){0};
    if (name.len && (*r)->draft != DRAFT_7)
        return schema_refuse(b, id, "$id '%.*s' must not have a fragment", (int)text.len, text.at);
    if (len) {
        char *uri = uri_resolve(&b->s->memory, (*r)->uri, text.at, len);
        if (!uri)
            return schema_no_memory(b);
        if (v == (*r)->root) {
            (*r)->uri = uri;
            if (!target_add(b, uri, *r, v, false))
                return false;
        } else if (!(*r = resource_make(b, uri, v, *r))) {
            return false;
        }
    }
    return !name.len || anchor_add(b, *r, name, v, false);
}

static bool read_names(schema_builder *b, schema_resource **r, const json_value *v) {
    const json_value *dialect = json_member(v, "$schema"), *id = json_member(v, "$id");
    bool id_counts = json_is(id, JSON_STRING) && !((*r)->draft == DRAFT_7 && json_member(v, "$ref"));
    const schema_resource *outer = *r;
    if (id_counts && !read_id(b, r, v, id))
        return false;
    if (dialect && *r != outer && !set_dialect(b, *r, dialect))
        return false;
    if ((*r)->draft == DRAFT_7)
        return true;
    const json_value *anchor = json_member(v, "$anchor"), *dynamic = json_member(v, "$dynamicAnchor");
    if (json_is(dynamic, JSON_STRING) && !anchor_add(b, *r, json_text_of(dynamic), v, true))
        return false;
    return !json_is(anchor, JSON_STRING) || anchor_add(b, *r, json_text_of(anchor), v, false);
}

static bool visit(schema_builder *b, load_stack *stack, const json_value *v, schema_resource *r) {
    if (json_is(v, JSON_OBJECT) && !read_names(b, &r, v))
        return false;
    if (b->entries.used >= b->s->limits.subschemas)
        return schema_refuse(b, v, "more than %u subschemas", b->s->limits.subschemas);
    if (!schema_entry_make(b, v, r))
        return false;
    for (json_iter it = json_iterate(v); json_next(&it);) {
        json_text name = json_text_of(it.key);
        keyword_id k = schema_keyword_find(name.at, name.len);
        if (k != KW_COUNT && (schema_keywords[k].drafts & r->draft) &&
            !push_rule(b, stack, schema_keywords[k].rule, it.value, r))
            return false;
    }
    return true;
}

schema_resource *schema_load(schema_builder *b, const char *uri, const json_value *root, uint8_t draft) {
    schema_resource like = {.draft = draft, .vocab = VOCAB_ALL, .assert_format = b->opts->assert_format};
    schema_resource *r = resource_make(b, uri, root, &like);
    const json_value *dialect = json_member(root, "$schema");
    if (!r || (dialect && !set_dialect(b, r, dialect)))
        return NULL;
    load_stack stack = {0};
    bool ok = push(b, &stack, root, r);
    while (ok && stack.count) {
        struct load_item item = stack.items[--stack.count];
        ok = visit(b, &stack, item.value, item.resource);
    }
    free(stack.items);
    return ok ? r : NULL;
}

/* ---- references ---- */

static uint8_t draft_bit(schema_draft draft) {
    return draft == SCHEMA_DRAFT_7 ? DRAFT_7 : DRAFT_2020;
}

static bool load_whole_set(schema_builder *b) {
    const char *uri;
    const json_value *root;
    b->set_indexed = true;
    for (size_t i = 0; (root = schema_set_at(b->opts->set, i, &uri)); i++)
        if (!schema_target_find(b, uri) && !schema_load(b, uri, root, draft_bit(b->opts->draft)))
            return false;
    return true;
}

/* The document of that URI, loaded when it was not. */
static schema_target *find_document(schema_builder *b, const char *uri, const json_value *at) {
    schema_target *t = schema_target_find(b, uri);
    if (t)
        return t;
    const json_value *root = schema_set_find(b->opts->set, uri);
    if (!root)
        root = schema_meta_find(&b->s->memory, uri);
    if (root)
        return schema_load(b, uri, root, draft_bit(b->opts->draft)) ? schema_target_find(b, uri) : NULL;
    if (!b->set_indexed && !load_whole_set(b))
        return NULL;
    t = schema_target_find(b, uri);
    if (!t) {
        json_text ref = json_text_of(at);
        schema_refuse(b, at,
                      "cannot resolve the reference '%.*s': '%s' is not among the known documents, and "
                      "nothing is fetched",
                      (int)ref.len, ref.at, uri);
    }
    return t;
}

/* One token of a JSON pointer, unescaped into room. */
static const json_value *step(const json_value *v, const char *token, size_t len) {
    char head[256] = "/";
    if (len + 2 > sizeof head) /* rare: such a name has at most one reading without escapes */
        return json_member_n(v, token, len);
    memcpy(head + 1, token, len);
    return json_pointer(v, head, len + 1);
}

/* Walks from the resource's root; what is passed on the way may change the resource. */
static schema_entry *follow_pointer(schema_builder *b, schema_resource *r, const char *pointer, size_t len,
                                    const json_value *at) {
    const json_value *v = r->root;
    for (const char *end = pointer + len; v && pointer < end;) {
        const char *from = ++pointer, *slash = memchr(from, '/', (size_t)(end - from));
        pointer = slash ? slash : end;
        v = step(v, from, (size_t)(pointer - from));
        schema_entry *e = v ? schema_entry_find(b, v) : NULL;
        if (e)
            r = e->resource;
    }
    if (v)
        return schema_entry_make(b, v, r);
    json_text ref = json_text_of(at);
    return (void)schema_refuse(b, at, "the reference '%.*s' points at nothing", (int)ref.len, ref.at), NULL;
}

static schema_entry *follow_anchor(schema_builder *b, schema_resource *r, const char *name,
                                   const json_value *at, const schema_target **ret_target) {
    char *key = arena_printf(&b->s->memory, "%s#%s", r->uri, name);
    if (!key)
        return (void)schema_no_memory(b), NULL;
    schema_target *t = schema_target_find(b, key);
    if (t) {
        *ret_target = t;
        return schema_entry_make(b, t->value, t->resource);
    }
    json_text ref = json_text_of(at);
    return (void)schema_refuse(b, at, "the reference '%.*s' names an anchor that is not there", (int)ref.len,
                               ref.at),
           NULL;
}

schema_entry *schema_resolve(schema_builder *b, schema_resource *resource, const json_value *at,
                             const schema_target **ret_target) {
    json_text ref = json_text_of(at);
    *ret_target = NULL;
    if (ref.len && memchr(ref.at, 0, ref.len))
        return (void)schema_refuse(b, at, "a reference must not contain NUL"), NULL;
    char *uri = uri_resolve(&b->s->memory, resource->uri, ref.at, ref.len);
    if (!uri)
        return (void)schema_no_memory(b), NULL;
    char *hash = strchr(uri, '#');
    if (hash)
        *hash = '\0';
    schema_target *document = find_document(b, uri, at);
    if (!document)
        return NULL;
    schema_resource *r = document->resource;
    size_t len = 0;
    char *fragment = hash ? uri_decode(&b->s->memory, hash + 1, strlen(hash + 1), &len) : NULL;
    if (hash && !fragment)
        return (void)schema_refuse(b, at, "the reference '%.*s' has a broken escape", (int)ref.len, ref.at),
               NULL;
    if (!len)
        return schema_entry_make(b, r->root, r);
    return fragment[0] == '/' ? follow_pointer(b, r, fragment, len, at)
                              : follow_anchor(b, r, fragment, at, ret_target);
}
