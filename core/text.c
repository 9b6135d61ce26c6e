/* SPDX-License-Identifier: MIT */
#include "text.h"
#include "embedded.h"
#include "json.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *language;
    const char *json;
    const size_t *size;
} tables[] = {
    {"en", messages_host_en, &messages_host_en_size}, /* first: the fallback */
    {"pt-BR", messages_host_pt_br, &messages_host_pt_br_size},
};
enum { TABLES = sizeof tables / sizeof *tables };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static arena mem;
static const json_value *texts[TABLES];

static void load(void) {
    arena_init(&mem, 0);
    for (int i = 0; i < TABLES; i++)
        texts[i] = json_member(json_read_copy(&mem, tables[i].json, *tables[i].size, NULL, NULL), "texts");
}

static const json_value *table_of(const char *language) {
    pthread_once(&once, load);
    for (int i = 0; language && i < TABLES; i++)
        if (strcmp(tables[i].language, language) == 0)
            return texts[i];
    for (int i = 0; language && i < TABLES; i++)
        if (strncmp(tables[i].language, language, 2) == 0)
            return texts[i];
    return texts[0];
}

static const char *value_of(const char *const *pairs, const char *name, size_t len) {
    for (; pairs && pairs[0]; pairs += 2)
        if (strlen(pairs[0]) == len && memcmp(pairs[0], name, len) == 0)
            return pairs[1] ? pairs[1] : "";
    return NULL;
}

void text_tidy(char *text) {
    const char *end = text + strlen(text);
    char *to = text;
    for (const char *from = text; from < end;) {
        unsigned n = json_utf8_step(from, end);
        for (unsigned i = 0; i < n; i++)
            *to++ = from[i];
        from += n ? n : 1;
    }
    *to = '\0';
}

void text_render(const char *language, const char *key, char *buf, size_t size, const char *const *pairs) {
    const char *t = json_str(json_member(table_of(language), key));
    if (!t)
        t = json_str(json_member(texts[0], key));
    size_t at = 0;
    for (t = t ? t : key; *t && at + 1 < size;) {
        const char *end = *t == '{' ? strchr(t, '}') : NULL;
        const char *value = end ? value_of(pairs, t + 1, (size_t)(end - t - 1)) : NULL;
        if (!value) {
            buf[at++] = *t++;
            continue;
        }
        int n = snprintf(buf + at, size - at, "%s", value);
        at = n < 0 || (size_t)n >= size - at ? size - 1 : at + (size_t)n;
        t = end + 1;
    }
    buf[at] = '\0';
    text_tidy(buf);
}

const schema_messages *text_messages(const char *language) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static schema_messages *loaded[TABLES];
    int i = 0;
    for (int j = 0; language && j < TABLES; j++)
        if (strncmp(tables[j].language, language, 2) == 0)
            i = j;
    pthread_mutex_lock(&lock);
    if (!loaded[i])
        loaded[i] = schema_messages_builtin(tables[i].language);
    const schema_messages *m = loaded[i];
    pthread_mutex_unlock(&lock);
    return m;
}
