/* SPDX-License-Identifier: MIT */
/* lastro/lastro.h -- the one header of a plugin. It declares nothing new: short names for the host's table, a way to
 * fail in one line, and the macro that makes a shared library a plugin. template/ shows all of it at work.
 *
 * In exactly one file:   LASTRO_PLUGIN(my_plugin)   with   static const lastro_plugin my_plugin = {LASTRO_PLUGIN_HEAD, …};
 * It exports the entry, writes the ELF note, and sets `lastro` before init is called.
 */
#ifndef LASTRO_LASTRO_H
#define LASTRO_LASTRO_H

#include <lastro/abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The host's table, set before init; hidden, so two plugins never share it. */
extern __attribute__((visibility("hidden"))) const lastro_host *lastro;

#define LASTRO_PLUGIN_HEAD .magic = LASTRO_MAGIC, .abi = LASTRO_ABI, .size = (uint32_t)sizeof(lastro_plugin)

struct lastro_note {
    uint32_t name_size, desc_size, type;
    char name[8];
    uint32_t abi, plugin_size;
};
#define LASTRO_PLUGIN(descriptor)                                                                               \
    __attribute__((visibility("hidden"))) const lastro_host *lastro;                                            \
    __attribute__((section(".note.lastro"), used, aligned(4))) static const struct lastro_note lastro_note_ = { \
        7, 8, LASTRO_NOTE_TYPE, LASTRO_NOTE_NAME, LASTRO_ABI, (uint32_t)sizeof(lastro_plugin)};                 \
    static lastro_status lastro_init_(const lastro_host *host, lastro_registrar *r, void **self, lastro_error *e) { \
        lastro = host; /* before the author's first line */                                                     \
        return (descriptor).init(host, r, self, e);                                                             \
    }                                                                                                           \
    __attribute__((visibility("default"))) const lastro_plugin *lastro_plugin_entry(void);                      \
    const lastro_plugin *lastro_plugin_entry(void) {                                                            \
        static lastro_plugin filled;                                                                            \
        filled = (descriptor);                                                                                  \
        filled.init = (descriptor).init ? lastro_init_ : NULL;                                                  \
        return &filled;                                                                                         \
    }

#define LASTRO_CLEANUP(fn) __attribute__((cleanup(fn)))
#define LASTRO_COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- errors ---- */

/* Cuts a text that did not fit at a whole character. */
static inline void lastro_trim_utf8(char *text, size_t len) {
    size_t n = len;
    while (n && ((unsigned char)text[n - 1] & 0xC0) == 0x80)
        n--;
    if (!n)
        return;
    unsigned char lead = (unsigned char)text[n - 1];
    size_t want = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    text[n - 1 + want <= len ? n - 1 + want : n - 1] = '\0';
}

/* Fills err (may be NULL) and returns status, so that failing is one line. */
__attribute__((format(printf, 3, 4))) static inline lastro_status lastro_fail(lastro_error *err, lastro_status status,
                                                                              const char *fmt, ...) {
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = (int32_t)status;
        int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        if (n >= (int)sizeof err->text)
            lastro_trim_utf8(err->text, sizeof err->text - 1);
    }
    return status;
}

/* ---- reading values ---- */

static inline const lastro_value *lastro_get(const lastro_value *object, const char *name) {
    return lastro->member(object, name, strlen(name));
}
static inline bool lastro_has(const lastro_value *object, const char *name) {
    return lastro_get(object, name) != NULL;
}
static inline bool lastro_is(const lastro_value *v, int32_t kind) {
    return lastro->kind(v) == kind;
}
/* A member's text; fallback when it is absent or no string. */
static inline lastro_text lastro_get_text(const lastro_value *object, const char *name, const char *fallback) {
    const lastro_value *v = lastro_get(object, name);
    if (lastro->kind(v) == LASTRO_STRING)
        return lastro->text(v);
    return (lastro_text){fallback, fallback ? strlen(fallback) : 0};
}
static inline int64_t lastro_get_int(const lastro_value *object, const char *name, int64_t fallback) {
    int64_t n;
    return lastro->int64(lastro_get(object, name), &n) ? n : fallback;
}
static inline bool lastro_get_bool(const lastro_value *object, const char *name, bool fallback) {
    const lastro_value *v = lastro_get(object, name);
    return lastro->kind(v) == LASTRO_BOOL ? lastro->truth(v) : fallback;
}
static inline bool lastro_text_is(lastro_text text, const char *what) {
    return text.at && strlen(what) == text.len && memcmp(text.at, what, text.len) == 0;
}
/* A NUL-terminated copy that lives as long as the call; NULL: budget spent, or no text. */
static inline char *lastro_copy(lastro_call *call, lastro_text text) {
    char *p = text.at ? (char *)lastro->alloc(call, text.len + 1) : NULL;
    if (p)
        memcpy(p, text.at, text.len);
    return p;
}
__attribute__((format(printf, 2, 3))) static inline char *lastro_format(lastro_call *call, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : (char *)lastro->alloc(call, (size_t)n + 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

/* ---- writing: put_* inside an object, add_* inside an array ---- */

static inline void lastro_key(lastro_writer *w, const char *name) {
    lastro->key(w, name, strlen(name));
}
static inline void lastro_put_text(lastro_writer *w, const char *name, const char *text) {
    lastro_key(w, name);
    if (text)
        lastro->write_text(w, text, strlen(text));
    else
        lastro->write_null(w);
}
static inline void lastro_put_string(lastro_writer *w, const char *name, lastro_text text) {
    lastro_key(w, name);
    if (text.at)
        lastro->write_text(w, text.at, text.len);
    else
        lastro->write_null(w);
}
static inline void lastro_put_int(lastro_writer *w, const char *name, int64_t value) {
    lastro_key(w, name);
    lastro->write_int(w, value);
}
static inline void lastro_put_double(lastro_writer *w, const char *name, double value) {
    lastro_key(w, name);
    lastro->write_double(w, value);
}
static inline void lastro_put_decimal(lastro_writer *w, const char *name, lastro_text digits) {
    lastro_key(w, name);
    if (digits.at)
        lastro->write_decimal(w, digits.at, digits.len);
    else
        lastro->write_null(w);
}
static inline void lastro_put_bool(lastro_writer *w, const char *name, bool value) {
    lastro_key(w, name);
    lastro->write_bool(w, value);
}
static inline void lastro_put_null(lastro_writer *w, const char *name) {
    lastro_key(w, name);
    lastro->write_null(w);
}
static inline void lastro_put_value(lastro_writer *w, const char *name, const lastro_value *v) {
    lastro_key(w, name);
    lastro->write_value(w, v);
}
static inline void lastro_put_object(lastro_writer *w, const char *name) {
    lastro_key(w, name);
    lastro->begin_object(w);
}
static inline void lastro_put_array(lastro_writer *w, const char *name) {
    lastro_key(w, name);
    lastro->begin_array(w);
}
static inline void lastro_add_text(lastro_writer *w, const char *text) {
    lastro->write_text(w, text, strlen(text));
}

/* What was written into a scratch writer, as JSON text that lives as long as the call: params of a question, the text of a
 * resource. NULL with err filled: it is no JSON value, or the budget is spent. */
static inline const char *lastro_written(lastro_call *call, lastro_writer *scratch, lastro_error *err) {
    const lastro_value *v = lastro->finish(call, scratch, err);
    const char *text = v ? lastro->to_json(call, v).at : NULL;
    if (v && !text)
        lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    return text;
}

/* One text item after the structured result, or the whole result of a tool without outputSchema. */
static inline void lastro_content_text(lastro_call *call, const char *text) {
    lastro_writer *w = lastro->content(call);
    lastro->begin_object(w);
    lastro_put_text(w, "type", "text");
    lastro_put_text(w, "text", text);
    lastro->end_object(w);
}
/* One content object of a resource. */
static inline void lastro_resource_text(lastro_writer *contents, lastro_text uri, const char *mime_type, lastro_text text) {
    lastro->begin_object(contents);
    lastro_put_string(contents, "uri", uri);
    lastro_put_text(contents, "mimeType", mime_type);
    lastro_put_string(contents, "text", text);
    lastro->end_object(contents);
}
/* One message of a prompt. role: "user" or "assistant". */
static inline void lastro_message_text(lastro_writer *messages, const char *role, const char *text) {
    lastro->begin_object(messages);
    lastro_put_text(messages, "role", role);
    lastro_put_object(messages, "content");
    lastro_put_text(messages, "type", "text");
    lastro_put_text(messages, "text", text);
    lastro->end_object(messages);
    lastro->end_object(messages);
}

#endif
