/* SPDX-License-Identifier: MIT */
/* mcp_complete.c -- candidates for an argument of a prompt or a variable of a resource template. */
#include "log.h"
#include "mcp_internal.h"

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

/* False: it was answered. */
static bool good_request(lastro_call *c, completer k) {
    const json_value *argument = json_member(c->params, "argument"), *context = json_member(c->params, "context");
    const json_value *known = json_member(context, "arguments");
    const char *fault = NULL;
    if ((!k.prompt && !k.template) || !json_is(json_member(argument, "name"), JSON_STRING) ||
        !json_is(json_member(argument, "value"), JSON_STRING))
        fault = "ref (a listed prompt or resource template) and argument {name, value}";
    else if ((context && !json_is(context, JSON_OBJECT)) || (known && !json_is(known, JSON_OBJECT)))
        fault = "context, where given, as {\"arguments\": {name: value, …}}";
    for (json_iter it = json_iterate(known); !fault && json_next(&it);)
        if (!json_is(it.value, JSON_STRING))
            fault = "texts as the values of context.arguments";
    if (fault)
        mcp_error(c, RPC_PARAMS, NULL, "completion/complete needs %s.", fault);
    return !fault;
}

/* The candidates as an array of texts; NULL: the plugin wrote something else, and the call has ended with that. */
static const json_value *candidates(lastro_call *c) {
    const json_value *values = mcp_written(c);
    bool texts = values != NULL;
    for (json_iter it = json_iterate(values); texts && json_next(&it);)
        texts = json_is(it.value, JSON_STRING);
    if (texts)
        return values;
    log_error("plugin \"%s\": what completes an argument must be texts", c->owner->entry->name);
    mcp_error(c, RPC_INTERNAL, NULL, "The candidates could not be written; the server's log says why.");
    return NULL;
}

static void write_candidates(const json_value *values, json_writer *w) {
    size_t n = 0;
    json_begin_object(w);
    json_key(w, "values");
    json_begin_array(w);
    for (json_iter it = json_iterate(values); json_next(&it) && n < COMPLETIONS_MAX; n++)
        json_write_value(w, it.value);
    json_end_array(w);
    json_key(w, "total");
    json_write_uint(w, json_count(values));
    json_key(w, "hasMore");
    json_write_bool(w, json_count(values) > n);
    json_end_object(w);
}

void mcp_complete(lastro_call *c) {
    completer k = find_completer(c);
    lastro_error err = {0};
    if (!good_request(c, k))
        return;
    json_begin_array(&c->structured);
    if (!mcp_handler_ok(c, run_completer(c, k, &c->structured, &err), &err))
        return;
    json_end_array(&c->structured);
    const json_value *values = candidates(c);
    if (!values)
        return;
    mcp_begin_result(c, CACHING_NONE);
    json_key(&c->out, "completion");
    write_candidates(values, &c->out);
    mcp_end_result(c);
    mcp_answer(c);
}
