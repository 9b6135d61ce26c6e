/* SPDX-License-Identifier: MIT */
/* surface.h -- what clients see of the registry: the lists, composed once per protocol revision and then copied,
 * so that every transport serves the same bytes. Any thread. */
#ifndef LASTRO_CORE_SURFACE_H
#define LASTRO_CORE_SURFACE_H

#include "call.h"

typedef struct surface surface;
typedef enum { LIST_TOOLS, LIST_RESOURCES, LIST_TEMPLATES, LIST_PROMPTS, LIST_KINDS } list_kind;

surface *surface_create(const registry *reg); /* NULL: out of memory */
void surface_destroy(surface *s);
/* The whole result object of that list in that revision; borrowed. NULL: out of memory. */
const char *surface_list(surface *s, list_kind kind, revision rev, size_t *ret_len);

/* Members `name`, `title`, … of the server's identity as an object. */
void surface_write_identity(const registry *reg, json_writer *w, revision rev);
/* {tools: {}, …}: only what is there. */
void surface_write_capabilities(const registry *reg, json_writer *w, revision rev);
/* The model's instructions, from the manifest and the plugins; NULL when there are none. Caller frees. */
char *surface_instructions(const registry *reg);
/* resultType, ttlMs, cacheScope and _meta.serverInfo of a modern complete result; nothing in a legacy one.
 * An object is open; cacheable results get ttlMs and cacheScope. */
void surface_write_modern(const registry *reg, json_writer *w, revision rev, const char *result_type, bool cacheable);

#endif
