/* SPDX-License-Identifier: MIT */
/* mcp_methods.c -- the handshakes, resources, prompts, logging. */
#include "content.h"
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
    mcp_begin_result(c, CACHING_NONE);
    mcp_end_result(c);
    mcp_answer(c);
}

void mcp_discover(lastro_call *c) {
    mcp_begin_result(c, CACHING_LIST);
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

const json_value *mcp_written(lastro_call *c) {
    json_writer *w = &c->structured;
    return json_writer_finish(w) ? json_read_copy(&c->mem, w->data, w->len, NULL, NULL) : NULL;
}

bool mcp_handler_ok(lastro_call *c, lastro_status s, const lastro_error *err) {
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
    const resource *r = registry_address(c->srv->reg, t.at, t.len);
    if (!r) {
        mcp_no_resource(c, uri);
        return;
    }
    if (!mcp_take_answers(c))
        return;
    lastro_error err = {0};
    c->owner = r->owner;
    mcp_begin_result(c, CACHING_STALE);
    json_key(&c->out, "contents");
    json_begin_array(&c->out);
    lastro_status s = r->def->read(r->owner->self, c, (lastro_text){t.at, t.len}, &c->out, &err);
    if (s == LASTRO_ENOTFOUND && !atomic_load(&c->silent)) {
        mcp_no_resource(c, uri);
        return;
    }
    if (!mcp_handler_ok(c, s, &err))
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
    mcp_begin_result(c, CACHING_NONE);
    if (p->def->description) {
        json_key(&c->out, "description");
        json_write_string(&c->out, p->def->description);
    }
    json_key(&c->out, "messages");
    json_begin_array(&c->out);
    bool plain = content_is_plain(c);
    json_writer *messages = plain ? &c->out : &c->structured;
    if (!plain)
        json_begin_array(messages);
    if (!mcp_handler_ok(c, p->def->get(p->owner->self, c, arguments, messages, &err), &err))
        return;
    if (!plain) {
        json_end_array(messages);
        if (!content_write_messages(c, &c->out, mcp_written(c))) {
            mcp_error(c, RPC_INTERNAL, NULL, "The messages of prompt \"%s\" could not be written; the server's log says why.",
                      p->def->name);
            return;
        }
    }
    json_end_array(&c->out);
    mcp_end_result(c);
    mcp_answer(c);
}
