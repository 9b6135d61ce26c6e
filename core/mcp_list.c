/* SPDX-License-Identifier: MIT */
/* mcp_list.c -- the four lists: whole, or in pages of limits.pageItems. A cursor is the place of the next item, signed for
 * one list in one revision and one generation of it: whatever else comes as a cursor is refused. */
#include "mcp_internal.h"
#include "surface_pages.h"

#include <stdio.h>
#include <stdlib.h>

static const char PURPOSE[] = "cursor";

typedef struct {
    char text[64];
} cursor_bound;

static cursor_bound bound_of(const lastro_call *c, list_kind kind, const surface_text *list) {
    cursor_bound b;
    snprintf(b.text, sizeof b.text, "%d %s %lu", (int)kind, revision_name(c->rev), (unsigned long)list->generation);
    return b;
}

/* The item at which the page begins. False: cursor is none of this list. */
static bool page_start(lastro_call *c, list_kind kind, const surface_text *list, const json_value *cursor, size_t *ret) {
    json_text t = json_text_of(cursor);
    cursor_bound bound = bound_of(c, kind, list);
    const char *content;
    size_t len;
    *ret = 0;
    if (!cursor)
        return true;
    if (!json_is(cursor, JSON_STRING) || !seal_open(&c->srv->seal, &c->mem, PURPOSE, bound.text, 0, t.at, t.len, &content, &len))
        return false;
    *ret = (size_t)strtoull(content, NULL, 10);
    return *ret < list->items;
}

/* The page's result object. NULL: out of memory. */
static const char *page_of(lastro_call *c, list_kind kind, const surface_text *list, size_t from, size_t most, size_t *ret_len) {
    size_t to = list->items - from > most ? from + most : list->items;
    if (from == 0 && to == list->items) {
        *ret_len = list->len;
        return list->data;
    }
    const char *next = NULL;
    if (to < list->items) {
        char place[24];
        int len = snprintf(place, sizeof place, "%zu", to);
        cursor_bound bound = bound_of(c, kind, list);
        next = seal_make(&c->srv->seal, &c->mem, PURPOSE, bound.text, 0, place, (size_t)len);
        if (!next)
            return NULL;
    }
    return surface_page(list, &c->mem, from, to, next, ret_len);
}

static void list(lastro_call *c, list_kind kind) {
    int64_t most = c->srv->manifest->limits.page_items;
    surface_text *whole = surface_take(c->srv->surface, kind, c->rev);
    size_t from = 0, len = 0;
    if (whole && !page_start(c, kind, whole, json_member(c->params, "cursor"), &from)) {
        surface_release(whole);
        mcp_error(c, RPC_PARAMS, NULL, most ? "Unknown cursor: it is none of this list, or the list has changed since. Begin without cursor."
                                            : "Unknown cursor: this list comes whole and gives none. Ask without cursor.");
        return;
    }
    const char *text = whole ? page_of(c, kind, whole, from, most ? (size_t)most : SIZE_MAX, &len) : NULL;
    if (text) {
        rpc_begin_result(&c->out, c->id);
        json_write_raw(&c->out, text, len);
        rpc_end(&c->out);
    }
    surface_release(whole);
    if (text)
        mcp_answer(c);
    else
        mcp_error(c, RPC_INTERNAL, NULL, "Out of memory.");
}

void mcp_list_tools(lastro_call *c) {
    list(c, LIST_TOOLS);
}
void mcp_list_resources(lastro_call *c) {
    list(c, LIST_RESOURCES);
}
void mcp_list_templates(lastro_call *c) {
    list(c, LIST_TEMPLATES);
}
void mcp_list_prompts(lastro_call *c) {
    list(c, LIST_PROMPTS);
}
