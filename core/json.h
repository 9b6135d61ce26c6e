/* SPDX-License-Identifier: MIT */
/* json.h -- the project's own read-only JSON document and streaming writer.
 *
 * A document is one flat array of nodes in an arena; strings and numbers point into the text that was read,
 * so a number keeps the very digits of its source. Documents are immutable once read: any thread may read them.
 *
 * Policy, also tested: RFC 8259; UTF-8 only, a leading BOM is refused; lone surrogates in escapes are refused;
 * duplicate member names in one object are refused unless json_limits asks for the last; nesting and size are bounded
 * by json_limits; numbers may have any length (their text is kept), nothing is rounded while reading.
 */
#ifndef LASTRO_CORE_JSON_H
#define LASTRO_CORE_JSON_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is part of the plugin border (sdk/lastro/abi.h has the same numbers). */
typedef enum {
    JSON_ABSENT = 0,
    JSON_NULL = 1,
    JSON_BOOL = 2,
    JSON_NUMBER = 3,
    JSON_STRING = 4,
    JSON_ARRAY = 5,
    JSON_OBJECT = 6
} json_kind;

/* A node. Opaque to plugins; the fields are for json*.c and the inline accessors here only.
 *   tag     low 8 bits: kind; bit 8: boolean value; bit 9: number has neither point nor exponent;
 *           high 48 bits (tag >> 16): string/number: bytes; array: items; object: members
 *   text    string (decoded, NUL-terminated as a convenience) or number (as written)
 *   span    array/object: nodes up to the node after it, itself included
 * An object's members follow it as key node, value node, key node, ...; an array's items follow it. */
typedef struct lastro_value {
    uint64_t tag;
    union {
        const char *text;
        uint64_t span;
    } u;
} json_value;

typedef struct {
    const char *at;
    size_t len;
} json_text;

typedef struct {
    uint32_t depth;     /* containers inside one another; 0: JSON_DEPTH_DEFAULT */
    size_t bytes;       /* longest text accepted; 0: no bound */
    size_t nodes;       /* most nodes; 0: no bound */
    bool last_wins;     /* of members of one name the last stays, as JavaScript reads them; false: refused */
} json_limits;
enum { JSON_DEPTH_DEFAULT = 512 };

typedef struct {
    size_t offset;      /* byte where reading stopped */
    unsigned line, column; /* 1-based, column in bytes */
    char text[160];     /* what was wrong, in English */
} json_error;

/* Reads the len bytes at text, which are CHANGED (escapes are decoded in place) and must outlive the document.
 * text[len] must be readable and writable (one spare byte). Nodes come from a. limits may be NULL.
 * Returns the root, or NULL with err filled (err may be NULL). Nothing but white space may follow the value. */
const json_value *json_read(arena *a, char *text, size_t len, const json_limits *limits, json_error *err);

/* The same for text that must not change: copied into a first. */
const json_value *json_read_copy(arena *a, const char *text, size_t len, const json_limits *limits, json_error *err);

/* ---- reading: every accessor takes NULL (absent) ---- */

static inline json_kind json_kind_of(const json_value *v) {
    return v ? (json_kind)(v->tag & 0xff) : JSON_ABSENT;
}
static inline size_t json_count(const json_value *v) {
    return v && (v->tag & 0xff) >= JSON_ARRAY ? (size_t)(v->tag >> 16) : 0;
}
static inline bool json_is(const json_value *v, json_kind kind) {
    return json_kind_of(v) == kind;
}
static inline bool json_bool(const json_value *v) {
    return v && (v->tag & 0xff) == JSON_BOOL && (v->tag & 0x100);
}
/* The text of a string (decoded) or of a number (as written); {NULL, 0} for anything else. */
static inline json_text json_text_of(const json_value *v) {
    json_kind k = json_kind_of(v);
    return k == JSON_STRING || k == JSON_NUMBER ? (json_text){v->u.text, (size_t)(v->tag >> 16)} : (json_text){0};
}
/* The node after v and all that is in it (past the end for the last one: count before stepping). */
static inline const json_value *json_skip(const json_value *v) {
    return v + ((v->tag & 0xff) >= JSON_ARRAY ? v->u.span : 1);
}

/* for (json_iter it = json_iterate(v); json_next(&it);) use it.key (NULL in arrays) and it.value */
typedef struct {
    const json_value *key, *value;
    const json_value *next;
    size_t left;
    bool object;
} json_iter;
static inline json_iter json_iterate(const json_value *v) {
    return (json_iter){.next = v ? v + 1 : NULL, .left = json_count(v), .object = json_is(v, JSON_OBJECT)};
}
static inline bool json_next(json_iter *it) {
    if (!it->left)
        return false;
    it->left--;
    it->key = it->object ? it->next : NULL;
    it->value = it->object ? it->next + 1 : it->next;
    it->next = json_skip(it->value);
    return true;
}

const json_value *json_member(const json_value *object, const char *name); /* NULL: none, or not an object */
const json_value *json_member_n(const json_value *object, const char *name, size_t len);
const json_value *json_at(const json_value *array, size_t index);
/* RFC 6901 pointer ("" is v itself), already without percent escapes; NULL: nothing there. */
const json_value *json_pointer(const json_value *v, const char *pointer, size_t len);

bool json_text_is(const json_value *v, const char *text); /* v is that string */
const char *json_str(const json_value *v);                /* NUL-terminated string; NULL: not a string, or it holds a NUL */

/* True and *ret set when v is a number whose value is an integer that fits (433, 433.0, 4.33e2, -0). */
bool json_int64(const json_value *v, int64_t *ret);
/* Nearest double (correctly rounded; may be infinite for 1e999); 0.0 for anything but a number. */
double json_double(const json_value *v);
/* Values equal as JSON Schema sees it: 1 equals 1.0, members in any order. Exact, no doubles. */
bool json_equal(const json_value *a, const json_value *b);
/* -1, 0, 1: a against b, exact decimal comparison; both must be numbers. */
int json_number_compare(const json_value *a, const json_value *b);
/* Value of a JSON number text is a mathematical integer. */
bool json_number_is_integer(const json_value *v);
/* a is an exact multiple of b (b > 0), in decimal: 0.07 of 0.01. False when b has over 1000 significant digits. */
bool json_number_is_multiple(const json_value *a, const json_value *b);

/* len bytes at text are one JSON number token. */
bool json_valid_number(const char *text, size_t len);
/* len bytes at text are valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool json_valid_utf8(const char *text, size_t len);
/* Bytes of the valid UTF-8 sequence at at (1 to 4); 0: what stands there is none, or it goes beyond end. */
unsigned json_utf8_step(const char *at, const char *end);
/* Code points in valid UTF-8. */
size_t json_code_points(const char *text, size_t len);

/* ---- writing ---- */

/* A streaming writer over a growing malloc'ed buffer. It keeps track of nesting, so a misuse (value without
 * key, unbalanced end) sets `fault` instead of writing a broken document; so do bytes that are not UTF-8
 * (they are refused, not repaired), numbers that are not numbers, no memory, and passing `limit`.
 * After a fault every call does nothing. One thread at a time. */
typedef enum { JSON_W_OK = 0, JSON_W_MISUSE, JSON_W_UTF8, JSON_W_NUMBER, JSON_W_NOMEM, JSON_W_LIMIT } json_fault;
typedef struct lastro_writer {
    char *data;       /* what was written so far; NUL-terminated after json_writer_finish */
    size_t len, cap;
    size_t limit;     /* most bytes; 0: no bound */
    json_fault fault;
    unsigned indent;  /* 0: compact; else spaces per level (for people) */
    uint32_t depth;
    bool after_key;   /* a key was written, its value is due */
    bool comma;       /* the next item of this container is not its first */
    uint8_t object[128]; /* bit per level: 1 object, 0 array (so at most 1024 levels; more: JSON_W_LIMIT) */
} json_writer;

void json_writer_init(json_writer *w, size_t limit);
void json_writer_free(json_writer *w);
void json_writer_reset(json_writer *w); /* empty again, buffer kept */
/* True when exactly one whole value was written and no fault: data/len hold it, NUL-terminated. */
bool json_writer_finish(json_writer *w);
const char *json_fault_text(json_fault fault);

void json_begin_object(json_writer *w);
void json_end_object(json_writer *w);
void json_begin_array(json_writer *w);
void json_end_array(json_writer *w);
void json_key(json_writer *w, const char *name);
void json_key_n(json_writer *w, const char *name, size_t len);
void json_write_string(json_writer *w, const char *text); /* NULL writes null */
void json_write_string_n(json_writer *w, const char *text, size_t len);
void json_write_int(json_writer *w, int64_t value);
void json_write_uint(json_writer *w, uint64_t value);
/* Shortest decimal text that reads back as the same double; not finite: fault JSON_W_NUMBER. -0 writes 0. */
void json_write_double(json_writer *w, double value);
void json_write_number(json_writer *w, const char *text, size_t len); /* checked, written as it is */
void json_write_bool(json_writer *w, bool value);
void json_write_null(json_writer *w);
void json_write_value(json_writer *w, const json_value *v);           /* a copy; numbers keep their text; NULL writes null */
/* A text that is known to be one JSON value (already written by us); not checked. */
void json_write_raw(json_writer *w, const char *json, size_t len);

#endif
