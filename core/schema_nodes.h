/* SPDX-License-Identifier: MIT */
/* schema_nodes.h -- the compiled form of a schema, for schema*.c only: schema_load.c finds the documents and
 * their subschemas, schema_make.c makes nodes of them, schema_compile.c drives both, schema_check.c refuses
 * what could never be evaluated, schema_validate.c runs them, schema_report.c tells what failed. */
#ifndef LASTRO_CORE_SCHEMA_NODES_H
#define LASTRO_CORE_SCHEMA_NODES_H

#include "ecma_regex.h"
#include "schema.h"

enum {
    SCHEMA_MEMORY_MAX = 64 << 20, /* bytes of one compiled schema */
    SCHEMA_REGEX_MAX = 16 << 20,  /* bytes of its compiled patterns */
    SCHEMA_DYNAMIC_MAX = 64       /* names of dynamic anchors in use */
};

/* ---- keywords ---- */

enum { DRAFT_7 = 1, DRAFT_2020 = 2, DRAFT_ANY = 3 };
enum {
    VOCAB_CORE = 1,
    VOCAB_APPLICATOR = 2,
    VOCAB_VALIDATION = 4,
    VOCAB_UNEVALUATED = 8,
    VOCAB_FORMAT = 16,
    VOCAB_ALL = 31
};

/* What a keyword's value must be; it also says where subschemas are. */
typedef enum {
    RULE_ANY,
    RULE_BOOL,
    RULE_STRING,
    RULE_NUMBER,
    RULE_POSITIVE,
    RULE_COUNT,      /* a non-negative integer */
    RULE_TYPE,       /* a type's name, or a list of them */
    RULE_LIST,       /* any array */
    RULE_NAMES,      /* array of strings */
    RULE_NAME_LISTS, /* object of arrays of strings */
    RULE_SCHEMA,
    RULE_SCHEMAS,      /* array of schemas, at least one */
    RULE_SCHEMA_MAP,   /* object of schemas */
    RULE_ITEMS,        /* a schema, or (draft-07) an array of them */
    RULE_DEPENDENCIES, /* object of schemas and arrays of strings */
    RULE_KINDS
} rule_kind;

/* In the order of strcmp: looked up by halving. */
#define KEYWORD_MAP(X)                                                                                       \
    X(ANCHOR, "$anchor", DRAFT_2020, VOCAB_CORE, RULE_STRING)                                                \
    X(DEFS, "$defs", DRAFT_2020, VOCAB_CORE, RULE_SCHEMA_MAP)                                                \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", DRAFT_2020, VOCAB_CORE, RULE_STRING)                                 \
    X(DYNAMIC_REF, "$dynamicRef", DRAFT_2020, VOCAB_CORE, RULE_STRING)                                       \
    X(ID, "$id", DRAFT_ANY, VOCAB_CORE, RULE_STRING)                                                         \
    X(REF, "$ref", DRAFT_ANY, VOCAB_CORE, RULE_STRING)                                                       \
    X(SCHEMA, "$schema", DRAFT_ANY, VOCAB_CORE, RULE_STRING)                                                 \
    X(ADDITIONAL_ITEMS, "additionalItems", DRAFT_7, VOCAB_APPLICATOR, RULE_SCHEMA)                           \
    X(ADDITIONAL_PROPERTIES, "additionalProperties", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)               \
    X(ALL_OF, "allOf", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMAS)                                            \
    X(ANY_OF, "anyOf", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMAS)                                            \
    X(CONST, "const", DRAFT_ANY, VOCAB_VALIDATION, RULE_ANY)                                                 \
    X(CONTAINS, "contains", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                                        \
    X(DEFINITIONS, "definitions", DRAFT_ANY, VOCAB_CORE, RULE_SCHEMA_MAP)                                    \
    X(DEPENDENCIES, "dependencies", DRAFT_ANY, VOCAB_APPLICATOR, RULE_DEPENDENCIES)                          \
    X(DEPENDENT_REQUIRED, "dependentRequired", DRAFT_2020, VOCAB_VALIDATION, RULE_NAME_LISTS)                \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", DRAFT_2020, VOCAB_APPLICATOR, RULE_SCHEMA_MAP)                  \
    X(ELSE, "else", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                                                \
    X(ENUM, "enum", DRAFT_ANY, VOCAB_VALIDATION, RULE_LIST)                                                  \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", DRAFT_ANY, VOCAB_VALIDATION, RULE_NUMBER)                       \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", DRAFT_ANY, VOCAB_VALIDATION, RULE_NUMBER)                       \
    X(FORMAT, "format", DRAFT_ANY, VOCAB_FORMAT, RULE_STRING)                                                \
    X(IF, "if", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                                                    \
    X(ITEMS, "items", DRAFT_ANY, VOCAB_APPLICATOR, RULE_ITEMS)                                               \
    X(MAX_CONTAINS, "maxContains", DRAFT_2020, VOCAB_VALIDATION, RULE_COUNT)                                 \
    X(MAX_ITEMS, "maxItems", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                                        \
    X(MAX_LENGTH, "maxLength", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                                      \
    X(MAX_PROPERTIES, "maxProperties", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                              \
    X(MAXIMUM, "maximum", DRAFT_ANY, VOCAB_VALIDATION, RULE_NUMBER)                                          \
    X(MIN_CONTAINS, "minContains", DRAFT_2020, VOCAB_VALIDATION, RULE_COUNT)                                 \
    X(MIN_ITEMS, "minItems", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                                        \
    X(MIN_LENGTH, "minLength", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                                      \
    X(MIN_PROPERTIES, "minProperties", DRAFT_ANY, VOCAB_VALIDATION, RULE_COUNT)                              \
    X(MINIMUM, "minimum", DRAFT_ANY, VOCAB_VALIDATION, RULE_NUMBER)                                          \
    X(MULTIPLE_OF, "multipleOf", DRAFT_ANY, VOCAB_VALIDATION, RULE_POSITIVE)                                 \
    X(NOT, "not", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                                                  \
    X(ONE_OF, "oneOf", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMAS)                                            \
    X(PATTERN, "pattern", DRAFT_ANY, VOCAB_VALIDATION, RULE_STRING)                                          \
    X(PATTERN_PROPERTIES, "patternProperties", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA_MAP)                 \
    X(PREFIX_ITEMS, "prefixItems", DRAFT_2020, VOCAB_APPLICATOR, RULE_SCHEMAS)                               \
    X(PROPERTIES, "properties", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA_MAP)                                \
    X(PROPERTY_NAMES, "propertyNames", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                             \
    X(REQUIRED, "required", DRAFT_ANY, VOCAB_VALIDATION, RULE_NAMES)                                         \
    X(THEN, "then", DRAFT_ANY, VOCAB_APPLICATOR, RULE_SCHEMA)                                                \
    X(TYPE, "type", DRAFT_ANY, VOCAB_VALIDATION, RULE_TYPE)                                                  \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", DRAFT_2020, VOCAB_UNEVALUATED, RULE_SCHEMA)                     \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", DRAFT_2020, VOCAB_UNEVALUATED, RULE_SCHEMA)           \
    X(UNIQUE_ITEMS, "uniqueItems", DRAFT_ANY, VOCAB_VALIDATION, RULE_BOOL)

#define X(id, name, drafts, vocab, rule) KW_##id,
typedef enum { KEYWORD_MAP(X) KW_COUNT } keyword_id;
#undef X

typedef struct {
    const char *name;
    uint8_t drafts, vocab;
    rule_kind rule;
} schema_keyword;
extern const schema_keyword schema_keywords[KW_COUNT];
/* KW_COUNT: none of ours */
keyword_id schema_keyword_find(const char *name, size_t len);

/* ---- nodes ---- */

enum { TYPES_ALL = 0x7e };

typedef struct schema_node schema_node;

/* A document, or a part of one with its own $id. */
typedef struct schema_resource {
    struct schema_resource *next;
    const char *uri; /* absolute where it can be, without fragment; "" when nobody said */
    const json_value *root;
    uint8_t draft, vocab;
    bool assert_format;
    const schema_node **dynamic; /* by number of the dynamic anchor's name; NULL: none */
} schema_resource;

typedef struct {
    const json_value *key;   /* string node in the schema */
    const schema_node *node; /* NULL: only required */
    bool required;
} schema_property;

typedef struct {
    const json_value *key; /* the pattern */
    const regex *re;
    const schema_node *node;
} schema_pattern;

typedef struct {
    const schema_property *list;
    uint32_t count, required;
    uint32_t mask;         /* slots - 1; 0: few enough to look at each */
    const uint32_t *slots; /* 1 + index into list; 0: free */
    const schema_pattern *patterns;
    uint32_t pattern_count;
    const schema_node *additional; /* NULL: anything */
    const json_value *required_rule;
} schema_object;

typedef struct {
    const schema_node **prefix;
    uint32_t prefix_count;
    const schema_node *rest; /* NULL: anything */
    const char *prefix_keyword, *rest_keyword;
} schema_array;

typedef struct {
    const schema_node *node;
    uint64_t min, max;
    const json_value *min_rule, *max_rule;
    bool marks; /* 2020-12: what matched counts as evaluated */
} schema_contains;

typedef struct {
    const schema_node **list;
    uint32_t count;
} schema_branches;

typedef struct {
    const json_value *key;
    const schema_node *node; /* NULL: names */
    const json_value *names;
} schema_dependent;

typedef struct {
    const schema_dependent *list;
    uint32_t count;
} schema_dependents;

typedef struct {
    const schema_node *test, *then, *otherwise;
} schema_condition;

typedef struct {
    uint32_t count;
    const uint64_t *hashes; /* sorted, with items in that order; NULL: few enough to look at each */
    const json_value **items;
} schema_enum;

typedef bool schema_format_fn(const char *text, size_t len);
/* NULL: not one we check */
schema_format_fn *schema_format_find(json_text name);

typedef enum {
    OP_CONST,
    OP_ENUM,
    OP_NUMBER_BOUND,
    OP_MULTIPLE_OF,
    OP_MIN_LENGTH,
    OP_MAX_LENGTH,
    OP_PATTERN,
    OP_FORMAT,
    OP_MIN_COUNT, /* items or properties */
    OP_MAX_COUNT,
    OP_UNIQUE,
    OP_OBJECT,
    OP_NAMES,
    OP_ARRAY,
    OP_CONTAINS,
    OP_DEPENDENT,
    OP_REF,
    OP_DYNAMIC_REF,
    OP_ALL_OF,
    OP_ANY_OF,
    OP_ONE_OF,
    OP_NOT,
    OP_IF,
    OP_UNEVALUATED,
    OPS
} schema_op_code;

typedef struct schema_op {
    uint8_t code;
    uint8_t kinds;   /* bits of the kinds of instance it looks at */
    uint8_t keyword; /* keyword_id */
    uint16_t number; /* OP_DYNAMIC_REF: of the anchor's name */
    const json_value *rule;
    union {
        uint64_t bound;
        const regex *re;
        schema_format_fn *format;
        const schema_node *node;
        const schema_object *object;
        const schema_array *array;
        const schema_contains *contains;
        const schema_branches *branches;
        const schema_dependents *dependents;
        const schema_condition *condition;
        const schema_enum *values;
    } u;
} schema_op;

struct schema_node {
    uint8_t types;    /* kinds accepted, as bits, SCHEMA_INTEGER_BIT too; 0: the false schema */
    bool refuses;     /* the false schema */
    bool unevaluated; /* has unevaluatedItems or unevaluatedProperties */
    uint16_t op_count;
    const schema_op *ops;
    const schema_resource *resource;
    const json_value *source;
    /* schema_check.c only */
    uint8_t mark;
    uint32_t chain;
    uint64_t cost;
    schema_node *next;
};

struct schema {
    arena memory;
    const schema_node *root;
    schema_node *nodes; /* all, by next */
    schema_resource *resources;
    struct schema_regex {
        struct schema_regex *next;
        regex *re;
    } * regexes;
    size_t regex_bytes;
    schema_limits limits;
    size_t count;
    schema_draft draft;
    bool dynamic; /* there is a $dynamicRef to resolve while evaluating */
};

/* ---- building (schema_load.c, schema_compile.c, schema_check.c) ---- */

/* A subschema found in a document, or the target of a reference. */
typedef struct {
    const json_value *value;
    schema_resource *resource;
    schema_node *node; /* NULL: not compiled (yet) */
} schema_entry;

/* What a URI stands for: a resource ("uri") or an anchor in one ("uri#name"). */
typedef struct {
    const char *key;
    schema_resource *resource;
    const json_value *value;
    bool dynamic;
} schema_target;

typedef struct {
    void **slots;
    size_t size, used;
} schema_map;

typedef struct {
    schema *s;
    const schema_options *opts;
    schema_error *err;
    schema_map entries;         /* schema_entry by value */
    schema_map targets;         /* schema_target by key */
    const json_value *document; /* being read, for error paths */
    struct schema_work {
        struct schema_work *next;
        schema_entry *entry;
    } * work;
    bool set_indexed;
    const char *dynamic_names[SCHEMA_DYNAMIC_MAX];
    uint16_t dynamic_count;
} schema_builder;

/* All return false/NULL after filling err. at: the value it is about, NULL: none. */
__attribute__((format(printf, 3, 4))) bool schema_refuse(schema_builder *b, const json_value *at,
                                                         const char *fmt, ...);
bool schema_no_memory(schema_builder *b);
schema_entry *schema_entry_find(schema_builder *b, const json_value *value);
schema_entry *schema_entry_make(schema_builder *b, const json_value *value, schema_resource *resource);
schema_target *schema_target_find(schema_builder *b, const char *key);
/* Finds the subschemas, ids and anchors of a document. */
schema_resource *schema_load(schema_builder *b, const char *uri, const json_value *root, uint8_t draft);
/* The subschema a reference in resource names; at: the $ref, for the error. *ret_target: the anchor, when it
 * is one. */
schema_entry *schema_resolve(schema_builder *b, schema_resource *resource, const json_value *at,
                             const schema_target **ret_target);
const json_value *schema_set_find(const schema_set *set, const char *uri);
/* The i-th document of a set; NULL: no more. */
const json_value *schema_set_at(const schema_set *set, size_t i, const char **ret_uri);
/* A built-in metaschema, read into a; NULL: none of that uri. */
const json_value *schema_meta_find(arena *a, const char *uri);
static inline bool schema_is_one(const json_value *v) {
    return json_is(v, JSON_OBJECT) || json_is(v, JSON_BOOL);
}
/* The node of an entry, made or queued to be made. */
schema_node *schema_node_of(schema_builder *b, schema_entry *e);
/* Fills the entry's node. */
bool schema_make(schema_builder *b, schema_entry *e);
/* Refuses endless and exploding schemas. */
bool schema_check(schema_builder *b);

/* ---- evaluation (schema_validate.c, schema_report.c, schema_hash.c) ---- */

#define NO_INDEX UINT32_MAX

/* One step down, on the C stack; only kept while collecting failures. */
typedef struct schema_frame {
    const struct schema_frame *up;
    const char *keyword;      /* token of the schema path; NULL: none */
    const json_value *key;    /* and the member of it */
    uint32_t index;           /* or the item; NO_INDEX */
    const json_value *member; /* token of the instance path: a member's key */
    uint32_t item;            /* or the item; NO_INDEX */
} schema_frame;

typedef struct schema_told {
    struct schema_told *next;
    uint32_t depth; /* of the instance path */
    schema_failure failure;
} schema_told;

typedef struct {
    schema_told *first, **last;
    size_t count, max;
    bool more;
} schema_collector;

typedef struct schema_scope {
    const struct schema_scope *up;
    const schema_resource *resource;
} schema_scope;

typedef struct {
    const schema *s;
    arena *a;
    uint64_t steps;
    uint32_t depth;
    bool stopped;
    schema_message why;
    const schema_scope *scope;
    schema_collector *out; /* NULL: nobody asks what failed */
    schema_collector *all; /* the outermost one */
    uint32_t told;         /* failures made so far, also those that were not kept */
} schema_eval;

/* Stops the whole evaluation: undecided. Returns false. */
bool schema_stop(schema_eval *e, schema_message why, const schema_frame *up, const json_value *v,
                 const json_value *rule);
/* A new failure; NULL: no room (not an error). */
schema_failure *schema_tell(schema_eval *e, schema_message message, const char *keyword,
                            const schema_frame *up, const json_value *v, const json_value *rule);
void schema_tell_type(schema_eval *e, uint32_t types, const char *keyword, const schema_frame *up,
                      const json_value *v, const json_value *rule);
void schema_tell_op(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v);
void schema_tell_bound(schema_eval *e, schema_message message, const schema_op *op, const schema_frame *up,
                       const json_value *v, uint64_t limit, uint64_t count);
void schema_tell_missing(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v);
void schema_tell_unknown(schema_eval *e, const schema_op *op, const char *keyword, const schema_frame *up,
                         const json_value *v, const json_value *key);
void schema_tell_name(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                      const json_value *key, const schema_collector *why);
/* No branch of anyOf/oneOf fits: told holds what each said. */
void schema_tell_branches(schema_eval *e, const schema_op *op, const schema_frame *up, const json_value *v,
                          schema_collector *told, size_t n);

/* NULL: no property, nor required member, of that name. */
const schema_property *schema_property_find(const schema_object *o, const json_value *key);

/* Equal values (json_equal) have equal hashes. */
uint64_t schema_hash(const json_value *v);
uint64_t schema_hash_text(const char *text, size_t len);

#endif
