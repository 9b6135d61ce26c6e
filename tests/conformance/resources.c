/* SPDX-License-Identifier: MIT */
/* resources.c -- fixed, changing and templated resources, and one that asks before it can be read. */
#include "conformance.h"

static lastro_status read_text(UNUSED void *self, UNUSED lastro_call *call, lastro_text uri, lastro_writer *contents,
                               UNUSED lastro_error *err) {
    static const char text[] = "This is the content of the static text resource.";
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){text, sizeof text - 1});
    return LASTRO_OK;
}
static const lastro_resource static_text = {.size = sizeof(lastro_resource), .uri = "test://static-text",
    .name = "static-text", .title = "Static text", .description = "A text that never changes.", .mime_type = "text/plain",
    .read = read_text,
    .more = "{\"annotations\":{\"audience\":[\"user\",\"assistant\"],\"priority\":0.8,\"lastModified\":\"2026-11-30T00:00:00Z\"},"
            "\"size\":48," PNG_ICONS "}"};

static lastro_status read_binary(UNUSED void *self, UNUSED lastro_call *call, lastro_text uri, lastro_writer *contents,
                                 UNUSED lastro_error *err) {
    lastro->begin_object(contents);
    lastro_put_string(contents, "uri", uri);
    lastro_put_text(contents, "mimeType", "image/png");
    lastro_put_text(contents, "blob", PNG_BASE64);
    lastro->end_object(contents);
    return LASTRO_OK;
}
static const lastro_resource static_binary = {.size = sizeof(lastro_resource), .uri = "test://static-binary",
    .name = "static-binary", .title = "Static image", .description = "A PNG of 16 by 16 pixels.", .mime_type = "image/png",
    .read = read_binary};

static const lastro_resource watched = {.size = sizeof(lastro_resource), .uri = "test://watched-resource",
    .name = "watched-resource", .title = "Watched resource", .description = "Changes with each call of test_touch_watched.",
    .mime_type = "text/plain", .read = read_watched};

static const lastro_resource cancelled = {.size = sizeof(lastro_resource), .uri = "test://cancelled-calls",
    .name = "cancelled-calls", .title = "Cancelled calls",
    .description = "How many slow calls saw that they were cancelled, and the label of the last one.",
    .mime_type = "application/json", .read = read_cancelled};

static lastro_status read_asked(UNUSED void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "user_name", FORM("Who reads this?", "name", "string"), &answer, err);
    const char *text = s ? NULL : lastro_format(call, "Written for %s.", typed(call, answer, "name"));
    if (text)
        lastro_resource_text(contents, uri, "text/plain", (lastro_text){text, strlen(text)});
    return s || text ? s : lastro_fail(err, LASTRO_ENOMEM, "out of memory");
}
static const lastro_resource asked = {.size = sizeof(lastro_resource), .uri = "test://asked", .name = "asked",
    .title = "Resource that asks", .description = "Its text names the reader, who is asked first.", .mime_type = "text/plain",
    .read = read_asked};

/* test://template/{id}/data: the host calls only with addresses that fit. */
static lastro_text id_of(lastro_text uri) {
    size_t before = strlen("test://template/"), after = strlen("/data");
    return (lastro_text){uri.at + before, uri.len - before - after};
}

static lastro_status read_template(UNUSED void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    lastro_text id = id_of(uri);
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    lastro_put_string(w, "id", id);
    lastro_put_bool(w, "templateTest", true);
    lastro_put_text(w, "data", lastro_format(call, "Data for ID: %.*s", (int)id.len, id.at));
    lastro->end_object(w);
    const char *text = lastro_written(call, w, err);
    if (!text)
        return (lastro_status)err->status;
    lastro_resource_text(contents, uri, "application/json", (lastro_text){text, strlen(text)});
    return LASTRO_OK;
}

static lastro_status complete_id(UNUSED void *self, UNUSED lastro_call *call, UNUSED lastro_text variable, lastro_text prefix,
                                 lastro_writer *values, UNUSED lastro_error *err) {
    static const char *const ids[] = {"1", "12", "123", "2", "23"};
    for (size_t i = 0; i < LASTRO_COUNT(ids); i++)
        if (!prefix.len || strncmp(ids[i], prefix.at, prefix.len) == 0)
            lastro_add_text(values, ids[i]);
    return LASTRO_OK;
}
static const lastro_resource template_data = {.size = sizeof(lastro_resource), .uri = "test://template/{id}/data",
    .name = "template-data", .title = "Data by number", .description = "A document about {id}.", .mime_type = "application/json",
    .read = read_template, .complete = complete_id, .more = "{\"annotations\":{\"audience\":[\"assistant\"],\"priority\":0.2}}"};

const lastro_resource *const fixture_resources[] = {&static_text, &static_binary, &watched, &cancelled, &asked, NULL};
const lastro_resource *const fixture_templates[] = {&template_data, NULL};
