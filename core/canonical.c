/* SPDX-License-Identifier: MIT */
#include "canonical.h"
#include "sha256.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    json_text name;
    const json_value *value;
} member;

static int by_name(const void *a, const void *b) {
    json_text x = ((const member *)a)->name, y = ((const member *)b)->name;
    int d = memcmp(x.at, y.at, x.len < y.len ? x.len : y.len);
    return d ? d : x.len < y.len ? -1 : x.len > y.len;
}

void canonical_write(json_writer *w, const json_value *v, arena *scratch) {
    size_t n = json_count(v), i = 0;
    if (json_is(v, JSON_ARRAY)) {
        json_begin_array(w);
        for (json_iter it = json_iterate(v); json_next(&it);)
            canonical_write(w, it.value, scratch);
        json_end_array(w);
        return;
    }
    if (!json_is(v, JSON_OBJECT)) {
        json_write_value(w, v);
        return;
    }
    member *list = arena_array(scratch, member, n + 1);
    if (!list) {
        w->fault = JSON_W_NOMEM;
        return;
    }
    for (json_iter it = json_iterate(v); json_next(&it);)
        list[i++] = (member){json_text_of(it.key), it.value};
    qsort(list, n, sizeof *list, by_name);
    json_begin_object(w);
    for (i = 0; i < n; i++) {
        json_key_n(w, list[i].name.at, list[i].name.len);
        canonical_write(w, list[i].value, scratch);
    }
    json_end_object(w);
}

bool canonical_digest(const json_value *v, char buf[72]) {
    arena scratch;
    json_writer w;
    arena_init(&scratch, 0);
    json_writer_init(&w, 0);
    canonical_write(&w, v, &scratch);
    bool ok = json_writer_finish(&w);
    if (ok) {
        memcpy(buf, "sha256:", 7);
        sha256_text(w.data, w.len, buf + 7);
    }
    json_writer_free(&w);
    arena_free(&scratch);
    return ok;
}
