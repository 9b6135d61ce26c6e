/* SPDX-License-Identifier: MIT */
#include "content.h"
#include "log.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *type;
    revision since;
    const char *sentence; /* what is said instead */
} kinds[] = {
    {"audio", REV_2025_03_26, "left_out_audio"},
    {"resource_link", REV_2025_06_18, "left_out_link"},
};

bool content_is_plain(const lastro_call *c) {
    return c->rev >= REV_2025_06_18 || c->era == LASTRO_ERA_SHELL;
}

static size_t bytes_of_base64(json_text t) {
    size_t pad = 0;
    while (pad < 2 && pad < t.len && t.at[t.len - 1 - pad] == '=')
        pad++;
    return t.len / 4 * 3 - (t.len >= 4 ? pad : 0);
}

static const char *or_else(const json_value *v, const char *fallback) {
    const char *text = json_str(v);
    return text ? text : fallback;
}

/* The text that stands for an item; NULL: no memory. */
static const char *stand_in(lastro_call *c, const json_value *item, const char *sentence) {
    char bytes[32];
    const char *uri = or_else(json_member(item, "uri"), ""), *name = or_else(json_member(item, "name"), uri);
    const char *description = or_else(json_member(item, "description"), "");
    const char *mime = or_else(json_member(item, "mimeType"), "application/octet-stream");
    size_t size = 600 + strlen(uri) * 2 + strlen(name) + strlen(description) + strlen(mime); /* nothing of it is cut */
    char *text = arena_alloc(&c->mem, size);
    snprintf(bytes, sizeof bytes, "%zu", bytes_of_base64(json_text_of(json_member(item, "data"))));
    if (text)
        text_render(c->language, sentence, text, size,
                    TEXT_PAIRS("uri", uri, "name", name, "mime", mime, "bytes", bytes, "revision", revision_name(c->rev), "description",
                               *description ? description : name));
    return text;
}

static void write_stand_in(lastro_call *c, json_writer *w, const json_value *item, const char *sentence) {
    const json_value *annotations = json_member(item, "annotations");
    json_begin_object(w);
    json_key(w, "type");
    json_write_string(w, "text");
    json_key(w, "text");
    json_write_string(w, stand_in(c, item, sentence));
    if (annotations) {
        json_key(w, "annotations");
        json_write_value(w, annotations);
    }
    json_end_object(w);
}

static void write_value(lastro_call *c, json_writer *w, const json_value *item) {
    const json_value *type = json_member(item, "type");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (c->rev < kinds[i].since && json_text_is(type, kinds[i].type)) {
            write_stand_in(c, w, item, kinds[i].sentence);
            return;
        }
    json_write_value(w, item);
}

void content_write(lastro_call *c, json_writer *w, const char *item, size_t len) {
    if (content_is_plain(c))
        json_write_raw(w, item, len);
    else
        write_value(c, w, json_read_copy(&c->mem, item, len, NULL, NULL));
}

bool content_write_messages(lastro_call *c, json_writer *w, const json_value *messages) {
    if (!json_is(messages, JSON_ARRAY)) {
        log_error("%s: the plugin \"%s\" wrote no array of messages", c->method, c->owner->entry->name);
        return false;
    }
    for (json_iter it = json_iterate(messages); json_next(&it);) {
        json_begin_object(w);
        for (json_iter m = json_iterate(it.value); json_next(&m);) {
            json_text key = json_text_of(m.key);
            json_key_n(w, key.at, key.len);
            if (json_text_is(m.key, "content"))
                write_value(c, w, m.value);
            else
                json_write_value(w, m.value);
        }
        json_end_object(w);
    }
    return true;
}
