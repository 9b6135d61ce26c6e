/* SPDX-License-Identifier: MIT */
/* What each revision sees of what a plugin offers: lists with their annotations and icons, content of all kinds, progress,
 * completions. */
#include "fail.h"
#include "more.h"
#include "test_talk.h"

#include <math.h>

/* ---- a plugin with one of everything ---- */

#define ICONS "\"icons\":[{\"src\":\"https://example.org/i.png\",\"mimeType\":\"image/png\",\"sizes\":[\"48x48\",\"any\"],\"theme\":\"dark\"}]"
#define HINTS "\"annotations\":{\"audience\":[\"user\",\"assistant\"],\"priority\":0.5,\"lastModified\":\"2026-11-30T12:00:00Z\"}"

static lastro_status show(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    static const char *const items[] = {
        "{\"type\":\"text\",\"text\":\"t\",\"annotations\":{\"priority\":1}}",
        "{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}",
        "{\"type\":\"audio\",\"data\":\"QUJDRA==\",\"mimeType\":\"audio/wav\",\"annotations\":{\"audience\":[\"user\"]}}",
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"all://r\",\"text\":\"x\"}}",
        "{\"type\":\"resource_link\",\"uri\":\"all://one\",\"name\":\"one\",\"description\":\"The one\",\"mimeType\":\"text/plain\"}",
        "{\"type\":\"resource_link\",\"uri\":\"all://two\",\"name\":\"two\"}",
    };
    (void)self, (void)args, (void)out;
    for (size_t i = 0; i < LASTRO_COUNT(items); i++) {
        const lastro_value *v = lastro->parse(call, items[i], strlen(items[i]), err);
        lastro->write_value(lastro->content(call), v);
    }
    return LASTRO_OK;
}

/* Tells the progress it is given. */
static lastro_status steps(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    lastro_iter it;
    (void)self, (void)out, (void)err;
    for (lastro->iterate(lastro_get(args, "steps"), &it); lastro->next(&it);)
        lastro->progress(call, lastro->number(it.value), lastro->number(lastro_get(args, "total")), NULL);
    lastro->progress(call, NAN, 1, NULL);
    lastro_content_text(call, "done");
    return LASTRO_OK;
}

static const lastro_tool tools[] = {
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = show,
     .contract = "{\"name\":\"show\",\"title\":\"Show\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"title\":"
                 "\"S\",\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}," ICONS
                 ",\"_meta\":{\"org.example/a\":1}}"},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = steps,
     .contract = "{\"name\":\"steps\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}"},
};

static lastro_status read_nothing(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    (void)self, (void)call, (void)err;
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){"", 0});
    return LASTRO_OK;
}
/* What it was told: the variable, what was typed, and what the client chose before. */
static lastro_status complete_echo(void *self, lastro_call *call, lastro_text name, lastro_text prefix, lastro_writer *values,
                                   lastro_error *err) {
    (void)self, (void)err;
    lastro->write_text(values, name.at, name.len);
    lastro->write_text(values, prefix.at, prefix.len);
    if (lastro_text_is(prefix, "number"))
        lastro->write_int(values, 5);
    lastro_text chosen = lastro->to_json(call, lastro->chosen(call));
    lastro->write_text(values, lastro->chosen(call) ? chosen.at : "none", lastro->chosen(call) ? chosen.len : 4);
    return LASTRO_OK;
}
static const lastro_resource one = {.size = sizeof(lastro_resource), .uri = "all://one", .name = "one", .title = "One",
                                    .read = read_nothing, .more = "{" HINTS ",\"size\":7," ICONS ",\"_meta\":{\"org.example/b\":2}}"};
static const lastro_resource each = {.size = sizeof(lastro_resource), .uri = "all://{a}/{b}", .name = "each", .read = read_nothing,
                                     .complete = complete_echo, .more = "{" HINTS "," ICONS ",\"_meta\":{\"org.example/c\":3}}"};
/* Built before there was more. */
static const lastro_resource plain = {.size = offsetof(lastro_resource, more), .uri = "all://plain", .name = "plain",
                                      .read = read_nothing, .more = "this is beyond its end"};

static lastro_status say_media(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages, lastro_error *err) {
    static const char text[] = "[{\"role\":\"user\",\"content\":{\"type\":\"audio\",\"data\":\"QUJD\",\"mimeType\":\"audio/wav\"}},"
                               "{\"role\":\"assistant\",\"content\":{\"type\":\"resource_link\",\"uri\":\"all://one\",\"name\":\"one\"}},"
                               "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"t\"}}]";
    lastro_iter it;
    (void)self, (void)arguments;
    for (lastro->iterate(lastro->parse(call, text, sizeof text - 1, err), &it); lastro->next(&it);)
        lastro->write_value(messages, it.value);
    return LASTRO_OK;
}
static const lastro_prompt media = {.size = sizeof(lastro_prompt), .name = "media", .description = "d", .get = say_media,
                                    .complete = complete_echo, .more = "{" ICONS ",\"_meta\":{\"org.example/d\":4}}"};

static lastro_status init_all(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; !s && i < LASTRO_COUNT(tools); i++)
        s = lastro->add_tool(r, &tools[i], err);
    if (s || (s = lastro->add_resource(r, &one, err)) || (s = lastro->add_resource(r, &plain, err)) ||
        (s = lastro->add_template(r, &each, err)))
        return s;
    return lastro->add_prompt(r, &media, err);
}
static const lastro_plugin all_plugin = {LASTRO_PLUGIN_HEAD, .name = "all", .version = "1", .init = init_all};

static void open_all(void) {
    start_plugin(&all_plugin, NULL, "{}");
}

static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};
enum { V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, VERSIONS };

/* Asks in that revision. params: members, without braces. */
static const json_value *ask(int version, const char *how, const char *params) {
    if (version == V2026_07_28) {
        say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s%s" CLAIM "}}", how, params, *params ? "," : "");
        return hear();
    }
    greet(versions[version]);
    say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s}}", how, params);
    return hear();
}

/* ---- lists ---- */

static void has(const json_value *object, const char *member, bool expected, int version) {
    unit_check((json_member(object, member) != NULL) == expected, "%s: %s %s in %s", versions[version], member,
               expected ? "is not" : "is", shown(object));
}

static void test_surface__members_of_lists_are_those_of_the_revision(void) {
    open_all();
    for (int v = 0; v < VERSIONS; v++) {
        const json_value *t = AT(ask(v, "tools/list", ""), "result", "tools", "0");
        has(t, "annotations", v >= V2025_03_26, v);
        has(t, "title", v >= V2025_06_18, v);
        has(t, "_meta", v >= V2025_06_18, v);
        has(t, "icons", v >= V2025_11_25, v);
        const json_value *resources = AT(ask(v, "resources/list", ""), "result", "resources");
        const json_value *templates = AT(ask(v, "resources/templates/list", ""), "result", "resourceTemplates");
        const json_value *prompts = AT(ask(v, "prompts/list", ""), "result", "prompts");
        const json_value *with_icons[] = {AT(resources, "0"), AT(templates, "0"), AT(prompts, "0")};
        for (int i = 0; i < 3; i++) {
            has(with_icons[i], "icons", v >= V2025_11_25, v);
            has(with_icons[i], "_meta", v >= V2025_06_18, v);
        }
        for (int i = 0; i < 2; i++) {
            IS(AT(with_icons[i], "annotations", "priority"), "0.5");
            IS(AT(with_icons[i], "annotations", "audience"), "['user','assistant']");
            has(AT(with_icons[i], "annotations"), "lastModified", v >= V2025_06_18, v);
        }
        IS(AT(resources, "0", "size"), "7");
        has(AT(templates, "0"), "size", false, v);
        if (v >= V2025_11_25) {
            IS(AT(t, "icons"), "[{'src':'https://example.org/i.png','mimeType':'image/png','sizes':['48x48','any'],'theme':'dark'}]");
            CU_ASSERT(json_equal(AT(t, "icons"), AT(with_icons[0], "icons")));
        }
        IS(AT(resources, "1"), "{'uri':'all://plain','name':'plain'}");
    }
    finish();
}

static void test_surface__a_list_is_composed_anew_when_it_may_have_changed(void) {
    open_all();
    surface_text *before = surface_take(srv->surface, LIST_TOOLS, REV_2025_11_25), *same = surface_take(srv->surface, LIST_TOOLS, REV_2025_11_25);
    CU_ASSERT_PTR_EQUAL(before, same);
    surface_text *other = surface_take(srv->surface, LIST_PROMPTS, REV_2025_11_25);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    surface_text *after = surface_take(srv->surface, LIST_TOOLS, REV_2025_11_25);
    CU_ASSERT_NOT_EQUAL(after->generation, before->generation);
    CU_ASSERT_STRING_EQUAL(after->data, before->data); /* the old one is still whole */
    surface_release(before);
    surface_release(same);
    surface_release(after);
    surface_text *untouched = surface_take(srv->surface, LIST_PROMPTS, REV_2025_11_25);
    CU_ASSERT_PTR_EQUAL(untouched, other);
    surface_release(other);
    surface_release(untouched);
    static const struct {
        int32_t what;
        list_kind list;
    } changes[] = {{LASTRO_CHANGED_PROMPTS, LIST_PROMPTS}, {LASTRO_CHANGED_RESOURCES, LIST_RESOURCES}, {LASTRO_CHANGED_RESOURCES, LIST_TEMPLATES}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        surface_text *old = surface_take(srv->surface, changes[i].list, REV_2026_07_28);
        lastro->changed(LASTRO_CHANGED_RESOURCE, "all://one");
        surface_text *still = surface_take(srv->surface, changes[i].list, REV_2026_07_28);
        lastro->changed(changes[i].what, NULL);
        surface_text *new = surface_take(srv->surface, changes[i].list, REV_2026_07_28);
        CU_ASSERT_PTR_EQUAL(old, still);
        CU_ASSERT_EQUAL(new->generation, old->generation + 1);
        surface_release(old);
        surface_release(still);
        surface_release(new);
    }
    finish();
}

static void test_surface__what_cannot_be_published_is_refused_with_its_reason(void) {
    static const struct {
        more_kind kind;
        const char *text, *says; /* says: NULL, it is good */
    } cases[] = {
        {MORE_RESOURCE, NULL, NULL},
        {MORE_RESOURCE, "{}", NULL},
        {MORE_RESOURCE, "{" HINTS "," ICONS ",\"size\":0,\"_meta\":{}}", NULL},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"data:image/png;base64,AA==\"}],\"annotations\":{\"lastModified\":\"2026-01-02\"}}", NULL},
        {MORE_RESOURCE, "", "no JSON"},
        {MORE_RESOURCE, "{\"size\":1", "no JSON"},
        {MORE_RESOURCE, "[]", "object"},
        {MORE_RESOURCE, "{\"sise\":1}", "size"},
        {MORE_RESOURCE, "{\"size\":-1}", "size"},
        {MORE_RESOURCE, "{\"size\":1.5}", "size"},
        {MORE_RESOURCE, "{\"_meta\":[]}", "_meta"},
        {MORE_RESOURCE, "{\"annotations\":{\"audience\":[\"everybody\"]}}", "audience"},
        {MORE_RESOURCE, "{\"annotations\":{\"priority\":2}}", "priority"},
        {MORE_RESOURCE, "{\"annotations\":{\"lastModified\":\"yesterday\"}}", "lastModified"},
        {MORE_RESOURCE, "{\"annotations\":{\"readOnlyHint\":true}}", "readOnlyHint"},
        {MORE_RESOURCE, "{\"icons\":{}}", "icons"},
        {MORE_RESOURCE, "{\"icons\":[{\"mimeType\":\"image/png\"}]}", "src"},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"javascript:alert(1)\"}]}", "src"},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"file:///etc/passwd\"}]}", "src"},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"https://e.org/i\",\"sizes\":\"48x48\"}]}", "sizes"},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"https://e.org/i\",\"sizes\":[\"big\"]}]}", "sizes"},
        {MORE_RESOURCE, "{\"icons\":[{\"src\":\"https://e.org/i\",\"theme\":\"grey\"}]}", "theme"},
        {MORE_TEMPLATE, "{" HINTS "," ICONS "}", NULL},
        {MORE_TEMPLATE, "{\"size\":1}", "size"},
        {MORE_PROMPT, "{" ICONS ",\"_meta\":{\"a\":1}}", NULL},
        {MORE_PROMPT, "{" HINTS "}", "annotations"},
    };
    arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lastro_error err = {0};
        const json_value *v;
        lastro_status s = more_read(cases[i].kind, "all://x", cases[i].text, &a, &v, &err);
        if (!cases[i].says)
            unit_check(s == LASTRO_OK && (v != NULL) == (cases[i].text != NULL), "%s: %s", cases[i].text, err.text);
        else
            unit_check(s == LASTRO_EARGS && strstr(err.text, cases[i].says) && strstr(err.text, "\"all://x\""), "%s: %s", cases[i].text,
                       err.text);
    }
    arena_free(&a);
}

static void test_surface__a_contract_that_cannot_be_published_is_refused(void) {
    static const struct {
        const char *members, *says;
    } cases[] = {
        {"\"title\":5", "title"},
        {"\"description\":[]", "description"},
        {"\"annotations\":true", "annotations"},
        {"\"annotations\":{\"readOnlyHint\":\"yes\"}", "readOnlyHint"},
        {"\"annotations\":{\"readonlyHint\":true}", "readOnlyHint"},
        {"\"icons\":[{\"src\":\"icon.png\"}]", "src"},
        {"\"icons\":5", "icons"},
        {"\"_meta\":5", "_meta"},
    };
    open_all();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char contract[300];
        lastro_registrar r = {.reg = srv->reg, .owner = &srv->reg->plugins[0]};
        lastro_error err = {0};
        snprintf(contract, sizeof contract, "{\"name\":\"bad_one\",\"inputSchema\":{\"type\":\"object\"},%s}", cases[i].members);
        lastro_tool t = {.size = sizeof t, .contract = contract, .run = show};
        unit_check(lastro->add_tool(&r, &t, &err) == LASTRO_EARGS && strstr(err.text, cases[i].says) && strstr(err.text, "bad_one"), "%s: %s",
                   cases[i].members, err.text);
    }
    finish();
}

/* A list holds for a while; how long a resource does only its plugin could know. */
static void test_surface__only_lists_are_said_to_hold(void) {
    open_all();
    IS(AT(ask(V2026_07_28, "resources/list", ""), "result", "ttlMs"), "300000");
    IS(AT(ask(V2026_07_28, "resources/read", "'uri':'all://one'"), "result", "ttlMs"), "0");
    finish();
}

static void test_surface__addresses_are_looked_at_while_loading(void) {
    static const struct {
        const char *text;
        bool template, good;
    } cases[] = {
        {"a:b", false, true},          {"x://h/p?q#f", false, true}, {"x://%C3%A9", false, true}, {"no-scheme", false, false},
        {"x://a b", false, false},     {"x://{id}", false, false},   {"x://é", false, false},     {"x://%zz", false, false},
        {"x://{id}/data", true, true}, {"x://{a}{b_2}", true, true}, {"x://fixed", true, true},   {"x://{}", true, false},
        {"x://{+path}", true, false},  {"x://{?q}", true, false},    {"x://{a,b}", true, false},  {"x://{a*}", true, false},
        {"x://{open", true, false},    {"x://a}", true, false},      {"{all}", true, false},      {"x://{a}/b c", true, false},
        {"", false, false},            {"", true, false},
    };
    static lastro_resource defs[LASTRO_COUNT(cases)]; /* they live as long as the plugin */
    open_all();
    lastro_registrar r = {.reg = srv->reg, .owner = &srv->reg->plugins[0]};
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        lastro_error err = {0};
        defs[i] = (lastro_resource){.size = sizeof *defs, .uri = cases[i].text, .name = "n", .read = read_nothing};
        lastro_status s = cases[i].template ? lastro->add_template(&r, &defs[i], &err) : lastro->add_resource(&r, &defs[i], &err);
        unit_check(cases[i].good ? s == LASTRO_OK : s == LASTRO_EARGS && strstr(err.text, "cannot be used"), "%s: %d %s", cases[i].text, (int)s,
                   err.text);
    }
    finish();
}

/* ---- content ---- */

static void test_content__an_old_client_gets_a_text_for_what_it_cannot_read(void) {
    static const char audio[] = "{'type':'text','annotations':{'audience':['user']},'text':'[Audio left out: audio/wav, 4 bytes. Protocol "
                                "2024-11-05, which this client speaks, has no audio.]'}";
    open_all();
    for (int v = 0; v < VERSIONS; v++) {
        const json_value *content = AT(ask(v, "tools/call", "'name':'show'"), "result", "content");
        CU_ASSERT_EQUAL(json_count(content), 6);
        IS(AT(content, "0"), "{'type':'text','text':'t','annotations':{'priority':1}}");
        IS(AT(content, "1", "type"), "'image'");
        IS(AT(content, "3", "type"), "'resource'");
        if (v >= V2025_03_26)
            IS(AT(content, "2", "type"), "'audio'");
        else
            IS(AT(content, "2"), audio);
        if (v >= V2025_06_18) {
            IS(AT(content, "4", "type"), "'resource_link'");
            continue;
        }
        IS(AT(content, "4"), "{'type':'text','text':'The one: all://one (text/plain). Its content comes with resources/read.'}");
        IS(AT(content, "5"), "{'type':'text','text':'two: all://two (application/octet-stream). Its content comes with resources/read.'}");
    }
    finish();
}

static void test_content__prompts_are_told_in_the_same_way(void) {
    open_all();
    for (int v = 0; v < VERSIONS; v++) {
        const json_value *m = AT(ask(v, "prompts/get", "'name':'media'"), "result", "messages");
        CU_ASSERT_EQUAL(json_count(m), 3);
        IS(AT(m, "0", "role"), "'user'");
        IS(AT(m, "1", "role"), "'assistant'");
        IS(AT(m, "0", "content", "type"), v >= V2025_03_26 ? "'audio'" : "'text'");
        IS(AT(m, "1", "content", "type"), v >= V2025_06_18 ? "'resource_link'" : "'text'");
        CU_ASSERT(v >= V2025_06_18 || says(AT(m, "1", "content", "text"), "all://one"));
        IS(AT(m, "2"), "{'role':'user','content':{'type':'text','text':'t'}}");
    }
    finish();
}

/* ---- completions ---- */

static void test_completion__what_was_chosen_reaches_who_completes(void) {
#define ARGUMENT "'argument':{'name':'b','value':'x'}"
    static const char *const refs[] = {"'ref':{'type':'ref/prompt','name':'media'}", "'ref':{'type':'ref/resource','uri':'all://{a}/{b}'}"};
    char params[400];
    open_all();
    for (int v = V2025_03_26; v < VERSIONS; v++)
        for (int i = 0; i < 2; i++) {
            snprintf(params, sizeof params, "%s," ARGUMENT ",'context':{'arguments':{'a':'7'}}", refs[i]);
            const json_value *c = AT(ask(v, "completion/complete", params), "result", "completion");
            IS(AT(c, "values", "0"), "'b'");
            IS(AT(c, "values", "1"), "'x'");
            CU_ASSERT(json_text_is(AT(c, "values", "2"), v >= V2025_06_18 ? "{\"a\":\"7\"}" : "none"));
            IS(AT(c, "total"), "3");
            IS(AT(c, "hasMore"), "false");
            snprintf(params, sizeof params, "%s," ARGUMENT, refs[i]);
            IS(AT(ask(v, "completion/complete", params), "result", "completion", "values", "2"), "'none'");
        }
    static const char *const bad[] = {"'context':5", "'context':{'arguments':[]}", "'context':{'arguments':{'a':5}}"};
    for (int i = 0; i < 3; i++) {
        snprintf(params, sizeof params, "%s," ARGUMENT ",%s", refs[0], bad[i]);
        say("{'jsonrpc':'2.0','id':1,'method':'completion/complete','params':{%s," CLAIM "}}", params);
        ERROR_IS("1", -32602);
    }
    say("{'jsonrpc':'2.0','id':1,'method':'completion/complete','params':{%s,'argument':{'name':'a','value':'number'}," CLAIM "}}", refs[0]);
    ERROR_IS("1", -32603); /* a candidate that is no text */
    finish();
}

/* ---- progress ---- */

/* The values of the notifications before the result, as JSON. */
static const char *progress_of(const char *arguments) {
    static char told[4000];
    size_t at = 0;
    say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'steps','arguments':%s,'_meta':{'progressToken':'p',"
        "'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}}}", arguments);
    for (;;) {
        const json_value *m = hear();
        if (!m || json_member(m, "id"))
            break;
        IS(AT(m, "method"), "'notifications/progress'");
        at += (size_t)snprintf(told + at, sizeof told - at, "%s%s", at ? " " : "", shown(AT(m, "params", "progress")));
    }
    told[at] = '\0';
    return told;
}

static void test_progress__grows_with_each_notification(void) {
    open_all();
    CU_ASSERT_STRING_EQUAL(progress_of("{'steps':[0,1,1,0.5,2,-1,2.5,3],'total':3}"), "0 1 2 2.5 3");
    CU_ASSERT_STRING_EQUAL(progress_of("{'steps':[-5,-6,-4]}"), "-5 -4");
    CU_ASSERT_STRING_EQUAL(progress_of("{'steps':[7]}"), "7");
    CU_ASSERT_STRING_EQUAL(progress_of("{'steps':[]}"), "");
    finish();
}

static void test_progress__is_not_a_flood_and_its_end_is_told(void) {
    char arguments[8000] = "{'steps':[";
    size_t at = strlen(arguments);
    open_all();
    for (int i = 0; i <= 1000; i++)
        at += (size_t)snprintf(arguments + at, sizeof arguments - at, "%s%d", i ? "," : "", i);
    snprintf(arguments + at, sizeof arguments - at, "],'total':1000}");
    const char *told = progress_of(arguments);
    int count = 0;
    for (const char *p = told; *p; p++)
        count += *p == ' ';
    unit_check(count >= 31 && count <= 200, "%d notifications: %s", count + 1, told);
    CU_ASSERT(strlen(told) > 5 && strcmp(told + strlen(told) - 5, " 1000") == 0);
    finish();
}

static void test_progress__tokens_are_texts_or_integers(void) {
    static const char *const tokens[] = {"1.5", "null", "true", "{}"};
    open_all();
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'steps','arguments':{'steps':[1]},'_meta':{'progressToken':%s,"
            "'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}}}", tokens[i]);
        RESULT("1");
    }
    finish();
}

int main(void) {
    static const unit_test all[] = {
        UNIT_TEST(test_surface__members_of_lists_are_those_of_the_revision),
        UNIT_TEST(test_surface__a_list_is_composed_anew_when_it_may_have_changed),
        UNIT_TEST(test_surface__what_cannot_be_published_is_refused_with_its_reason),
        UNIT_TEST(test_surface__a_contract_that_cannot_be_published_is_refused),
        UNIT_TEST(test_surface__only_lists_are_said_to_hold),
        UNIT_TEST(test_surface__addresses_are_looked_at_while_loading),
        UNIT_TEST(test_content__an_old_client_gets_a_text_for_what_it_cannot_read),
        UNIT_TEST(test_content__prompts_are_told_in_the_same_way),
        UNIT_TEST(test_completion__what_was_chosen_reaches_who_completes),
        UNIT_TEST(test_progress__grows_with_each_notification),
        UNIT_TEST(test_progress__is_not_a_flood_and_its_end_is_told),
        UNIT_TEST(test_progress__tokens_are_texts_or_integers),
    };
    clock_init();
    return UNIT_RUN("surface", all);
}
