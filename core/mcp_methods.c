/* SPDX-License-Identifier: MIT */
/* mcp_methods.c -- the handshakes, resources, prompts, completion, logging. */
#include "fail.h"
#include "log.h"
#include "mcp_internal.h"
#include "mcp_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- handshakes ---- */

static void write_instructions(lastro_call *c) {
    char *text = surface_instructions(c->srv->reg);
    if (!text)
        return;
    json_key(&c->out, "instructions");
    json_write_string(&c->out, text);
    free(text);
}

/* The version asked for when it is a legacy one we serve, else the newest legacy one: never the modern one. */
static revision negotiate(const json_value *asked) {
    json_text t = json_text_of(asked);
    revision r = json_is(asked, JSON_STRING) ? revision_of(t.at, t.len) : REV_NONE;
    return r == REV_NONE || r == REV_2026_07_28 ? REV_2025_11_25 : r;
}

void mcp_initialize(lastro_call *c) {
    const json_value *asked = json_member(c->params, "protocolVersion");
    if (!json_is(asked, JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL, "initialize needs protocolVersion, a string such as \"%s\".",
                  revision_name(REV_2025_11_25));
        return;
    }
    c->rev = negotiate(asked);
    session_begin(c->session, c->rev, json_member(c->params, "capabilities"));
    rpc_begin_result(&c->out, c->id);
    json_begin_object(&c->out);
    json_key(&c->out, "protocolVersion");
    json_write_string(&c->out, revision_name(c->rev));
    json_key(&c->out, "capabilities");
    surface_write_capabilities(c->srv->reg, &c->out, c->rev);
    json_key(&c->out, "serverInfo");
    surface_write_identity(c->srv->reg, &c->out, c->rev);
    write_instructions(c);
    mcp_end_result(c);
    mcp_answer(c);
}

void mcp_ping(lastro_call *c) {
    mcp_begin_result(c, false);
    mcp_end_result(c);
    mcp_answer(c);
}

void mcp_discover(lastro_call *c) {
    mcp_begin_result(c, true);
    json_key(&c->out, "supportedVersions");
    json_begin_array(&c->out);
    json_write_string(&c->out, revision_name(REV_2026_07_28));
    json_end_array(&c->out);
    json_key(&c->out, "capabilities");
    surface_write_capabilities(c->srv->reg, &c->out, c->rev);
    write_instructions(c);
    mcp_end_result(c);
    mcp_answer(c);
}

void mcp_set_level(lastro_call *c) {
    int32_t level = log_level_of(json_str(json_member(c->params, "level")));
    if (level < 0) {
        mcp_error(c, RPC_PARAMS, NULL, "level must be one of " LOG_LEVELS ".");
        return;
    }
    pthread_mutex_lock(&c->session->lock);
    c->session->log_level = level;
    pthread_mutex_unlock(&c->session->lock);
    mcp_ping(c);
}

/* ---- resources and prompts ---- */

/* What a handler that is no tool came to: true when its writing may go out. */
static bool handler_ok(lastro_call *c, lastro_status s, const lastro_error *err) {
    if (atomic_load(&c->silent)) {
        mcp_drop(c);
        return false;
    }
    if (s == LASTRO_EASK && c->questions) {
        mcp_write_questions(c);
        mcp_answer(c);
        return false;
    }
    if (s == LASTRO_EASK) {
        log_error("%s of plugin \"%s\" returned LASTRO_EASK but had asked nothing that is still open", c->method, c->owner->entry->name);
        mcp_error(c, RPC_INTERNAL, NULL, "The plugin %s waits for an answer but asked nothing. This is its defect; the server's log says more.",
                  c->owner->entry->name);
        return false;
    }
    if (s == LASTRO_OK)
        return true;
    int code = status_describe((int32_t)s)->rpc; /* what a tool tells inside its result has no code of its own */
    if (!code)
        code = s == LASTRO_EARGS || s == LASTRO_ENOTFOUND ? RPC_PARAMS : RPC_INTERNAL;
    mcp_error(c, code, mcp_error_data(c, (int32_t)s), "%s", err->text[0] ? err->text : "The handler failed without a reason.");
    return false;
}

/* {"uri": …}, in a small buffer of the call. */
static const char *uri_data(lastro_call *c, const json_value *uri) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "uri");
    json_write_value(&w, uri);
    json_end_object(&w);
    const char *text = json_writer_finish(&w) ? arena_strndup(&c->mem, w.data, w.len) : NULL;
    json_writer_free(&w);
    return text;
}

void mcp_no_resource(lastro_call *c, const json_value *uri) {
    mcp_error(c, c->rev >= REV_2026_07_28 ? RPC_PARAMS : RPC_RESOURCE, uri_data(c, uri),
              "There is no resource \"%.200s\"; resources/list and resources/templates/list say which there are.",
              json_text_of(uri).at);
}

void mcp_read_resource(lastro_call *c) {
    const json_value *uri = json_member(c->params, "uri");
    json_text t = json_text_of(uri);
    if (!json_is(uri, JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL, "resources/read needs uri, a string.");
        return;
    }
    const resource *r = registry_resource(c->srv->reg, t.at, t.len);
    if (!r)
        r = registry_template(c->srv->reg, t.at, t.len);
    if (!r) {
        mcp_no_resource(c, uri);
        return;
    }
    if (!mcp_take_answers(c))
        return;
    lastro_error err = {0};
    c->owner = r->owner;
    mcp_begin_result(c, true);
    json_key(&c->out, "contents");
    json_begin_array(&c->out);
    lastro_status s = r->def->read(r->owner->self, c, (lastro_text){t.at, t.len}, &c->out, &err);
    if (s == LASTRO_ENOTFOUND && !atomic_load(&c->silent)) {
        mcp_no_resource(c, uri);
        return;
    }
    if (!handler_ok(c, s, &err))
        return;
    json_end_array(&c->out);
    mcp_end_result(c);
    mcp_answer(c);
}

static const char *missing_argument(const lastro_prompt *p, const json_value *arguments) {
    for (const lastro_prompt_argument *const *a = p->arguments; a && *a; a++)
        if ((*a)->required && !json_member(arguments, (*a)->name))
            return (*a)->name;
    return NULL;
}

static bool good_prompt_arguments(lastro_call *c, const lastro_prompt *p, const json_value *arguments) {
    if (arguments && !json_is(arguments, JSON_OBJECT)) {
        mcp_error(c, RPC_PARAMS, NULL, "arguments must be an object of strings.");
        return false;
    }
    for (json_iter it = json_iterate(arguments); json_next(&it);)
        if (!json_is(it.value, JSON_STRING)) {
            mcp_error(c, RPC_PARAMS, NULL, "prompt argument \"%.100s\" must be a string.", json_text_of(it.key).at);
            return false;
        }
    const char *missing = missing_argument(p, arguments);
    if (missing)
        mcp_error(c, RPC_PARAMS, NULL, "prompt \"%s\" needs the argument \"%s\".", p->name, missing);
    return !missing;
}

void mcp_get_prompt(lastro_call *c) {
    json_text name = json_text_of(json_member(c->params, "name"));
    const json_value *arguments = json_member(c->params, "arguments");
    const prompt *p = name.at ? registry_prompt(c->srv->reg, name.at, name.len) : NULL;
    if (!p) {
        mcp_error(c, RPC_PARAMS, NULL, "There is no prompt \"%.100s\"; prompts/list says which there are.",
                  name.at ? name.at : "");
        return;
    }
    if (!good_prompt_arguments(c, p->def, arguments) || !mcp_take_answers(c))
        return;
    lastro_error err = {0};
    c->owner = p->owner;
    mcp_begin_result(c, false);
    if (p->def->description) {
        json_key(&c->out, "description");
        json_write_string(&c->out, p->def->description);
    }
    json_key(&c->out, "messages");
    json_begin_array(&c->out);
    if (!handler_ok(c, p->def->get(p->owner->self, c, arguments, &c->out, &err), &err))
        return;
    json_end_array(&c->out);
    mcp_end_result(c);
    mcp_answer(c);
}

/* ---- completion ---- */

enum { COMPLETIONS_MAX = 100 };

typedef struct {
    const prompt *prompt;
    const resource *template;
} completer;

static completer find_completer(lastro_call *c) {
    const json_value *ref = json_member(c->params, "ref");
    json_text name = json_text_of(json_member(ref, "name"));
    const char *uri = json_str(json_member(ref, "uri"));
    completer found = {0};
    if (json_text_is(json_member(ref, "type"), "ref/prompt") && name.at)
        found.prompt = registry_prompt(c->srv->reg, name.at, name.len);
    else if (json_text_is(json_member(ref, "type"), "ref/resource") && uri)
        found.template = registry_template_by_uri(c->srv->reg, uri);
    return found;
}

static lastro_status run_completer(lastro_call *c, completer k, json_writer *values, lastro_error *err) {
    const json_value *argument = json_member(c->params, "argument");
    json_text n = json_text_of(json_member(argument, "name")), v = json_text_of(json_member(argument, "value"));
    lastro_text name = {n.at, n.len}, prefix = {v.at, v.len};
    const lastro_prompt *p = k.prompt ? k.prompt->def : NULL;
    const lastro_resource *r = k.template ? k.template->def : NULL;
    c->owner = k.prompt ? k.prompt->owner : k.template->owner;
    if (p && p->size >= offsetof(lastro_prompt, complete) + sizeof p->complete && p->complete)
        return p->complete(c->owner->self, c, name, prefix, values, err);
    if (r && r->size >= offsetof(lastro_resource, complete) + sizeof r->complete && r->complete)
        return r->complete(c->owner->self, c, name, prefix, values, err);
    return LASTRO_OK;
}

void mcp_complete(lastro_call *c) {
    completer k = find_completer(c);
    const json_value *argument = json_member(c->params, "argument");
    if ((!k.prompt && !k.template) || !json_is(json_member(argument, "name"), JSON_STRING) ||
        !json_is(json_member(argument, "value"), JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL,
                  "completion/complete needs ref (a listed prompt or resource template) and argument {name, value}.");
        return;
    }
    lastro_error err = {0};
    json_begin_array(&c->structured);
    if (!handler_ok(c, run_completer(c, k, &c->structured, &err), &err))
        return;
    json_end_array(&c->structured);
    const json_value *values = json_writer_finish(&c->structured)
                                   ? json_read_copy(&c->mem, c->structured.data, c->structured.len, NULL, NULL)
                                   : NULL;
    mcp_begin_result(c, false);
    json_key(&c->out, "completion");
    json_begin_object(&c->out);
    json_key(&c->out, "values");
    json_begin_array(&c->out);
    size_t n = 0;
    for (json_iter it = json_iterate(values); json_next(&it) && n < COMPLETIONS_MAX; n++)
        json_write_value(&c->out, it.value);
    json_end_array(&c->out);
    json_key(&c->out, "total");
    json_write_uint(&c->out, json_count(values));
    json_key(&c->out, "hasMore");
    json_write_bool(&c->out, json_count(values) > n);
    json_end_object(&c->out);
    mcp_end_result(c);
    mcp_answer(c);
}
