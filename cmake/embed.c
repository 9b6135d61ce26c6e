/* SPDX-License-Identifier: MIT */
/* lastro-embed json|raw SOURCE FRAGMENTS OUT -- a build tool: prepares a file for being embedded.
 * json: checked, minified (numbers keep their text), {"$fragment": "NAME"} replaced by FRAGMENTS/NAME.json. */
#include "../core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static arena mem;
static const char *fragments;

static char *slurp(const char *path, size_t *ret_len) {
    FILE *f = fopen(path, "rbe");
    if (!f) {
        fprintf(stderr, "lastro-embed: cannot open %s\n", path);
        exit(1);
    }
    size_t cap = 1 << 16, len = 0, n;
    char *text = malloc(cap);
    while (text && (n = fread(text + len, 1, cap - len - 1, f)) > 0) {
        len += n;
        if (cap - len < 2)
            text = realloc(text, cap *= 2);
    }
    fclose(f);
    if (!text)
        exit(1);
    text[len] = '\0';
    *ret_len = len;
    return text;
}

static const json_value *load(const char *path) {
    size_t len;
    char *text = slurp(path, &len);
    json_error err;
    const json_value *v = json_read(&mem, text, len, NULL, &err);
    if (!v) {
        fprintf(stderr, "%s:%u:%u: %s\n", path, err.line, err.column, err.text);
        exit(1);
    }
    return v; /* the text lives as long as this short program */
}

static void copy(json_writer *w, const json_value *v, int depth);

static void copy_fragment(json_writer *w, const char *name, int depth) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.json", fragments, name);
    if (depth > 16) {
        fprintf(stderr, "lastro-embed: fragment %s contains itself\n", name);
        exit(1);
    }
    copy(w, load(path), depth + 1);
}

static void copy(json_writer *w, const json_value *v, int depth) {
    const json_value *fragment = json_member(v, "$fragment");
    if (fragment && json_count(v) == 1 && json_str(fragment)) {
        copy_fragment(w, json_str(fragment), depth);
        return;
    }
    if (json_is(v, JSON_OBJECT)) {
        json_begin_object(w);
        for (json_iter it = json_iterate(v); json_next(&it);) {
            json_text key = json_text_of(it.key);
            json_key_n(w, key.at, key.len);
            copy(w, it.value, depth);
        }
        json_end_object(w);
    } else if (json_is(v, JSON_ARRAY)) {
        json_begin_array(w);
        for (json_iter it = json_iterate(v); json_next(&it);)
            copy(w, it.value, depth);
        json_end_array(w);
    } else {
        json_write_value(w, v);
    }
}

static void put(const char *path, const char *data, size_t len) {
    FILE *f = fopen(path, "wbe");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f) != 0) {
        fprintf(stderr, "lastro-embed: cannot write %s\n", path);
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fputs("usage: lastro-embed json|raw SOURCE FRAGMENTS OUT\n", stderr);
        return 2;
    }
    arena_init(&mem, 0);
    fragments = argv[3];
    if (strcmp(argv[1], "raw") == 0) {
        size_t len;
        char *text = slurp(argv[2], &len);
        put(argv[4], text, len);
        free(text);
        return 0;
    }
    json_writer w;
    json_writer_init(&w, 0);
    copy(&w, load(argv[2]), 0);
    if (!json_writer_finish(&w)) {
        fprintf(stderr, "lastro-embed: %s: %s\n", argv[2], json_fault_text(w.fault));
        return 1;
    }
    put(argv[4], w.data, w.len);
    json_writer_free(&w);
    arena_free(&mem);
    return 0;
}
