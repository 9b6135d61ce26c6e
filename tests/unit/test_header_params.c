/* SPDX-License-Identifier: MIT */
#include "header_params.h"
#include "test_core_host.h"
#include "unit.h"

static arena mem;

static const json_value *json(const char *text) {
    const json_value *v = json_read_copy(&mem, text, strlen(text), NULL, NULL);
    unit_check(v != NULL, "no JSON: %s", text);
    return v;
}

/* ---- schemas ---- */

#define PROP(name, schema) "{\"type\":\"object\",\"properties\":{\"" name "\":" schema "}}"
#define MARKED(type, header) "{\"type\":\"" type "\",\"x-mcp-header\":" header "}"

static void test_header_params__a_schema_says_which_arguments(void) {
    const char *input = "{\"type\":\"object\",\"properties\":{\"region\":" MARKED("string", "\"Region\"") ",\"filter\":{\"type\":\"object\","
                         "\"properties\":{\"limit\":" MARKED("integer", "\"X-Limit\"") ",\"x-mcp-header\":" MARKED("boolean", "\"!odd~\"")
                         "}},\"plain\":{\"type\":\"number\",\"default\":{\"x-mcp-header\":5}}},\"examples\":[{\"x-mcp-header\":\"a b\"}]}";
    const header_param *all = NULL;
    size_t n = 0;
    lastro_error err = {0};
    CU_ASSERT_EQUAL_FATAL(header_params_read(&mem, json(input), &all, &n, &err), LASTRO_OK);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    static const char *const expected[][2] = {
        {"Mcp-Param-Region", "region"}, {"Mcp-Param-X-Limit", "filter.limit"}, {"Mcp-Param-!odd~", "filter.x-mcp-header"}};
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_STRING_EQUAL(all[i].header, expected[i][0]);
        CU_ASSERT_STRING_EQUAL(all[i].label, expected[i][1]);
    }
    CU_ASSERT_EQUAL(header_params_read(&mem, json("{\"type\":\"object\"}"), &all, &n, &err), LASTRO_OK);
    CU_ASSERT_EQUAL(n, 0);
}

static void test_header_params__what_the_protocol_forbids_is_refused(void) {
    static const struct {
        const char *schema, *because;
    } rows[] = {
        {"{\"type\":\"object\",\"x-mcp-header\":\"R\"}", "property"},
        {PROP("a", MARKED("string", "\"\"")), "header's name"},
        {PROP("a", MARKED("string", "\"a b\"")), "header's name"},
        {PROP("a", MARKED("string", "\"a:b\"")), "header's name"},
        {PROP("a", MARKED("string", "\"a\\r\\nb\"")), "header's name"},
        {PROP("a", MARKED("string", "\"a\\u0000\"")), "header's name"},
        {PROP("a", MARKED("string", "\"é\"")), "header's name"},
        {PROP("a", MARKED("string", "true")), "header's name"},
        {PROP("a", MARKED("number", "\"A\"")), "\"type\""},
        {PROP("a", MARKED("object", "\"A\"")), "\"type\""},
        {PROP("a", MARKED("array", "\"A\"")), "\"type\""},
        {PROP("a", MARKED("null", "\"A\"")), "\"type\""},
        {PROP("a", "{\"x-mcp-header\":\"A\"}"), "\"type\""},
        {PROP("a", "{\"type\":[\"string\",\"null\"],\"x-mcp-header\":\"A\"}"), "\"type\""},
        {PROP("a", "{\"$ref\":\"#/$defs/b\",\"x-mcp-header\":\"A\"}"), "\"type\""},
        {"{\"type\":\"object\",\"properties\":{\"a\":" MARKED("string", "\"Same\"") ",\"b\":" MARKED("string", "\"sAME\"") "}}", "two properties"},
        {PROP("a", "{\"type\":\"array\",\"items\":" MARKED("string", "\"A\"") "}"), "reached"},
        {PROP("a", "{\"type\":\"array\",\"items\":[" MARKED("string", "\"A\"") "]}"), "reached"},
        {PROP("a", "{\"prefixItems\":[" MARKED("string", "\"A\"") "]}"), "reached"},
        {PROP("a", "{\"type\":\"array\",\"items\":" PROP("b", MARKED("string", "\"A\"")) "}"), "reached"},
        {"{\"$defs\":{\"b\":" MARKED("string", "\"A\"") "}}", "reached"},
        {"{\"definitions\":{\"b\":" MARKED("string", "\"A\"") "}}", "reached"},
        {"{\"anyOf\":[" PROP("a", MARKED("string", "\"A\"")) "]}", "reached"},
        {"{\"oneOf\":[" PROP("a", MARKED("string", "\"A\"")) "]}", "reached"},
        {"{\"allOf\":[" PROP("a", MARKED("string", "\"A\"")) "]}", "reached"},
        {"{\"not\":" PROP("a", MARKED("string", "\"A\"")) "}", "reached"},
        {"{\"if\":" PROP("a", MARKED("string", "\"A\"")) "}", "reached"},
        {"{\"then\":" PROP("a", MARKED("string", "\"A\"")) "}", "reached"},
        {"{\"else\":" PROP("a", MARKED("string", "\"A\"")) "}", "reached"},
        {"{\"additionalProperties\":" MARKED("string", "\"A\"") "}", "reached"},
        {"{\"patternProperties\":{\"a\":" MARKED("string", "\"A\"") "}}", "reached"},
        {"{\"dependentSchemas\":{\"a\":" PROP("b", MARKED("string", "\"A\"")) "}}", "reached"},
        {"{\"propertyNames\":" MARKED("string", "\"A\"") "}", "reached"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const header_param *all = NULL;
        size_t n = 99;
        lastro_error err = {0};
        lastro_status s = header_params_read(&mem, json(rows[i].schema), &all, &n, &err);
        unit_check(s == LASTRO_EARGS && n == 99 && strstr(err.text, rows[i].because), "%s: %d \"%s\"", rows[i].schema, (int)s, err.text);
    }
}

/* ---- values ---- */

static void test_header_params__values_are_decoded_strictly(void) {
    static const struct {
        const char *value, *text; /* NULL: refused */
    } rows[] = {
        {"us-west1", "us-west1"},
        {"", ""},
        {" \t padded \t", "padded"},
        {"a\tb c", "a\tb c"},
        {"=?base64?SGVsbG8=?=", "Hello"},
        {"  =?base64?SGVsbG8=?=  ", "Hello"},
        {"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"},
        {"=?base64?IHBhZGRlZCA=?=", " padded "},
        {"=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"},
        {"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="},
        {"=?base64?\?=", ""},
        {"=?base64?=", "=?base64?="}, /* the marks overlap: no mark at all */
        {"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
        {"SGVsbG8=?=", "SGVsbG8=?="},
        {"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
        {"=?base64?SGVsbG8?=", NULL},    /* no padding */
        {"=?base64?SGVs!!!bG8=?=", NULL},
        {"=?base64?SGVsbG9=?=", NULL},   /* spare bits */
        {"=?base64?SGVs bG8=?=", NULL},
        {"=?base64?_-8=?=", NULL},       /* the other alphabet */
        {"=?base64?/w==?=", NULL},       /* FF is no UTF-8 */
        {"=?base64?7aCA?=", NULL},       /* nor is a surrogate */
        {"z\xc3\xbcrich", NULL},
        {"a\x01", NULL},
        {"a\x7f", NULL},
        {"a\nb", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = 12345;
        const char *text = header_value_decode(&mem, rows[i].value, &len);
        if (!rows[i].text)
            unit_check(!text, "\"%s\" was read as \"%s\"", rows[i].value, text);
        else
            unit_check(text && len == strlen(rows[i].text) && strcmp(text, rows[i].text) == 0, "\"%s\" gave \"%s\"", rows[i].value,
                       text ? text : "(none)");
    }
    size_t len = 0;
    const char *nul = header_value_decode(&mem, "=?base64?YQBi?=", &len); /* a NUL does not end it */
    CU_ASSERT(nul && len == 3 && memcmp(nul, "a\0b", 3) == 0);
}

/* ---- requests ---- */

typedef struct {
    const char *name, *value;
    unsigned count;
} sent;

static const char *look(void *arg, const char *name, unsigned *count) {
    const sent *s = arg;
    bool it = s->name && strcasecmp(s->name, name) == 0;
    *count = it ? s->count : 0;
    return it ? s->value : NULL;
}

static void test_header_params__headers_and_arguments_must_agree(void) {
    static const char input[] = "{\"type\":\"object\",\"properties\":{\"s\":" MARKED("string", "\"S\"") ",\"i\":" MARKED("integer", "\"I\"")
                                 ",\"b\":" MARKED("boolean", "\"B\"") ",\"o\":" PROP("deep", MARKED("string", "\"Deep\"")) "}}";
    static const struct {
        const char *args;
        sent header;
        const char *fault; /* NULL: they agree */
    } rows[] = {
        {"{}", {0}, NULL},
        {"{\"s\":null,\"o\":null}", {0}, NULL},
        {"{\"o\":{}}", {0}, NULL},
        {"{\"o\":[1]}", {0}, NULL},
        {"{\"s\":\"x\"}", {"mcp-param-s", "x", 1}, NULL},
        {"{\"s\":\"x\"}", {"MCP-PARAM-S", " x ", 1}, NULL},
        {"{\"s\":\"x\"}", {0}, "missing"},
        {"{\"s\":\"x\"}", {"mcp-param-s", "X", 1}, "something else"},
        {"{\"s\":\"x\"}", {"mcp-param-s", "", 1}, "something else"},
        {"{\"s\":\"x\"}", {"mcp-param-s", "x", 2}, "more than once"},
        {"{\"s\":\"x\"}", {"mcp-param-s", "=?base64?eA?=", 1}, "UTF-8"},
        {"{\"s\":\"x\"}", {"mcp-param-s", "=?base64?eA==?=", 1}, NULL},
        {"{\"s\":\"\"}", {"mcp-param-s", "=?base64?\?=", 1}, NULL},
        {"{\"s\":\"\"}", {"mcp-param-s", "", 1}, NULL},
        {"{\"s\":\"zürich\"}", {"mcp-param-s", "=?base64?esO8cmljaA==?=", 1}, NULL},
        {"{\"s\":\"x\\u0000y\"}", {"mcp-param-s", "x", 1}, "something else"},
        {"{\"s\":\"x\\u0000y\"}", {"mcp-param-s", "=?base64?eAB5?=", 1}, NULL},
        {"{}", {"mcp-param-s", "x", 1}, "without"},
        {"{\"s\":null}", {"mcp-param-s", "null", 1}, "without"},
        {"{\"o\":{\"deep\":\"d\"}}", {"mcp-param-deep", "d", 1}, NULL},
        {"{\"o\":{\"deep\":\"d\"}}", {0}, "arguments.o.deep"},
        {"{\"deep\":\"d\"}", {0}, NULL},
        {"{\"i\":42}", {"mcp-param-i", "42", 1}, NULL},
        {"{\"i\":42}", {"mcp-param-i", "42.0", 1}, NULL},
        {"{\"i\":42.0}", {"mcp-param-i", "42", 1}, NULL},
        {"{\"i\":4.2e1}", {"mcp-param-i", "42", 1}, NULL},
        {"{\"i\":-7}", {"mcp-param-i", "-7", 1}, NULL},
        {"{\"i\":0}", {"mcp-param-i", "-0", 1}, NULL},
        {"{\"i\":42}", {"mcp-param-i", "43", 1}, "something else"},
        {"{\"i\":42}", {"mcp-param-i", "042", 1}, "something else"},
        {"{\"i\":42}", {"mcp-param-i", "+42", 1}, "something else"},
        {"{\"i\":42}", {"mcp-param-i", "42 0", 1}, "something else"},
        {"{\"i\":42}", {"mcp-param-i", "", 1}, "something else"},
        {"{\"i\":1.5}", {"mcp-param-i", "1.5", 1}, NULL}, /* the schema refuses it, with better words */
        {"{\"i\":9007199254740991}", {"mcp-param-i", "9007199254740991", 1}, NULL},
        {"{\"i\":-9007199254740991}", {"mcp-param-i", "-9007199254740991", 1}, NULL},
        {"{\"i\":9007199254740992}", {"mcp-param-i", "9007199254740992", 1}, "9007199254740991"},
        {"{\"i\":9007199254740993}", {0}, "9007199254740991"},
        {"{\"i\":1e400}", {"mcp-param-i", "1e400", 1}, "9007199254740991"},
        {"{\"i\":\"42\"}", {"mcp-param-i", "42", 1}, NULL},
        {"{\"i\":[42]}", {0}, NULL},
        {"{\"i\":[42]}", {"mcp-param-i", "42", 1}, "something else"},
        {"{\"b\":true}", {"mcp-param-b", "true", 1}, NULL},
        {"{\"b\":false}", {"mcp-param-b", "false", 1}, NULL},
        {"{\"b\":true}", {"mcp-param-b", "false", 1}, "something else"},
        {"{\"b\":true}", {"mcp-param-b", "True", 1}, "something else"},
        {"{\"b\":true}", {"mcp-param-b", "1", 1}, "something else"},
        {"{\"b\":true}", {"mcp-param-b", "=?base64?dHJ1ZQB4?=", 1}, "something else"}, /* true, NUL, x */
    };
    tool t = {0};
    lastro_error err;
    CU_ASSERT_EQUAL_FATAL(header_params_read(&mem, json(input), &t.header_params, &t.header_param_count, &err), LASTRO_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sent header = rows[i].header;
        const char *fault = header_params_fault(&mem, &t, json(rows[i].args), look, &header);
        unit_check(rows[i].fault ? fault && strstr(fault, rows[i].fault) : !fault, "%s with %s: %s gave \"%s\"", rows[i].args,
                   header.name ? header.name : "nothing", header.value ? header.value : "", fault ? fault : "agreement");
    }
    sent none = {0};
    CU_ASSERT_PTR_NULL(header_params_fault(&mem, &t, NULL, look, &none));
    CU_ASSERT_PTR_NULL(header_params_fault(&mem, &(tool){0}, json("{\"s\":\"x\"}"), look, &none));
}

/* ---- loading ---- */

static lastro_status marked_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)out, (void)err;
    return LASTRO_OK;
}

static void test_header_params__a_tool_that_marks_wrongly_is_refused_by_name(void) {
    static const lastro_tool good = {.size = sizeof good, .run = marked_run,
                                     .contract = INNER_TOOL("marked", PROP("a", MARKED("string", "\"A\"")), )},
                             bad = {.size = sizeof bad, .run = marked_run,
                                    .contract = INNER_TOOL("mismarked", PROP("a", MARKED("number", "\"A\"")), )};
    server *s = core_inner_server("{}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    lastro_registrar r = {.reg = s->reg, .owner = &s->reg->plugins[0]};
    lastro_error err = {0};
    CU_ASSERT_EQUAL(s->host.add_tool(&r, &bad, &err), LASTRO_EARGS);
    unit_check(strstr(err.text, "mismarked") && strstr(err.text, "x-mcp-header"), "said \"%s\"", err.text);
    size_t count = r.owner->offer.tools.count;
    CU_ASSERT_EQUAL(s->host.add_tool(&r, &good, &err), LASTRO_OK);
    CU_ASSERT_EQUAL_FATAL(r.owner->offer.tools.count, count + 1);
    CU_ASSERT_EQUAL(r.owner->offer.tools.at[count].header_param_count, 1);
    server_destroy(s);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_header_params__a_schema_says_which_arguments),
        UNIT_TEST(test_header_params__what_the_protocol_forbids_is_refused),
        UNIT_TEST(test_header_params__values_are_decoded_strictly),
        UNIT_TEST(test_header_params__headers_and_arguments_must_agree),
        UNIT_TEST(test_header_params__a_tool_that_marks_wrongly_is_refused_by_name),
    };
    arena_init(&mem, 0);
    int result = UNIT_RUN("header_params", tests);
    arena_free(&mem);
    return result;
}
