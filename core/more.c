/* SPDX-License-Identifier: MIT */
#include "more.h"
#include "embedded.h"
#include "fail.h"
#include "schema_messages.h"
#include "text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *what, *json;
    const size_t *size;
} kinds[MORE_KINDS] = {
    [MORE_RESOURCE] = {"resource", listing_resource, &listing_resource_size},
    [MORE_TEMPLATE] = {"resource template", listing_template, &listing_template_size},
    [MORE_PROMPT] = {"prompt", listing_prompt, &listing_prompt_size},
    [MORE_TOOL] = {"tool", listing_tool, &listing_tool_size},
    [MORE_ICONS] = {"tool", listing_icons, &listing_icons_size},
};

/* Compiled when first needed, never freed. */
static const schema *schema_of(more_kind kind) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static schema *compiled[MORE_KINDS];
    static arena mem;
    pthread_mutex_lock(&lock);
    if (!compiled[kind]) {
        const json_value *v = json_read_copy(&mem, kinds[kind].json, *kinds[kind].size, NULL, NULL);
        compiled[kind] = v ? schema_compile(v, NULL, NULL) : NULL;
    }
    const schema *s = compiled[kind];
    pthread_mutex_unlock(&lock);
    return s;
}

/* v has the form of that kind. */
static lastro_status more_check(more_kind kind, const char *name, const json_value *v, lastro_error *err) {
    const schema *form = schema_of(kind);
    schema_report report = {.max = 1};
    arena a;
    if (!form)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    arena_init(&a, 0);
    lastro_status s = LASTRO_OK;
    if (schema_validate(form, v, &a, &report) != SCHEMA_VALID) {
        char line[700] = "";
        if (report.count)
            schema_message_render(text_messages("en"), &report.failures[0], line, sizeof line);
        s = fail(err, LASTRO_EARGS, "what is said of the %s \"%.150s\" cannot be published: %s", kinds[kind].what, name, line);
    }
    arena_free(&a);
    return s;
}

lastro_status more_check_tool(const char *name, const json_value *contract, lastro_error *err) {
    const json_value *icons = json_member(contract, "icons");
    lastro_status s = more_check(MORE_TOOL, name, contract, err);
    return s || !icons ? s : more_check(MORE_ICONS, name, icons, err); /* apart: compiling its patterns takes its time */
}

lastro_status more_read(more_kind kind, const char *name, const char *text, arena *a, const json_value **ret, lastro_error *err) {
    json_error at;
    *ret = NULL;
    if (!text)
        return LASTRO_OK;
    const json_value *v = json_read_copy(a, text, strlen(text), NULL, &at);
    if (!v)
        return fail(err, LASTRO_EARGS, "\"more\" of the %s \"%.150s\" is no JSON: %u:%u: %s", kinds[kind].what, name, at.line,
                    at.column, at.text);
    *ret = v;
    return more_check(kind, name, v, err);
}

/* ---- publishing ---- */

static const struct {
    const char *name;
    revision since;
} members[] = {
    {"annotations", REV_2024_11_05},
    {"size", REV_2024_11_05},
    {"icons", REV_2025_11_25},
    {"_meta", REV_2025_06_18},
};

/* Annotations of before 2025-06-18 say nothing of time. */
static void write_old_annotations(const json_value *v, json_writer *w) {
    json_begin_object(w);
    for (json_iter it = json_iterate(v); json_next(&it);) {
        if (json_text_is(it.key, "lastModified"))
            continue;
        json_text key = json_text_of(it.key);
        json_key_n(w, key.at, key.len);
        json_write_value(w, it.value);
    }
    json_end_object(w);
}

void more_write(const json_value *v, json_writer *w, revision rev) {
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_value *member = json_member(v, members[i].name);
        if (!member || rev < members[i].since)
            continue;
        json_key(w, members[i].name);
        if (i == 0 && rev < REV_2025_06_18)
            write_old_annotations(member, w);
        else
            json_write_value(w, member);
    }
}
