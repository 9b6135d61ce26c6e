/* SPDX-License-Identifier: MIT */
#include "registry.h"
#include "fail.h"
#include "uri.h"

#include <stdlib.h>
#include <string.h>

void *registry_grow(void **at, size_t *count, size_t *cap, size_t item) {
    if (*count == *cap) {
        size_t more = *cap ? *cap * 2 : 8;
        void *p = realloc(*at, more * item);
        if (!p)
            return NULL;
        *at = p;
        *cap = more;
    }
    void *slot = (char *)*at + *count * item;
    ++*count;
    return memset(slot, 0, item);
}

void registry_clear_offer(offer *o) {
    for (size_t i = 0; i < o->tools.count; i++) {
        schema_destroy(o->tools.at[i].input);
        schema_destroy(o->tools.at[i].output);
    }
    for (size_t i = 0; i < o->services.count; i++) {
        service *s = &o->services.at[i];
        for (size_t j = 0; j < s->method_count; j++) {
            schema_destroy(s->methods[j].input);
            schema_destroy(s->methods[j].output);
        }
        free(s->methods);
    }
    void *arrays[] = {o->tools.at,   o->resources.at, o->templates.at, o->prompts.at,
                      o->sources.at, o->services.at,  o->commands.at,  o->instructions.at};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *o = (offer){0};
}

/* ---- sealing ---- */

static bool listed(const json_value *names, const char *name) {
    for (json_iter it = json_iterate(names); json_next(&it);)
        if (json_text_is(it.value, name))
            return true;
    return false;
}

bool registry_tool_enabled(const plugin *p, const char *name) {
    return !p->entry->tools || listed(p->entry->tools, name);
}

#define APPEND(to, from)                                                                                             \
    for (size_t i_ = 0; i_ < (from).count; i_++) {                                                                   \
        void *slot_ = VECTOR_ADD(to);                                                                                \
        if (!slot_)                                                                                                  \
            return false;                                                                                            \
        memcpy(slot_, &(from).at[i_], sizeof *(from).at);                                                            \
    }

static bool append_plugin(registry *reg, plugin *p) {
    for (size_t i = 0; i < p->offer.tools.count; i++) {
        const tool *t = &p->offer.tools.at[i];
        if (!registry_tool_enabled(p, t->name))
            continue;
        tool *slot = VECTOR_ADD(reg->all.tools);
        if (!slot)
            return false;
        *slot = *t;
    }
    APPEND(reg->all.resources, p->offer.resources);
    APPEND(reg->all.templates, p->offer.templates);
    for (size_t i = 0; i < p->offer.sources.count; i++)
        p->offer.sources.at[i].fetch.self = p->self; /* known only since init returned */
    APPEND(reg->all.sources, p->offer.sources);
    APPEND(reg->all.services, p->offer.services);
    APPEND(reg->all.commands, p->offer.commands);
    APPEND(reg->all.instructions, p->offer.instructions);
    APPEND(reg->all.prompts, p->offer.prompts);
    return true;
}

static uint32_t hash(const char *text, size_t len) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static bool build_index(registry *reg) {
    size_t size = 16;
    while (size < reg->all.tools.count * 2)
        size *= 2;
    reg->tool_index = calloc(size, sizeof *reg->tool_index);
    reg->tool_index_size = size;
    if (!reg->tool_index)
        return false;
    for (size_t i = 0; i < reg->all.tools.count; i++) {
        const char *name = reg->all.tools.at[i].name;
        size_t at = hash(name, strlen(name)) & (size - 1);
        while (reg->tool_index[at])
            at = (at + 1) & (size - 1);
        reg->tool_index[at] = (uint32_t)i + 1;
    }
    return true;
}

/* A prompt that names a tool which is not there would send the model to nothing. */
static void drop_prompts(registry *reg) {
    size_t kept = 0;
    for (size_t i = 0; i < reg->all.prompts.count; i++) {
        const prompt *p = &reg->all.prompts.at[i];
        bool ok = true;
        for (const char *const *name = p->def->tools; name && *name; name++)
            ok = ok && registry_tool(reg, *name, strlen(*name));
        if (ok)
            reg->all.prompts.at[kept++] = *p;
    }
    reg->all.prompts.count = kept;
}

lastro_status registry_seal(registry *reg, lastro_error *err) {
    for (size_t i = 0; i < reg->plugin_count; i++)
        if (reg->plugins[i].active && !append_plugin(reg, &reg->plugins[i]))
            return fail(err, LASTRO_ENOMEM, "out of memory");
    if (!build_index(reg))
        return fail(err, LASTRO_ENOMEM, "out of memory");
    drop_prompts(reg);
    return LASTRO_OK;
}

/* ---- looking up ---- */

static bool same(const char *name, const char *text, size_t len) {
    return strlen(name) == len && memcmp(name, text, len) == 0;
}

const tool *registry_tool(const registry *reg, const char *name, size_t len) {
    if (!reg->tool_index)
        return NULL;
    size_t mask = reg->tool_index_size - 1;
    for (size_t at = hash(name, len) & mask; reg->tool_index[at]; at = (at + 1) & mask) {
        const tool *t = &reg->all.tools.at[reg->tool_index[at] - 1];
        if (same(t->name, name, len))
            return t;
    }
    return NULL;
}

bool registry_tool_is_disabled(const registry *reg, const char *name, size_t len) {
    for (size_t i = 0; i < reg->plugin_count; i++) {
        const plugin *p = &reg->plugins[i];
        for (size_t j = 0; p->active && j < p->offer.tools.count; j++)
            if (same(p->offer.tools.at[j].name, name, len))
                return !registry_tool_enabled(p, p->offer.tools.at[j].name);
    }
    return false;
}

const resource *registry_resource(const registry *reg, const char *uri, size_t len) {
    for (size_t i = 0; i < reg->all.resources.count; i++)
        if (same(reg->all.resources.at[i].def->uri, uri, len))
            return &reg->all.resources.at[i];
    return NULL;
}

/* RFC 6570 level 1: each {name} takes one or more characters that are no '/', as few as the rest allows. Only the last
 * one begun may have to take more: what an earlier one gave up cannot help. */
static bool template_fits(const char *t, const char *uri, size_t len) {
    const char *at = uri, *end = uri + len, *after = NULL, *taken = NULL; /* after: the last }; taken: up to here by it */
    for (;;) {
        if (*t == '{' && strchr(t, '}') && at < end && *at != '/') {
            after = t = strchr(t, '}') + 1;
            taken = ++at;
        } else if (*t && *t != '{' && at < end && *t == *at) {
            t++, at++;
        } else if (!*t && at == end) {
            return true;
        } else if (after && taken < end && *taken != '/') {
            t = after;
            at = ++taken;
        } else {
            return false;
        }
    }
}

const resource *registry_template(const registry *reg, const char *uri, size_t len) {
    for (size_t i = 0; i < reg->all.templates.count; i++)
        if (template_fits(reg->all.templates.at[i].def->uri, uri, len))
            return &reg->all.templates.at[i];
    return NULL;
}

const resource *registry_address(const registry *reg, const char *uri, size_t len) {
    const resource *r = registry_resource(reg, uri, len); /* which is a URI: it was looked at while loading */
    if (!r && uri_valid(uri, len, URI_ABSOLUTE | URI_IRI))
        r = registry_template(reg, uri, len);
    return r;
}

const resource *registry_template_by_uri(const registry *reg, const char *uri_template) {
    for (size_t i = 0; i < reg->all.templates.count; i++)
        if (strcmp(reg->all.templates.at[i].def->uri, uri_template) == 0)
            return &reg->all.templates.at[i];
    return NULL;
}

const prompt *registry_prompt(const registry *reg, const char *name, size_t len) {
    for (size_t i = 0; i < reg->all.prompts.count; i++)
        if (same(reg->all.prompts.at[i].def->name, name, len))
            return &reg->all.prompts.at[i];
    return NULL;
}

const source *registry_source(const registry *reg, const char *name) {
    for (size_t i = 0; i < reg->all.sources.count; i++)
        if (strcmp(reg->all.sources.at[i].fetch.source->name, name) == 0)
            return &reg->all.sources.at[i];
    return NULL;
}

const service *registry_service(const registry *reg, const char *name, uint32_t version) {
    for (size_t i = 0; i < reg->all.services.count; i++) {
        const service *s = &reg->all.services.at[i];
        if (strcmp(s->def->name, name) == 0 && s->def->version == version)
            return s;
    }
    return NULL;
}

bool registry_makes_tasks(const registry *reg) {
    for (size_t i = 0; i < reg->all.tools.count; i++)
        if (reg->all.tools.at[i].def->flags & REGISTRY_TASK_FLAGS)
            return true;
    return false;
}
