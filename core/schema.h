/* SPDX-License-Identifier: MIT */
/* schema.h -- JSON Schema 2020-12 and draft-07: compiled once into nodes, then interpreted over a json_value.
 *
 * A compiled schema never changes: any number of threads may validate with it at once, each with its own
 * arena. It borrows the documents it was compiled from (names, constants and enum values point into them):
 * they must outlive it. Nothing is ever fetched: a $ref reaches the schema's own document, the documents of a
 * schema_set and the built-in metaschemas; any other is a compile error that names it.
 *
 * Policy: `format` is an annotation unless asked for (options, or a metaschema with the format-assertion
 * vocabulary); unknown keywords are ignored; a malformed keyword is a compile error; numbers are compared in
 * exact decimal; lengths are code points. What a limit cut short is SCHEMA_UNDECIDED, never SCHEMA_VALID.
 */
#ifndef LASTRO_CORE_SCHEMA_H
#define LASTRO_CORE_SCHEMA_H

#include "arena.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { SCHEMA_DRAFT_AUTO = 0, SCHEMA_DRAFT_7 = 7, SCHEMA_DRAFT_2020_12 = 2020 } schema_draft;

/* Every bound has a default, taken where the field is 0. */
typedef struct {
    uint32_t subschemas; /* most subschemas compiled: SCHEMA_SUBSCHEMAS_DEFAULT */
    uint32_t depth;      /* subschemas being evaluated inside one another: SCHEMA_DEPTH_DEFAULT */
    uint64_t steps; /* subschemas, members, items and comparisons in one validation: SCHEMA_STEPS_DEFAULT */
    uint32_t regex_match; /* PCRE2 match limit of one search: REGEX_MATCH_DEFAULT (ecma_regex.h) */
    uint32_t regex_heap_kib;
} schema_limits;
enum { SCHEMA_SUBSCHEMAS_DEFAULT = 50000, SCHEMA_DEPTH_DEFAULT = 512, SCHEMA_STEPS_DEFAULT = 10000000 };

/* Documents a $ref may reach, by absolute URI (without fragment). Filled while loading, read-only afterwards.
 */
typedef struct schema_set schema_set;
schema_set *schema_set_create(void);      /* NULL: out of memory */
void schema_set_destroy(schema_set *set); /* accepts NULL */
/* uri is copied, root borrowed: both it and the set must outlive what is compiled. A second document of one
 * uri replaces the first. False: out of memory. */
bool schema_set_add(schema_set *set, const char *uri, const json_value *root);

typedef struct {
    schema_draft draft;    /* where $schema is absent; AUTO: 2020-12 */
    bool assert_format;    /* check the known formats (see docs/json-schema.md) */
    const char *base_uri;  /* of the root document, when it has no $id; may be NULL */
    const schema_set *set; /* may be NULL */
    schema_limits limits;
} schema_options;

typedef struct {
    char path[256]; /* JSON pointer of the subschema in question, cut if longer; "" the root */
    char text[400]; /* what is wrong, in English, naming the value */
} schema_error;

typedef struct schema schema;
/* opts and err may be NULL. NULL: unusable, err tells. */
schema *schema_compile(const json_value *root, const schema_options *opts, schema_error *err);
void schema_destroy(schema *s); /* accepts NULL */
schema_draft schema_draft_of(const schema *s);
size_t schema_subschemas(const schema *s); /* compiled */

/* ---- validation ---- */

/* The sentences there are, and their keys in schemas/messages/LANG.json (schema_messages.h renders them). */
#define SCHEMA_MESSAGE_MAP(X)                                                                                \
    X(TYPE, "type")                     /* expected, actual */                                               \
    X(TYPE_QUOTED, "type.quoted")       /* "433" for 433: hint is what to send */                            \
    X(TYPE_UNQUOTED, "type.unquoted")   /* 433 for "433": hint is what to send */                            \
    X(TYPE_UNLISTED, "type.unlisted")   /* "a" for ["a"]: hint is what to send */                            \
    X(TYPE_NULL, "type.null")           /* null where it is not accepted */                                  \
    X(TYPE_JSON_TEXT, "type.json_text") /* an object or array sent as the text of one */                     \
    X(ENUM, "enum")                                                                                          \
    X(ENUM_NEAREST, "enum.nearest")                                                                          \
    X(CONST, "const")                                                                                        \
    X(MINIMUM, "minimum")                                                                                    \
    X(MAXIMUM, "maximum")                                                                                    \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum")                                                                 \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum")                                                                 \
    X(MULTIPLE_OF, "multipleOf")                                                                             \
    X(MIN_LENGTH, "minLength")                                                                               \
    X(MIN_LENGTH_EMPTY, "minLength.empty") /* "" where at least one character is due */                      \
    X(MAX_LENGTH, "maxLength")                                                                               \
    X(PATTERN, "pattern")                                                                                    \
    X(PATTERN_EXAMPLE, "pattern.example") /* the schema has examples: hint is the first */                   \
    X(FORMAT, "format")                                                                                      \
    X(FORMAT_EXAMPLE, "format.example")                                                                      \
    X(MIN_ITEMS, "minItems")                                                                                 \
    X(MAX_ITEMS, "maxItems")                                                                                 \
    X(EXTRA_ITEM, "items.extra") /* an item beyond the last one allowed */                                   \
    X(UNIQUE_ITEMS, "uniqueItems")                                                                           \
    X(CONTAINS, "contains")                                                                                  \
    X(MIN_CONTAINS, "minContains")                                                                           \
    X(MAX_CONTAINS, "maxContains")                                                                           \
    X(MIN_PROPERTIES, "minProperties")                                                                       \
    X(MAX_PROPERTIES, "maxProperties")                                                                       \
    X(REQUIRED, "required")                                                                                  \
    X(DEPENDENT_REQUIRED, "dependentRequired") /* name is missing, because other is there */                 \
    X(UNKNOWN, "unknown")                      /* additionalProperties/unevaluatedProperties: false */       \
    X(UNKNOWN_NEAREST, "unknown.nearest")                                                                    \
    X(UNKNOWN_NONE, "unknown.none") /* no member at all is allowed */                                        \
    X(NAME, "propertyNames")                                                                                 \
    X(NAME_ENUM, "propertyNames.enum")                                                                       \
    X(NAME_PATTERN, "propertyNames.pattern")                                                                 \
    X(FALSE, "false") /* a member whose schema is false */                                                   \
    X(NOT, "not")                                                                                            \
    X(ANY_OF, "anyOf")                /* no branch fits, and none is nearer than the others */               \
    X(ANY_REQUIRED, "anyOf.required") /* one of choices must be there, none is */                            \
    X(ONE_OF_MANY, "oneOf.many")      /* more than one branch fits */                                        \
    X(LIMIT_STEPS, "limit.steps")     /* the four below: undecided, see rule or limit */                     \
    X(LIMIT_DEPTH, "limit.depth")                                                                            \
    X(LIMIT_REGEX, "limit.regex")                                                                            \
    X(LIMIT_MEMORY, "limit.memory")
#define X(name, key) SCHEMA_SAYS_##name,
typedef enum { SCHEMA_MESSAGE_MAP(X) SCHEMA_MESSAGES } schema_message;
#undef X

/* Kinds as bits: 1u << json_kind, and this one for "a number that is an integer". */
enum { SCHEMA_INTEGER_BIT = 1u << 7 };

/* One failure; the paths are C strings: a NUL in a member's name shows as U+FFFD. All it points to lives in
 * the arena given to schema_validate, in the instance or in the schema. */
typedef struct {
    schema_message message;
    const char *keyword;       /* "type", "required", …; "" for a false schema or a limit */
    const char *instance_path; /* JSON pointer of the value (UNKNOWN: the unknown member); "" the root */
    const char *schema_path;   /* JSON pointer as evaluated, through $ref: "/properties/a/$ref/type" */
    const char *member;        /* the same for people: "periodo.inicio", "codigos[2]"; "" the root.
                                * UNKNOWN…, REQUIRED…, NAME…: the object, the member in question is name */
    const json_value *value;   /* what was received */
    const json_value *rule;    /* the keyword's value in the schema; NULL: none */
    uint32_t types;            /* TYPE…: what is accepted, as bits */
    json_text name;            /* the unknown, missing or refused member name */
    json_text other;   /* DEPENDENT_REQUIRED: the member that asks for it; UNIQUE_ITEMS: "0" and name "2" */
    json_text nearest; /* the valid name, or value as JSON, that was probably meant */
    json_text hint;    /* JSON text to send instead, or an example */
    const json_text *choices; /* valid names, or valid values as JSON */
    size_t choice_count;
    uint64_t limit, count; /* what a bound asks for, what was found */
} schema_failure;

typedef struct {
    size_t max;   /* in: most failures to keep; 0: SCHEMA_FAILURES_DEFAULT */
    size_t count; /* out: kept in failures */
    bool more;    /* out: there were others */
    schema_failure *failures;
} schema_report;
enum { SCHEMA_FAILURES_DEFAULT = 8 };

typedef enum { SCHEMA_VALID = 0, SCHEMA_INVALID, SCHEMA_UNDECIDED } schema_verdict;

/* Is instance valid? report may be NULL; unless the verdict is SCHEMA_VALID it is filled, with one failure at
 * least while the arena lasts. Nothing is taken from the arena for a valid instance, but what unevaluated*
 * and uniqueItems need on long ones. SCHEMA_UNDECIDED: a limit (or the arena's) was reached; to be treated as
 * a failure, the report's last entry says which. */
schema_verdict schema_validate(const schema *s, const json_value *instance, arena *a, schema_report *report);

#endif
