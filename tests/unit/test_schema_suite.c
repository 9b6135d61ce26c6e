/* SPDX-License-Identifier: MIT */
/* The JSON Schema Test Suite, where it lies beside the project: each required test, and the optional ones we
 * claim. */
#include "cli_schema.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char suite_root[3000];
static arena remote_memory;
static schema_set *remotes;

static bool find_suite(void) {
    const char *shared = getenv("LASTRO_SHARED");
    if (shared)
        snprintf(suite_root, sizeof suite_root, "%s/data/json-schema-suite", shared);
    else
        snprintf(suite_root, sizeof suite_root, "%s/../shared/data/json-schema-suite", LASTRO_SOURCE_DIR);
    return access(suite_root, R_OK) == 0;
}

static void run(const char *part, bool assert_format, size_t count) {
    char path[4000];
    snprintf(path, sizeof path, "%s/%s", suite_root, part);
    schema_suite s = {.assert_format = assert_format, .set = remotes};
    CU_ASSERT_TRUE(schema_suite_run(&s, path, stdout));
    printf("%s: %zu passed, %zu failed ", part, s.passed, s.failed);
    unit_check(s.failed == 0, "%s: %zu failed", part, s.failed);
    unit_check(!count || s.passed == count, "%s: %zu tests, not %zu", part, s.passed + s.failed, count);
}

static void required_tests_of_2020_12(void) {
    run("draft2020-12", false, 1299);
}

static void required_tests_of_draft_07(void) {
    run("draft7", false, 927);
}

static const char *const drafts[] = {"draft2020-12", "draft7"};

static void optional_tests(void) {
    static const char *const both[] = {"bignum", "ecmascript-regex", "float-overflow",
                                       "id",     "non-bmp-regex",    "unknownKeyword"};
    static const char *const new[] = {"anchor",     "dependencies-compatibility",
                                      "dynamicRef", "format-assertion",
                                      "no-schema",  "refOfUnknownKeyword"};
    char part[100];
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
            snprintf(part, sizeof part, "%s/optional/%s.json", drafts[d], both[i]);
            run(part, false, 0);
        }
    for (size_t i = 0; i < sizeof new / sizeof *new; i++) {
        snprintf(part, sizeof part, "draft2020-12/optional/%s.json", new[i]);
        run(part, false, 0);
    }
}

static void formats(void) {
    static const char *const both[] = {"date",
                                       "date-time",
                                       "email",
                                       "idn-email",
                                       "ipv4",
                                       "ipv6",
                                       "iri",
                                       "iri-reference",
                                       "json-pointer",
                                       "regex",
                                       "relative-json-pointer",
                                       "time",
                                       "unknown",
                                       "uri",
                                       "uri-reference",
                                       "uri-template"};
    static const char *const new[] = {"duration", "uuid"};
    char part[100];
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
            snprintf(part, sizeof part, "%s/optional/format/%s.json", drafts[d], both[i]);
            run(part, true, 0);
        }
    for (size_t i = 0; i < sizeof new / sizeof *new; i++) {
        snprintf(part, sizeof part, "draft2020-12/optional/format/%s.json", new[i]);
        run(part, true, 0);
    }
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(required_tests_of_2020_12),
        UNIT_TEST(required_tests_of_draft_07),
        UNIT_TEST(optional_tests),
        UNIT_TEST(formats),
    };
    if (!find_suite()) {
        printf("skipped: the JSON Schema Test Suite is not there (set LASTRO_SHARED)\n");
        return 0;
    }
    char folder[4000];
    snprintf(folder, sizeof folder, "%s/remotes", suite_root);
    arena_init(&remote_memory, 0);
    remotes = schema_suite_remotes(&remote_memory, folder);
    int result = remotes ? UNIT_RUN("schema suite", tests) : 2;
    schema_set_destroy(remotes);
    arena_free(&remote_memory);
    return result;
}
