/* SPDX-License-Identifier: MIT */
#include "web_health.h"
#include "test_core_host.h"
#include "unit.h"

#include <string.h>

/* ---- a front that keeps the one answer ---- */

static struct {
    unsigned status, count;
    char body[500], allow[40], type[40];
} got;

static bool keep_reply(web_exchange *x, const web_answer *a) {
    (void)x;
    got.count++;
    got.status = a->status;
    snprintf(got.body, sizeof got.body, "%.*s", (int)a->len, a->body);
    got.allow[0] = got.type[0] = '\0';
    for (size_t i = 0; i < a->header_count; i++) {
        if (strcmp(a->headers[i].name, "Allow") == 0)
            snprintf(got.allow, sizeof got.allow, "%s", a->headers[i].value);
        if (strcmp(a->headers[i].name, "Content-Type") == 0)
            snprintf(got.type, sizeof got.type, "%s", a->headers[i].value);
    }
    return true;
}
static const web_front front = {.version = WEB_FRONT_VERSION, .reply = keep_reply};

static const char *no_header(const web_head *h, const char *name, unsigned *ret_count) {
    (void)h, (void)name;
    if (ret_count)
        *ret_count = 0;
    return NULL;
}

/* True: it was answered. */
static bool ask(const server *s, const char *verb, const char *path) {
    memset(&got, 0, sizeof got);
    web_head h = {.method = verb, .path = path, .remote = "127.0.0.1", .header = no_header};
    bool answered = web_health(s, &front, NULL, &h);
    CU_ASSERT_EQUAL(got.count, answered ? 1 : 0);
    return answered;
}

static const char *member(const char *name) {
    static arena a;
    arena_free(&a);
    arena_init(&a, 0);
    return json_str(json_member(json_read_copy(&a, got.body, strlen(got.body), NULL, NULL), name));
}

static void expect(const server *s, const char *verb, const char *path, unsigned status, const char *state) {
    CU_ASSERT_TRUE(ask(s, verb, path));
    unit_check(got.status == status, "%s %s: %u", verb, path, got.status);
    unit_check(strcmp(got.type, "application/json") == 0, "%s %s: %s", verb, path, got.type);
    if (state)
        unit_check(member("status") && strcmp(member("status"), state) == 0, "%s %s: %s", verb, path, got.body);
}

/* ---- the tests ---- */

static void test_health__of_a_server_that_has_all_its_plugins(void) {
    server *s = core_inner_server("{}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    expect(s, "GET", "/health", 200, "ok");
    expect(s, "HEAD", "/health", 200, "ok");
    expect(s, "GET", "/ready", 200, "ready");
    expect(s, "HEAD", "/ready", 200, "ready");
    CU_ASSERT_PTR_NOT_NULL(strstr(got.body, "\"notLoaded\":[]"));
    server_destroy(s);
}

static void test_health__of_a_server_that_lacks_one_names_it_and_no_more(void) {
    lastro_error err;
    server *s = core_server_of("{\"manifest\":1,\"name\":\"n\",\"version\":\"1\",\"plugins\":["
                               "{\"name\":\"off\",\"library\":\"/nowhere/off.so\",\"enabled\":false},"
                               "{\"name\":\"gone\",\"library\":\"/nowhere/secret.so\",\"config\":{\"password\":\"hunter2\"}}]}", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    expect(s, "GET", "/health", 200, "ok"); /* the process lives all the same */
    expect(s, "GET", "/ready", 503, "incomplete");
    CU_ASSERT_PTR_NOT_NULL(strstr(got.body, "\"notLoaded\":[\"gone\"]"));
    CU_ASSERT(!strstr(got.body, "nowhere") && !strstr(got.body, "hunter2") && !strstr(got.body, "off"));
    server_destroy(s);
}

static void test_health__answers_no_other_path_and_only_reading(void) {
    static const char *const others[] = {"/", "/healthz", "/health/", "/Health", "/ready/", "/mcp", "/healt", "/%68ealth", ""};
    server *s = core_inner_server("{}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        unit_check(!ask(s, "GET", others[i]), "%s was answered", others[i]);
    static const char *const methods[] = {"POST", "DELETE", "OPTIONS", "PUT", "get", ""};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        expect(s, methods[i], "/health", 405, NULL);
        expect(s, methods[i], "/ready", 405, NULL);
        CU_ASSERT_STRING_EQUAL(got.allow, "GET, HEAD");
    }
    server_destroy(s);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_health__of_a_server_that_has_all_its_plugins),
        UNIT_TEST(test_health__of_a_server_that_lacks_one_names_it_and_no_more),
        UNIT_TEST(test_health__answers_no_other_path_and_only_reading),
    };
    return UNIT_RUN("web_health", tests);
}
