/* SPDX-License-Identifier: MIT */
#include "mcp_question.h"
#include "fail.h"
#include "text.h"
#include "uri.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* ---- what can be asked ---- */

typedef struct {
    const char *method, *mode; /* mode: of elicitation, NULL for the others */
    const char *capability, *part;
    revision since;
    struct {
        const char *name;
        json_kind kind;
    } needs[2]; /* members of params without which it is no question */
} askable;

static const askable askables[] = {
    {"elicitation/create", "form", "elicitation", "form", REV_2025_06_18, {{"message", JSON_STRING}, {"requestedSchema", JSON_OBJECT}}},
    {"elicitation/create", "url", "elicitation", "url", REV_2025_11_25, {{"message", JSON_STRING}, {"url", JSON_STRING}}},
    {"sampling/createMessage", NULL, "sampling", NULL, REV_2024_11_05, {{"messages", JSON_ARRAY}, {"maxTokens", JSON_NUMBER}}},
    {"roots/list", NULL, "roots", NULL, REV_2024_11_05, {{0}}},
};

static const askable *find(const char *how, const json_value *params) {
    const json_value *mode = json_member(params, "mode");
    for (size_t i = 0; i < sizeof askables / sizeof *askables; i++) {
        const askable *a = &askables[i];
        if (strcmp(a->method, how) == 0 && (!a->mode || (mode ? json_text_is(mode, a->mode) : strcmp(a->mode, "form") == 0)))
            return a;
    }
    return NULL;
}

/* A form has flat fields only: texts, numbers, truth values and choices. NULL: so it is; else the field. */
static const char *deep_field(const json_value *form) {
    static const char *const flat[] = {"string", "number", "integer", "boolean"};
    for (json_iter it = json_iterate(json_member(form, "properties")); json_next(&it);) {
        const json_value *type = json_member(it.value, "type"), *items = json_member(it.value, "items");
        bool ok = json_text_is(type, "array") && (json_member(items, "enum") || json_member(items, "anyOf"));
        for (size_t i = 0; i < sizeof flat / sizeof *flat; i++)
            ok = ok || json_text_is(type, flat[i]);
        if (!ok)
            return json_text_of(it.key).at;
    }
    return NULL;
}

static lastro_status read_form(const lastro_question *q, question *ret, lastro_error *err) {
    const json_value *form = json_member(ret->params, "requestedSchema");
    const char *deep = deep_field(form);
    if (!json_text_is(json_member(form, "type"), "object") || !json_is(json_member(form, "properties"), JSON_OBJECT))
        return fail(err, LASTRO_EINTERNAL, "the question \"%s\": requestedSchema must have type \"object\" and properties", q->key);
    if (deep)
        return fail(err, LASTRO_EINTERNAL, "the question \"%s\": the field \"%.100s\" is no string, number, integer, boolean or array "
                    "of listed choices, and forms have no others", q->key, deep);
    schema_error why;
    ret->form = schema_compile(form, NULL, &why);
    return ret->form ? LASTRO_OK
                     : fail(err, LASTRO_EINTERNAL, "the question \"%s\": requestedSchema is unusable at \"%s\": %s", q->key, why.path, why.text);
}

lastro_status question_read(lastro_call *c, const lastro_question *q, question *ret, lastro_error *err) {
    json_error at;
    *ret = (question){0};
    if (!q->key || !q->method)
        return fail(err, LASTRO_EINTERNAL, "a question needs key and method");
    const char *text = q->params ? q->params : "{}";
    const json_value *params = json_read_copy(&c->mem, text, strlen(text), NULL, &at);
    if (!json_is(params, JSON_OBJECT))
        return fail(err, LASTRO_EINTERNAL, "params of the question \"%s\": %s", q->key, params ? "they are no object" : at.text);
    const askable *a = find(q->method, params);
    if (!a)
        return fail(err, LASTRO_EINTERNAL, "\"%s\" is nothing a client can be asked%s", q->method,
                    strcmp(q->method, "elicitation/create") == 0 ? " in that mode: \"form\" and \"url\" are" : "");
    for (size_t i = 0; i < 2 && a->needs[i].name; i++)
        if (!json_is(json_member(params, a->needs[i].name), a->needs[i].kind))
            return fail(err, LASTRO_EINTERNAL, "the question \"%s\": %s needs %s", q->key, q->method, a->needs[i].name);
    *ret = (question){.method = a->method, .capability = a->capability, .part = a->part, .since = a->since, .params = params};
    json_text url = json_text_of(json_member(params, "url"));
    if (a->mode && strcmp(a->mode, "url") == 0 && !uri_valid(url.at, url.len, URI_ABSOLUTE))
        return fail(err, LASTRO_EINTERNAL, "the question \"%s\": \"%.200s\" is no address", q->key, url.at);
    if (json_member(params, "tools") || json_member(params, "toolChoice")) { /* a model that may call tools is more than one */
        ret->part = "tools";
        ret->since = REV_2025_11_25;
    }
    return a->mode && strcmp(a->mode, "form") == 0 ? read_form(q, ret, err) : LASTRO_OK;
}

void question_release(question *q) {
    schema_destroy(q->form);
    q->form = NULL;
}

/* ---- how it reads in a revision ---- */

/* oneOf of {const, title}: as enum and enumNames. */
static void write_old_choice(json_writer *w, const json_value *field) {
    static const char *const parts[][2] = {{"enum", "const"}, {"enumNames", "title"}};
    json_begin_object(w);
    for (json_iter it = json_iterate(field); json_next(&it);)
        if (!json_text_is(it.key, "oneOf")) {
            json_key_n(w, json_text_of(it.key).at, json_text_of(it.key).len);
            json_write_value(w, it.value);
        }
    for (size_t i = 0; i < 2; i++) {
        json_key(w, parts[i][0]);
        json_begin_array(w);
        for (json_iter it = json_iterate(json_member(field, "oneOf")); json_next(&it);) {
            const json_value *text = json_member(it.value, parts[i][1]);
            json_write_value(w, text ? text : json_member(it.value, "const"));
        }
        json_end_array(w);
    }
    json_end_object(w);
}

/* False: a field that this revision cannot show. */
static bool write_old_form(json_writer *w, const json_value *form) {
    bool ok = true;
    json_begin_object(w);
    for (json_iter it = json_iterate(form); json_next(&it);) {
        json_key_n(w, json_text_of(it.key).at, json_text_of(it.key).len);
        if (!json_text_is(it.key, "properties")) {
            json_write_value(w, it.value);
            continue;
        }
        json_begin_object(w);
        for (json_iter f = json_iterate(it.value); json_next(&f);) {
            ok = ok && !json_text_is(json_member(f.value, "type"), "array");
            json_key_n(w, json_text_of(f.key).at, json_text_of(f.key).len);
            if (json_is(json_member(f.value, "oneOf"), JSON_ARRAY))
                write_old_choice(w, f.value);
            else
                json_write_value(w, f.value);
        }
        json_end_object(w);
    }
    json_end_object(w);
    return ok;
}

static void write_page_id(json_writer *w) {
    unsigned char bytes[16];
    char text[2 * sizeof bytes + 1];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        w->fault = JSON_W_NOMEM;
        return;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    json_key(w, "elicitationId");
    json_write_string(w, text);
}

const json_value *question_for(lastro_call *c, const question *q, lastro_error *err) {
    bool page = q->part && strcmp(q->part, "url") == 0, old_form = q->form && c->rev < REV_2025_11_25;
    const json_value *id = json_member(q->params, "elicitationId");
    if (!old_form && (!page || !id == (c->rev >= REV_2026_07_28)))
        return q->params;
    json_writer w;
    bool ok = true;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    for (json_iter it = json_iterate(q->params); json_next(&it);) {
        if (json_text_is(it.key, old_form ? "mode" : "elicitationId"))
            continue;
        json_key_n(&w, json_text_of(it.key).at, json_text_of(it.key).len);
        if (old_form && json_text_is(it.key, "requestedSchema"))
            ok = write_old_form(&w, it.value);
        else
            json_write_value(&w, it.value);
    }
    if (page && c->rev < REV_2026_07_28)
        write_page_id(&w);
    json_end_object(&w);
    const json_value *v = ok && json_writer_finish(&w) ? json_read_copy(&c->mem, w.data, w.len, NULL, NULL) : NULL;
    json_writer_free(&w);
    char text[sizeof err->text];
    text_render(c->language, "form_too_new", text, sizeof text, TEXT_PAIRS("tool", c->tool ? c->tool->name : c->method ? c->method : "",
                                                                           "revision", revision_name(c->rev)));
    if (!v)
        ok ? fail(err, LASTRO_ENOMEM, "out of memory") : fail(err, LASTRO_EDENIED, "%s", text);
    return v;
}

/* ---- answers ---- */

static const char *content_fault(lastro_call *c, const schema *form, const json_value *content) {
    static const json_value empty = {.tag = JSON_OBJECT, .u.span = 1};
    schema_report report = {.max = 1};
    char line[700];
    if (content && !json_is(content, JSON_OBJECT))
        return "content must be an object with the form's fields";
    if (schema_validate(form, content ? content : &empty, &c->mem, &report) == SCHEMA_VALID)
        return NULL;
    if (!report.count)
        return "content could not be checked: out of memory";
    schema_message_render(text_messages(c->language), &report.failures[0], line, sizeof line);
    const char *text = arena_printf(&c->mem, "content does not fit the form: %s", line);
    return text ? text : "content does not fit the form";
}

static const char *elicited_fault(lastro_call *c, const question *q, const json_value *v) {
    const json_value *action = json_member(v, "action");
    if (json_text_is(action, "decline") || json_text_is(action, "cancel"))
        return NULL;
    if (!json_text_is(action, "accept"))
        return "action must be \"accept\", \"decline\" or \"cancel\"";
    return q->form ? content_fault(c, q->form, json_member(v, "content")) : NULL;
}

static const char *block_fault(const json_value *v) {
    static const struct {
        const char *type, *members[2];
    } blocks[] = {{"text", {"text"}}, {"image", {"data", "mimeType"}}, {"audio", {"data", "mimeType"}}};
    const json_value *type = json_member(v, "type");
    if (!json_is(type, JSON_STRING))
        return "content must be an object with type, or an array of such";
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (size_t m = 0; m < 2 && json_text_is(type, blocks[i].type) && blocks[i].members[m]; m++)
            if (!json_is(json_member(v, blocks[i].members[m]), JSON_STRING))
                return "content of type \"text\" needs text, one of type \"image\" or \"audio\" needs data and mimeType";
    return NULL;
}

static const char *sampled_fault(lastro_call *c, const question *q, const json_value *v) {
    const json_value *role = json_member(v, "role"), *content = json_member(v, "content");
    (void)q;
    if (!json_text_is(role, "assistant") && !json_text_is(role, "user"))
        return "role must be \"assistant\" or \"user\"";
    if (!json_is(json_member(v, "model"), JSON_STRING))
        return "model must be a string";
    if (!json_is(content, JSON_ARRAY) || c->rev < REV_2025_11_25)
        return block_fault(content);
    const char *fault = NULL;
    for (json_iter it = json_iterate(content); !fault && json_next(&it);)
        fault = block_fault(it.value);
    return fault;
}

static const char *roots_fault(lastro_call *c, const question *q, const json_value *v) {
    const json_value *roots = json_member(v, "roots");
    (void)c, (void)q;
    if (!json_is(roots, JSON_ARRAY))
        return "roots must be an array";
    for (json_iter it = json_iterate(roots); json_next(&it);)
        if (!json_is(json_member(it.value, "uri"), JSON_STRING))
            return "each of roots must be an object with uri, a string";
    return NULL;
}

const char *question_fault(lastro_call *c, const question *q, const json_value *answer) {
    static const struct {
        const char *capability;
        const char *(*fault)(lastro_call *c, const question *q, const json_value *v);
    } checks[] = {{"elicitation", elicited_fault}, {"sampling", sampled_fault}, {"roots", roots_fault}};
    if (!json_is(answer, JSON_OBJECT))
        return "it must be an object";
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(checks[i].capability, q->capability) == 0)
            return checks[i].fault(c, q, answer);
    return NULL;
}
