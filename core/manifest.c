/* SPDX-License-Identifier: MIT */
#include "manifest.h"
#include "fail.h"
#include "file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MAX = 8 << 20 };

static const manifest_limits default_limits = {
    .call_ms = 120000, .result_bytes = 64 << 20, .message_bytes = 16 << 20, .cache_bytes = 32 << 20, .workers = 64};

typedef enum { WANT_TEXT, WANT_BOOL, WANT_OBJECT, WANT_ARRAY, WANT_INT } wanted;
static const char *const wanted_names[] = {"a text", "true or false", "an object", "an array", "a positive integer"};

typedef struct {
    const char *name;
    wanted kind;
    bool required;
    size_t offset; /* in the struct that is filled; where nothing is: NOWHERE */
} field;
#define NOWHERE SIZE_MAX

static bool fits(const json_value *v, wanted kind) {
    int64_t n;
    switch (kind) {
    case WANT_TEXT:
        return json_str(v) != NULL;
    case WANT_BOOL:
        return json_is(v, JSON_BOOL);
    case WANT_OBJECT:
        return json_is(v, JSON_OBJECT);
    case WANT_ARRAY:
        return json_is(v, JSON_ARRAY);
    case WANT_INT:
        return json_int64(v, &n) && n > 0;
    }
    return false;
}

static void store(void *base, const field *f, const json_value *v) {
    if (f->offset == NOWHERE)
        return;
    char *at = (char *)base + f->offset;
    int64_t n = 0;
    bool flag = json_bool(v);
    const char *text = json_str(v);
    switch (f->kind) {
    case WANT_TEXT:
        memcpy(at, &text, sizeof text);
        break;
    case WANT_BOOL:
        memcpy(at, &flag, sizeof flag);
        break;
    case WANT_INT:
        json_int64(v, &n);
        memcpy(at, &n, sizeof n);
        break;
    default:
        memcpy(at, &v, sizeof v);
    }
}

/* Reads an object by its table of fields; every member must be in it. */
static lastro_status read_fields(const json_value *object, const char *where, const field *fields, size_t count, void *ret,
                                 lastro_error *err) {
    for (json_iter it = json_iterate(object); json_next(&it);) {
        const char *key = json_str(it.key);
        const field *f = NULL;
        for (size_t i = 0; key && i < count; i++)
            if (strcmp(fields[i].name, key) == 0)
                f = &fields[i];
        if (!f)
            return fail(err, LASTRO_EARGS, "%s: unknown member \"%s\"", where, key ? key : "?");
        if (!fits(it.value, f->kind))
            return fail(err, LASTRO_EARGS, "%s: \"%s\" must be %s", where, key, wanted_names[f->kind]);
        store(ret, f, it.value);
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && !json_member(object, fields[i].name))
            return fail(err, LASTRO_EARGS, "%s: \"%s\" is missing", where, fields[i].name);
    return LASTRO_OK;
}

static lastro_status read_plugin(manifest *m, const json_value *v, manifest_plugin *ret, lastro_error *err) {
    static const field fields[] = {
        {"name", WANT_TEXT, true, offsetof(manifest_plugin, name)},
        {"library", WANT_TEXT, true, offsetof(manifest_plugin, library)},
        {"sha256", WANT_TEXT, false, offsetof(manifest_plugin, sha256)},
        {"enabled", WANT_BOOL, false, offsetof(manifest_plugin, enabled)},
        {"isolation", WANT_TEXT, false, offsetof(manifest_plugin, isolation)},
        {"grants", WANT_OBJECT, false, offsetof(manifest_plugin, grants)},
        {"tools", WANT_ARRAY, false, offsetof(manifest_plugin, tools)},
        {"config", WANT_OBJECT, false, offsetof(manifest_plugin, config)},
    };
    if (!json_is(v, JSON_OBJECT))
        return fail(err, LASTRO_EARGS, "%s: each entry of \"plugins\" must be an object", m->path);
    const char *name = json_str(json_member(v, "name"));
    char where[PATH_MAX + 160];
    snprintf(where, sizeof where, "%s: plugin \"%.128s\"", m->path, name ? name : "?");
    *ret = (manifest_plugin){.enabled = true, .isolation = "none"};
    lastro_status s = read_fields(v, where, fields, sizeof fields / sizeof *fields, ret, err);
    if (s)
        return s;
    for (json_iter it = json_iterate(ret->tools); json_next(&it);)
        if (!json_str(it.value))
            return fail(err, LASTRO_EARGS, "%s: \"tools\" must list names", where);
    if (ret->sha256 && strspn(ret->sha256, "0123456789abcdef") != 64)
        return fail(err, LASTRO_EARGS, "%s: \"sha256\" must be 64 lower-case hexadecimal digits", where);
    return LASTRO_OK;
}

static lastro_status read_plugins(manifest *m, const json_value *list, lastro_error *err) {
    m->plugins = arena_array(&m->mem, manifest_plugin, json_count(list) + 1);
    if (!m->plugins)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    for (json_iter it = json_iterate(list); json_next(&it);) {
        manifest_plugin *p = &m->plugins[m->plugin_count];
        lastro_status s = read_plugin(m, it.value, p, err);
        if (s)
            return s;
        for (size_t i = 0; i < m->plugin_count; i++)
            if (strcmp(m->plugins[i].name, p->name) == 0)
                return fail(err, LASTRO_EARGS, "%s: two plugins are called \"%s\"", m->path, p->name);
        m->plugin_count++;
    }
    return LASTRO_OK;
}

static lastro_status read_root(manifest *m, lastro_error *err) {
    static const field fields[] = {
        {"$schema", WANT_TEXT, false, NOWHERE},
        {"manifest", WANT_INT, true, NOWHERE},
        {"name", WANT_TEXT, true, offsetof(manifest, name)},
        {"title", WANT_TEXT, false, offsetof(manifest, title)},
        {"version", WANT_TEXT, true, offsetof(manifest, version)},
        {"description", WANT_TEXT, false, offsetof(manifest, description)},
        {"publisher", WANT_TEXT, false, offsetof(manifest, publisher)},
        {"websiteUrl", WANT_TEXT, false, offsetof(manifest, website)},
        {"instructions", WANT_TEXT, false, offsetof(manifest, instructions)},
        {"principal", WANT_TEXT, false, offsetof(manifest, principal)},
        {"principals", WANT_ARRAY, false, offsetof(manifest, principals)},
        {"limits", WANT_OBJECT, false, NOWHERE},
        {"plugins", WANT_ARRAY, true, NOWHERE},
        {"listing", WANT_OBJECT, false, offsetof(manifest, listing)},
    };
    static const field limit_fields[] = {
        {"callMs", WANT_INT, false, offsetof(manifest_limits, call_ms)},
        {"resultBytes", WANT_INT, false, offsetof(manifest_limits, result_bytes)},
        {"messageBytes", WANT_INT, false, offsetof(manifest_limits, message_bytes)},
        {"cacheBytes", WANT_INT, false, offsetof(manifest_limits, cache_bytes)},
        {"workers", WANT_INT, false, offsetof(manifest_limits, workers)},
    };
    if (!json_is(m->root, JSON_OBJECT))
        return fail(err, LASTRO_EARGS, "%s: the manifest must be a JSON object", m->path);
    lastro_status s = read_fields(m->root, m->path, fields, sizeof fields / sizeof *fields, m, err);
    if (s)
        return s;
    int64_t format = 0;
    json_int64(json_member(m->root, "manifest"), &format);
    if (format != 1)
        return fail(err, LASTRO_EARGS, "%s: \"manifest\" is format %lld, this program reads format 1", m->path,
                    (long long)format);
    s = read_fields(json_member(m->root, "limits"), m->path, limit_fields, sizeof limit_fields / sizeof *limit_fields,
                    &m->limits, err);
    return s ? s : read_plugins(m, json_member(m->root, "plugins"), err);
}

static manifest *create(void) {
    manifest *m = calloc(1, sizeof *m);
    if (m) {
        arena_init(&m->mem, 0);
        m->limits = default_limits;
        m->name = "lastro";
        m->version = LASTRO_VERSION;
        m->path = m->dir = arena_strndup(&m->mem, "", 0);
    }
    return m;
}

manifest *manifest_empty(void) {
    return create();
}

void manifest_destroy(manifest *m) {
    if (!m)
        return;
    arena_free(&m->mem);
    free(m);
}

static lastro_status load(manifest *m, const char *path, lastro_error *err) {
    char real[PATH_MAX];
    if (!realpath(path, real))
        return fail(err, LASTRO_EARGS, "cannot open the manifest %s: %s", path, strerror(errno));
    m->path = arena_strndup(&m->mem, real, strlen(real));
    m->dir = m->path ? arena_strndup(&m->mem, real, (size_t)(strrchr(real, '/') - real)) : NULL;
    size_t len;
    char *text = m->dir ? file_read(&m->mem, m->path, MANIFEST_MAX, &len, err) : NULL;
    if (!text)
        return m->dir ? LASTRO_EARGS : fail(err, LASTRO_ENOMEM, "out of memory");
    json_error at;
    m->root = json_read(&m->mem, text, len, NULL, &at);
    if (!m->root)
        return fail(err, LASTRO_EARGS, "%s:%u:%u: %s", m->path, at.line, at.column, at.text);
    return read_root(m, err);
}

manifest *manifest_load(const char *path, lastro_error *err) {
    manifest *m = create();
    if (!m) {
        fail(err, LASTRO_ENOMEM, "out of memory");
        return NULL;
    }
    if (load(m, path, err) != LASTRO_OK) {
        manifest_destroy(m);
        return NULL;
    }
    return m;
}

bool manifest_find(const char *explicit_path, const char *exe_dir, char *buf, size_t size) {
    const char *env = getenv("LASTRO_MANIFEST");
    if (explicit_path || (env && *env)) { /* named: it is that one or an error, never another */
        snprintf(buf, size, "%s", explicit_path ? explicit_path : env);
        return true;
    }
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    snprintf(buf, size, "%s/manifest.json", exe_dir);
    if (access(buf, F_OK) == 0)
        return true;
    if (xdg && *xdg == '/')
        snprintf(buf, size, "%s/lastro/manifest.json", xdg);
    else
        snprintf(buf, size, "%s/.config/lastro/manifest.json", home ? home : "");
    if ((xdg || home) && access(buf, F_OK) == 0)
        return true;
    snprintf(buf, size, "/etc/lastro/manifest.json");
    return access(buf, F_OK) == 0;
}
