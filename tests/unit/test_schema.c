/* SPDX-License-Identifier: MIT */
/* The validator: what is valid, what is refused before the first instance, what a limit leaves undecided. */
#include "schema.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    arena memory;
    schema *s;
    schema_error why;
    const json_value *root;
} compiled;

static const json_value *read_deep(arena *a, const char *text, uint32_t depth) {
    json_limits limits = {.depth = depth};
    json_error at;
    const json_value *v = json_read_copy(a, text, strlen(text), &limits, &at);
    unit_check(v != NULL, "%s: %.80s", at.text, text);
    return v;
}

static const json_value *read(arena *a, const char *text) {
    return read_deep(a, text, 0);
}

static compiled open_with(const char *text, const schema_options *opts) {
    compiled c = {0};
    arena_init(&c.memory, 0);
    c.root = read_deep(&c.memory, text, 100000);
    c.s = schema_compile(c.root, opts, &c.why);
    return c;
}

static void close_it(compiled *c) {
    schema_destroy(c->s);
    arena_free(&c->memory);
}

static schema_verdict judge(compiled *c, const char *instance, schema_report *report) {
    return schema_validate(c->s, read(&c->memory, instance), &c->memory, report);
}

static void expect_with(const char *schema_text, const schema_options *opts, const char *instance,
                        schema_verdict want) {
    compiled c = open_with(schema_text, opts);
    unit_check(c.s != NULL, "%s does not compile: %s: %s", schema_text, c.why.path, c.why.text);
    if (c.s) {
        schema_report report = {0};
        schema_verdict got = judge(&c, instance, &report);
        unit_check(got == want, "%.300s with %.100s: %d, not %d", schema_text, instance, got, want);
        unit_check((report.count > 0) == (want != SCHEMA_VALID), "%.300s with %.100s: %zu failures",
                   schema_text, instance, report.count);
        unit_check(schema_validate(c.s, read(&c.memory, instance), &c.memory, NULL) == got,
                   "same without a report");
    }
    close_it(&c);
}

static void expect(const char *schema_text, const char *instance, schema_verdict want) {
    expect_with(schema_text, NULL, instance, want);
}

static void expect_unusable_with(const char *schema_text, const schema_options *opts, const char *path,
                                 const char *names) {
    compiled c = open_with(schema_text, opts);
    unit_check(c.s == NULL, "%.200s compiles", schema_text);
    unit_check(!c.s && strstr(c.why.text, names), "%.200s: '%s' does not name '%s'", schema_text, c.why.text,
               names);
    unit_check(!c.s && !strcmp(c.why.path, path), "%.200s: at '%s', not '%s'", schema_text, c.why.path, path);
    close_it(&c);
}

static void expect_unusable(const char *schema_text, const char *path, const char *names) {
    expect_unusable_with(schema_text, NULL, path, names);
}

typedef struct {
    const char *schema, *instance;
    schema_verdict want;
} row;

static void expect_rows(const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect(rows[i].schema, rows[i].instance, rows[i].want);
}
#define EXPECT_ROWS(rows) expect_rows((rows), sizeof(rows) / sizeof *(rows))

/* ---- field cases ---- */

/* F076 */
static void references_within_the_document(void) {
    static const char defs[] = "{\"type\":\"object\",\"$defs\":{\"Periodo\":{\"type\":\"object\","
                               "\"properties\":{\"inicio\":{\"type\":\"string\"}},"
                               "\"required\":[\"inicio\"]}},\"properties\":{\"periodo\":{\"$ref\":\"#/$defs/"
                               "Periodo\"},\"a/b\":{\"type\":\"integer\"},"
                               "\"c\":{\"$ref\":\"#/properties/"
                               "a~1b\"},\"p%\":{\"type\":\"boolean\"},\"q\":{\"$ref\":\"#/properties/p%25\"},"
                               "\"t~\":{\"type\":\"null\"},\"u\":{\"$ref\":\"#/properties/t~0\"}}}";
    static const row rows[] = {
        {defs, "{\"periodo\":{\"inicio\":\"2024-01-01\"},\"c\":1,\"q\":true,\"u\":null}", SCHEMA_VALID},
        {defs, "{\"periodo\":{}}", SCHEMA_INVALID},
        {defs, "{\"c\":\"1\"}", SCHEMA_INVALID},
        {defs, "{\"q\":0}", SCHEMA_INVALID},
        {defs, "{\"u\":0}", SCHEMA_INVALID},
    };
    EXPECT_ROWS(rows);
}

/* F077 */
static void foreign_references_are_never_fetched(void) {
    expect_unusable("{\"$ref\":\"http://169.254.169.254/x\"}", "/$ref", "http://169.254.169.254/x");
    expect_unusable("{\"properties\":{\"a\":{\"$ref\":\"file:///etc/passwd\"}}}", "/properties/a/$ref",
                    "file:///etc/passwd");
    expect_unusable("{\"$ref\":\"outro.json#/x\"}", "/$ref", "outro.json");
    expect_unusable("{\"$ref\":\"#/nada\"}", "/$ref", "#/nada");
    expect_unusable("{\"$ref\":\"#nada\"}", "/$ref", "#nada");
    expect_unusable("{\"$defs\":{\"unused\":{\"$ref\":\"https://example.com/y\"}}}", "/$defs/unused/$ref",
                    "https://example.com/y");
    expect_unusable("{\"$id\":\"https://example.com/a/b\",\"$ref\":\"../c\"}", "/$ref",
                    "https://example.com/c");
}

static void cycles_without_progress_are_refused(void) {
    expect_unusable("{\"$defs\":{\"A\":{\"allOf\":[{\"$ref\":\"#/$defs/"
                    "B\"}]},\"B\":{\"allOf\":[{\"$ref\":\"#/$defs/A\"}]}},"
                    "\"$ref\":\"#/$defs/A\"}",
                    "/$defs/A/allOf/0", "endless");
    expect_unusable("{\"$ref\":\"#\"}", "", "endless");
    expect_unusable("{\"anyOf\":[{\"type\":\"string\"},{\"not\":{\"$ref\":\"#\"}}]}", "/anyOf/1/not",
                    "endless");
    expect_unusable("{\"if\":{\"$ref\":\"#\"}}", "/if", "endless");
    /* with progress: a tree */
    static const char tree[] =
        "{\"type\":\"object\",\"properties\":{\"filhos\":{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}},"
        "\"additionalProperties\":false}";
    expect(tree, "{\"filhos\":[{\"filhos\":[]},{}]}", SCHEMA_VALID);
    expect(tree, "{\"filhos\":[{\"filhos\":[{\"x\":1}]},{}]}", SCHEMA_INVALID);
    /* only certain while evaluating: depth ends it */
    expect("{\"if\":{\"type\":\"string\"},\"then\":{\"$ref\":\"#\"}}", "\"a\"", SCHEMA_UNDECIDED);
    expect("{\"if\":{\"type\":\"string\"},\"then\":{\"$ref\":\"#\"}}", "1", SCHEMA_VALID);
    expect("{\"$dynamicAnchor\":\"a\",\"$dynamicRef\":\"#a\"}", "1", SCHEMA_UNDECIDED);
}

static char *repeat(const char *before, size_t n, const char *middle, const char *after) {
    size_t b = strlen(before), a = strlen(after), m = strlen(middle);
    char *text = malloc(n * (a + b) + m + 1), *at = text;
    for (size_t i = 0; i < n; i++)
        at = (char *)memcpy(at, before, b) + b;
    at = (char *)memcpy(at, middle, m) + m;
    for (size_t i = 0; i < n; i++)
        at = (char *)memcpy(at, after, a) + a;
    *at = '\0';
    return text;
}

static void ten_thousand_nots_are_refused(void) {
    char *text = repeat("{\"not\":", 10000, "{}", "}");
    compiled c = open_with(text, NULL);
    CU_ASSERT_PTR_NULL(c.s);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.why.text, "inside one another"));
    close_it(&c);
    free(text);
    text = repeat("{\"not\":", 100, "{}", "}");
    expect(text, "1", SCHEMA_VALID);
    free(text);
    text = repeat("{\"properties\":{\"a\":", 10000, "{}", "}}"); /* needs as deep an instance */
    expect(text, "{\"a\":{\"a\":1}}", SCHEMA_VALID);
    free(text);
}

static char *doublings(int n) {
    char *text = malloc((size_t)n * 100 + 200), *at = text;
    at += sprintf(at, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < n; i++)
        at += sprintf(at, "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i,
                      i + 1, i + 1);
    sprintf(at, "\"d%d\":{\"type\":\"integer\"}}}", n);
    return text;
}

static void doublings_are_refused_or_cut(void) {
    char *text = doublings(30);
    compiled c = open_with(text, NULL);
    CU_ASSERT_PTR_NULL(c.s);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.why.text, "steps"));
    close_it(&c);
    free(text);
    text = doublings(10);
    expect(text, "1", SCHEMA_VALID);
    expect(text, "\"1\"", SCHEMA_INVALID);
    free(text);
}

static void a_long_search_is_undecided(void) {
    static const char as[] = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"";
    expect("{\"pattern\":\"(a+)+$\"}", as, SCHEMA_UNDECIDED);
    expect("{\"not\":{\"pattern\":\"(a+)+$\"}}", as, SCHEMA_UNDECIDED);
    expect("{\"anyOf\":[{\"pattern\":\"(a+)+$\"},true]}", as, SCHEMA_UNDECIDED);
    expect("{\"pattern\":\"(a+)+$\"}", "\"aaaa\"", SCHEMA_VALID);
    expect("{\"patternProperties\":{\"(a+)+$\":true}}",
           "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}", SCHEMA_UNDECIDED);
}

/* F079 */
static void unknown_members_are_refused(void) {
    static const char s[] =
        "{\"type\":\"object\",\"properties\":{\"codigo\":{\"type\":\"integer\"},\"dataInicial\":{\"type\":"
        "\"string\"},"
        "\"opcoes\":{\"type\":\"object\",\"properties\":{\"formato\":{}},\"additionalProperties\":false}},"
        "\"additionalProperties\":false}";
    compiled c = open_with(s, NULL);
    schema_report r = {0};
    CU_ASSERT_EQUAL(judge(&c, "{\"codigo\":433,\"data_inicial\":\"2024-01-01\"}", &r), SCHEMA_INVALID);
    CU_ASSERT_EQUAL_FATAL(r.count, 1);
    const schema_failure *f = &r.failures[0];
    CU_ASSERT_EQUAL(f->message, SCHEMA_SAYS_UNKNOWN_NEAREST);
    CU_ASSERT_STRING_EQUAL(f->name.at, "data_inicial");
    CU_ASSERT_STRING_EQUAL(f->nearest.at, "dataInicial");
    CU_ASSERT_EQUAL(f->choice_count, 3);
    CU_ASSERT_STRING_EQUAL(f->instance_path, "/data_inicial");
    CU_ASSERT_STRING_EQUAL(f->schema_path, "/additionalProperties");
    CU_ASSERT_EQUAL(judge(&c, "{\"opcoes\":{\"formatos\":1,\"zzzz\":2}}", &r), SCHEMA_INVALID);
    CU_ASSERT_EQUAL_FATAL(r.count, 2);
    CU_ASSERT_STRING_EQUAL(r.failures[0].instance_path, "/opcoes/formatos");
    CU_ASSERT_STRING_EQUAL(r.failures[0].nearest.at, "formato");
    CU_ASSERT_STRING_EQUAL(r.failures[0].member, "opcoes");
    CU_ASSERT_EQUAL(r.failures[1].message, SCHEMA_SAYS_UNKNOWN);
    close_it(&c);
}

/* F080 */
static void null_must_be_allowed(void) {
    static const row rows[] = {
        {"{\"properties\":{\"boletim\":{\"type\":[\"string\",\"null\"]}},\"additionalProperties\":false}",
         "{\"boletim\":null}", SCHEMA_VALID},
        {"{\"properties\":{\"boletim\":{\"type\":\"string\"}},\"additionalProperties\":false}",
         "{\"boletim\":null}", SCHEMA_INVALID},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"novo\":2}",
         SCHEMA_INVALID},
    };
    EXPECT_ROWS(rows);
}

/* F082 */
static void numbers_are_exact(void) {
    static const row rows[] = {
        {"{\"type\":\"integer\"}", "433.0", SCHEMA_VALID},
        {"{\"type\":\"integer\"}", "4.33e2", SCHEMA_VALID},
        {"{\"type\":\"integer\"}", "433.5", SCHEMA_INVALID},
        {"{\"type\":\"integer\"}", "\"433\"", SCHEMA_INVALID},
        {"{\"type\":\"integer\"}", "-0", SCHEMA_VALID},
        {"{\"type\":\"integer\"}", "1e308", SCHEMA_VALID},
        {"{\"multipleOf\":0.01}", "0.07", SCHEMA_VALID},
        {"{\"multipleOf\":0.01}", "4.35", SCHEMA_VALID},
        {"{\"multipleOf\":0.01}", "0.075", SCHEMA_INVALID},
        {"{\"multipleOf\":0.1}", "1e308", SCHEMA_VALID},
        {"{\"minimum\":0.1}", "0.09999999999999999999999", SCHEMA_INVALID},
        {"{\"maximum\":9007199254740993}", "9007199254740994", SCHEMA_INVALID},
        {"{\"minLength\":1,\"maxLength\":1}", "\"ç\"", SCHEMA_VALID},
        {"{\"minLength\":1,\"maxLength\":1}", "\"\\ud83d\\ude00\"", SCHEMA_VALID},
        {"{\"minLength\":1}", "\"\"", SCHEMA_INVALID},
        {"{\"minLength\":2}", "\"é\"", SCHEMA_INVALID},
        {"{\"enum\":[1]}", "1.0", SCHEMA_VALID},
        {"{\"enum\":[1]}", "true", SCHEMA_INVALID},
        {"{\"const\":{\"a\":[1,2]}}", "{\"a\":[1.0,20e-1]}", SCHEMA_VALID},
        {"{\"uniqueItems\":true}", "[1,1.0]", SCHEMA_INVALID},
        {"{\"uniqueItems\":true}", "[1,true,\"1\",[1],{\"a\":1}]", SCHEMA_VALID},
        {"{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2.0,\"a\":1}]", SCHEMA_INVALID},
    };
    EXPECT_ROWS(rows);
}

/* ---- schemas that are no schemas ---- */

static void malformed_keywords_are_refused(void) {
    static const struct {
        const char *schema, *path, *names;
    } rows[] = {
        {"5", "", "a schema must be"},
        {"{\"type\":\"inteiro\"}", "/type", "inteiro"},
        {"{\"type\":[]}", "/type", "type"},
        {"{\"type\":[\"string\",1]}", "/type", "type"},
        {"{\"minLength\":-1}", "/minLength", "minLength"},
        {"{\"minLength\":1.5}", "/minLength", "minLength"},
        {"{\"minimum\":\"1\"}", "/minimum", "minimum"},
        {"{\"multipleOf\":0}", "/multipleOf", "multipleOf"},
        {"{\"multipleOf\":0.0e5}", "/multipleOf", "multipleOf"},
        {"{\"multipleOf\":-2}", "/multipleOf", "multipleOf"},
        {"{\"enum\":\"a\"}", "/enum", "enum"},
        {"{\"required\":\"a\"}", "/required", "required"},
        {"{\"properties\":{\"a\":5}}", "/properties", "properties"},
        {"{\"properties\":[]}", "/properties", "properties"},
        {"{\"allOf\":[]}", "/allOf", "allOf"},
        {"{\"not\":[]}", "/not", "not"},
        {"{\"items\":[{}]}", "/items", "items"},
        {"{\"pattern\":\"(\"}", "/pattern", "("},
        {"{\"pattern\":\"\\\\Z\"}", "/pattern", "ECMA-262"},
        {"{\"patternProperties\":{\"[\":{}}}", "/patternProperties/[", "["},
        {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "/$schema", "draft-04"},
        {"{\"$id\":\"https://example.com/a#b\"}", "/$id", "fragment"},
        {"{\"$ref\":1}", "/$ref", "$ref"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_unusable(rows[i].schema, rows[i].path, rows[i].names);
}

/* Found by fuzzing: a NUL ended the comparison of names. */
static void names_with_nul_are_no_keywords(void) {
    expect("{\"contains\\u0000\\u0000xyzxyzxyzxyz\":5,\"type\\u0000\":5,\"typ\":5}", "1", SCHEMA_VALID);
    expect("{\"properties\":{\"a\\u0000\":{\"type\":\"null\"}}}", "{\"a\":1}", SCHEMA_VALID);
    expect("{\"properties\":{\"a\\u0000\":{\"type\":\"null\"}}}", "{\"a\\u0000\":1}", SCHEMA_INVALID);
}

static void drafts_differ(void) {
    schema_options old = {.draft = SCHEMA_DRAFT_7};
    expect_with("{\"items\":[{\"type\":\"integer\"}],\"additionalItems\":false}", &old, "[1]", SCHEMA_VALID);
    expect_with("{\"items\":[{\"type\":\"integer\"}],\"additionalItems\":false}", &old, "[1,2]",
                SCHEMA_INVALID);
    expect_with("{\"definitions\":{\"a\":{}},\"$ref\":\"#/definitions/a\",\"type\":\"null\"}", &old, "1",
                SCHEMA_VALID);
    expect("{\"definitions\":{\"a\":{}},\"$ref\":\"#/definitions/a\",\"type\":\"null\"}", "1",
           SCHEMA_INVALID);
    expect("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{\"type\":\"null\"}]}", "[1]",
           SCHEMA_INVALID);
    compiled c = open_with("{\"$schema\":\"http://json-schema.org/draft-07/schema\"}", NULL);
    CU_ASSERT_EQUAL(schema_draft_of(c.s), SCHEMA_DRAFT_7);
    CU_ASSERT_EQUAL(schema_subschemas(c.s), 1);
    close_it(&c);
}

static void formats_are_asserted_when_asked(void) {
    schema_options on = {.assert_format = true};
    expect("{\"format\":\"date\"}", "\"2024-02-30\"", SCHEMA_VALID);
    expect_with("{\"format\":\"date\"}", &on, "\"2024-02-30\"", SCHEMA_INVALID);
    expect_with("{\"format\":\"date\"}", &on, "\"2024-02-29\"", SCHEMA_VALID);
    expect_with("{\"format\":\"cor\"}", &on, "\"x\"", SCHEMA_VALID);
    expect_with("{\"format\":\"date\"}", &on, "5", SCHEMA_VALID);
}

static void documents_of_a_set_are_reached(void) {
    arena a;
    arena_init(&a, 0);
    schema_set *set = schema_set_create();
    CU_ASSERT_TRUE(schema_set_add(
        set, "https://lastro.example/periodo.json",
        read(&a, "{\"$id\":\"https://lastro.example/"
                 "periodo.json\",\"$defs\":{\"dia\":{\"$anchor\":\"dia\",\"type\":\"string\"}},"
                 "\"properties\":{\"inicio\":{\"$ref\":\"#dia\"}},\"required\":[\"inicio\"]}")));
    schema_options o = {.set = set};
    expect_with("{\"$ref\":\"https://lastro.example/periodo.json\"}", &o, "{\"inicio\":\"a\"}", SCHEMA_VALID);
    expect_with("{\"$ref\":\"https://lastro.example/periodo.json\"}", &o, "{\"inicio\":1}", SCHEMA_INVALID);
    expect_with("{\"$id\":\"https://lastro.example/x/y.json\",\"$ref\":\"../periodo.json#dia\"}", &o, "1",
                SCHEMA_INVALID);
    expect_unusable_with("{\"$ref\":\"https://lastro.example/outro.json\"}", &o, "/$ref", "outro.json");
    schema_set_destroy(set);
    arena_free(&a);
}

static void metaschemas_are_built_in(void) {
    static const char *const metas[] = {"https://json-schema.org/draft/2020-12/schema",
                                        "http://json-schema.org/draft-07/schema#"};
    for (size_t i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"$ref\":\"%s\"}", metas[i]);
        expect(text, "{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":1}}}", SCHEMA_VALID);
        expect(text, "{\"type\":\"object\",\"properties\":{\"a\":{\"minLength\":-1}}}", SCHEMA_INVALID);
        expect(text, "{\"allOf\":[{\"not\":{\"type\":\"x\"}}]}", SCHEMA_INVALID);
    }
}

/* ---- reports ---- */

static const schema_failure *first_of(compiled *c, const char *instance, schema_report *r) {
    CU_ASSERT_NOT_EQUAL(judge(c, instance, r), SCHEMA_VALID);
    CU_ASSERT_TRUE_FATAL(r->count > 0);
    return &r->failures[0];
}

static void paths_lead_through_references(void) {
    compiled c =
        open_with("{\"properties\":{\"codigos\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/a~1b\"}}},"
                  "\"$defs\":{\"a/b\":{\"type\":\"integer\",\"minimum\":1}}}",
                  NULL);
    schema_report r = {0};
    const schema_failure *f = first_of(&c, "{\"codigos\":[1,2,0]}", &r);
    CU_ASSERT_STRING_EQUAL(f->instance_path, "/codigos/2");
    CU_ASSERT_STRING_EQUAL(f->schema_path, "/properties/codigos/items/$ref/minimum");
    CU_ASSERT_STRING_EQUAL(f->member, "codigos[2]");
    CU_ASSERT_EQUAL(f->message, SCHEMA_SAYS_MINIMUM);
    close_it(&c);
}

static void a_report_is_bounded(void) {
    compiled c = open_with("{\"items\":{\"type\":\"string\"}}", NULL);
    schema_report r = {0};
    CU_ASSERT_EQUAL(judge(&c, "[1,2,3,4,5,6,7,8,9]", &r), SCHEMA_INVALID);
    CU_ASSERT_EQUAL(r.count, SCHEMA_FAILURES_DEFAULT);
    CU_ASSERT_TRUE(r.more);
    r.max = 2;
    CU_ASSERT_EQUAL(judge(&c, "[1,2,3]", &r), SCHEMA_INVALID);
    CU_ASSERT_EQUAL(r.count, 2);
    CU_ASSERT_TRUE(r.more);
    CU_ASSERT_EQUAL(judge(&c, "[1,2]", &r), SCHEMA_INVALID);
    CU_ASSERT_EQUAL(r.count, 2);
    CU_ASSERT_FALSE(r.more);
    close_it(&c);
}

static void the_nearest_branch_is_told(void) {
    compiled c = open_with("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{"
                           "\"type\":\"integer\"}}}]}",
                           NULL);
    schema_report r = {0};
    const schema_failure *f = first_of(&c, "{\"a\":\"x\"}", &r);
    CU_ASSERT_STRING_EQUAL(f->schema_path, "/anyOf/1/properties/a/type");
    f = first_of(&c, "7", &r);
    CU_ASSERT_EQUAL(r.count, 1);
    CU_ASSERT_EQUAL(f->types, 1u << JSON_STRING | 1u << JSON_OBJECT);
    close_it(&c);
    c = open_with("{\"oneOf\":[{\"const\":\"a\"},{\"const\":\"b\"},{\"enum\":[\"c\",1]}]}", NULL);
    f = first_of(&c, "\"d\"", &r);
    CU_ASSERT_EQUAL(f->choice_count, 4);
    CU_ASSERT_STRING_EQUAL(f->choices[3].at, "1");
    close_it(&c);
    c = open_with("{\"oneOf\":[{\"properties\":{\"tipo\":{\"const\":\"a\"},\"x\":{\"type\":\"integer\"}}},"
                  "{\"properties\":{\"tipo\":{\"const\":\"b\"},\"y\":{\"type\":\"integer\"}}}]}",
                  NULL);
    f = first_of(&c, "{\"tipo\":\"b\",\"y\":\"1\"}", &r);
    CU_ASSERT_STRING_EQUAL(f->schema_path, "/oneOf/1/properties/y/type");
    close_it(&c);
    c = open_with("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2},{\"type\":\"string\"}]}", NULL);
    f = first_of(&c, "3", &r);
    CU_ASSERT_EQUAL(f->message, SCHEMA_SAYS_ONE_OF_MANY);
    CU_ASSERT_EQUAL(f->limit, 0);
    CU_ASSERT_EQUAL(f->count, 1);
    close_it(&c);
    c = open_with("{\"anyOf\":[{\"required\":[\"codigo\"]},{\"required\":[\"nome\"]}]}", NULL);
    f = first_of(&c, "{}", &r);
    CU_ASSERT_EQUAL(f->message, SCHEMA_SAYS_ANY_REQUIRED);
    CU_ASSERT_EQUAL(f->choice_count, 2);
    close_it(&c);
}

/* ---- size, limits, threads ---- */

static char *numbers(size_t n, const char *last) {
    char *text = malloc(n * 12 + strlen(last) + 8), *at = text;
    at += sprintf(at, "[");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%zu,", i);
    sprintf(at, "%s]", last);
    return text;
}

static void long_lists_are_compared_quickly(void) {
    char *text = numbers(100000, "-1");
    expect("{\"uniqueItems\":true}", text, SCHEMA_VALID);
    free(text);
    text = numbers(100000, "77.0");
    compiled c = open_with("{\"uniqueItems\":true}", NULL);
    schema_report r = {0};
    const schema_failure *f = first_of(&c, text, &r);
    CU_ASSERT_EQUAL(f->limit, 77);
    CU_ASSERT_EQUAL(f->count, 100000);
    close_it(&c);
    free(text);
}

static void large_enums_and_objects_are_looked_up(void) {
    char *list = numbers(1000, "\"x\""), *text = malloc(strlen(list) + 20);
    sprintf(text, "{\"enum\":%s}", list);
    expect(text, "999.0", SCHEMA_VALID);
    expect(text, "\"x\"", SCHEMA_VALID);
    expect(text, "1000", SCHEMA_INVALID);
    free(list);
    free(text);
    char *wide = malloc(60000),
         *at =
             wide +
             sprintf(wide,
                     "{\"additionalProperties\":false,\"required\":[\"p7\",\"q\"],\"properties\":{\"q\":{}");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, ",\"p%d\":{\"type\":\"integer\"}", i);
    sprintf(at, "}}");
    expect(wide, "{\"p7\":1,\"p999\":2,\"q\":null}", SCHEMA_VALID);
    expect(wide, "{\"p7\":1,\"p1000\":2,\"q\":null}", SCHEMA_INVALID);
    expect(wide, "{\"p7\":1}", SCHEMA_INVALID);
    free(wide);
}

static void unevaluated_on_long_instances(void) {
    static const char items[] =
        "{\"prefixItems\":[true],\"contains\":{\"minimum\":0},\"unevaluatedItems\":{\"type\":\"string\"}}";
    char *text = numbers(500, "\"a\"");
    expect(items, text, SCHEMA_VALID);
    free(text);
    text = numbers(500, "-1");
    expect(items, text, SCHEMA_INVALID);
    free(text);
    /* marks of a branch that fails are taken back */
    expect("{\"anyOf\":[{\"properties\":{\"a\":true,\"b\":{\"type\":\"null\"}}},{\"required\":[\"c\"]}],"
           "\"properties\":{\"c\":true,\"b\":true},"
           "\"unevaluatedProperties\":false}",
           "{\"a\":1,\"b\":1,\"c\":1}", SCHEMA_INVALID);
}

static void limits_leave_undecided(void) {
    schema_options few = {.limits = {.steps = 50}}, flat = {.limits = {.depth = 10}},
                   small = {.limits = {.subschemas = 3}};
    char *text = numbers(100, "0");
    expect_with("{\"items\":{\"type\":\"integer\"}}", &few, text, SCHEMA_UNDECIDED);
    expect_with("{\"not\":{\"items\":{\"type\":\"integer\"}}}", &few, text, SCHEMA_UNDECIDED);
    expect_with("{\"items\":{\"type\":\"integer\"}}", &few, "[1,2]", SCHEMA_VALID);
    free(text);
    expect_with("{\"additionalProperties\":{\"$ref\":\"#\"}}", &flat,
                "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}", SCHEMA_UNDECIDED);
    expect_with("{\"additionalProperties\":{\"$ref\":\"#\"}}", &flat, "{\"a\":{\"a\":1}}", SCHEMA_VALID);
    expect_unusable_with("{\"allOf\":[true,true,true]}", &small, "/allOf/0", "more than 3 subschemas");
}

static void a_spent_arena_is_undecided(void) {
    compiled c = open_with("{\"uniqueItems\":true}", NULL);
    char *text = numbers(1000, "0");
    arena a;
    arena_init(&a, 1000);
    CU_ASSERT_EQUAL(schema_validate(c.s, read(&c.memory, text), &a, NULL), SCHEMA_UNDECIDED);
    arena_free(&a);
    free(text);
    close_it(&c);
}

/* The C stack holds the default depth with room to spare in a thread of 1 MiB (under sanitizers too). */
static void *validate_deep(void *arg) {
    compiled *c = arg;
    char *text = repeat("{\"a\":", 500, "1", "}");
    schema_report r = {0};
    static int undecided;
    undecided = judge(c, text, &r) == SCHEMA_UNDECIDED;
    free(text);
    return &undecided;
}

static void depth_fits_a_small_stack(void) {
    compiled c = open_with("{\"$dynamicAnchor\":\"x\",\"unevaluatedProperties\":false,"
                           "\"allOf\":[{\"additionalProperties\":{\"$dynamicRef\":\"#x\"}}]}",
                           NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c.s);
    pthread_attr_t attr;
    pthread_t thread;
    void *undecided = NULL;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 20);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, &attr, validate_deep, &c), 0);
    pthread_join(thread, &undecided);
    pthread_attr_destroy(&attr);
    CU_ASSERT_TRUE(undecided && *(int *)undecided);
    close_it(&c);
}

enum { THREADS = 8, ROUNDS = 2000 };
static void *validate_often(void *arg) {
    const schema *s = arg;
    arena docs, a;
    arena_init(&docs, 0);
    arena_init(&a, 0);
    const json_value *good = read(&docs, "{\"codigo\":433,\"nome\":\"abcabc\"}");
    const json_value *bad = read(&docs, "{\"codigo\":\"433\",\"nome\":\"abcab\",\"x\":1}");
    size_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        schema_report r = {0};
        wrong += schema_validate(s, good, &a, NULL) != SCHEMA_VALID;
        wrong += schema_validate(s, bad, &a, &r) != SCHEMA_INVALID || r.count != 3;
        arena_reset(&a);
    }
    arena_free(&a);
    arena_free(&docs);
    return wrong ? arg : NULL;
}

static void threads_share_a_schema(void) {
    compiled c =
        open_with("{\"properties\":{\"codigo\":{\"type\":\"integer\"},\"nome\":{\"pattern\":\"^(?:abc)+$\"}},"
                  "\"unevaluatedProperties\":false}",
                  NULL);
    pthread_t list[THREADS];
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&list[i], NULL, validate_often, c.s), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(list[i], &failed);
        CU_ASSERT_PTR_NULL(failed);
    }
    close_it(&c);
}

static void a_valid_instance_takes_no_memory(void) {
    compiled c =
        open_with("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1},\"b\":{"
                  "\"pattern\":\"^(?:x|yz)+$\"},"
                  "\"c\":{\"uniqueItems\":true}},\"required\":[\"a\"],\"unevaluatedProperties\":false}",
                  NULL);
    arena a;
    arena_init(&a, 0);
    CU_ASSERT_EQUAL(schema_validate(c.s, read(&c.memory, "{\"a\":1,\"b\":\"xyz\",\"c\":[1,2,3]}"), &a, NULL),
                    SCHEMA_VALID);
    CU_ASSERT_EQUAL(a.used, 0);
    arena_free(&a);
    close_it(&c);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(references_within_the_document),
        UNIT_TEST(foreign_references_are_never_fetched),
        UNIT_TEST(cycles_without_progress_are_refused),
        UNIT_TEST(ten_thousand_nots_are_refused),
        UNIT_TEST(doublings_are_refused_or_cut),
        UNIT_TEST(a_long_search_is_undecided),
        UNIT_TEST(unknown_members_are_refused),
        UNIT_TEST(null_must_be_allowed),
        UNIT_TEST(numbers_are_exact),
        UNIT_TEST(malformed_keywords_are_refused),
        UNIT_TEST(names_with_nul_are_no_keywords),
        UNIT_TEST(drafts_differ),
        UNIT_TEST(formats_are_asserted_when_asked),
        UNIT_TEST(documents_of_a_set_are_reached),
        UNIT_TEST(metaschemas_are_built_in),
        UNIT_TEST(paths_lead_through_references),
        UNIT_TEST(a_report_is_bounded),
        UNIT_TEST(the_nearest_branch_is_told),
        UNIT_TEST(long_lists_are_compared_quickly),
        UNIT_TEST(large_enums_and_objects_are_looked_up),
        UNIT_TEST(unevaluated_on_long_instances),
        UNIT_TEST(limits_leave_undecided),
        UNIT_TEST(a_spent_arena_is_undecided),
        UNIT_TEST(depth_fits_a_small_stack),
        UNIT_TEST(threads_share_a_schema),
        UNIT_TEST(a_valid_instance_takes_no_memory),
    };
    return UNIT_RUN("schema", tests);
}
