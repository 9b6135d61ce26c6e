/* SPDX-License-Identifier: MIT */
/* A schema, then a NUL (or else the first newline), then an instance. Whatever they are: no crash, no endless
 * run, the same verdict with and without a report, and failures that point into the instance and can be told.
 */
#include "core/schema_messages.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "fuzz_schema: %s\n", what);
        abort();
    }
}

static void tell(const schema_messages *m, const schema_failure *f) {
    char text[4096];
    size_t n = schema_message_render(m, f, text, sizeof text);
    demand(n > 0 && json_valid_utf8(text, strlen(text)), "a sentence is UTF-8");
    demand(n >= sizeof text || strlen(text) <= n, "a sentence has its length");
}

static void check_report(const schema_report *r, const json_value *instance) {
    static schema_messages *tables[2];
    for (size_t k = 0; k < 2; k++)
        if (!tables[k])
            tables[k] = schema_messages_builtin(k ? "pt-BR" : "en");
    for (size_t i = 0; i < r->count; i++) {
        const schema_failure *f = &r->failures[i];
        demand(json_pointer(instance, f->instance_path, strlen(f->instance_path)) != NULL ||
                   strstr(f->instance_path, "\xef\xbf\xbd"),
               "a path points into the instance");
        tell(tables[0], f);
        tell(tables[1], f);
    }
}

static void judge(const schema *s, const json_value *instance) {
    arena a;
    arena_init(&a, 64 << 20);
    schema_report r = {0};
    schema_verdict with = schema_validate(s, instance, &a, &r),
                   without = schema_validate(s, instance, &a, NULL);
    demand(with == without || with == SCHEMA_UNDECIDED || without == SCHEMA_UNDECIDED, "one verdict");
    demand((with == SCHEMA_VALID) == (r.count == 0), "a failure says why");
    check_report(&r, instance);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const schema_limits limits = {
        .subschemas = 2000, .depth = 128, .steps = 20000, .regex_match = 10000, .regex_heap_kib = 1024};
    const char *text = (const char *)data;
    const char *cut = size ? memchr(text, 0, size) : NULL;
    cut = cut || !size ? cut : memchr(text, '\n', size);
    if (!cut)
        return 0;
    arena a;
    arena_init(&a, 0);
    size_t len = (size_t)(cut - text);
    const json_value *root = json_read_copy(&a, text, len, NULL, NULL);
    const json_value *instance = root ? json_read_copy(&a, cut + 1, size - len - 1, NULL, NULL) : NULL;
    schema_error why = {0};
    schema_options opts = {
        .draft = len % 2 ? SCHEMA_DRAFT_7 : SCHEMA_DRAFT_2020_12, .assert_format = true, .limits = limits};
    schema *s = root ? schema_compile(root, &opts, &why) : NULL;
    demand(!root || s || *why.text, "an unusable schema says why");
    if (s && instance)
        judge(s, instance);
    schema_destroy(s);
    arena_free(&a);
    return 0;
}
