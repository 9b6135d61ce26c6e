/* SPDX-License-Identifier: MIT */
#include "manifest.h"
#include "fail.h"
#include "file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANIFEST_MAX = 8 << 20 };
/* What a limit may be set to: sums of them must fit, and a thread has its stack. */
#define LIMIT_MS (24LL * 3600 * 1000)
#define LIMIT_BYTES (1LL << 30)
#define LIMIT_CACHE (1LL << 40)
#define LIMIT_WORKERS 4096
#define LIMIT_COUNT 1000000

static const manifest_limits default_limits = {
    .call_ms = 120000, .result_bytes = 64 << 20, .message_bytes = 16 << 20, .cache_bytes = 32 << 20, .workers = 64,
    .waiting_calls = 4096, .task_ms = 3600000};

static const manifest_http default_http = {
    .listen = "127.0.0.1:8717", .sessions = 10000, .session_ms = 3600000, .connections = 20000, .drain_ms = 5000};

typedef enum { WANT_TEXT, WANT_BOOL, WANT_OBJECT, WANT_ARRAY, WANT_INT } wanted;
static const char *const wanted_names[] = {"a text", "true or false", "an object", "an array", "a positive integer"};

typedef struct {
    const char *name;
    wanted kind;
    bool required;
    size_t offset; /* in the struct that is filled; where nothing is: NOWHERE */
    int64_t most;  /* of an integer; 0: no bound */
} field;
#define NOWHERE SIZE_MAX

/* The file as it was written, and the copy that the reader turned into nodes: a node's text tells its line. */
typedef struct {
    const char *path, *written, *read;
    size_t len;
} origin;

/* "FILE:LINE" of the key or the text v; "FILE" when v is neither. */
static void place(const origin *o, const json_value *v, char *buf, size_t size) {
    const char *at = json_text_of(v).at;
    unsigned line = 1;
    if (!at || at < o->read || at > o->read + o->len) {
        snprintf(buf, size, "%s", o->path);
        return;
    }
    for (const char *c = o->written; c < o->written + (at - o->read); c++)
        line += *c == '\n';
    snprintf(buf, size, "%s:%u", o->path, line);
}

static const json_value *first_key(const json_value *object) {
    json_iter it = json_iterate(object);
    return json_next(&it) ? it.key : NULL;
}

/* "FILE:LINE: [SUBJECT: ]what is wrong" */
__attribute__((format(printf, 5, 6))) static lastro_status refuse(const origin *o, const json_value *near, const char *subject,
                                                                  lastro_error *err, const char *fmt, ...) {
    char where[PATH_MAX + 16], what[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    place(o, near, where, sizeof where);
    return fail(err, LASTRO_EARGS, "%s: %s%s%s", where, subject, *subject ? ": " : "", what);
}

static bool fits(const json_value *v, const field *f) {
    int64_t n;
    switch (f->kind) {
    case WANT_TEXT:
        return json_str(v) != NULL;
    case WANT_BOOL:
        return json_is(v, JSON_BOOL);
    case WANT_OBJECT:
        return json_is(v, JSON_OBJECT);
    case WANT_ARRAY:
        return json_is(v, JSON_ARRAY);
    case WANT_INT:
        return json_int64(v, &n) && n > 0 && (!f->most || n <= f->most);
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
static lastro_status read_fields(const origin *o, const json_value *object, const char *subject, const field *fields,
                                 size_t count, void *ret, lastro_error *err) {
    for (json_iter it = json_iterate(object); json_next(&it);) {
        const char *key = json_str(it.key);
        const field *f = NULL;
        for (size_t i = 0; key && i < count; i++)
            if (strcmp(fields[i].name, key) == 0)
                f = &fields[i];
        if (!f)
            return refuse(o, it.key, subject, err, "unknown member \"%.200s\"", json_text_of(it.key).at);
        if (!fits(it.value, f) && f->most)
            return refuse(o, it.key, subject, err, "\"%s\" must be %s, at most %lld", key, wanted_names[f->kind],
                          (long long)f->most);
        if (!fits(it.value, f))
            return refuse(o, it.key, subject, err, "\"%s\" must be %s", key, wanted_names[f->kind]);
        store(ret, f, it.value);
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && !json_member(object, fields[i].name))
            return refuse(o, first_key(object), subject, err, "\"%s\" is missing", fields[i].name);
    return LASTRO_OK;
}

static lastro_status read_plugin(const origin *o, const json_value *v, manifest_plugin *ret, lastro_error *err) {
    static const field fields[] = {
        {"name", WANT_TEXT, true, offsetof(manifest_plugin, name), 0},
        {"library", WANT_TEXT, true, offsetof(manifest_plugin, library), 0},
        {"sha256", WANT_TEXT, false, offsetof(manifest_plugin, sha256), 0},
        {"enabled", WANT_BOOL, false, offsetof(manifest_plugin, enabled), 0},
        {"isolation", WANT_TEXT, false, offsetof(manifest_plugin, isolation), 0},
        {"grants", WANT_OBJECT, false, offsetof(manifest_plugin, grants), 0},
        {"tools", WANT_ARRAY, false, offsetof(manifest_plugin, tools), 0},
        {"config", WANT_OBJECT, false, offsetof(manifest_plugin, config), 0},
    };
    if (!json_is(v, JSON_OBJECT))
        return refuse(o, v, "", err, "each entry of \"plugins\" must be an object");
    const char *name = json_str(json_member(v, "name"));
    char subject[160];
    snprintf(subject, sizeof subject, "plugin \"%.128s\"", name ? name : "?");
    *ret = (manifest_plugin){.enabled = true, .isolation = "none"};
    lastro_status s = read_fields(o, v, subject, fields, sizeof fields / sizeof *fields, ret, err);
    if (s)
        return s;
    for (json_iter it = json_iterate(ret->tools); json_next(&it);)
        if (!json_str(it.value))
            return refuse(o, first_key(v), subject, err, "\"tools\" must list names");
    if (ret->sha256 && (strlen(ret->sha256) != 64 || strspn(ret->sha256, "0123456789abcdef") != 64))
        return refuse(o, json_member(v, "sha256"), subject, err, "\"sha256\" must be 64 lower-case hexadecimal digits");
    return LASTRO_OK;
}

static lastro_status read_plugins(manifest *m, const origin *o, const json_value *list, lastro_error *err) {
    m->plugins = arena_array(&m->mem, manifest_plugin, json_count(list) + 1);
    if (!m->plugins)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    for (json_iter it = json_iterate(list); json_next(&it);) {
        manifest_plugin *p = &m->plugins[m->plugin_count];
        lastro_status s = read_plugin(o, it.value, p, err);
        if (s)
            return s;
        for (size_t i = 0; i < m->plugin_count; i++)
            if (strcmp(m->plugins[i].name, p->name) == 0)
                return refuse(o, json_member(it.value, "name"), "", err, "two plugins are called \"%.128s\"", p->name);
        m->plugin_count++;
    }
    return LASTRO_OK;
}

/* Why text is no hash of a key; NULL: it is one. What stands there may be the secret itself, so it is never repeated. */
static const char *key_fault(const char *text) {
    size_t prefix = sizeof MANIFEST_KEY_PREFIX - 1;
    if (strncmp(text, MANIFEST_KEY_PREFIX, prefix) == 0 && strlen(text) == prefix + 64 &&
        strspn(text + prefix, "0123456789abcdef") == 64)
        return NULL;
    return "\"key\" must be \"sha256:\" and 64 lower-case hexadecimal digits, as \"lastro manifest key NAME\" prints them; the "
           "secret itself stays with the client";
}

static lastro_status read_principal(const origin *o, const json_value *v, lastro_error *err) {
    struct {
        const char *name, *key;
    } p = {0};
    static const field fields[] = {
        {"name", WANT_TEXT, true, 0, 0},
        {"key", WANT_TEXT, false, sizeof(char *), 0},
        {"claims", WANT_OBJECT, false, NOWHERE, 0},
    };
    if (!json_is(v, JSON_OBJECT))
        return refuse(o, v, "", err, "each entry of \"principals\" must be an object");
    const char *name = json_str(json_member(v, "name")), *fault;
    char subject[160];
    snprintf(subject, sizeof subject, "principal \"%.128s\"", name ? name : "?");
    lastro_status s = read_fields(o, v, subject, fields, sizeof fields / sizeof *fields, &p, err);
    if (!s && !*p.name)
        return refuse(o, json_member(v, "name"), "", err, "a principal needs a name that is not empty");
    if (!s && p.key && (fault = key_fault(p.key)))
        return refuse(o, json_member(v, "key"), subject, err, "%s", fault);
    return s;
}

/* A name stands for one set of claims, a key for one name. */
static lastro_status read_principals(manifest *m, const origin *o, lastro_error *err) {
    for (json_iter it = json_iterate(m->principals); json_next(&it);) {
        lastro_status s = read_principal(o, it.value, err);
        if (s)
            return s;
        const json_value *name = json_member(it.value, "name"), *key = json_member(it.value, "key");
        for (json_iter before = json_iterate(m->principals); json_next(&before) && before.value != it.value;) {
            if (json_equal(json_member(before.value, "name"), name))
                return refuse(o, name, "", err, "two principals are called \"%.128s\"", json_text_of(name).at);
            if (key && json_member(before.value, "key") && json_equal(json_member(before.value, "key"), key))
                return refuse(o, key, "", err, "\"%.128s\" and \"%.128s\" have the same key: make another with \"lastro manifest key "
                              "NAME\"", json_text_of(json_member(before.value, "name")).at, json_text_of(name).at);
        }
    }
    return LASTRO_OK;
}

static const field http_fields[] = {
    {"listen", WANT_TEXT, false, offsetof(manifest_http, listen), 0},
    {"allowedOrigins", WANT_ARRAY, false, offsetof(manifest_http, allowed_origins), 0},
    {"allowedHosts", WANT_ARRAY, false, offsetof(manifest_http, allowed_hosts), 0},
    {"open", WANT_BOOL, false, offsetof(manifest_http, open), 0},
    {"sse", WANT_BOOL, false, offsetof(manifest_http, sse), 0},
    {"sessions", WANT_INT, false, offsetof(manifest_http, sessions), LIMIT_COUNT},
    {"sessionMs", WANT_INT, false, offsetof(manifest_http, session_ms), 30 * LIMIT_MS},
    {"connections", WANT_INT, false, offsetof(manifest_http, connections), LIMIT_COUNT},
    {"ioThreads", WANT_INT, false, offsetof(manifest_http, io_threads), 64},
    {"drainMs", WANT_INT, false, offsetof(manifest_http, drain_ms), LIMIT_MS},
};
enum { HTTP_FIELDS = sizeof http_fields / sizeof *http_fields };

static lastro_status read_http(manifest *m, const origin *o, lastro_error *err) {
    const json_value *v = json_member(m->root, "http");
    lastro_status s = read_fields(o, v, "http", http_fields, HTTP_FIELDS, &m->http, err);
    const json_value *lists[] = {m->http.allowed_origins, m->http.allowed_hosts};
    for (size_t i = 0; !s && i < sizeof lists / sizeof *lists; i++)
        for (json_iter it = json_iterate(lists[i]); json_next(&it);)
            if (!json_str(it.value))
                return refuse(o, first_key(v), "http", err, "\"%s\" must list texts", i ? "allowedHosts" : "allowedOrigins");
    return s;
}

static lastro_status read_root(manifest *m, const origin *o, lastro_error *err) {
    static const field fields[] = {
        {"$schema", WANT_TEXT, false, NOWHERE, 0},
        {"manifest", WANT_INT, true, NOWHERE, 0},
        {"name", WANT_TEXT, true, offsetof(manifest, name), 0},
        {"title", WANT_TEXT, false, offsetof(manifest, title), 0},
        {"version", WANT_TEXT, true, offsetof(manifest, version), 0},
        {"description", WANT_TEXT, false, offsetof(manifest, description), 0},
        {"publisher", WANT_TEXT, false, offsetof(manifest, publisher), 0},
        {"websiteUrl", WANT_TEXT, false, offsetof(manifest, website), 0},
        {"instructions", WANT_TEXT, false, offsetof(manifest, instructions), 0},
        {"principal", WANT_TEXT, false, offsetof(manifest, principal), 0},
        {"principals", WANT_ARRAY, false, offsetof(manifest, principals), 0},
        {"http", WANT_OBJECT, false, NOWHERE, 0},
        {"limits", WANT_OBJECT, false, NOWHERE, 0},
        {"plugins", WANT_ARRAY, true, NOWHERE, 0},
        {"listing", WANT_OBJECT, false, offsetof(manifest, listing), 0},
    };
    static const field limit_fields[] = {
        {"callMs", WANT_INT, false, offsetof(manifest_limits, call_ms), LIMIT_MS},
        {"resultBytes", WANT_INT, false, offsetof(manifest_limits, result_bytes), LIMIT_BYTES},
        {"messageBytes", WANT_INT, false, offsetof(manifest_limits, message_bytes), LIMIT_BYTES},
        {"cacheBytes", WANT_INT, false, offsetof(manifest_limits, cache_bytes), LIMIT_CACHE},
        {"workers", WANT_INT, false, offsetof(manifest_limits, workers), LIMIT_WORKERS},
        {"waitingCalls", WANT_INT, false, offsetof(manifest_limits, waiting_calls), LIMIT_COUNT},
        {"pageItems", WANT_INT, false, offsetof(manifest_limits, page_items), LIMIT_COUNT},
        {"taskMs", WANT_INT, false, offsetof(manifest_limits, task_ms), 30 * LIMIT_MS},
    };
    if (!json_is(m->root, JSON_OBJECT))
        return refuse(o, m->root, "", err, "the manifest must be a JSON object");
    lastro_status s = read_fields(o, m->root, "", fields, sizeof fields / sizeof *fields, m, err);
    if (s)
        return s;
    int64_t format = 0;
    json_int64(json_member(m->root, "manifest"), &format);
    if (format != 1)
        return refuse(o, json_member(m->root, "manifest"), "", err, "\"manifest\" is format %lld, this program reads format 1",
                      (long long)format);
    s = read_fields(o, json_member(m->root, "limits"), "limits", limit_fields, sizeof limit_fields / sizeof *limit_fields,
                    &m->limits, err);
    if (!s)
        s = read_http(m, o, err);
    if (!s)
        s = read_principals(m, o, err);
    return s ? s : read_plugins(m, o, json_member(m->root, "plugins"), err);
}

/* ---- members that the command line or the environment sets ---- */

static void write_flag(json_writer *w, const char *text) {
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            json_write_bool(w, i % 2);
}

/* "a, b" as a list */
static void write_list(json_writer *w, const char *text) {
    json_begin_array(w);
    for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
        size_t len = strcspn(text, ", ");
        json_write_string_n(w, text, len);
        text += len;
    }
    json_end_array(w);
}

/* text as the JSON value that such a member has in the file; NULL: it is none. */
static const json_value *value_of(manifest *m, const field *f, const char *text) {
    json_writer w;
    json_writer_init(&w, 0);
    if (f->kind == WANT_BOOL)
        write_flag(&w, text);
    else if (f->kind == WANT_ARRAY)
        write_list(&w, text);
    else if (f->kind == WANT_INT)
        json_write_number(&w, text, strlen(text));
    else if (*text)
        json_write_string(&w, text);
    const json_value *v = json_writer_finish(&w) ? json_read_copy(&m->mem, w.data, w.len, NULL, NULL) : NULL;
    json_writer_free(&w);
    return v;
}

lastro_status manifest_set_http(manifest *m, const char *member, const char *text, lastro_error *err) {
    static const char *const wants[] = {"a text", "yes or no", "", "texts with commas between them", "a positive integer"};
    for (const field *f = http_fields; f < http_fields + HTTP_FIELDS; f++) {
        if (strcmp(f->name, member) != 0)
            continue;
        const json_value *v = value_of(m, f, text);
        if (v && fits(v, f)) {
            store(&m->http, f, v);
            return LASTRO_OK;
        }
        if (f->most)
            return fail(err, LASTRO_EARGS, "must be %s, at most %lld; it is \"%.100s\"", wants[f->kind], (long long)f->most, text);
        return fail(err, LASTRO_EARGS, "must be %s; it is \"%.100s\"", wants[f->kind], text);
    }
    return fail(err, LASTRO_EINTERNAL, "\"http\" has no member \"%s\"", member);
}

static manifest *create(void) {
    manifest *m = calloc(1, sizeof *m);
    if (m) {
        arena_init(&m->mem, 0);
        m->limits = default_limits;
        m->http = default_http;
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
    arena scratch;
    arena_init(&scratch, 0);
    origin o = {.path = m->path, .written = arena_strndup(&scratch, text, len), .read = text, .len = len};
    m->root = o.written ? json_read(&m->mem, text, len, NULL, &at) : NULL;
    lastro_status s = !o.written ? fail(err, LASTRO_ENOMEM, "out of memory")
                      : !m->root ? fail(err, LASTRO_EARGS, "%s:%u:%u: %s", m->path, at.line, at.column, at.text)
                                 : read_root(m, &o, err);
    arena_free(&scratch);
    return s;
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
