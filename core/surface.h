/* SPDX-License-Identifier: MIT */
/* surface.h -- what clients see of the registry: the lists, composed once per generation and protocol revision and then
 * copied, so that every transport serves the same bytes. Any thread. */
#ifndef LASTRO_CORE_SURFACE_H
#define LASTRO_CORE_SURFACE_H

#include "call.h"

typedef struct surface surface;
typedef enum { LIST_TOOLS, LIST_RESOURCES, LIST_TEMPLATES, LIST_PROMPTS, LIST_KINDS } list_kind;

surface *surface_create(const registry *reg); /* NULL: out of memory */
void surface_destroy(surface *s);
/* A composed list. Counted, because a list may be composed anew while the old one is being copied. */
typedef struct {
    atomic_uint users;
    uint32_t generation; /* of the list: it changes when the list may have changed */
    size_t begin, items, *ends; /* for surface_pages.h: after the list's "[", how many items, where each ends */
    size_t len;
    char data[];         /* the whole result object, NUL-terminated */
} surface_text;

/* That list in that revision; give it back with surface_release. NULL: out of memory. */
surface_text *surface_take(surface *s, list_kind kind, revision rev);
void surface_release(surface_text *t); /* accepts NULL */
/* The list may be another one now: it is composed anew when it is next asked for. */
void surface_renew(surface *s, list_kind kind);

/* There is something of that kind to list; tools are always offered, be there any or not. */
bool surface_has(const registry *reg, list_kind kind);

/* Members `name`, `title`, … of the server's identity as an object. */
void surface_write_identity(const registry *reg, json_writer *w, revision rev);
/* {tools: {listChanged: true}, …}: only what is there. */
void surface_write_capabilities(const registry *reg, json_writer *w, revision rev);
/* The model's instructions, from the manifest and the plugins; NULL when there are none. Caller frees. */
char *surface_instructions(const registry *reg);
typedef enum {
    CACHING_NONE, /* no kind of result that may be kept */
    CACHING_LIST, /* holds until a reload, of which who listens is told */
    CACHING_STALE /* may be kept, but nobody knows how long it holds: what a plugin reads, and what came of answers */
} caching;
/* resultType, ttlMs, cacheScope and _meta.serverInfo of a modern result; nothing in a legacy one. An object is open. */
void surface_write_modern(const registry *reg, json_writer *w, revision rev, const char *result_type, caching hint);

#endif
