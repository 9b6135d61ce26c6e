/* SPDX-License-Identifier: MIT */
/* content.c -- tools whose point is what their result is made of. */
#include "conformance.h"

/* 10 ms of 400 Hz: 80 samples of 8 bits at 8000 Hz, one channel, behind a header of 44 bytes. */
static const char wav_base64[] =
    "UklGRnQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YVAAAACAnrrQ3+Tf0Lqef2FFLyAcIC9FYYCeutDf5N/Qup6AYUUvIBwgL0VhgJ66"
    "0N/k39C6noBhRS8gHCAvRWF/nrrQ3+Tf0Lqef2FFLyAcIC9FYQ==";

static void add_media(lastro_call *call, const char *type, const char *base64, const char *mime_type) {
    lastro_writer *w = lastro->content(call);
    lastro->begin_object(w);
    lastro_put_text(w, "type", type);
    lastro_put_text(w, "data", base64);
    lastro_put_text(w, "mimeType", mime_type);
    lastro->end_object(w);
}

static void add_resource(lastro_call *call, const char *uri, const char *mime_type, const char *text) {
    lastro_writer *w = lastro->content(call);
    lastro->begin_object(w);
    lastro_put_text(w, "type", "resource");
    lastro_key(w, "resource");
    lastro_resource_text(w, (lastro_text){uri, strlen(uri)}, mime_type, (lastro_text){text, strlen(text)});
    lastro->end_object(w);
}

static void add_link(lastro_call *call, const char *uri, const char *name, const char *mime_type) {
    lastro_writer *w = lastro->content(call);
    lastro->begin_object(w);
    lastro_put_text(w, "type", "resource_link");
    lastro_put_text(w, "uri", uri);
    lastro_put_text(w, "name", name);
    lastro_put_text(w, "mimeType", mime_type);
    lastro->end_object(w);
}

TOOL(test_simple_text) {
    lastro_content_text(call, "This is a simple text response for testing.");
    return LASTRO_OK;
}

TOOL(test_image_content) {
    add_media(call, "image", PNG_BASE64, "image/png");
    return LASTRO_OK;
}

TOOL(test_audio_content) {
    add_media(call, "audio", wav_base64, "audio/wav");
    return LASTRO_OK;
}

TOOL(test_embedded_resource) {
    add_resource(call, "test://embedded-resource", "text/plain", "This is an embedded resource content.");
    return LASTRO_OK;
}

TOOL(test_multiple_content_types) {
    lastro_content_text(call, "Multiple content types test:");
    add_media(call, "image", PNG_BASE64, "image/png");
    add_resource(call, "test://mixed-content-resource", "application/json", "{\"test\":\"data\",\"value\":123}");
    return LASTRO_OK;
}

TOOL(test_resource_link) {
    lastro_content_text(call, "The content is behind these links:");
    add_link(call, "test://static-text", "static-text", "text/plain");
    add_link(call, "test://template/7/data", "data-7", "application/json");
    return LASTRO_OK;
}

TOOL(test_error_handling) {
    return lastro_fail(err, LASTRO_EUPSTREAM, "This tool intentionally returns an error for testing");
}

TOOL(json_schema_2020_12_tool) {
    return say(call, err, "The arguments fit the schema: %s", shown(call, args));
}

TOOL(test_custom_header) {
    char *region = lastro_copy(call, lastro_get_text(args, "region", ""));
    return say(call, err, "Region: %s", region ? region : "");
}

TOOL(test_header_kinds) {
    return say(call, err, "%s", shown(call, args));
}

TOOL(test_large_result) {
    size_t bytes = (size_t)lastro_get_int(args, "bytes", 5000000);
    char *text = lastro->alloc(call, bytes + 1);
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "%zu bytes are not to be had", bytes);
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + i % 26);
    lastro_content_text(call, text);
    return LASTRO_OK;
}

TOOL(test_caller) {
    static const char *const eras[] = {"legacy", "modern", "shell"};
    static const char *const capabilities[] = {"elicitation", "sampling", "roots"};
    lastro->begin_object(out);
    lastro_put_text(out, "principal", lastro->principal(call)->name);
    lastro_put_text(out, "era", eras[lastro->era(call)]);
    lastro_put_text(out, "protocol", lastro->protocol(call));
    lastro_put_array(out, "capabilities");
    for (size_t i = 0; i < LASTRO_COUNT(capabilities); i++)
        if (lastro->client_can(call, capabilities[i], NULL))
            lastro_add_text(out, capabilities[i]);
    lastro->end_array(out);
    lastro->end_object(out);
    return LASTRO_OK;
}
