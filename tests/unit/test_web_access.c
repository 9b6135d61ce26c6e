/* SPDX-License-Identifier: MIT */
/* Who may ask: Host, Origin, what pages may see, keys. */
#include "sha256.h"
#include "test_web.h"

#define MANIFEST(members) "{\"manifest\":1,\"name\":\"test\",\"version\":\"1\",\"plugins\":[]" members "}"

static void start_of(const char *manifest_text, bool loopback) {
    lastro_error err;
    web_start_with(core_server_of(manifest_text, &err), loopback, NULL);
}

static unsigned status_with(const char *header) {
    return web_post(header, REQUEST("1", "initialize", "'protocolVersion':'2025-11-25'"))->status;
}

typedef struct {
    const char *header;
    unsigned status;
} access_case;

static void check_all(const access_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned got = status_with(cases[i].header);
        unit_check(got == cases[i].status, "%s: %u, not %u", cases[i].header, got, cases[i].status);
    }
}

static void f062_only_local_names_pass_on_loopback(void) {
    static const access_case cases[] = {
        {"Origin: http://evil.example\n", 403},
        {"Origin: null\n", 403},
        {"Origin: http://localhost.evil.example\n", 403},
        {"Origin: http://127.0.0.1.nip.io\n", 403},
        {"Origin: http://evil-localhost\n", 403},
        {"Origin: http://localhost@evil.example\n", 403},
        {"Origin: http://localhost:80@evil.example\n", 403},
        {"Origin: http://localhost/\n", 403},
        {"Origin: http://localhost:\n", 403},
        {"Origin: http://localhost:0\n", 403},
        {"Origin: http://localhost:99999\n", 403},
        {"Origin: http://localhost:80x\n", 403},
        {"Origin: localhost\n", 403},
        {"Origin: ftp://localhost\n", 403},
        {"Origin: http:/localhost\n", 403},
        {"Origin: http://\n", 403},
        {"Origin: http://[::1\n", 403},
        {"Origin: http://[::2]\n", 403},
        {"Origin: http://0.0.0.0\n", 403},
        {"Origin: http://localhost http://evil.example\n", 403},
        {"Origin: http://localhost\n+Origin: http://localhost\n", 403},
        {"Origin: http://[::1]:8080\n", 200},
        {"Origin: http://localhost:3000\n", 200},
        {"Origin: https://LOCALHOST\n", 200},
        {"Origin: http://127.0.0.1:1\n", 200},
        {"", 200},
        {"Host: evil.example:8080\n", 403},
        {"Host: localhost.\n", 403},
        {"Host: 127.0.0.1:8717:1\n", 403},
        {"Host: localhost:3000\n", 200},
        {"Host: [::1]:8717\n", 200},
        {"Host: [::1]\n", 200},
        {"Host: Localhost\n", 200},
    };
    web_start();
    check_all(cases, LASTRO_COUNT(cases));
    web_finish();
}

#define LISTED "Host: mcp.example.org\n"

static void a_list_says_who_else_may(void) {
    static const access_case cases[] = {
        {LISTED "Origin: https://app.example.org\n", 200},
        {LISTED "Origin: https://APP.example.org:443\n", 200},
        {LISTED "Origin: https://app.example.org:8443\n", 403},
        {LISTED "Origin: http://app.example.org\n", 403},
        {LISTED "Origin: https://x.app.example.org\n", 403},
        {LISTED "Origin: app://inspector\n", 200},
        {LISTED "Origin: app://other\n", 403},
        {LISTED "Origin: null\n", 403},
        {LISTED "Origin: http://localhost:3000\n", 403}, /* a list is the whole list */
        {"Host: mcp.example.org\n", 200},
        {"Host: mcp.example.org:8443\n", 200},
        {"Host: other.example.org:9000\n", 200},
        {"Host: other.example.org\n", 403},
        {"Host: example.org\n", 403},
    };
    const char *text = MANIFEST(",\"http\":{\"allowedOrigins\":[\"https://app.example.org\",\"app://inspector\",\"null\"],"
                                "\"allowedHosts\":[\"mcp.example.org\",\"other.example.org:9000\"]}");
    for (int loopback = 0; loopback < 2; loopback++) {
        start_of(text, loopback);
        check_all(cases, LASTRO_COUNT(cases));
        unit_check(status_with("Host: localhost\n") == (loopback ? 200 : 403), "local Host, loopback %d", loopback);
        web_finish();
    }
}

static void names_that_no_request_has_are_refused_at_the_start(void) {
    static const struct {
        const char *member, *name;
        bool fits;
    } cases[] = {
        {"allowedHosts", "mcp.example.org", true}, {"allowedHosts", "[::1]:8717", true}, {"allowedHosts", "*", false},
        {"allowedHosts", "https://mcp.example.org", false}, {"allowedHosts", "mcp.example.org/", false}, {"allowedHosts", "", false},
        {"allowedOrigins", "https://app.example.org", true}, {"allowedOrigins", "http://[::1]:3000", true},
        {"allowedOrigins", "vscode-webview://1a2b", true}, {"allowedOrigins", "app.example.org", false},
        {"allowedOrigins", "https://app.example.org/", false}, {"allowedOrigins", "app://inspector/", false},
        {"allowedOrigins", "*", false}, {"allowedOrigins", "null", false}, {"allowedOrigins", "", false},
    };
    for (size_t i = 0; i < LASTRO_COUNT(cases); i++) {
        char text[200];
        lastro_error err = {0};
        snprintf(text, sizeof text, MANIFEST(",\"http\":{\"%s\":[\"%s\"]}"), cases[i].member, cases[i].name);
        server *s = core_server_of(text, &err);
        unit_check((web_names_check(s->manifest, &err) == LASTRO_OK) == cases[i].fits, "%s: %s", cases[i].member, cases[i].name);
        unit_check(cases[i].fits || strstr(err.text, cases[i].member), "%s", err.text);
        server_destroy(s);
    }
}

static void beyond_loopback_no_page_passes_unasked(void) {
    static const access_case cases[] = {{"Host: anything.example\n", 200}, {"Host:\n", 200}, {"Origin: http://localhost\n", 403},
                                        {"Origin: http://anything.example\nHost: anything.example\n", 403}};
    start_of(MANIFEST(""), false);
    check_all(cases, LASTRO_COUNT(cases));
    web_finish();
}

/* ---- CORS ---- */

static bool has_word(const char *list, const char *word) {
    const char *at = list ? strcasestr(list, word) : NULL;
    return at && strchr(", ", at[strlen(word)]);
}

static void a_page_is_told_what_it_may_send(void) {
    static const char *const own[] = {"Content-Type", "Accept", "Authorization", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method",
                                      "Mcp-Name", "Last-Event-ID", "traceparent", "tracestate", "baggage"};
    web_start();
    web_exchange *x = web_ask("OPTIONS", "/mcp",
                              "Origin: http://localhost:6274\nAccess-Control-Request-Method: POST\n"
                              "Access-Control-Request-Headers: content-type, x-evil,mcp-param-region,Mcp-Param-, Mcp-Param-a\"b\n", "");
    CU_ASSERT(x->status == 204 && !x->accepted && !x->len);
    CU_ASSERT_STRING_EQUAL(web_answered(x, "Access-Control-Allow-Origin"), "http://localhost:6274");
    CU_ASSERT(has_word(web_answered(x, "Vary"), "Origin"));
    CU_ASSERT(has_word(web_answered(x, "Access-Control-Allow-Methods"), "DELETE"));
    CU_ASSERT_PTR_NOT_NULL(web_answered(x, "Access-Control-Max-Age"));
    const char *allowed = web_answered(x, "Access-Control-Allow-Headers");
    for (size_t i = 0; i < LASTRO_COUNT(own); i++)
        unit_check(has_word(allowed, own[i]), "%s is not among %s", own[i], allowed ? allowed : "none");
    CU_ASSERT(has_word(allowed, "mcp-param-region"));
    CU_ASSERT(!strcasestr(allowed, "x-evil") && !strchr(allowed, '"') && !has_word(allowed, "Mcp-Param-"));
    x = web_ask("OPTIONS", "/mcp", "", "");
    CU_ASSERT(x->status == 204 && !web_answered(x, "Access-Control-Allow-Origin"));
    web_finish();
}

static void long_lists_of_headers_do_not_overflow(void) {
    static char list[1200];
    web_start();
    for (size_t len = 900; len < 1100; len++) {
        memset(list, 0, sizeof list);
        size_t at = 0;
        while (at + 11 < len)
            at += (size_t)snprintf(list + at, sizeof list - at, "mcp-param-%c,", (int)('a' + at % 26));
        web_exchange *x = web_ask("OPTIONS", "/mcp", arena_printf(&web_mem, "Origin: http://localhost\nAccess-Control-Request-Headers: %s\n", list), "");
        unit_check(x->status == 204 && has_word(web_answered(x, "Access-Control-Allow-Headers"), "baggage"), "%zu: %u", len, x->status);
    }
    web_finish();
}

static void every_answer_to_a_page_is_readable(void) {
    const char *page = "Origin: http://localhost:6274\n";
    web_start();
    const char *mine = web_session_of("2025-11-25", page);
    web_exchange *all[] = {
        web_post(page, "no JSON"),
        web_post(mine, REQUEST("1", "tools/list", "")),
        web_post(mine, "{'jsonrpc':'2.0','method':'notifications/x'}"),
        web_post(mine, CALL("2", "talk", "", ",'_meta':{'progressToken':1}")),
        web_ask("GET", "/mcp", mine, ""),
        web_ask("GET", "/mcp", page, ""),
        web_ask("GET", "/nowhere", page, ""),
        web_ask("DELETE", "/mcp", mine, ""),
        web_post(arena_printf(&web_mem, "%sContent-Type: text/plain\n", page), ""),
        web_post(arena_printf(&web_mem, "%s" MODERN_CALL "echo\n", page), CALL("1", "echo", "'text':'a'", "," META)),
        web_post(arena_printf(&web_mem, "%s" VERSION "Mcp-Method: subscriptions/listen\n", page),
                 REQUEST("1", "subscriptions/listen", "'notifications':{}," META)),
    };
    for (size_t i = 0; i < LASTRO_COUNT(all); i++) {
        CU_ASSERT(web_wait(all[i], WEB_HEAD, NULL));
        const char *origin = web_answered(all[i], "Access-Control-Allow-Origin");
        unit_check(origin && strcmp(origin, "http://localhost:6274") == 0, "answer %zu (%u) has no Access-Control-Allow-Origin", i, all[i]->status);
        unit_check(has_word(web_answered(all[i], "Access-Control-Expose-Headers"), "Mcp-Session-Id"), "answer %zu exposes nothing", i);
        unit_check(has_word(web_answered(all[i], "Vary"), "Origin"), "answer %zu lacks Vary", i);
    }
    CU_ASSERT_PTR_NULL(web_answered(web_post("", "x"), "Vary"));
    CU_ASSERT_PTR_NULL(web_answered(web_post("Origin: http://evil.example\n", "x"), "Access-Control-Allow-Origin"));
    web_finish();
}

/* ---- keys ---- */


static web_keys *start_with_keys(void) {
    static char text[1000];
    char hex[2][65];
    static const char *const secrets[] = {"secret-a", "secret-b"};
    for (int i = 0; i < 2; i++) {
        unsigned char hash[32];
        sha256 h;
        sha256_init(&h);
        sha256_add(&h, secrets[i], strlen(secrets[i]));
        sha256_end(&h, hash);
        for (int j = 0; j < 32; j++)
            snprintf(hex[i] + 2 * j, 3, "%02x", hash[j]);
    }
    snprintf(text, sizeof text, MANIFEST(",\"principals\":[{\"name\":\"ana\",\"key\":\"sha256:%s\"},{\"name\":\"rui\",\"key\":\"sha256:%s\"}]"),
             hex[0], hex[1]);
    lastro_error err;
    server *s = core_server_of(text, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    web_keys *k = web_keys_create(s->manifest, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    web_start_with(s, true, k);
    return k;
}

static void a_key_is_needed_where_there_are_keys(void) {
    static const char *const bad[] = {"", "Authorization: Bearer secret-c\n", "Authorization: Basic secret-a\n", "Authorization: Bearer\n",
                                      "Authorization: Bearer secret-a\n+Authorization: Bearer secret-a\n"};
    web_keys *k = start_with_keys();
    for (size_t i = 0; i < LASTRO_COUNT(bad); i++) {
        web_exchange *x = web_post(bad[i], REQUEST("1", "initialize", "'protocolVersion':'2025-11-25'"));
        unit_check(x->status == 401 && !x->accepted, "%s: %u", bad[i], x->status);
        CU_ASSERT_PTR_NOT_NULL_FATAL(web_answered(x, "WWW-Authenticate"));
        CU_ASSERT_EQUAL(strncmp(web_answered(x, "WWW-Authenticate"), "Bearer", 6), 0);
        CU_ASSERT(json_is(AT(web_json(x), "error"), JSON_OBJECT));
    }
    EXPECT(web_ask("GET", "/mcp", "", ""), 401, -32600);
    EXPECT(web_ask("GET", "/health", "", ""), 200, 0);
    EXPECT(web_ask("GET", "/.well-known/oauth-protected-resource", "", ""), 404, -32600);
    CU_ASSERT_EQUAL(web_ask("OPTIONS", "/mcp", "Origin: http://localhost\nAccess-Control-Request-Method: POST\n", "")->status, 204);
    CU_ASSERT_EQUAL(status_with("Authorization: Bearer secret-a\n"), 200);
    CU_ASSERT_EQUAL(status_with("Authorization: bearer secret-b\n"), 200);
    web_finish();
    web_keys_destroy(k);
}

static void a_session_is_its_principals_own(void) {
    web_keys *k = start_with_keys();
    const char *ana = web_session_of("2025-11-25", "Authorization: Bearer secret-a\n");
    const char *id = strstr(ana, "Mcp-Session-Id");
    const char *rui = arena_printf(&web_mem, "Authorization: Bearer secret-b\n%s", id);
    EXPECT(web_post(rui, REQUEST("1", "tools/list", "")), 404, -32600);
    EXPECT(web_ask("GET", "/mcp", rui, ""), 404, -32600);
    EXPECT(web_ask("DELETE", "/mcp", rui, ""), 404, -32600);
    EXPECT(web_post(id, REQUEST("1", "tools/list", "")), 401, -32600);
    EXPECT(web_post(ana, REQUEST("1", "tools/list", "")), 200, 0);
    web_finish();
    web_keys_destroy(k);
}

static const unit_test tests[] = {
    UNIT_TEST(f062_only_local_names_pass_on_loopback),
    UNIT_TEST(a_list_says_who_else_may),
    UNIT_TEST(names_that_no_request_has_are_refused_at_the_start),
    UNIT_TEST(beyond_loopback_no_page_passes_unasked),
    UNIT_TEST(a_page_is_told_what_it_may_send),
    UNIT_TEST(long_lists_of_headers_do_not_overflow),
    UNIT_TEST(every_answer_to_a_page_is_readable),
    UNIT_TEST(a_key_is_needed_where_there_are_keys),
    UNIT_TEST(a_session_is_its_principals_own),
};

int main(void) {
    return UNIT_RUN("web access", tests);
}
