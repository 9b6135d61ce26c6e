/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p) {
    if (!p) {
        fputs("bcb-sim: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *sim_alloc(size_t count, size_t size) {
    return or_die(calloc(count ? count : 1, size));
}

void *sim_grow(void *old, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        or_die(NULL);
    return or_die(realloc(old, count * size));
}

char *sim_copy(const char *text, size_t len) {
    char *copy = sim_alloc(len + 1, 1);
    memcpy(copy, text, len);
    return copy;
}

static void text_reserve(sim_text *t, size_t more) {
    if (t->len + more + 1 <= t->cap)
        return;
    size_t cap = t->cap ? t->cap : 256;
    while (cap < t->len + more + 1)
        cap *= 2;
    t->at = sim_grow(t->at, cap, 1);
    t->cap = cap;
}

void text_add(sim_text *t, const char *at, size_t len) {
    text_reserve(t, len);
    if (len)
        memcpy(t->at + t->len, at, len);
    t->len += len;
    t->at[t->len] = '\0';
}

void text_adds(sim_text *t, const char *s) {
    text_add(t, s, strlen(s));
}

void text_addf(sim_text *t, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len > 0) {
        text_reserve(t, (size_t)len);
        vsnprintf(t->at + t->len, (size_t)len + 1, fmt, again);
        t->len += (size_t)len;
    }
    va_end(again);
}

void text_add_json(sim_text *t, const char *s) {
    text_add(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_addf(t, "\\%c", c);
        else if (c < 0x20)
            text_addf(t, "\\u%04x", c);
        else
            text_add(t, s, 1);
    }
    text_add(t, "\"", 1);
}

void text_free(sim_text *t) {
    free(t->at);
    *t = (sim_text){0};
}

bool slice_is(sim_slice s, const char *text) {
    return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

char *file_read(const char *path, size_t *ret_len) {
    FILE *f = fopen(path, "rbe");
    if (!f)
        return NULL;
    sim_text t = {0};
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, f)) > 0)
        text_add(&t, block, got);
    bool broken = ferror(f) != 0;
    fclose(f);
    if (broken) {
        text_free(&t);
        return NULL;
    }
    text_add(&t, "", 0); /* an empty file is an empty text, not NULL */
    if (ret_len)
        *ret_len = t.len;
    return t.at;
}

static bool ends_with(const char *name, const char *suffix) {
    size_t n = strlen(name), s = strlen(suffix);
    return n >= s && strcmp(name + n - s, suffix) == 0;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **folder_list(const char *folder, const char *suffix, size_t *ret_count) {
    char **names = NULL;
    size_t count = 0;
    DIR *dir = opendir(folder);
    /* readdir is safe here: each DIR stays in the thread that opened it */
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!ends_with(entry->d_name, suffix))
            continue;
        names = sim_grow(names, count + 1, sizeof *names);
        names[count++] = sim_copy(entry->d_name, strlen(entry->d_name));
    }
    if (dir)
        closedir(dir);
    if (count)
        qsort(names, count, sizeof *names, by_text);
    *ret_count = count;
    return names;
}

void folder_list_free(char **names, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

char *path_join(const char *folder, const char *name) {
    sim_text t = {0};
    text_addf(&t, "%s/%s", folder, name);
    return t.at;
}
