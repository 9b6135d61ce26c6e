/* SPDX-License-Identifier: MIT */
#include "web_keys.h"
#include "sha256.h"
#include "unit.h"

#include <lastro/lastro.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A manifest with these principals; where they break its rules, NULL with err filled. */
static manifest *with_principals(const char *principals, lastro_error *err) {
    char path[] = "/tmp/lastro-test-XXXXXX", text[4000];
    int fd = mkstemp(path);
    int n = snprintf(text, sizeof text, "{\"manifest\":1,\"name\":\"n\",\"version\":\"1\",\"plugins\":[],\n\"principals\":%s}", principals);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, (size_t)n) == n);
    close(fd);
    *err = (lastro_error){0};
    manifest *m = manifest_load(path, err);
    unlink(path);
    return m;
}

static void entry(char *buf, size_t size, const char *name, const char *secret) {
    char hex[65];
    sha256_text(secret, strlen(secret), hex);
    snprintf(buf, size, "{\"name\":\"%s\",\"key\":\"sha256:%s\"}", name, hex);
}

static void test_keys__find_the_principal_whose_secret_is_brought(void) {
    char ana[200], bob[200], list[600];
    lastro_error err;
    entry(ana, sizeof ana, "ana", "open sesame");
    entry(bob, sizeof bob, "b\\u00f3b", "s3cr3t");
    snprintf(list, sizeof list, "[%s,{\"name\":\"keyless\",\"claims\":{}},%s]", ana, bob);
    manifest *m = with_principals(list, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    web_keys *k = web_keys_create(m, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    static const struct {
        const char *header, *who;
    } cases[] = {
        {"Bearer open sesame", "ana"},  {"bearer s3cr3t", "b\303\263b"}, {"BEARER   s3cr3t", "b\303\263b"},
        {"Bearer s3cr3", NULL},         {"Bearer s3cr3tt", NULL},        {"Bearer S3CR3T", NULL},
        {"Bearers3cr3t", NULL},         {"Basic s3cr3t", NULL},          {"s3cr3t", NULL},
        {"Bearer ", NULL},              {"Bearer", NULL},                {"", NULL},
        {NULL, NULL},                   {"Bearer keyless", NULL},        {"Bearer ana", NULL},
        {"Bearer open  sesame", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *who = web_keys_principal(k, cases[i].header), *header = cases[i].header ? cases[i].header : "(none)";
        unit_check(cases[i].who ? who && strcmp(who, cases[i].who) == 0 : !who, "%s: %s", header, who ? who : "nobody");
    }
    /* the hash is no key */
    char hash[80] = "Bearer ";
    sha256_text("s3cr3t", 6, hash + 7);
    CU_ASSERT_PTR_NULL(web_keys_principal(k, hash));
    web_keys_destroy(k);
    manifest_destroy(m);
}

static void test_keys__of_a_manifest_without_keys_are_none_and_no_error(void) {
    static const char *const lists[] = {"[]", "[{\"name\":\"a\"},{\"name\":\"b\",\"claims\":{\"x\":1}}]"};
    lastro_error err;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        manifest *m = with_principals(lists[i], &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        err = (lastro_error){.status = LASTRO_EARGS};
        CU_ASSERT_PTR_NULL(web_keys_create(m, &err));
        CU_ASSERT_EQUAL(err.status, LASTRO_OK);
        manifest_destroy(m);
    }
    manifest *none = manifest_empty();
    CU_ASSERT_PTR_NULL(web_keys_create(none, &err));
    CU_ASSERT_EQUAL(err.status, LASTRO_OK);
    manifest_destroy(none);
    web_keys_destroy(NULL);
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_keys__that_are_malformed_are_refused_without_being_repeated(void) {
    static const struct {
        const char *list, *what;
    } cases[] = {
        {"[5]", "each entry of \"principals\" must be an object"},
        {"[{\"key\":\"sha256:" HEX64 "\"}]", "principal \"?\": \"name\" is missing"},
        {"[{\"name\":\"\"}]", "a name that is not empty"},
        {"[{\"name\":\"a\",\"kee\":1}]", "principal \"a\": unknown member \"kee\""},
        {"[{\"name\":\"a\",\"claims\":[]}]", "principal \"a\": \"claims\" must be an object"},
        {"[{\"name\":\"a\",\"key\":1}]", "principal \"a\": \"key\" must be a text"},
        {"[{\"name\":\"a\",\"key\":\"hunter2\"}]", "principal \"a\": \"key\" must be \"sha256:\" and 64"},
        {"[{\"name\":\"a\",\"key\":\"" HEX64 "\"}]", "\"key\" must be \"sha256:\""},
        {"[{\"name\":\"a\",\"key\":\"sha256:" HEX64 "0\"}]", "\"key\" must be \"sha256:\""},
        {"[{\"name\":\"a\",\"key\":\"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\"}]", "lower-case"},
        {"[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]", "two principals are called \"a\""},
        {"[{\"name\":\"a\",\"key\":\"sha256:" HEX64 "\"},{\"name\":\"b\",\"key\":\"sha256:" HEX64 "\"}]", "\"a\" and \"b\" have the same key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lastro_error err;
        manifest *m = with_principals(cases[i].list, &err);
        unit_check(!m, "%s was taken", cases[i].list);
        unit_check(strstr(err.text, cases[i].what) && strstr(err.text, ":2: "), "%s: \"%s\"", cases[i].list, err.text);
        unit_check(!strstr(err.text, "hunter2") && !strstr(err.text, HEX64), "the key is told: \"%s\"", err.text);
        manifest_destroy(m);
    }
}

/* A manifest that was made otherwise than by its reader is not trusted either. */
static void test_keys__are_checked_again_where_they_are_read(void) {
    static const char *const lists[] = {"[{\"name\":\"a\",\"key\":\"sha256:zz\"}]", "[{\"name\":\"a\",\"key\":7}]",
                                        "[{\"key\":\"sha256:" HEX64 "\"}]"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lastro_error err = {0};
        manifest *m = manifest_empty();
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        m->principals = json_read_copy(&m->mem, lists[i], strlen(lists[i]), NULL, NULL);
        unit_check(!web_keys_create(m, &err) && err.status == LASTRO_EARGS, "%s was taken", lists[i]);
        manifest_destroy(m);
    }
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_keys__find_the_principal_whose_secret_is_brought),
        UNIT_TEST(test_keys__of_a_manifest_without_keys_are_none_and_no_error),
        UNIT_TEST(test_keys__that_are_malformed_are_refused_without_being_repeated),
        UNIT_TEST(test_keys__are_checked_again_where_they_are_read),
    };
    return UNIT_RUN("web_keys", tests);
}
