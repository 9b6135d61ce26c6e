/* SPDX-License-Identifier: MIT */
#include "registry.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static arena mem;

static const json_value *json(const char *text) {
    return json_read_copy(&mem, text, strlen(text), NULL, NULL);
}

/* One plugin, filled by hand. */
typedef struct {
    registry reg;
    plugin plugin;
    manifest_plugin entry;
} fixture;

static void start(fixture *f, const char *enabled) {
    *f = (fixture){.entry = {.name = "p", .enabled = true}};
    f->entry.tools = enabled ? json(enabled) : NULL;
    f->plugin = (plugin){.entry = &f->entry, .active = true, .fd = -1, .self = f};
    f->reg = (registry){.plugins = &f->plugin, .plugin_count = 1};
}
static void add_tool(fixture *f, const char *name) {
    tool *t = VECTOR_ADD(f->plugin.offer.tools);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    *t = (tool){.owner = &f->plugin, .name = name};
}
static void add_template(fixture *f, const lastro_resource *def, bool fixed) {
    resource *r = fixed ? VECTOR_ADD(f->plugin.offer.resources) : VECTOR_ADD(f->plugin.offer.templates);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    *r = (resource){.def = def, .owner = &f->plugin};
}
static void seal(fixture *f) {
    lastro_error err;
    CU_ASSERT_EQUAL(registry_seal(&f->reg, &err), LASTRO_OK);
}
static void finish(fixture *f) {
    registry_clear_offer(&f->plugin.offer);
    offer *all = &f->reg.all;
    void *arrays[] = {all->tools.at, all->resources.at, all->templates.at, all->prompts.at, all->sources.at,
                      all->services.at, all->commands.at, all->instructions.at, f->reg.tool_index};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}
/* The text in memory of its own size, so that the sanitizer sees who reads beyond. */
static char *exact(const char *text, size_t len) {
    char *copy = malloc(len ? len : 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, text, len);
    return copy;
}

static void test_registry__finds_each_of_many_tools_and_nothing_else(void) {
    enum { N = 300 };
    static char names[N][20];
    fixture f;
    start(&f, NULL);
    CU_ASSERT_PTR_NULL(registry_tool(&f.reg, "tool_1", 6)); /* before it is sealed */
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "tool_%d", i);
        add_tool(&f, names[i]);
    }
    seal(&f);
    CU_ASSERT_EQUAL(f.reg.all.tools.count, N);
    for (int i = 0; i < N; i++) {
        const tool *t = registry_tool(&f.reg, names[i], strlen(names[i]));
        unit_check(t && t == &f.reg.all.tools.at[i] && strcmp(t->name, names[i]) == 0, "%s", names[i]);
    }
    static const char *const absent[] = {"", "tool_", "tool_300", "Tool_1", "tool_1 ", "x"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        CU_ASSERT_PTR_NULL(registry_tool(&f.reg, absent[i], strlen(absent[i])));
    CU_ASSERT_PTR_NULL(registry_tool(&f.reg, "tool_12", 7 - 2)); /* "tool_" */
    CU_ASSERT_PTR_EQUAL(registry_tool(&f.reg, "tool_12", 6), registry_tool(&f.reg, "tool_1", 6));
    finish(&f);
}

/* "a" and "a\0…" are two names, however long the second is: one in sixteen falls on the place of "a" in the index. */
static void test_registry__a_nul_does_not_end_a_name(void) {
    static const lastro_resource one = {.size = sizeof one, .uri = "x://one", .name = "one"};
    static const lastro_prompt ask = {.size = sizeof ask, .name = "ask"};
    fixture f;
    start(&f, "[\"a\"]");
    add_tool(&f, exact("a", 2));
    add_tool(&f, "off");
    add_template(&f, &one, true);
    prompt *p = VECTOR_ADD(f.plugin.offer.prompts);
    *p = (prompt){.def = &ask, .owner = &f.plugin};
    seal(&f);
    char text[120] = {0};
    for (size_t len = 2; len < sizeof text; len++) {
        memset(text, 'z', sizeof text);
        text[0] = 'a', text[1] = '\0';
        char *copy = exact(text, len);
        unit_check(!registry_tool(&f.reg, copy, len), "a name of %zu bytes", len);
        free(copy);
    }
    memcpy(text, "off", 4);
    CU_ASSERT(!registry_tool_is_disabled(&f.reg, text, 100));
    CU_ASSERT(registry_tool_is_disabled(&f.reg, text, 3));
    memcpy(text, "x://one", 8);
    CU_ASSERT_PTR_NULL(registry_resource(&f.reg, text, 100));
    CU_ASSERT_PTR_NOT_NULL(registry_resource(&f.reg, text, 7));
    memcpy(text, "ask", 4);
    CU_ASSERT_PTR_NULL(registry_prompt(&f.reg, text, 100));
    CU_ASSERT_PTR_NOT_NULL(registry_prompt(&f.reg, text, 3));
    free((void *)(uintptr_t)f.plugin.offer.tools.at[0].name);
    finish(&f);
}

static void test_registry__only_enabled_tools_of_active_plugins_are_there(void) {
    fixture f;
    start(&f, "[\"b\",\"never_there\"]");
    add_tool(&f, "a");
    add_tool(&f, "b");
    seal(&f);
    CU_ASSERT_EQUAL(f.reg.all.tools.count, 1);
    CU_ASSERT_PTR_NULL(registry_tool(&f.reg, "a", 1));
    CU_ASSERT_PTR_NOT_NULL(registry_tool(&f.reg, "b", 1));
    CU_ASSERT(registry_tool_is_disabled(&f.reg, "a", 1));
    CU_ASSERT(!registry_tool_is_disabled(&f.reg, "b", 1));
    CU_ASSERT(!registry_tool_is_disabled(&f.reg, "c", 1));
    finish(&f);
    start(&f, "[]");
    add_tool(&f, "a");
    seal(&f);
    CU_ASSERT_EQUAL(f.reg.all.tools.count, 0);
    finish(&f);
    start(&f, "[]");
    add_tool(&f, "a");
    f.plugin.active = false;
    seal(&f);
    CU_ASSERT_PTR_NULL(registry_tool(&f.reg, "a", 1));
    CU_ASSERT(!registry_tool_is_disabled(&f.reg, "a", 1));
    finish(&f);
}

static void test_registry__a_prompt_goes_with_the_tools_it_names(void) {
    const lastro_prompt prompts[] = {
        {.size = sizeof(lastro_prompt), .name = "of_b", .tools = (const char *const[]){"b", NULL}},
        {.size = sizeof(lastro_prompt), .name = "of_b_and_a", .tools = (const char *const[]){"b", "a", NULL}},
        {.size = sizeof(lastro_prompt), .name = "of_a_and_b", .tools = (const char *const[]){"a", "b", NULL}},
        {.size = sizeof(lastro_prompt), .name = "of_none"},
        {.size = sizeof(lastro_prompt), .name = "of_a", .tools = (const char *const[]){"a", NULL}},
        {.size = sizeof(lastro_prompt), .name = "last", .tools = (const char *const[]){NULL}},
    };
    static const char *const kept[] = {"of_none", "of_a", "last"};
    fixture f;
    start(&f, "[\"a\"]");
    add_tool(&f, "a");
    add_tool(&f, "b");
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
        prompt *p = VECTOR_ADD(f.plugin.offer.prompts);
        *p = (prompt){.def = &prompts[i], .owner = &f.plugin};
    }
    seal(&f);
    CU_ASSERT_EQUAL_FATAL(f.reg.all.prompts.count, 3);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(f.reg.all.prompts.at[i].def->name, kept[i]);
    CU_ASSERT_PTR_NULL(registry_prompt(&f.reg, "of_b", 4));
    finish(&f);
}

static void test_registry__templates_fit_as_level_1_says(void) {
    static const struct {
        const char *template, *uri;
        bool fits;
    } cases[] = {
        {"x://{id}", "x://1", true},
        {"x://{id}", "x://", false},
        {"x://{id}", "x://1/2", false},
        {"x://{id}", "y://1", false},
        {"x://{id}", "x:///", false},
        {"x://{a}b", "x:///b", false},
        {"x://{id}/data", "x://1/data", true},
        {"x://{id}/data", "x://1/data/", false},
        {"x://{id}/data", "x://1/dat", false},
        {"x://{id}/data", "x:///data", false},
        {"x://{a}/{b}", "x://1/2", true},
        {"x://{a}/{b}", "x://1/", false},
        {"x://{a}/{b}", "x://1/2/3", false},
        {"x://{a}.json", "x://1.json", true},
        {"x://{a}.json", "x://1.2.json", true},      /* the dot is a character like others */
        {"x://{a}.json", "x://.json.json", true},
        {"x://{a}.json", "x://.json", false},
        {"x://{a}-{b}", "x://1-2-3", true},
        {"x://{a}-{b}/c", "x://1-2-3/c", true},
        {"x://{a}-{b}/c", "x://1-2/3/c", false},
        {"x://{a}-b-{c}", "x://1-b", false},
        {"x://{a}ab{b}ab", "x://1aab2abab", true},
        {"x://{a}{b}", "x://12", true},
        {"x://{a}{b}", "x://1", false},
        {"x://a", "x://a", true},
        {"x://a", "x://ab", false},
        {"x://{open", "x://1", false},
        {"{all}", "abc", true},
        {"{all}", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lastro_resource def = {.size = sizeof def, .uri = cases[i].template, .name = "n"};
        fixture f;
        start(&f, NULL);
        add_template(&f, &def, false);
        seal(&f);
        size_t len = strlen(cases[i].uri);
        char *uri = exact(cases[i].uri, len);
        bool fits = registry_template(&f.reg, uri, len) != NULL;
        unit_check(fits == cases[i].fits, "%s on %s: %d", cases[i].template, cases[i].uri, fits);
        CU_ASSERT_PTR_NOT_NULL(registry_template_by_uri(&f.reg, cases[i].template));
        CU_ASSERT_PTR_NULL(registry_template_by_uri(&f.reg, "x://{other}"));
        free(uri);
        finish(&f);
    }
}

/* An address is a client's: no length of it may take long. */
static void test_registry__a_long_address_is_matched_in_one_pass(void) {
    static const lastro_resource def = {.size = sizeof def, .uri = "x://{a}a{b}a{c}a{d}a{e}b", .name = "n"};
    enum { LONG = 4 << 20 };
    char *uri = malloc(LONG);
    fixture f;
    CU_ASSERT_PTR_NOT_NULL_FATAL(uri);
    start(&f, NULL);
    add_template(&f, &def, false);
    seal(&f);
    memset(uri, 'a', LONG);
    memcpy(uri, "x://", 4);
    CU_ASSERT_PTR_NULL(registry_template(&f.reg, uri, LONG));
    uri[LONG - 1] = 'b';
    CU_ASSERT_PTR_NOT_NULL(registry_template(&f.reg, uri, LONG));
    free(uri);
    finish(&f);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_registry__finds_each_of_many_tools_and_nothing_else),
        UNIT_TEST(test_registry__a_nul_does_not_end_a_name),
        UNIT_TEST(test_registry__only_enabled_tools_of_active_plugins_are_there),
        UNIT_TEST(test_registry__a_prompt_goes_with_the_tools_it_names),
        UNIT_TEST(test_registry__templates_fit_as_level_1_says),
        UNIT_TEST(test_registry__a_long_address_is_matched_in_one_pass),
    };
    arena_init(&mem, 0);
    int failed = UNIT_RUN("registry", tests);
    arena_free(&mem);
    return failed;
}
