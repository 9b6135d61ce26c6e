/* SPDX-License-Identifier: MIT */
#include "more.h"
#include "surface.h"
#include "surface_pages.h"

#include <stdlib.h>
#include <string.h>

enum { TTL_MS = 300000 }; /* lists change only with a reload; five minutes is the protocol's own example */

struct surface {
    const registry *reg;
    pthread_mutex_t lock;
    uint32_t generation[LIST_KINDS];
    surface_text *lists[LIST_KINDS][REV_COUNT]; /* each holds one use of it */
};

surface *surface_create(const registry *reg) {
    surface *s = calloc(1, sizeof *s);
    if (s) {
        s->reg = reg;
        pthread_mutex_init(&s->lock, NULL);
    }
    return s;
}

void surface_destroy(surface *s) {
    if (!s)
        return;
    for (int k = 0; k < LIST_KINDS; k++)
        for (int r = 0; r < REV_COUNT; r++)
            surface_release(s->lists[k][r]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void put(json_writer *w, const char *key, const char *text) {
    if (!text)
        return;
    json_key(w, key);
    json_write_string(w, text);
}

void surface_write_identity(const registry *reg, json_writer *w, revision rev) {
    const manifest *m = reg->manifest;
    json_begin_object(w);
    put(w, "name", m->name);
    if (rev >= REV_2025_06_18)
        put(w, "title", m->title);
    put(w, "version", m->version);
    if (rev >= REV_2025_11_25) {
        put(w, "description", m->description);
        put(w, "websiteUrl", m->website);
    }
    json_end_object(w);
}

bool surface_has(const registry *reg, list_kind kind) {
    switch (kind) {
    case LIST_RESOURCES:
        return reg->all.resources.count > 0;
    case LIST_TEMPLATES:
        return reg->all.templates.count > 0;
    case LIST_PROMPTS:
        return reg->all.prompts.count > 0;
    case LIST_TOOLS:
    case LIST_KINDS:
        break;
    }
    return true;
}

/* The protocol's extensions that are served: the tasks, where a tool makes some. */
static void write_extensions(const registry *reg, json_writer *w) {
    if (!registry_makes_tasks(reg))
        return;
    json_key(w, "extensions");
    json_begin_object(w);
    json_key(w, "io.modelcontextprotocol/tasks");
    json_begin_object(w);
    json_end_object(w);
    json_end_object(w);
}

void surface_write_capabilities(const registry *reg, json_writer *w, revision rev) {
    bool resources = surface_has(reg, LIST_RESOURCES) || surface_has(reg, LIST_TEMPLATES);
    bool prompts = surface_has(reg, LIST_PROMPTS);
    const struct {
        const char *name;
        bool there;
        const char *can[2]; /* members that are true */
    } caps[] = {
        {"tools", true, {"listChanged"}},
        {"resources", resources, {"subscribe", "listChanged"}},
        {"prompts", prompts, {"listChanged"}},
        {"completions", rev >= REV_2025_03_26 && (prompts || surface_has(reg, LIST_TEMPLATES)), {0}},
        {"logging", true, {0}},
    };
    json_begin_object(w);
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        if (!caps[i].there)
            continue;
        json_key(w, caps[i].name);
        json_begin_object(w);
        for (size_t k = 0; k < 2 && caps[i].can[k]; k++) {
            json_key(w, caps[i].can[k]);
            json_write_bool(w, true);
        }
        json_end_object(w);
    }
    if (rev >= REV_2026_07_28)
        write_extensions(reg, w);
    json_end_object(w);
}

static bool add(char **text, size_t *len, const char *more) {
    if (!more || !*more)
        return true;
    size_t n = strlen(more);
    char *p = realloc(*text, *len + n + 3);
    if (!p)
        return false;
    *text = p;
    if (*len)
        memcpy(p + *len, "\n\n", 2), *len += 2;
    memcpy(p + *len, more, n + 1);
    *len += n;
    return true;
}

char *surface_instructions(const registry *reg) {
    char *text = NULL;
    size_t len = 0;
    add(&text, &len, reg->manifest->instructions);
    for (size_t i = 0; i < reg->all.instructions.count; i++) {
        const instruction *in = &reg->all.instructions.at[i];
        if (!in->tool || registry_tool(reg, in->tool, strlen(in->tool)))
            add(&text, &len, in->text);
    }
    return text;
}

void surface_write_modern(const registry *reg, json_writer *w, revision rev, const char *result_type, caching hint) {
    if (rev < REV_2026_07_28)
        return;
    put(w, "resultType", result_type);
    if (hint != CACHING_NONE) {
        json_key(w, "ttlMs");
        json_write_int(w, hint == CACHING_LIST ? TTL_MS : 0);
        put(w, "cacheScope", "private");
    }
    json_key(w, "_meta");
    json_begin_object(w);
    json_key(w, "io.modelcontextprotocol/serverInfo");
    surface_write_identity(reg, w, rev);
    json_end_object(w);
}

/* ---- the lists ---- */

/* Members of a contract that are published, and since when. */
static const struct {
    const char *name;
    revision since;
} tool_members[] = {
    {"name", REV_2024_11_05},        {"title", REV_2025_06_18},       {"description", REV_2024_11_05},
    {"inputSchema", REV_2024_11_05}, {"outputSchema", REV_2025_06_18}, {"annotations", REV_2025_03_26},
    {"icons", REV_2025_11_25},       {"_meta", REV_2025_06_18},
};

static void write_tools(const registry *reg, json_writer *w, revision rev) {
    for (size_t i = 0; i < reg->all.tools.count; i++) {
        const tool *t = &reg->all.tools.at[i];
        json_begin_object(w);
        for (size_t m = 0; m < sizeof tool_members / sizeof *tool_members; m++) {
            const json_value *v = json_member(t->contract, tool_members[m].name);
            if (!v || rev < tool_members[m].since)
                continue;
            json_key(w, tool_members[m].name);
            json_write_value(w, v);
        }
        json_end_object(w);
    }
}

static void write_resource(json_writer *w, revision rev, const resource *offered, const char *uri_key) {
    const lastro_resource *r = offered->def;
    json_begin_object(w);
    put(w, uri_key, r->uri);
    put(w, "name", r->name);
    if (rev >= REV_2025_06_18)
        put(w, "title", r->title);
    put(w, "description", r->description);
    put(w, "mimeType", r->mime_type);
    more_write(offered->more, w, rev);
    json_end_object(w);
}

static void write_prompt(json_writer *w, revision rev, const prompt *offered) {
    const lastro_prompt *p = offered->def;
    json_begin_object(w);
    put(w, "name", p->name);
    if (rev >= REV_2025_06_18)
        put(w, "title", p->title);
    put(w, "description", p->description);
    if (p->arguments && *p->arguments) {
        json_key(w, "arguments");
        json_begin_array(w);
        for (const lastro_prompt_argument *const *a = p->arguments; *a; a++) {
            json_begin_object(w);
            put(w, "name", (*a)->name);
            if (rev >= REV_2025_06_18)
                put(w, "title", (*a)->title);
            put(w, "description", (*a)->description);
            json_key(w, "required");
            json_write_bool(w, (*a)->required);
            json_end_object(w);
        }
        json_end_array(w);
    }
    more_write(offered->more, w, rev);
    json_end_object(w);
}

static void compose(const registry *reg, list_kind kind, revision rev, json_writer *w) {
    static const char *const keys[LIST_KINDS] = {"tools", "resources", "resourceTemplates", "prompts"};
    json_begin_object(w);
    json_key(w, keys[kind]);
    json_begin_array(w);
    switch (kind) {
    case LIST_TOOLS:
        write_tools(reg, w, rev);
        break;
    case LIST_RESOURCES:
        for (size_t i = 0; i < reg->all.resources.count; i++)
            write_resource(w, rev, &reg->all.resources.at[i], "uri");
        break;
    case LIST_TEMPLATES:
        for (size_t i = 0; i < reg->all.templates.count; i++)
            write_resource(w, rev, &reg->all.templates.at[i], "uriTemplate");
        break;
    case LIST_PROMPTS:
        for (size_t i = 0; i < reg->all.prompts.count; i++)
            write_prompt(w, rev, &reg->all.prompts.at[i]);
        break;
    case LIST_KINDS:
        break;
    }
    json_end_array(w);
    surface_write_modern(reg, w, rev, "complete", CACHING_LIST);
    json_end_object(w);
}

void surface_release(surface_text *t) {
    if (!t || atomic_fetch_sub(&t->users, 1) != 1)
        return;
    free(t->ends);
    free(t);
}

/* NULL: out of memory. */
static surface_text *compose_text(const surface *s, list_kind kind, revision rev) {
    surface_text *t = NULL;
    json_writer w;
    json_writer_init(&w, 0);
    compose(s->reg, kind, rev, &w);
    if (json_writer_finish(&w) && (t = malloc(sizeof *t + w.len + 1))) {
        *t = (surface_text){.users = 1, .generation = s->generation[kind], .len = w.len};
        memcpy(t->data, w.data, w.len + 1);
        if (!surface_pages_find(t)) {
            surface_release(t);
            t = NULL;
        }
    }
    json_writer_free(&w);
    return t;
}

surface_text *surface_take(surface *s, list_kind kind, revision rev) {
    pthread_mutex_lock(&s->lock);
    surface_text **slot = &s->lists[kind][rev];
    if (!*slot)
        *slot = compose_text(s, kind, rev);
    surface_text *t = *slot;
    if (t)
        atomic_fetch_add(&t->users, 1);
    pthread_mutex_unlock(&s->lock);
    return t;
}

void surface_renew(surface *s, list_kind kind) {
    surface_text *old[REV_COUNT];
    pthread_mutex_lock(&s->lock);
    s->generation[kind]++;
    memcpy(old, s->lists[kind], sizeof old);
    memset(s->lists[kind], 0, sizeof old);
    pthread_mutex_unlock(&s->lock);
    for (int r = 0; r < REV_COUNT; r++)
        surface_release(old[r]);
}
