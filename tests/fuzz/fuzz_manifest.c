/* SPDX-License-Identifier: MIT */
/* Any bytes as manifest.json: read whole or refused with a reason that names the file; what is read keeps its promises. */
#include "json.h"
#include "manifest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            __builtin_trap();                                                                                          \
    } while (0)

static void check(const manifest *m) {
    MUST(m->name && m->version && m->root);
    MUST(m->limits.call_ms > 0 && m->limits.result_bytes > 0 && m->limits.message_bytes > 0 && m->limits.cache_bytes > 0 &&
         m->limits.workers > 0);
    MUST(m->limits.call_ms < INT64_MAX / 2 && (unsigned)m->limits.workers == m->limits.workers);
    for (size_t i = 0; i < m->plugin_count; i++) {
        const manifest_plugin *p = &m->plugins[i];
        MUST(p->name && p->library && p->isolation);
        MUST(!p->sha256 || strlen(p->sha256) == 64);
        for (json_iter it = json_iterate(p->tools); json_next(&it);)
            MUST(json_str(it.value));
        for (size_t j = 0; j < i; j++)
            MUST(strcmp(p->name, m->plugins[j].name) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/lastro-fuzz-%d.json", (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    close(file);
    lastro_error err = {0};
    manifest *m = manifest_load(path, &err);
    unlink(path);
    if (m) {
        check(m);
        manifest_destroy(m);
    } else {
        MUST(strncmp(err.text, path, strlen(path)) == 0 && err.text[strlen(path)] == ':');
        MUST(json_valid_utf8(err.text, strlen(err.text)) && strlen(err.text) > strlen(path) + 2);
    }
    return 0;
}
