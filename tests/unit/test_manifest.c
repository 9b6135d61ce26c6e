/* SPDX-License-Identifier: MIT */
#include "manifest.h"
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/lastro-test-XXXXXX";
static char file[64];

static void put_file(const char *path, const char *text, size_t len) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(text, 1, len, f), len);
    fclose(f);
}
static manifest *load_text(const char *text, lastro_error *err) {
    put_file(file, text, strlen(text));
    *err = (lastro_error){0};
    return manifest_load(file, err);
}

#define HEAD "{\"manifest\":1,\n\"name\":\"n\",\n\"version\":\"1\",\n"

static void test_manifest__reads_what_it_names_and_has_defaults_for_the_rest(void) {
    lastro_error err;
    manifest *m = load_text(HEAD "\"title\":\"T\",\"publisher\":\"org.x\",\"principal\":\"p\",\"websiteUrl\":\"u\",\"$schema\":\"s\","
                            "\"description\":\"d\",\"instructions\":\"i\",\"principals\":[],\"listing\":{},"
                            "\"limits\":{\"callMs\":5,\"workers\":2},"
                            "\"plugins\":[{\"name\":\"a\",\"library\":\"a.so\"},"
                            "{\"name\":\"b\",\"library\":\"/b.so\",\"enabled\":false,\"isolation\":\"full\",\"tools\":[\"t\"],"
                            "\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                            "\"config\":{\"k\":1},\"grants\":{}}]}", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_STRING_EQUAL(m->name, "n");
    CU_ASSERT_STRING_EQUAL(m->title, "T");
    CU_ASSERT_STRING_EQUAL(m->version, "1");
    CU_ASSERT_STRING_EQUAL(m->description, "d");
    CU_ASSERT_STRING_EQUAL(m->publisher, "org.x");
    CU_ASSERT_STRING_EQUAL(m->website, "u");
    CU_ASSERT_STRING_EQUAL(m->instructions, "i");
    CU_ASSERT_STRING_EQUAL(m->principal, "p");
    CU_ASSERT_EQUAL(m->limits.call_ms, 5);
    CU_ASSERT_EQUAL(m->limits.workers, 2);
    CU_ASSERT_EQUAL(m->limits.message_bytes, 16 << 20);
    CU_ASSERT(json_is(m->listing, JSON_OBJECT) && json_is(m->principals, JSON_ARRAY));
    CU_ASSERT_EQUAL_FATAL(m->plugin_count, 2);
    CU_ASSERT(m->plugins[0].enabled && !m->plugins[0].tools && !m->plugins[0].sha256 && !m->plugins[0].config);
    CU_ASSERT_STRING_EQUAL(m->plugins[0].isolation, "none");
    CU_ASSERT(!m->plugins[1].enabled && json_count(m->plugins[1].tools) == 1 && json_is(m->plugins[1].config, JSON_OBJECT));
    CU_ASSERT_STRING_EQUAL(m->plugins[1].isolation, "full");
    CU_ASSERT_STRING_EQUAL(m->plugins[1].library, "/b.so");
    CU_ASSERT_EQUAL(strlen(m->plugins[1].sha256), 64);
    CU_ASSERT_STRING_EQUAL(m->path, file);
    CU_ASSERT_STRING_EQUAL(m->dir, dir);
    manifest_destroy(m);
    m = manifest_empty();
    CU_ASSERT(m && m->plugin_count == 0 && m->limits.call_ms > 0 && m->name && m->version && m->path && m->dir);
    manifest_destroy(m);
    manifest_destroy(NULL);
}

/* Each error names file, line and member. The escaped line break must not count as a line. */
static void test_manifest__says_where_and_what_is_wrong(void) {
    static const struct {
        const char *text, *place, *what;
    } cases[] = {
        {"{\"manifest\":1,\n\"nom\":2}", ":2: ", "unknown member \"nom\""},
        {"{\"manifest\":1,\"description\":\"a\\nb\\nc\",\n\"nom\":2}", ":2: ", "unknown member \"nom\""},
        {"{\"manifest\":1,\n\n\"no\\u0000m\":2}", ":3: ", "unknown member \"no"},
        {"{\"manifest\":1,\n\"name\":\"n\",\n\"plugins\":[]}", ":1: ", "\"version\" is missing"},
        {"{\"manifest\":\"1\"}", ":1: ", "\"manifest\" must be a positive integer"},
        {"{\n\"manifest\":2,\"name\":\"n\",\"version\":\"1\",\"plugins\":[]}", ":2: ", "format 2"},
        {HEAD "\"title\":5,\"plugins\":[]}", ":4: ", "\"title\" must be a text"},
        {HEAD "\"title\":\"a\\u0000b\",\"plugins\":[]}", ":4: ", "\"title\" must be a text"},
        {HEAD "\"plugins\":{}}", ":4: ", "\"plugins\" must be an array"},
        {HEAD "\"listing\":[],\"plugins\":[]}", ":4: ", "\"listing\" must be an object"},
        {HEAD "\"plugins\":[5]}", ":4: ", "each entry of \"plugins\" must be an object"},
        {HEAD "\"plugins\":[\n{\"name\":\"a\"}]}", ":5: plugin \"a\": ", "\"library\" is missing"},
        {HEAD "\"plugins\":[\n\n{\"library\":\"a\"}]}", ":6: plugin \"?\": ", "\"name\" is missing"},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\",\n\"enable\":true}]}", ":5: plugin \"a\": ", "unknown member \"enable\""},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\",\n\"enabled\":1}]}", ":5: plugin \"a\": ", "\"enabled\" must be true or false"},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\",\"tools\":[1]}]}", ":4: plugin \"a\": ", "\"tools\" must list names"},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\",\n\"sha256\":\"00\"}]}", ":5: plugin \"a\": ", "\"sha256\" must be 64"},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\",\"sha256\":"
              "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefz\"}]}", ":4: plugin \"a\": ", "\"sha256\""},
        {HEAD "\"plugins\":[{\"name\":\"a\",\"library\":\"l\"},\n{\"name\":\"a\",\"library\":\"m\"}]}", ":5: ", "two plugins are called \"a\""},
        {HEAD "\"limits\":{\n\"callms\":1},\"plugins\":[]}", ":5: limits: ", "unknown member \"callms\""},
        {HEAD "\"limits\":{\"callMs\":0},\"plugins\":[]}", ":4: limits: ", "\"callMs\" must be a positive integer, at most 86400000"},
        {HEAD "\"limits\":{\"callMs\":1.5},\"plugins\":[]}", ":4: limits: ", "\"callMs\" must be"},
        {HEAD "\"limits\":{\"callMs\":9223372036854775807},\"plugins\":[]}", ":4: limits: ", "\"callMs\" must be"},
        {HEAD "\"limits\":{\"workers\":4294967296},\"plugins\":[]}", ":4: limits: ", "\"workers\" must be"},
        {HEAD "\"limits\":{\"messageBytes\":-1},\"plugins\":[]}", ":4: limits: ", "\"messageBytes\" must be"},
        {HEAD "\"limits\":{\"resultBytes\":99999999999},\"plugins\":[]}", ":4: limits: ", "\"resultBytes\" must be"},
        {"[]", ": ", "the manifest must be a JSON object"},
        {"{\n\"manifest\":1,}", ":2:", ""},
        {"{\"name\":\"a\",\n\"name\":\"b\"}", ":2:", "name"},
        {"", ":1:", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lastro_error err;
        char begin[200];
        manifest *m = load_text(cases[i].text, &err);
        snprintf(begin, sizeof begin, "%s%s", file, cases[i].place);
        unit_check(!m, "%s was taken", cases[i].text);
        unit_check(strncmp(err.text, begin, strlen(begin)) == 0 && strstr(err.text, cases[i].what), "%s: \"%s\"", cases[i].text,
                   err.text);
        manifest_destroy(m);
    }
}

static void test_manifest__says_which_file_cannot_be_read(void) {
    lastro_error err = {0};
    CU_ASSERT_PTR_NULL(manifest_load("/nowhere/at/all.json", &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere/at/all.json"));
    CU_ASSERT_PTR_NULL(manifest_load(dir, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, dir));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not a regular file"));
    char *big = malloc(9 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(big);
    memset(big, ' ', 9 << 20);
    put_file(file, big, 9 << 20);
    free(big);
    CU_ASSERT_PTR_NULL(manifest_load(file, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too large"));
}

static void expect_found(const char *explicit_path, const char *exe_dir, const char *expected) {
    char buf[PATH_MAX];
    bool found = manifest_find(explicit_path, exe_dir, buf, sizeof buf);
    unit_check(found == (expected != NULL), "found %d", found);
    unit_check(!expected || strcmp(buf, expected) == 0, "%s instead of %s", buf, expected ? expected : "none");
}

/* From the last place to the first: each new file hides the ones before. */
static void test_manifest__is_searched_in_the_stated_order(void) {
    char exe[100], xdg[100], home[100], in_exe[140], in_xdg[140], in_home[140];
    snprintf(exe, sizeof exe, "%s/bin", dir);
    snprintf(xdg, sizeof xdg, "%s/xdg", dir);
    snprintf(home, sizeof home, "%s/home", dir);
    snprintf(in_exe, sizeof in_exe, "%s/manifest.json", exe);
    snprintf(in_xdg, sizeof in_xdg, "%s/lastro/manifest.json", xdg);
    snprintf(in_home, sizeof in_home, "%s/.config/lastro/manifest.json", home);
    unsetenv("LASTRO_MANIFEST");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    bool in_etc = access("/etc/lastro/manifest.json", F_OK) == 0;
    expect_found(NULL, exe, in_etc ? "/etc/lastro/manifest.json" : NULL);
    setenv("HOME", home, 1);
    char command[600];
    snprintf(command, sizeof command, "mkdir -p %s %s/lastro %s/.config/lastro && touch %s", exe, xdg, home, in_home);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
    expect_found(NULL, exe, in_home);
    setenv("XDG_CONFIG_HOME", "relative", 1); /* the specification: such a value is ignored */
    expect_found(NULL, exe, in_home);
    setenv("XDG_CONFIG_HOME", xdg, 1);
    expect_found(NULL, exe, in_etc ? "/etc/lastro/manifest.json" : NULL);
    put_file(in_xdg, "", 0);
    expect_found(NULL, exe, in_xdg);
    put_file(in_exe, "", 0);
    expect_found(NULL, exe, in_exe);
    setenv("LASTRO_MANIFEST", "", 1);
    expect_found(NULL, exe, in_exe);
    setenv("LASTRO_MANIFEST", "/not/there.json", 1);
    expect_found(NULL, exe, "/not/there.json");
    expect_found("mine.json", exe, "mine.json");
    unsetenv("LASTRO_MANIFEST");
    unsetenv("XDG_CONFIG_HOME");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_manifest__reads_what_it_names_and_has_defaults_for_the_rest),
        UNIT_TEST(test_manifest__says_where_and_what_is_wrong),
        UNIT_TEST(test_manifest__says_which_file_cannot_be_read),
        UNIT_TEST(test_manifest__is_searched_in_the_stated_order),
    };
    if (!mkdtemp(dir))
        return 2;
    snprintf(file, sizeof file, "%s/m.json", dir);
    int failed = UNIT_RUN("manifest", tests);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) == 0 ? failed : 2;
}
