/* SPDX-License-Identifier: MIT */
/* registry.h -- what the loaded plugins offer, by name. Filled while loading by one thread, read-only afterwards:
 * then any thread may look things up. Everything found is borrowed and lives as long as the registry. */
#ifndef LASTRO_CORE_REGISTRY_H
#define LASTRO_CORE_REGISTRY_H

#include "fetch.h"
#include "json.h"
#include "manifest.h"
#include "schema.h"

typedef struct plugin plugin;
typedef struct registry registry;
typedef struct header_param header_param; /* header_params.h */

typedef struct {
    const lastro_tool *def;
    plugin *owner;
    const char *name, *title, *language;
    const json_value *contract, *input_schema, *output_schema; /* output_schema: NULL when the tool has none */
    schema *input, *output;
    const header_param *header_params; /* arguments that HTTP clients repeat in headers */
    size_t header_param_count;
} tool;
typedef struct {
    const lastro_resource *def;
    plugin *owner;
    const json_value *more; /* def->more, checked; NULL: none */
} resource;
typedef struct {
    const lastro_prompt *def;
    plugin *owner;
    const json_value *more;
} prompt;
typedef struct {
    fetch_source fetch;
    plugin *owner;
} source;
typedef struct {
    const lastro_method *def;
    schema *input, *output; /* NULL: not given */
} method;
typedef struct {
    const lastro_service *def;
    plugin *owner;
    method *methods;
    size_t method_count;
} service;
typedef struct {
    const lastro_command *def;
    plugin *owner;
} command;
typedef struct {
    const char *tool, *text;
} instruction;

/* A growing array of one kind; items are handed out as pointers only after loading, when it no longer moves. */
#define VECTOR(type)                                                                                                 \
    struct {                                                                                                         \
        type *at;                                                                                                    \
        size_t count, cap;                                                                                           \
    }

typedef struct {
    VECTOR(tool) tools;
    VECTOR(resource) resources;
    VECTOR(resource) templates;
    VECTOR(prompt) prompts;
    VECTOR(source) sources;
    VECTOR(service) services;
    VECTOR(command) commands;
    VECTOR(instruction) instructions;
} offer;

struct plugin {
    const manifest_plugin *entry;
    const lastro_plugin *desc; /* NULL: not loaded */
    void *self, *dl;
    int fd;                    /* of the library; kept open: dlopen knows it by this number */
    char *path;
    bool active;
    char reason[600];          /* why it is not active */
    arena mem;                 /* documents that live as long as it */
    offer offer;               /* what it registered */
};

struct registry {
    const manifest *manifest;
    const char *const *overrides; /* NAME=URL, ends with NULL */
    plugin *plugins;           /* in the manifest's order, also those that failed */
    size_t plugin_count;
    offer all;                 /* of the active plugins, enabled tools only, in the manifest's order */
    uint32_t *tool_index;      /* hash table over all.tools: position + 1 */
    size_t tool_index_size;
};

/* Calls of such a tool may become tasks. */
#define REGISTRY_TASK_FLAGS (LASTRO_TOOL_TASK | LASTRO_TOOL_TASK_ONLY | LASTRO_TOOL_MAY_TASK)

#define VECTOR_ADD(vector) (registry_grow((void **)&(vector).at, &(vector).count, &(vector).cap, sizeof *(vector).at))
/* Room for one more: its index in *at[count++], zeroed; NULL: out of memory. */
void *registry_grow(void **at, size_t *count, size_t *cap, size_t item);

/* Flattens the active plugins' offers and builds the index. */
lastro_status registry_seal(registry *reg, lastro_error *err);
void registry_clear_offer(offer *o); /* frees what is in it */

const tool *registry_tool(const registry *reg, const char *name, size_t len);
const resource *registry_resource(const registry *reg, const char *uri, size_t len);
/* What is read under that address: a listed resource, or what a template makes of it. NULL: there is none, or it is no URI
 * (letters beyond ASCII may stand there as they are). */
const resource *registry_address(const registry *reg, const char *uri, size_t len);
/* A template that fits uri. */
const resource *registry_template(const registry *reg, const char *uri, size_t len);
const resource *registry_template_by_uri(const registry *reg, const char *uri_template);
const prompt *registry_prompt(const registry *reg, const char *name, size_t len);
const source *registry_source(const registry *reg, const char *name);
const service *registry_service(const registry *reg, const char *name, uint32_t version);
/* Some tool's calls may become tasks. */
bool registry_makes_tasks(const registry *reg);
/* The manifest enables that tool of p. */
bool registry_tool_enabled(const plugin *p, const char *name);
/* The tool of that name that is loaded but not enabled; for texts. */
bool registry_tool_is_disabled(const registry *reg, const char *name, size_t len);

#endif
