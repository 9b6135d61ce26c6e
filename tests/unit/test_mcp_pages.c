/* SPDX-License-Identifier: MIT */
/* The lists in pages: complete, in one order, and with cursors that serve for nothing else. */
#include "test_talk.h"

enum { TOOLS = 7, RESOURCES = 6, TEMPLATES = 1, PROMPTS = 4 };

static lastro_status paged_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)out, (void)err;
    return LASTRO_OK;
}
static lastro_status paged_read(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    (void)self, (void)call, (void)uri, (void)contents, (void)err;
    return LASTRO_OK;
}
static lastro_status paged_get(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages, lastro_error *err) {
    (void)self, (void)call, (void)arguments, (void)messages, (void)err;
    return LASTRO_OK;
}

/* Names with all that could confuse who looks for brackets and quotes. */
#define ODD "quote \\\" brackets ]}[{ comma , slash \\\\"
#define NAMED(name) {.size = sizeof(lastro_tool), .run = paged_run, \
                     .contract = "{\"name\":\"" name "\",\"description\":\"" ODD "\",\"inputSchema\":{\"type\":\"object\",\"enum\":[{\"]\":\"[\"}]}}"}
static const lastro_tool paged_tools[TOOLS] = {NAMED("t1"), NAMED("t2"), NAMED("t3"), NAMED("t4"), NAMED("t5"), NAMED("t6"), NAMED("t7")};
static const char *const uris[] = {"p://1", "p://2", "p://3", "p://4", "p://5", "p://6"};
static const char *const names[] = {"p1", "p2", "p3", "p4"};
static lastro_resource paged_resources[RESOURCES];
static lastro_prompt paged_prompts[PROMPTS];
static const lastro_resource paged_template = {.size = sizeof(lastro_resource), .uri = "q://{x}", .name = "q", .read = paged_read};

static lastro_status paged_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; !s && i < TOOLS; i++)
        s = lastro->add_tool(r, &paged_tools[i], err);
    for (size_t i = 0; !s && i < RESOURCES; i++) {
        paged_resources[i] = (lastro_resource){.size = sizeof(lastro_resource), .uri = uris[i], .name = "]\"\\", .read = paged_read};
        s = lastro->add_resource(r, &paged_resources[i], err);
    }
    for (size_t i = 0; !s && i < PROMPTS; i++) {
        paged_prompts[i] = (lastro_prompt){.size = sizeof(lastro_prompt), .name = names[i], .description = "]", .get = paged_get};
        s = lastro->add_prompt(r, &paged_prompts[i], err);
    }
    return s ? s : lastro->add_template(r, &paged_template, err);
}
static const lastro_plugin paged = {LASTRO_PLUGIN_HEAD, .name = "paged", .version = "1.0.0", .init = paged_init};

static const struct {
    const char *method, *key;
    size_t items;
} lists[] = {{"tools/list", "tools", TOOLS}, {"resources/list", "resources", RESOURCES},
             {"resources/templates/list", "resourceTemplates", TEMPLATES}, {"prompts/list", "prompts", PROMPTS}};
static const char *const revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};
static bool modern(size_t rev) {
    return rev == LASTRO_COUNT(revisions) - 1;
}

static void ask_list(size_t rev, const char *how, const char *cursor_json) {
    say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s%s%s%s}}", how, cursor_json ? "'cursor':" : "", cursor_json ? cursor_json : "",
        cursor_json && modern(rev) ? "," : "", modern(rev) ? CLAIM : "");
}

/* All pages of one list; the texts of their items one after the other, in mem. */
static const char *walk(arena *mem, size_t rev, size_t list, size_t most) {
    const char *cursor = NULL, *all = "";
    size_t count = 0, pages = 0;
    for (;;) {
        ask_list(rev, lists[list].method, cursor);
        const json_value *r = RESULT("1"), *next = AT(r, "nextCursor"), *items = AT(r, lists[list].key);
        size_t left = lists[list].items - count, here = json_count(items);
        unit_check(here == (most && left > most ? most : left), "%s: %zu items", lists[list].method, here);
        for (json_iter it = json_iterate(items); json_next(&it); count++)
            all = arena_printf(mem, "%s%s\n", all, shown(it.value));
        CU_ASSERT_EQUAL(AT(r, "ttlMs") && AT(r, "cacheScope") && AT(r, "resultType") && AT(r, "_meta"), modern(rev));
        CU_ASSERT_EQUAL(json_count(r), (size_t)(1 + (next != NULL) + (modern(rev) ? 4 : 0)));
        if (!next || ++pages > 20)
            break;
        CU_ASSERT(json_str(next) && *json_str(next));
        cursor = arena_printf(mem, "'%s'", json_str(next));
    }
    unit_check(count == lists[list].items, "%s: %zu items in all", lists[list].method, count);
    return all;
}

static void test_mcp_pages__the_pages_are_the_list(void) {
    static const int sizes[] = {0, 1, 2, 3, 6, 7, 8, 1000};
    const char *whole[LASTRO_COUNT(revisions)][LASTRO_COUNT(lists)];
    arena mem;
    arena_init(&mem, 0);
    for (size_t i = 0; i < LASTRO_COUNT(sizes); i++) {
        char limits[40];
        snprintf(limits, sizeof limits, sizes[i] ? "{\"pageItems\":%d}" : "{}", sizes[i]);
        start_plugin(&paged, NULL, limits);
        for (size_t rev = 0; rev < LASTRO_COUNT(revisions); rev++) {
            if (!modern(rev))
                greet(revisions[rev]);
            for (size_t list = 0; list < LASTRO_COUNT(lists); list++) {
                const char *got = walk(&mem, rev, list, (size_t)sizes[i]);
                if (i == 0)
                    whole[rev][list] = got;
                else
                    unit_check(strcmp(got, whole[rev][list]) == 0, "%s of %s in pages of %d differs", lists[list].method, revisions[rev], sizes[i]);
            }
        }
        finish();
    }
    arena_free(&mem);
}

static void refused_at(int line, size_t rev, const char *how, const char *cursor_json) {
    ask_list(rev, how, cursor_json);
    unit_check(says(AT(error_is_at(line, "1", -32602), "error", "message"), "cursor"), "line %d", line);
}
#define REFUSED(rev, how, cursor_json) refused_at(__LINE__, (rev), (how), (cursor_json))

static const char *first_cursor(size_t rev, const char *how) {
    ask_list(rev, how, NULL);
    const char *text = json_str(AT(RESULT("1"), "nextCursor"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    return arena_printf(&peer_.mem, "'%s'", text);
}

static void test_mcp_pages__a_cursor_serves_for_its_list_alone(void) {
    static const char *const bogus[] = {"''", "'bogus'", "5", "null", "true", "{}", "[]", "'MQ'"};
    start_plugin(&paged, NULL, "{\"pageItems\":2}");
    greet("2025-11-25");
    for (size_t rev = 3; rev < 5; rev++) {
        for (size_t i = 0; i < LASTRO_COUNT(bogus); i++)
            for (size_t list = 0; list < LASTRO_COUNT(lists); list++)
                REFUSED(rev, lists[list].method, bogus[i]);
        const char *tools = first_cursor(rev, "tools/list"), *prompts = first_cursor(rev, "prompts/list");
        REFUSED(rev, "resources/list", tools);
        REFUSED(rev, "resources/templates/list", tools);
        REFUSED(rev, "prompts/list", tools);
        REFUSED(rev, "tools/list", prompts);
        REFUSED(7 - rev, "tools/list", tools); /* the other revision */
        size_t len = strlen(tools);
        REFUSED(rev, "tools/list", arena_printf(&peer_.mem, "%.*sA'", (int)len - 1, tools));
        REFUSED(rev, "tools/list", arena_printf(&peer_.mem, "%.*s'", (int)len - 2, tools));
        ask_list(rev, "tools/list", tools); /* as often as one likes */
        RESULT("1");
        ask_list(rev, "tools/list", tools);
        IS(AT(RESULT("1"), "tools", "0", "name"), "'t3'");
    }
    const char *beyond = seal_make(&srv->seal, &peer_.mem, "cursor", "0 2025-11-25 0", 0, "7", 1); /* ours, but there is no such item */
    REFUSED(3, "tools/list", arena_printf(&peer_.mem, "'%s'", beyond));
    finish();
}

static void test_mcp_pages__a_cursor_ends_with_its_list_and_its_server(void) {
    start_plugin(&paged, NULL, "{\"pageItems\":2}");
    char *tools = strdup(first_cursor(4, "tools/list")), *prompts = strdup(first_cursor(4, "prompts/list"));
    surface_renew(srv->surface, LIST_TOOLS);
    REFUSED(4, "tools/list", tools);
    ask_list(4, "prompts/list", prompts); /* that list is still the same */
    RESULT("1");
    ask_list(4, "tools/list", first_cursor(4, "tools/list"));
    RESULT("1");
    finish();
    start_plugin(&paged, NULL, "{\"pageItems\":2}");
    REFUSED(4, "prompts/list", prompts);
    finish();
    start_plugin(&paged, NULL, "{}");
    REFUSED(4, "prompts/list", prompts);
    finish();
    free(tools);
    free(prompts);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp_pages__the_pages_are_the_list),
        UNIT_TEST(test_mcp_pages__a_cursor_serves_for_its_list_alone),
        UNIT_TEST(test_mcp_pages__a_cursor_ends_with_its_list_and_its_server),
    };
    return UNIT_RUN("mcp_pages", tests);
}
