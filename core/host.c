/* SPDX-License-Identifier: MIT */
/* host.c -- the table of services that plugins call (lastro_host), over the registry, the call and the fetch
 * engine. */
#include "changes.h"
#include "clock.h"
#include "fail.h"
#include "header_params.h"
#include "loader.h"
#include "log.h"
#include "mcp.h"
#include "more.h"
#include "resource_uri.h"
#include "server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One a process; set before the first plugin is loaded. Threads of plugins reach it under the lock, which they share. */
static server *the_server;
static pthread_rwlock_t reach = PTHREAD_RWLOCK_INITIALIZER;

/* ---- while loading ---- */

static const tool *tool_anywhere(const registry *reg, const char *name, const plugin **ret_owner) {
    for (size_t i = 0; i < reg->plugin_count; i++) {
        const plugin *p = &reg->plugins[i];
        for (size_t j = 0; j < p->offer.tools.count; j++)
            if (strcasecmp(p->offer.tools.at[j].name, name) == 0) {
                *ret_owner = p;
                return &p->offer.tools.at[j];
            }
    }
    return NULL;
}

static bool good_name(const char *name) {
    size_t len = strlen(name);
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
            return false;
    return len >= 1 && len <= 128;
}

static schema *compile(const json_value *v, const char *what, const char *name, lastro_error *err) {
    schema_error why;
    schema *s = schema_compile(v, NULL, &why);
    if (!s)
        fail(err, LASTRO_EARGS, "%s of \"%s\" is unusable at \"%s\": %s", what, name, why.path, why.text);
    return s;
}

static lastro_status check_contract_members(const tool *t, lastro_error *err) {
    static const char *const known[] = {"name",         "title", "description", "annotations", "inputSchema",
                                        "outputSchema", "icons", "_meta",       "language"};
    for (json_iter it = json_iterate(t->contract); json_next(&it);) {
        bool ok = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            ok = ok || json_text_is(it.key, known[i]);
        if (!ok)
            return fail(err, LASTRO_EARGS, "the contract of tool \"%s\" has the unknown member \"%.100s\"",
                        t->name ? t->name : "", json_text_of(it.key).at);
    }
    return LASTRO_OK;
}

static lastro_status read_contract(plugin *p, tool *t, lastro_error *err) {
    json_error at;
    const char *text = t->def->contract ? t->def->contract : "";
    t->contract = json_read_copy(&p->mem, text, strlen(text), NULL, &at);
    if (!t->contract)
        return fail(err, LASTRO_EARGS, "a tool's contract is no JSON: %u:%u: %s", at.line, at.column,
                    at.text);
    t->name = json_str(json_member(t->contract, "name"));
    t->title = json_str(json_member(t->contract, "title"));
    t->language = json_str(json_member(t->contract, "language"));
    t->input_schema = json_member(t->contract, "inputSchema");
    t->output_schema = json_member(t->contract, "outputSchema");
    if (!t->language)
        t->language = "en";
    if (!t->name || !good_name(t->name))
        return fail(err, LASTRO_EARGS,
                    "a tool's name must be 1 to 128 of A-Z a-z 0-9 _ - . and is \"%.150s\"",
                    t->name ? t->name : "");
    if (!json_text_is(json_member(t->input_schema, "type"), "object"))
        return fail(err, LASTRO_EARGS, "tool \"%s\": inputSchema must be a schema of type object", t->name);
    lastro_status s = check_contract_members(t, err);
    return s ? s : more_check_tool(t->name, t->contract, err);
}

static lastro_status read_header_params(plugin *p, tool *t, lastro_error *err) {
    lastro_error why = {0};
    lastro_status s = header_params_read(&p->mem, t->input_schema, &t->header_params, &t->header_param_count, &why);
    return s ? fail(err, s, "tool \"%s\": %s", t->name, why.text) : LASTRO_OK;
}

static lastro_status add_tool(lastro_registrar *r, const lastro_tool *def, lastro_error *err) {
    tool t = {.def = def, .owner = r->owner};
    if (!def || def->size < offsetof(lastro_tool, run) + sizeof def->run || !def->run)
        return fail(err, LASTRO_EABI, "a tool descriptor is shorter than ABI 1 asks, or has no run");
    lastro_status s = read_contract(r->owner, &t, err);
    if (s || (s = read_header_params(r->owner, &t, err)))
        return s;
    if (def->flags & LASTRO_TOOL_QUICK && def->flags & REGISTRY_TASK_FLAGS)
        return fail(err, LASTRO_EARGS, "tool \"%s\" is marked quick and as one that becomes a task: it cannot be both", t.name);
    const plugin *owner = NULL;
    const tool *other = tool_anywhere(r->reg, t.name, &owner);
    if (other)
        return fail(err, LASTRO_EARGS,
                    "tool \"%s\" of plugin \"%s\" has the name of tool \"%s\" of plugin \"%s\"", t.name,
                    r->owner->entry->name, other->name, owner->entry->name);
    t.input = compile(t.input_schema, "inputSchema", t.name, err);
    if (t.input && t.output_schema)
        t.output = compile(t.output_schema, "outputSchema", t.name, err);
    tool *slot = t.input && (t.output || !t.output_schema) ? VECTOR_ADD(r->owner->offer.tools) : NULL;
    if (!slot) {
        schema_destroy(t.input);
        schema_destroy(t.output);
        return err->text[0] ? LASTRO_EARGS : fail(err, LASTRO_ENOMEM, "out of memory");
    }
    *slot = t;
    return LASTRO_OK;
}

static lastro_status taken(lastro_error *err, const char *what, const char *name, const plugin *mine,
                           const plugin *other) {
    return fail(err, LASTRO_EARGS, "%s \"%s\" of plugin \"%s\" is already offered by plugin \"%s\"", what,
                name, mine->entry->name, other->entry->name);
}

/* A look through all plugins for a name in one kind of offer. */
#define FIND_OWNER(r, kind, field, text)                                                                     \
    for (size_t i_ = 0; i_ < (r)->reg->plugin_count; i_++)                                                   \
        for (size_t j_ = 0; j_ < (r)->reg->plugins[i_].offer.kind.count; j_++)                               \
            if (strcmp((r)->reg->plugins[i_].offer.kind.at[j_].field, (text)) == 0)

/* A member that was appended to the ABI is there when the descriptor is long enough. */
#define MORE_OF(def) ((def)->size >= offsetof(__typeof__(*(def)), more) + sizeof (def)->more ? (def)->more : NULL)

static bool whole_resource(const lastro_resource *def) {
    return def && def->size >= offsetof(lastro_resource, read) + sizeof def->read && def->read && def->uri && def->name;
}

static lastro_status add_resource(lastro_registrar *r, const lastro_resource *def, lastro_error *err) {
    const json_value *more;
    if (!whole_resource(def))
        return fail(err, LASTRO_EABI, "a resource descriptor is too short, or lacks uri, name or read");
    const char *fault = resource_uri_fault(def->uri);
    if (fault)
        return fail(err, LASTRO_EARGS, "the address of resource \"%.150s\" cannot be used: %s", def->uri, fault);
    FIND_OWNER(r, resources, def->uri, def->uri)
    return taken(err, "resource", def->uri, r->owner, &r->reg->plugins[i_]);
    lastro_status s = more_read(MORE_RESOURCE, def->uri, MORE_OF(def), &r->owner->mem, &more, err);
    if (s)
        return s;
    resource *slot = VECTOR_ADD(r->owner->offer.resources);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *slot = (resource){.def = def, .owner = r->owner, .more = more};
    return LASTRO_OK;
}

static lastro_status add_template(lastro_registrar *r, const lastro_resource *def, lastro_error *err) {
    const json_value *more;
    if (!whole_resource(def))
        return fail(err, LASTRO_EABI,
                    "a resource template descriptor is too short, or lacks uri, name or read");
    const char *fault = resource_template_fault(def->uri);
    if (fault)
        return fail(err, LASTRO_EARGS, "the resource template \"%.150s\" cannot be used: %s", def->uri, fault);
    FIND_OWNER(r, templates, def->uri, def->uri)
    return taken(err, "resource template", def->uri, r->owner, &r->reg->plugins[i_]);
    lastro_status s = more_read(MORE_TEMPLATE, def->uri, MORE_OF(def), &r->owner->mem, &more, err);
    if (s)
        return s;
    resource *slot = VECTOR_ADD(r->owner->offer.templates);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *slot = (resource){.def = def, .owner = r->owner, .more = more};
    return LASTRO_OK;
}

static lastro_status add_prompt(lastro_registrar *r, const lastro_prompt *def, lastro_error *err) {
    const json_value *more;
    if (!def || def->size < offsetof(lastro_prompt, get) + sizeof def->get || !def->get || !def->name)
        return fail(err, LASTRO_EABI, "a prompt descriptor is too short, or lacks name or get");
    FIND_OWNER(r, prompts, def->name, def->name)
    return taken(err, "prompt", def->name, r->owner, &r->reg->plugins[i_]);
    lastro_status s = more_read(MORE_PROMPT, def->name, MORE_OF(def), &r->owner->mem, &more, err);
    if (s)
        return s;
    prompt *slot = VECTOR_ADD(r->owner->offer.prompts);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *slot = (prompt){.def = def, .owner = r->owner, .more = more};
    return LASTRO_OK;
}

/* --source NAME=URL, else LASTRO_SOURCE_NAME. */
static const char *override_of(const registry *reg, const char *name) {
    char variable[100] = "LASTRO_SOURCE_";
    size_t at = strlen(variable), len = strlen(name);
    for (const char *const *o = reg->overrides; o && *o; o++)
        if (strncmp(*o, name, len) == 0 && (*o)[len] == '=')
            return *o + len + 1;
    for (const char *p = name; *p && at + 1 < sizeof variable; p++)
        variable[at++] = (char)(isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_');
    variable[at] = '\0';
    const char *url = getenv(variable);
    return url && *url ? url : NULL;
}

static lastro_status check_source(const lastro_source *def, lastro_error *err) {
    if (!def || def->size < offsetof(lastro_source, local) + sizeof def->local || !def->name || !def->title)
        return fail(err, LASTRO_EABI, "a source descriptor is too short, or lacks name or title");
    if (def->local)
        return LASTRO_OK;
    if (!def->base_url || !def->classify || !def->classes || !def->classes[0])
        return fail(err, LASTRO_EARGS, "source \"%s\" lacks base_url, classify or classes", def->name);
    for (const lastro_request_class *const *k = def->classes; *k; k++)
        if (!(*k)->name || !(*k)->attempt_ms || !(*k)->attempts || !(*k)->budget_ms)
            return fail(err, LASTRO_EARGS,
                        "source \"%s\": a request class lacks name, attempt_ms, attempts or budget_ms",
                        def->name);
    return LASTRO_OK;
}

static lastro_status add_source(lastro_registrar *r, const lastro_source *def, lastro_error *err) {
    lastro_status s = check_source(def, err);
    if (s)
        return s;
    FIND_OWNER(r, sources, fetch.source->name, def->name)
    return taken(err, "source", def->name, r->owner, &r->reg->plugins[i_]);
    source *slot = VECTOR_ADD(r->owner->offer.sources);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    const char *base = def->local ? NULL : override_of(r->reg, def->name);
    size_t len = base ? strlen(base) : 0;
    while (len && base[len - 1] == '/')
        len--;
    slot->owner = r->owner;
    slot->fetch =
        (fetch_source){.source = def, .base = len ? arena_strndup(&r->owner->mem, base, len) : NULL};
    const char *fault = slot->fetch.base ? fetch_url_fault(slot->fetch.base) : NULL;
    if (fault)
        return fail(err, LASTRO_EARGS, "the address set for source \"%s\" cannot be used: %s", def->name,
                    fault);
    if (slot->fetch.base)
        log_info("source \"%s\" is read from %s instead of %s", def->name, slot->fetch.base, def->base_url);
    return LASTRO_OK;
}

static lastro_status compile_method(plugin *p, const lastro_method *def, method *ret, lastro_error *err) {
    const char *texts[2] = {def->input_schema, def->output_schema};
    schema **slots[2] = {&ret->input, &ret->output};
    ret->def = def;
    for (int i = 0; i < 2; i++) {
        json_error at;
        if (!texts[i])
            continue;
        const json_value *v = json_read_copy(&p->mem, texts[i], strlen(texts[i]), NULL, &at);
        if (!v)
            return fail(err, LASTRO_EARGS, "method \"%s\": a schema is no JSON: %s", def->name, at.text);
        *slots[i] = compile(v, i ? "output schema" : "input schema", def->name, err);
        if (!*slots[i])
            return LASTRO_EARGS;
    }
    return LASTRO_OK;
}

static lastro_status add_service(lastro_registrar *r, const lastro_service *def, lastro_error *err) {
    if (!def || def->size < offsetof(lastro_service, methods) + sizeof def->methods || !def->name ||
        !def->methods)
        return fail(err, LASTRO_EABI, "a service descriptor is too short, or lacks name or methods");
    FIND_OWNER(r, services, def->name, def->name)
    if (r->reg->plugins[i_].offer.services.at[j_].def->version == def->version)
        return taken(err, "service", def->name, r->owner, &r->reg->plugins[i_]);
    service *slot = VECTOR_ADD(r->owner->offer.services);
    size_t n = 0;
    while (def->methods[n])
        n++;
    if (!slot || !(slot->methods = calloc(n + 1, sizeof *slot->methods)))
        return fail(err, LASTRO_ENOMEM, "out of memory");
    slot->def = def;
    slot->owner = r->owner;
    slot->method_count = n;
    for (size_t i = 0; i < n; i++) {
        lastro_status s = compile_method(r->owner, def->methods[i], &slot->methods[i], err);
        if (s)
            return s;
    }
    return LASTRO_OK;
}

static lastro_status add_command(lastro_registrar *r, const lastro_command *def, lastro_error *err) {
    if (!def || def->size < offsetof(lastro_command, run) + sizeof def->run || !def->run || !def->name)
        return fail(err, LASTRO_EABI, "a command descriptor is too short, or lacks name or run");
    command *slot = VECTOR_ADD(r->owner->offer.commands);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *slot = (command){def, r->owner};
    return LASTRO_OK;
}

static lastro_status add_instructions(lastro_registrar *r, const char *tool_name, const char *text,
                                      lastro_error *err) {
    instruction *slot = VECTOR_ADD(r->owner->offer.instructions);
    if (!slot)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    *slot = (instruction){tool_name, text};
    return LASTRO_OK;
}

static const lastro_value *config(lastro_registrar *r) {
    return r->owner->entry->config;
}

static const lastro_value *load_json(lastro_registrar *r, const char *text, size_t len, lastro_error *err) {
    json_error at;
    const json_value *v = json_read_copy(&r->owner->mem, text, len, NULL, &at);
    if (!v)
        fail(err, LASTRO_EARGS, "%u:%u: %s", at.line, at.column, at.text);
    return v;
}

/* ---- values ---- */

static int32_t kind(const lastro_value *v) {
    return (int32_t)json_kind_of(v);
}
static void iterate(const lastro_value *v, lastro_iter *it) {
    *it = (lastro_iter){.host = {v ? v + 1 : NULL}, .left = json_count(v), .flags = json_is(v, JSON_OBJECT)};
}
static bool next(lastro_iter *it) {
    if (!it->left)
        return false;
    const json_value *at = it->host[0];
    it->left--;
    if (it->flags) {
        json_text key = json_text_of(at++);
        it->key = (lastro_text){key.at, key.len};
    }
    it->value = at;
    it->host[0] = json_skip(at);
    return true;
}
static lastro_text text(const lastro_value *v) {
    json_text t = json_text_of(v);
    return (lastro_text){t.at, t.len};
}

/* ---- the call ---- */

static const lastro_principal *principal(lastro_call *c) {
    return &c->principal;
}
static int64_t now(lastro_call *c) {
    (void)c;
    return clock_wall_ms();
}
static int64_t time_left(lastro_call *c) {
    int64_t left = c->deadline - clock_mono_ms();
    return left > 0 ? left : 0;
}
static bool cancelled(lastro_call *c) {
    return cancel_raised(c->cancel_of);
}
static int32_t era(lastro_call *c) {
    return c->era;
}
static const char *protocol(lastro_call *c) {
    return revision_name(c->rev);
}
static const char *language(lastro_call *c) {
    return c->language;
}
static bool offline(lastro_call *c) {
    return c->srv->opts.offline;
}
static void *alloc(lastro_call *c, size_t size) {
    return arena_zalloc(&c->mem, size);
}
static void log_from(lastro_call *c, int32_t level, const char *message) {
    const char *who = c && c->owner ? c->owner->entry->name : "plugin";
    log_line(level, "%s: %s", who, message);
    if (c)
        mcp_notify_log(c, level, who, message);
}
static const lastro_value *parse(lastro_call *c, const char *json, size_t len, lastro_error *err) {
    json_error at;
    const json_value *v = json_read_copy(&c->mem, json, len, NULL, &at);
    if (!v)
        fail(err, LASTRO_EARGS, "%u:%u: %s", at.line, at.column, at.text);
    return v;
}

static json_writer *new_writer(lastro_call *c, call_writer **list_end, bool at_front) {
    call_writer *w = arena_new(&c->mem, call_writer);
    if (!w) { /* a writer that only fails: the call ends as a defect */
        static _Thread_local json_writer dead;
        json_writer_init(&dead, 1);
        dead.fault = JSON_W_NOMEM;
        c->prov.failed = true;
        return &dead;
    }
    json_writer_init(&w->w, (size_t)c->srv->manifest->limits.result_bytes);
    if (at_front) {
        w->next = *list_end;
        *list_end = w;
    } else {
        *list_end = w;
    }
    return &w->w;
}
static lastro_writer *scratch(lastro_call *c) {
    return new_writer(c, &c->scratch, true);
}
static lastro_writer *content(lastro_call *c) {
    call_writer **end = c->content_end;
    json_writer *w = new_writer(c, end, false);
    if (*end)
        c->content_end = &(*end)->next;
    return w;
}
static const lastro_value *finish(lastro_call *c, lastro_writer *w, lastro_error *err) {
    if (!json_writer_finish(w)) {
        fail(err, LASTRO_EINTERNAL, "what was written is no JSON value: %s", json_fault_text(w->fault));
        return NULL;
    }
    return parse(c, w->data, w->len, err);
}
static lastro_text to_json(lastro_call *c, const lastro_value *v) {
    json_writer w;
    json_writer_init(&w, 0);
    json_write_value(&w, v);
    char *copy = json_writer_finish(&w) ? arena_strndup(&c->mem, w.data, w.len) : NULL;
    lastro_text ret = {copy, copy ? w.len : 0};
    json_writer_free(&w);
    return ret;
}
static void print(lastro_call *c, const char *bytes, size_t len) {
    if (c->era == LASTRO_ERA_SHELL && c->srv->shell_out)
        fwrite(bytes, 1, len, c->srv->shell_out);
}

/* ---- sources ---- */

static uint32_t record_fetch(void *arg, const fetch_access *a) {
    return prov_add_fetch(&((lastro_call *)arg)->prov, a);
}
static void pin(void *arg, void (*release)(void *), void *pinned) {
    lastro_call *c = arg;
    if (!call_keep(c, release, pinned)) /* it leaks rather than dies under the call */
        c->prov.failed = true;
}
static void log_fetch(void *arg, int32_t level, const char *message) {
    log_line(level, "fetch: %s", message);
    (void)arg;
}

/* The sources of count requests; false: one is not the plugin's own. A plugin built for a later ABI has
 * larger structs: arrays are stepped by the size their first element says. */
static bool find_sources(lastro_call *c, const lastro_request *requests, size_t count,
                         const fetch_source **ret) {
    for (size_t i = 0; i < count; i++) {
        const lastro_request *r = (const void *)((const char *)requests + i * requests->size);
        const source *s = r->source ? registry_source(c->srv->reg, r->source) : NULL;
        if (!s || s->owner != c->owner || s->fetch.source->local) {
            log_error("plugin \"%s\" asks the source \"%s\", which is not one of its own",
                      c->owner->entry->name, r->source ? r->source : "");
            return false;
        }
        ret[i] = &s->fetch;
    }
    return true;
}

static lastro_status refuse_all(lastro_response *rets, size_t count, lastro_status status, const char *why) {
    for (size_t i = 0; i < count; i++) {
        lastro_response *r = (void *)((char *)rets + i * rets->size);
        r->outcome = LASTRO_FETCH_UNSUPPORTED;
        r->reason = why;
    }
    return status;
}

static lastro_status fetch_all(lastro_call *c, const lastro_request *requests, size_t count,
                               lastro_response *rets) {
    const fetch_source **sources = arena_array(&c->mem, const fetch_source *, count);
    if (!sources)
        return refuse_all(rets, count, LASTRO_ENOMEM, "out of memory");
    if (!find_sources(c, requests, count, sources))
        return refuse_all(rets, count, LASTRO_EINTERNAL, "not a source of this plugin");
    pthread_mutex_lock(&c->root->lock);
    if (!c->root->budget)
        c->root->budget = fetch_budget_create();
    fetch_budget *budget = c->root->budget;
    pthread_mutex_unlock(&c->root->lock);
    fetch_context ctx = {.arena = &c->mem,
                         .cancel = c->cancel_of,
                         .deadline_mono_ms = c->deadline,
                         .offline = c->srv->opts.offline,
                         .budget = budget,
                         .part = c->part,
                         .trace = c->trace,
                         .trace_state = c->trace_state,
                         .record = record_fetch,
                         .pin = pin,
                         .log = log_fetch,
                         .arg = c};
    return fetch_run(c->srv->fetch, &ctx, sources, requests, count, rets);
}
static lastro_status fetch(lastro_call *c, const lastro_request *request, lastro_response *ret) {
    return fetch_all(c, request, 1, ret);
}

static const fetch_source *own_source(lastro_call *c, const char *name) {
    const source *s = name ? registry_source(c->srv->reg, name) : NULL;
    if (s && s->owner == c->owner)
        return &s->fetch;
    log_error("plugin \"%s\" names the source \"%s\", which is not one of its own", c->owner->entry->name,
              name ? name : "");
    c->prov.failed = true;
    return NULL;
}
static uint32_t record_access(lastro_call *c, const lastro_access *a) {
    const fetch_source *s = own_source(c, a->source);
    return s ? prov_add_access(&c->prov, s, a) : 0;
}
static void block(lastro_call *c, const lastro_block *b) {
    const fetch_source *s = own_source(c, b->source);
    if (s)
        prov_add_block(&c->prov, s, b);
}
static void derived(lastro_call *c, const char *engine, const char *note) {
    prov_add_mark(&c->prov, engine, note);
}

/* ---- services of other plugins ---- */

static bool service_available(const char *name, uint32_t version) {
    pthread_rwlock_rdlock(&reach);
    bool there = the_server && the_server->reg && registry_service(the_server->reg, name, version);
    pthread_rwlock_unlock(&reach);
    return there;
}

static void explain(const schema_report *report, const char *what, lastro_error *err) {
    const schema_failure *f = report->count ? report->failures : NULL;
    fail(err, LASTRO_EINTERNAL, "%s do not fit its schema at \"%s\" (%s)", what, f ? f->instance_path : "",
         f ? f->schema_path : "");
}

/* Runs one method on its part of the call; what it returns lives as long as the root. */
static void run_method(lastro_call *part, const method *m, lastro_service_call *request) {
    schema_report report = {0};
    lastro_error *err = &request->error;
    request->result = NULL;
    if (m->input && schema_validate(m->input, request->args, &part->mem, &report) != SCHEMA_VALID) {
        explain(&report, "the arguments of the service call", err);
        return;
    }
    lastro_status s = m->def->run(part->owner->self, part, request->args, &part->structured, err);
    if (s) {
        err->status = (int32_t)s;
        return;
    }
    const json_value *v = finish(part, &part->structured, err);
    if (v && m->output && schema_validate(m->output, v, &part->mem, &report) != SCHEMA_VALID) {
        explain(&report, "the results of the service", err);
        return;
    }
    request->result = v;
    err->status = v ? LASTRO_OK : LASTRO_EINTERNAL;
}

static const method *find_method(lastro_call *c, lastro_service_call *request, const service **ret) {
    *ret = registry_service(c->srv->reg, request->service, request->version);
    for (size_t i = 0; *ret && i < (*ret)->method_count; i++)
        if (strcmp((*ret)->methods[i].def->name, request->method) == 0)
            return &(*ret)->methods[i];
    fail(&request->error, LASTRO_EINTERNAL, "no method \"%s\" in service \"%s\" version %u", request->method,
         request->service, request->version);
    return NULL;
}

typedef struct {
    pool_job job; /* first */
    lastro_call *part;
    const method *m;
    lastro_service_call *request;
    struct latch *done;
} method_job;
typedef struct latch {
    pthread_mutex_t lock;
    pthread_cond_t zero;
    size_t left;
} latch;

static void run_job(pool_job *job) {
    method_job *j = (method_job *)job;
    latch *done = j->done;
    log_trace before = log_trace_begin(j->part->trace);
    run_method(j->part, j->m, j->request);
    log_trace_end(before);
    pthread_mutex_lock(&done->lock);
    if (--done->left == 0)
        pthread_cond_signal(&done->zero);
    pthread_mutex_unlock(&done->lock);
}

static lastro_status services(lastro_call *c, lastro_service_call *requests, size_t count) {
    method_job *jobs = arena_array(&c->mem, method_job, count);
    latch done = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    if (!jobs)
        return LASTRO_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const service *s;
        const method *m = find_method(c, &requests[i], &s);
        requests[i].result = NULL;
        if (!m)
            continue;
        jobs[i] = (method_job){.job.run = run_job, .m = m, .request = &requests[i], .done = &done};
        jobs[i].part = call_part(c, s->owner);
        if (!jobs[i].part)
            fail(&requests[i].error, LASTRO_ENOMEM, "out of memory");
        else
            done.left++;
    }
    /* the last one runs here, and so does what no thread can begin at once: no call waits for a worker it
     * holds */
    pool *workers = c->root->task ? c->srv->task_pool : c->srv->pool;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].part && (i + 1 == count || !pool_try(workers, &jobs[i].job)))
            run_job(&jobs[i].job);
    pthread_mutex_lock(&done.lock);
    while (done.left)
        pthread_cond_wait(&done.zero, &done.lock);
    pthread_mutex_unlock(&done.lock);
    lastro_status first = LASTRO_OK;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].part)
            call_join(c, jobs[i].part);
        if (!requests[i].result && !first)
            first = (lastro_status)requests[i].error.status;
    }
    return first;
}
static lastro_status service_one(lastro_call *c, lastro_service_call *request) {
    return services(c, request, 1);
}

/* ---- the client ---- */

static void let_go(lastro_call *c, uint32_t retry_ms) {
    if (c->peer && c->peer->let_go && c->rev >= REV_2025_11_25 && c->era == LASTRO_ERA_LEGACY)
        c->peer->let_go(c->peer, retry_ms);
}

/* What the client knows already of the other arguments; protocols before 2025-06-18 do not say. */
static const lastro_value *chosen(lastro_call *c) {
    bool completes = c->method && strcmp(c->method, "completion/complete") == 0;
    return completes && c->rev >= REV_2025_06_18 ? json_member(json_member(c->params, "context"), "arguments") : NULL;
}

/* Any thread of a plugin, whenever it likes: before everything is loaded and after the end there is nobody to be told. */
static void changed(int32_t what, const char *uri) {
    pthread_rwlock_rdlock(&reach);
    if (the_server && atomic_load(&the_server->serving))
        changes_tell(the_server, what, uri);
    pthread_rwlock_unlock(&reach);
}

/* ---- the table ---- */

static size_t count(const lastro_value *v) {
    return json_count(v);
}
static bool truth(const lastro_value *v) {
    return json_bool(v);
}

void host_leave(server *s) {
    pthread_rwlock_wrlock(&reach);
    if (the_server == s)
        the_server = NULL;
    pthread_rwlock_unlock(&reach);
}

void host_fill(server *s) {
    pthread_rwlock_wrlock(&reach);
    the_server = s;
    pthread_rwlock_unlock(&reach);
    s->host = (lastro_host){
        .size = sizeof(lastro_host),
        .abi = LASTRO_ABI,
        .program = "lastro",
        .version = LASTRO_VERSION,
        .add_tool = add_tool,
        .add_resource = add_resource,
        .add_template = add_template,
        .add_prompt = add_prompt,
        .add_source = add_source,
        .add_service = add_service,
        .add_command = add_command,
        .add_instructions = add_instructions,
        .config = config,
        .load_json = load_json,
        .kind = kind,
        .count = count,
        .member = json_member_n,
        .at = json_at,
        .iterate = iterate,
        .next = next,
        .text = text,
        .truth = truth,
        .int64 = json_int64,
        .number = json_double,
        .begin_object = json_begin_object,
        .end_object = json_end_object,
        .begin_array = json_begin_array,
        .end_array = json_end_array,
        .key = json_key_n,
        .write_text = json_write_string_n,
        .write_int = json_write_int,
        .write_double = json_write_double,
        .write_decimal = json_write_number,
        .write_bool = json_write_bool,
        .write_null = json_write_null,
        .write_value = json_write_value,
        .principal = principal,
        .now = now,
        .time_left = time_left,
        .cancelled = cancelled,
        .era = era,
        .protocol = protocol,
        .language = language,
        .offline = offline,
        .alloc = alloc,
        .log = log_from,
        .progress = mcp_notify_progress,
        .ask = mcp_ask,
        .parse = parse,
        .scratch = scratch,
        .finish = finish,
        .content = content,
        .print = print,
        .fetch = fetch,
        .fetch_all = fetch_all,
        .record_access = record_access,
        .block = block,
        .derived = derived,
        .service_available = service_available,
        .service = service_one,
        .services = services,
        .client_can = mcp_client_can,
        .need_client = mcp_need_client,
        .task = mcp_task,
        .let_go = let_go,
        .changed = changed,
        .chosen = chosen,
        .to_json = to_json,
    };
}
