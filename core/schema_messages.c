/* SPDX-License-Identifier: MIT */
#include "schema_messages.h"

#include "embedded.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define X(name, key) key,
static const char *const keys[SCHEMA_MESSAGES] = {SCHEMA_MESSAGE_MAP(X)};
#undef X

#define WORD_MAP(X)                                                                                          \
    X(ROOT, "root")                                                                                          \
    X(NAME, "name")                                                                                          \
    X(SEPARATOR, "list.separator")                                                                           \
    X(LAST, "list.last")                                                                                     \
    X(MORE, "list.more")                                                                                     \
    X(TYPE_NULL, "type.null")                                                                                \
    X(TYPE_BOOLEAN, "type.boolean")                                                                          \
    X(TYPE_NUMBER, "type.number")                                                                            \
    X(TYPE_STRING, "type.string")                                                                            \
    X(TYPE_ARRAY, "type.array")                                                                              \
    X(TYPE_OBJECT, "type.object")                                                                            \
    X(TYPE_INTEGER, "type.integer")                                                                          \
    X(TYPE_ANY, "type.any")                                                                                  \
    X(ACTUAL_NULL, "actual.null")                                                                            \
    X(ACTUAL_BOOLEAN, "actual.boolean")                                                                      \
    X(ACTUAL_NUMBER, "actual.number")                                                                        \
    X(ACTUAL_STRING, "actual.string")                                                                        \
    X(ACTUAL_ARRAY, "actual.array")                                                                          \
    X(ACTUAL_ARRAY_ONE, "actual.array.one")                                                                  \
    X(ACTUAL_OBJECT, "actual.object")                                                                        \
    X(ACTUAL_OBJECT_ONE, "actual.object.one")
#define X(id, key) WORD_##id,
typedef enum { WORD_MAP(X) WORDS } word;
#undef X
#define X(id, key) key,
static const char *const word_keys[WORDS] = {WORD_MAP(X)};
#undef X

/* A message may have a form for the root value and one for a limit of 1. */
typedef enum { FORM_PLAIN, FORM_ROOT, FORM_ONE, FORMS } form;
static const char *const form_ends[FORMS] = {"", ".root", ".one"};

struct schema_messages {
    arena memory;
    const char *text[SCHEMA_MESSAGES][FORMS];
    const char *words[WORDS];
};

/* ---- writing ---- */

enum { NAME_SHOWN = 4 * SCHEMA_EXCERPT }; /* characters of a name, a place or a pattern */

typedef struct {
    char *buf;
    size_t size, len;
    const schema_messages *m;
    const schema_failure *f;
} output;

static void put(output *o, const char *text, size_t len) {
    if (o->len < o->size) {
        size_t room = o->size - o->len;
        memcpy(o->buf + o->len, text, len < room ? len : room);
    }
    o->len += len;
}

static void put_text(output *o, const char *text) {
    put(o, text, strlen(text));
}

static void put_count(output *o, uint64_t n) {
    char text[24];
    put(o, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)n));
}

/* {slot} in text replaced by len bytes at value. */
static void put_framed(output *o, const char *text, const char *slot, const char *value, size_t len) {
    const char *at = strstr(text, slot);
    if (!at) {
        put_text(o, text);
        return;
    }
    put(o, text, (size_t)(at - text));
    put(o, value, len);
    put_text(o, at + strlen(slot));
}

/* Text of the instance or the schema: control characters are escaped, and after most characters it is cut.
 * escaped: further characters that get a backslash. */
static void put_shown(output *o, json_text t, size_t most, const char *escaped) {
    for (size_t i = 0, shown = 0; i < t.len; shown++) {
        if (shown == most) {
            put_text(o, "…");
            return;
        }
        unsigned char c = (unsigned char)t.at[i];
        unsigned n = json_utf8_step(t.at + i, t.at + t.len);
        char text[8];
        if (c < 32 || c == 127)
            put(o, text, (size_t)snprintf(text, sizeof text, "\\u%04x", c));
        else if (strchr(escaped, c))
            put(o, text, (size_t)snprintf(text, sizeof text, "\\%c", c));
        else
            put(o, t.at + i, n ? n : 1);
        i += n ? n : 1;
    }
}

static void put_name(output *o, json_text name) {
    const char *frame = o->m->words[WORD_NAME], *at = strstr(frame, "{text}");
    put(o, frame, at ? (size_t)(at - frame) : strlen(frame));
    if (at) {
        put_shown(o, name, NAME_SHOWN, "");
        put_text(o, at + strlen("{text}"));
    }
}

static void put_quoted(output *o, json_text t) {
    put(o, "\"", 1);
    put_shown(o, t, SCHEMA_EXCERPT, "\"\\");
    put(o, "\"", 1);
}

static void put_container(output *o, const json_value *v) {
    json_writer w;
    json_writer_init(&w, 3 * SCHEMA_EXCERPT);
    json_write_value(&w, v);
    if (json_writer_finish(&w))
        put(o, w.data, w.len);
    else
        put_text(o, json_is(v, JSON_ARRAY) ? "[…]" : "{…}");
    json_writer_free(&w);
}

static void put_json(output *o, const json_value *v) {
    json_text t = json_text_of(v);
    switch (json_kind_of(v)) {
    case JSON_STRING:
        put_quoted(o, t);
        break;
    case JSON_NUMBER:
        put(o, t.at, t.len < SCHEMA_EXCERPT ? t.len : SCHEMA_EXCERPT);
        if (t.len > SCHEMA_EXCERPT)
            put_text(o, "…");
        break;
    case JSON_BOOL:
        put_text(o, json_bool(v) ? "true" : "false");
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        put_container(o, v);
        break;
    default:
        put_text(o, "null");
    }
}

static void put_joint(output *o, size_t i, size_t n) {
    if (i)
        put_text(o, o->m->words[i + 1 == n ? WORD_LAST : WORD_SEPARATOR]);
}

/* ---- placeholders ---- */

static bool names_members(schema_message m) {
    return m == SCHEMA_SAYS_UNKNOWN || m == SCHEMA_SAYS_UNKNOWN_NEAREST || m == SCHEMA_SAYS_ANY_REQUIRED;
}

static void put_member(output *o) {
    if (*o->f->member)
        put_name(o, (json_text){o->f->member, strlen(o->f->member)});
    else
        put_text(o, o->m->words[WORD_ROOT]);
}

static void put_expected(output *o) {
    static const uint8_t order[] = {WORD_TYPE_INTEGER, WORD_TYPE_NUMBER, WORD_TYPE_STRING, WORD_TYPE_BOOLEAN,
                                    WORD_TYPE_ARRAY,   WORD_TYPE_OBJECT, WORD_TYPE_NULL};
    static const uint32_t bits[WORDS] = {
        [WORD_TYPE_INTEGER] = SCHEMA_INTEGER_BIT, [WORD_TYPE_NUMBER] = 1u << JSON_NUMBER,
        [WORD_TYPE_STRING] = 1u << JSON_STRING,   [WORD_TYPE_BOOLEAN] = 1u << JSON_BOOL,
        [WORD_TYPE_ARRAY] = 1u << JSON_ARRAY,     [WORD_TYPE_OBJECT] = 1u << JSON_OBJECT,
        [WORD_TYPE_NULL] = 1u << JSON_NULL,
    };
    uint32_t types = o->f->types;
    if (types >> JSON_NUMBER & 1)
        types &= ~(uint32_t)SCHEMA_INTEGER_BIT;
    uint8_t list[sizeof order];
    size_t n = 0;
    for (size_t i = 0; i < sizeof order; i++)
        if (types & bits[order[i]])
            list[n++] = order[i];
    if (n == 0 || n >= 6)
        put_text(o, o->m->words[WORD_TYPE_ANY]);
    for (size_t i = 0; n < 6 && i < n; i++) {
        put_joint(o, i, n);
        put_text(o, o->m->words[list[i]]);
    }
}

static void put_actual(output *o) {
    static const uint8_t words[] = {[JSON_ABSENT] = WORD_ACTUAL_NULL,   [JSON_NULL] = WORD_ACTUAL_NULL,
                                    [JSON_BOOL] = WORD_ACTUAL_BOOLEAN,  [JSON_NUMBER] = WORD_ACTUAL_NUMBER,
                                    [JSON_STRING] = WORD_ACTUAL_STRING, [JSON_ARRAY] = WORD_ACTUAL_ARRAY,
                                    [JSON_OBJECT] = WORD_ACTUAL_OBJECT};
    json_kind kind = json_kind_of(o->f->value);
    size_t count = json_count(o->f->value);
    word w = (word)words[kind];
    if (kind >= JSON_ARRAY) {
        char text[24];
        int n = snprintf(text, sizeof text, "%zu", count);
        put_framed(o, o->m->words[count == 1 ? w + 1 : w], "{count}", text, (size_t)n);
        return;
    }
    char text[SCHEMA_EXCERPT * 6 + 16];
    output value = {.buf = text, .size = sizeof text, .m = o->m, .f = o->f};
    put_json(&value, o->f->value);
    put_framed(o, o->m->words[w], "{value}", text, value.len < sizeof text ? value.len : sizeof text);
}

static void put_choices(output *o) {
    size_t n = o->f->choice_count, shown = n <= SCHEMA_CHOICES_SHOWN ? n : SCHEMA_CHOICES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        put_joint(o, i, shown == n ? n : n + 1);
        if (names_members(o->f->message))
            put_name(o, o->f->choices[i]);
        else
            put(o, o->f->choices[i].at, o->f->choices[i].len);
    }
    if (shown < n) {
        char text[24];
        put_framed(o, o->m->words[WORD_MORE], "{count}", text,
                   (size_t)snprintf(text, sizeof text, "%zu", n - shown));
    }
}

static void put_nearest(output *o) {
    if (names_members(o->f->message))
        put_name(o, o->f->nearest);
    else
        put(o, o->f->nearest.at ? o->f->nearest.at : "", o->f->nearest.len);
}

static void put_its_name(output *o) {
    put_name(o, o->f->name);
}

static void put_other(output *o) {
    put_name(o, o->f->other);
}

static void put_hint(output *o) {
    put(o, o->f->hint.at ? o->f->hint.at : "", o->f->hint.len);
}

static void put_limit(output *o) {
    put_count(o, o->f->limit);
}

static void put_found(output *o) {
    put_count(o, o->f->count);
}

static void put_rule(output *o) {
    put_json(o, o->f->rule);
}

static void put_pattern(output *o) {
    put_shown(o, json_text_of(o->f->rule), NAME_SHOWN, "");
}

static const struct {
    const char *name;
    void (*put)(output *o);
} placeholders[] = {
    {"member", put_member}, {"expected", put_expected}, {"actual", put_actual},   {"name", put_its_name},
    {"other", put_other},   {"choices", put_choices},   {"nearest", put_nearest}, {"hint", put_hint},
    {"limit", put_limit},   {"count", put_found},       {"rule", put_rule},       {"pattern", put_pattern},
};
enum { PLACEHOLDERS = sizeof placeholders / sizeof *placeholders };

/* The placeholder that begins at the brace; PLACEHOLDERS: none of ours. *ret_after: behind its brace. */
static size_t placeholder_at(const char *brace, const char **ret_after) {
    const char *close = strchr(brace, '}');
    size_t len = close ? (size_t)(close - brace - 1) : 0, i = 0;
    while (i < PLACEHOLDERS &&
           !(close && strlen(placeholders[i].name) == len && !memcmp(placeholders[i].name, brace + 1, len)))
        i++;
    *ret_after = close ? close + 1 : brace + strlen(brace);
    return i;
}

static const char *choose(const schema_messages *m, const schema_failure *f) {
    const char *const *forms = m->text[f->message];
    if (!*f->member && forms[FORM_ROOT])
        return forms[FORM_ROOT];
    return f->limit == 1 && forms[FORM_ONE] ? forms[FORM_ONE] : forms[FORM_PLAIN];
}

/* A cut must not split a character. */
static void terminate(const output *o) {
    if (!o->size)
        return;
    size_t end = o->len < o->size ? o->len : o->size - 1;
    while (o->len >= o->size && end && ((unsigned char)o->buf[end] & 0xc0) == 0x80)
        end--;
    o->buf[end] = '\0';
}

size_t schema_message_render(const schema_messages *m, const schema_failure *f, char *buf, size_t size) {
    output o = {.buf = buf, .size = size, .m = m, .f = f};
    for (const char *at = choose(m, f); *at;) {
        size_t plain = strcspn(at, "{");
        put(&o, at, plain);
        at += plain;
        if (*at) {
            size_t i = placeholder_at(at, &at);
            if (i < PLACEHOLDERS)
                placeholders[i].put(&o);
        }
    }
    terminate(&o);
    if (size && buf[0] >= 'a' && buf[0] <= 'z')
        buf[0] = (char)(buf[0] - 'a' + 'A');
    return o.len;
}

/* ---- loading ---- */

typedef struct {
    char *text;
    size_t size;
} complaint;

__attribute__((format(printf, 2, 3))) static bool complain(complaint c, const char *fmt, ...) {
    if (c.text) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(c.text, c.size, fmt, ap);
        va_end(ap);
    }
    return false;
}

static bool check_text(const char *key, const char *text, complaint c) {
    for (const char *at = strchr(text, '{'); at; at = strchr(at, '{')) {
        const char *after;
        if (placeholder_at(at, &after) == PLACEHOLDERS)
            return complain(c, "messages.%s: unknown placeholder %.*s", key, (int)(after - at), at);
        at = after;
    }
    return true;
}

static bool read_message(schema_messages *m, const json_value *table, size_t i, complaint c) {
    for (size_t k = 0; k < FORMS; k++) {
        char key[80];
        snprintf(key, sizeof key, "%s%s", keys[i], form_ends[k]);
        m->text[i][k] = json_str(json_member(table, key));
        if (m->text[i][k] && !check_text(key, m->text[i][k], c))
            return false;
    }
    return m->text[i][FORM_PLAIN] || complain(c, "messages.%s is missing", keys[i]);
}

/* key is one of ours, perhaps with the ending of a form. */
static bool is_message_key(json_text key) {
    for (size_t i = 0; i < SCHEMA_MESSAGES; i++)
        for (size_t k = 0; k < FORMS; k++) {
            size_t n = strlen(keys[i]), end = strlen(form_ends[k]);
            if (key.len == n + end && !memcmp(key.at, keys[i], n) && !memcmp(key.at + n, form_ends[k], end))
                return true;
        }
    return false;
}

static bool read_table(schema_messages *m, const json_value *root, complaint c) {
    const json_value *messages = json_member(root, "messages"), *words = json_member(root, "words");
    for (json_iter it = json_iterate(messages); json_next(&it);)
        if (!is_message_key(json_text_of(it.key)))
            return complain(c, "messages.%s is none of the keys", it.key->u.text);
    for (size_t i = 0; i < SCHEMA_MESSAGES; i++)
        if (!read_message(m, messages, i, c))
            return false;
    for (size_t i = 0; i < WORDS; i++)
        if (!(m->words[i] = json_str(json_member(words, word_keys[i]))))
            return complain(c, "words.%s is missing", word_keys[i]);
    return true;
}

schema_messages *schema_messages_load(const char *json, size_t len, char *err, size_t err_size) {
    complaint c = {err_size ? err : NULL, err_size};
    schema_messages *m = calloc(1, sizeof *m);
    if (!m)
        return (void)complain(c, "out of memory"), NULL;
    arena_init(&m->memory, 0);
    json_error at;
    const json_value *root = json_read_copy(&m->memory, json, len, NULL, &at);
    bool ok = root ? read_table(m, root, c) : complain(c, "%u:%u: %s", at.line, at.column, at.text);
    if (ok)
        return m;
    schema_messages_free(m);
    return NULL;
}

void schema_messages_free(schema_messages *m) {
    if (!m)
        return;
    arena_free(&m->memory);
    free(m);
}

static const struct {
    const char *language, *text;
    const size_t *size;
} tables[] = {{"en", messages_en, &messages_en_size}, {"pt-BR", messages_pt_br, &messages_pt_br_size}};

const char *schema_messages_text(const char *language, size_t *ret_len) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t n = strcspn(tables[i].language, "-");
        if (strncasecmp(language, tables[i].language, n) != 0 || (language[n] && !strchr("-_.", language[n])))
            continue;
        *ret_len = *tables[i].size;
        return tables[i].text;
    }
    return NULL;
}

schema_messages *schema_messages_builtin(const char *language) {
    size_t len = messages_en_size;
    const char *text = language ? schema_messages_text(language, &len) : messages_en;
    return schema_messages_load(text ? text : messages_en, text ? len : messages_en_size, NULL, 0);
}
