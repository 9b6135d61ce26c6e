/* SPDX-License-Identifier: MIT */
/* cli_manifest.c -- lastro manifest check | update | hash: the manifest's promise against the live server; key is
 * cli_manifest_key.c's. */
#include "canonical.h"
#include "cli.h"
#include "fail.h"
#include "file.h"
#include "sha256.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: lastro manifest check                     listing and identity against the live server; exit 1 on drift\n"
    "       lastro manifest update                    writes the live listing into the manifest\n"
    "       lastro manifest hash --plugins DIR [--output FILE]   writes each library's SHA-256 into the manifest\n"
    "       lastro manifest key NAME                  a new key for a client over HTTP, and the manifest's entry for it\n";

/* ---- the live listing ---- */

static const struct {
    const char *member, *key; /* in the listing; what names an entry */
    list_kind kind;
    const char *list_member;
} sections[] = {
    {"tools", "name", LIST_TOOLS, "tools"},
    {"resources", "uri", LIST_RESOURCES, "resources"},
    {"resourceTemplates", "uriTemplate", LIST_TEMPLATES, "resourceTemplates"},
    {"prompts", "name", LIST_PROMPTS, "prompts"},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* Schemas enter the listing as digests: long, and their text is published elsewhere. */
static void write_entry(json_writer *w, const json_value *entry) {
    json_begin_object(w);
    for (json_iter it = json_iterate(entry); json_next(&it);) {
        json_text key = json_text_of(it.key);
        json_key_n(w, key.at, key.len);
        char digest[72];
        bool is_schema = json_text_is(it.key, "inputSchema") || json_text_is(it.key, "outputSchema");
        if (is_schema && canonical_digest(it.value, digest))
            json_write_string(w, digest);
        else
            json_write_value(w, it.value);
    }
    json_end_object(w);
}

static void write_listing(server *s, arena *a, json_writer *w) {
    json_begin_object(w);
    for (int i = 0; i < SECTIONS; i++) {
        surface_text *text = surface_take(s->surface, sections[i].kind, REV_2025_11_25);
        const json_value *whole = text ? json_read_copy(a, text->data, text->len, NULL, NULL) : NULL;
        const json_value *list = json_member(whole, sections[i].list_member);
        surface_release(text);
        json_key(w, sections[i].member);
        json_begin_array(w);
        for (json_iter it = json_iterate(list); json_next(&it);)
            write_entry(w, it.value);
        json_end_array(w);
    }
    json_end_object(w);
}

static const json_value *live_listing(server *s, arena *a) {
    json_writer w;
    json_writer_init(&w, 0);
    write_listing(s, a, &w);
    const json_value *v = json_writer_finish(&w) ? json_read_copy(a, w.data, w.len, NULL, NULL) : NULL;
    json_writer_free(&w);
    return v;
}

/* ---- check ---- */

static const json_value *find(const json_value *list, const char *key, const json_value *name) {
    for (json_iter it = json_iterate(list); json_next(&it);)
        if (json_equal(json_member(it.value, key), name))
            return it.value;
    return NULL;
}

__attribute__((format(printf, 1, 2))) static unsigned drift(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vfprintf(cli_out(), fmt, ap);
    fputc('\n', cli_out());
    va_end(ap);
    return 1;
}

static void print_value(const char *label, const json_value *v) {
    json_writer w;
    json_writer_init(&w, 0);
    if (v)
        json_write_value(&w, v);
    fprintf(cli_out(), "      %s %.300s\n", label, v && json_writer_finish(&w) ? w.data : "(absent)");
    json_writer_free(&w);
}

static unsigned compare_entry(const char *section, const json_value *name, const json_value *ours, const json_value *live) {
    unsigned n = 0;
    for (int pass = 0; pass < 2; pass++) /* members of the manifest, then those only the server has */
        for (json_iter it = json_iterate(pass ? live : ours); json_next(&it);) {
            json_text key = json_text_of(it.key);
            const json_value *a = json_member_n(ours, key.at, key.len), *b = json_member_n(live, key.at, key.len);
            if ((pass && a) || (a && b && json_equal(a, b)))
                continue;
            n += drift("  %s \"%s\": %s differs", section, json_text_of(name).at, key.at);
            print_value("manifest:", a);
            print_value("server:  ", b);
        }
    return n;
}

static unsigned compare_section(int i, const json_value *listing, const json_value *live) {
    const json_value *ours = json_member(listing, sections[i].member), *theirs = json_member(live, sections[i].member);
    unsigned n = 0;
    for (json_iter it = json_iterate(ours); json_next(&it);) {
        const json_value *name = json_member(it.value, sections[i].key), *other = find(theirs, sections[i].key, name);
        if (!other)
            n += drift("  %s \"%s\": listed in the manifest, not served", sections[i].member, json_text_of(name).at);
        else
            n += compare_entry(sections[i].member, name, it.value, other);
    }
    for (json_iter it = json_iterate(theirs); json_next(&it);) {
        const json_value *name = json_member(it.value, sections[i].key);
        if (!find(ours, sections[i].key, name))
            n += drift("  %s \"%s\": served, not listed in the manifest", sections[i].member, json_text_of(name).at);
    }
    return n;
}

static unsigned compare_plugins(const server *s) {
    unsigned n = 0;
    for (size_t i = 0; i < s->reg->plugin_count; i++) {
        const plugin *p = &s->reg->plugins[i];
        if (p->entry->enabled && !p->active)
            n += drift("  plugin \"%s\" is not loaded: %s", p->entry->name, p->reason);
    }
    return n;
}

static int check(server *s) {
    arena a;
    arena_init(&a, 0);
    const json_value *live = live_listing(s, &a);
    unsigned n = live ? compare_plugins(s) : drift("  the live listing cannot be made: out of memory");
    if (strcmp(s->manifest->version, LASTRO_VERSION) != 0)
        n += drift("  version: manifest %s, program %s", s->manifest->version, LASTRO_VERSION);
    if (!s->manifest->listing)
        n += drift("  the manifest has no listing; lastro manifest update writes it");
    for (int i = 0; s->manifest->listing && live && i < SECTIONS; i++)
        n += compare_section(i, s->manifest->listing, live);
    fprintf(cli_out(), n ? "%s: %u differences from what is served\n" : "%s: as served (%u differences)\n", s->manifest->path, n);
    arena_free(&a);
    return n ? CLI_FAILED : CLI_OK;
}

/* ---- writing the manifest anew ---- */

typedef void write_member(json_writer *w, const json_value *v, void *arg);

/* The manifest as it is, but for one member of it. */
static int rewrite(const manifest *m, const char *path, const char *member, write_member *write, void *arg) {
    json_writer w;
    lastro_error err = {0};
    bool written = false;
    json_writer_init(&w, 0);
    w.indent = 2;
    json_begin_object(&w);
    for (json_iter it = json_iterate(m->root); json_next(&it);) {
        json_text key = json_text_of(it.key);
        json_key_n(&w, key.at, key.len);
        if (!json_text_is(it.key, member)) {
            json_write_value(&w, it.value);
            continue;
        }
        write(&w, it.value, arg);
        written = true;
    }
    if (!written) {
        json_key(&w, member);
        write(&w, NULL, arg);
    }
    json_end_object(&w);
    int status = CLI_OK;
    if (!json_writer_finish(&w)) {
        cli_error("the manifest cannot be written: %s", json_fault_text(w.fault));
        status = CLI_FAILED;
    } else {
        w.data[w.len] = '\n'; /* in the place of the final NUL */
        if (file_replace(path, w.data, w.len + 1, &err) != LASTRO_OK) {
            cli_error("%s", err.text);
            status = CLI_FAILED;
        }
    }
    json_writer_free(&w);
    return status;
}

static void put_value(json_writer *w, const json_value *old, void *arg) {
    (void)old;
    json_write_value(w, arg);
}

static int update(server *s) {
    arena a;
    arena_init(&a, 0);
    const json_value *live = live_listing(s, &a);
    int status = CLI_FAILED;
    if (compare_plugins(s))
        cli_error("a plugin is not loaded, so the listing would lose its tools: nothing was written");
    else if (live && s->manifest->root)
        status = rewrite(s->manifest, s->manifest->path, "listing", put_value, (void *)(uintptr_t)live);
    arena_free(&a);
    return status;
}

static void write_hashed_plugin(json_writer *w, const json_value *entry, const char *dir, bool *failed) {
    char path[PATH_MAX], hex[65];
    lastro_error err;
    arena a;
    size_t len;
    arena_init(&a, 0);
    const char *library = json_str(json_member(entry, "library"));
    snprintf(path, sizeof path, "%s%s%s", library[0] == '/' ? "" : dir, library[0] == '/' ? "" : "/", library);
    char *bytes = file_read(&a, path, 1u << 30, &len, &err);
    if (bytes) {
        sha256_text(bytes, len, hex);
    } else {
        cli_error("%s", err.text);
        *failed = true;
    }
    json_begin_object(w);
    for (json_iter it = json_iterate(entry); json_next(&it);) {
        json_text key = json_text_of(it.key);
        if (json_text_is(it.key, "sha256"))
            continue;
        json_key_n(w, key.at, key.len);
        json_write_value(w, it.value);
        if (json_text_is(it.key, "library") && bytes) {
            json_key(w, "sha256");
            json_write_string(w, hex);
        }
    }
    json_end_object(w);
    arena_free(&a);
}

typedef struct {
    const char *dir;
    bool failed;
} hashing;

static void put_hashed(json_writer *w, const json_value *plugins, void *arg) {
    hashing *h = arg;
    json_begin_array(w);
    for (json_iter it = json_iterate(plugins); json_next(&it);)
        write_hashed_plugin(w, it.value, h->dir, &h->failed);
    json_end_array(w);
}

static int hash(const server_options *opts, int argc, char **argv) {
    hashing h = {0};
    const char *output = NULL;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--plugins") == 0)
            h.dir = argv[i + 1];
        else if (strcmp(argv[i], "--output") == 0)
            output = argv[i + 1];
    }
    char path[PATH_MAX], exe_dir[PATH_MAX];
    lastro_error err = {0};
    if (!h.dir || !file_exe_dir(exe_dir, sizeof exe_dir) ||
        !manifest_find(opts->manifest_path, exe_dir, path, sizeof path)) {
        fputs(usage, stderr);
        return CLI_USAGE;
    }
    manifest *m = manifest_load(path, &err);
    if (!m) {
        cli_error("%s", err.text);
        return CLI_USAGE;
    }
    int status = rewrite(m, output ? output : m->path, "plugins", put_hashed, &h);
    manifest_destroy(m);
    return h.failed ? CLI_FAILED : status;
}

int cli_manifest(const server_options *opts, int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            what = "--help";
    if (strcmp(what, "hash") == 0)
        return hash(opts, argc, argv);
    if (strcmp(what, "key") == 0)
        return cli_manifest_key(argc - 1, argv + 1);
    if (strcmp(what, "check") != 0 && strcmp(what, "update") != 0) {
        fputs(usage, strcmp(what, "--help") == 0 ? stdout : stderr);
        return strcmp(what, "--help") == 0 ? CLI_OK : CLI_USAGE;
    }
    server *s = cli_open(opts);
    if (!s)
        return CLI_USAGE;
    int status = strcmp(what, "check") == 0 ? check(s) : update(s);
    server_destroy(s);
    return status;
}
