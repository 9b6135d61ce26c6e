/* SPDX-License-Identifier: MIT */
/* lastro/lastro_jansson.h -- for authors who like jansson (2.14 or newer): values in, documents out. Optional
 * and header only; nothing of jansson crosses the border, so any version may sit on the other side.
 *
 * What is lost on the way in: jansson holds numbers as int64 or double, the border as decimal text.
 *   - An integer that fits an int64 (433, 433.0, 4.33e2) becomes a json_integer. Any other number becomes a
 * json_real: the nearest double, about 17 digits, and "6.60" is 6.6 from then on. A published figure that has
 * to go out as it came in does not take this road: use lastro_put_value, or lastro->text and
 * lastro_put_decimal.
 *   - A number beyond the range of a double (1e999) has no json_t: the conversion fails.
 * What is lost on the way out: nothing. Reals go through write_double (shortest text that reads back the
 * same); jansson itself would print 0.42 as 0.41999999999999998, so never hand json_dumps' text to a writer.
 */
#ifndef LASTRO_LASTRO_JANSSON_H
#define LASTRO_LASTRO_JANSSON_H

#include <jansson.h>
#include <lastro/lastro.h>

#if JANSSON_VERSION_HEX < 0x020E00
#error "lastro_jansson.h needs jansson 2.14 or newer (names with a length)"
#endif

static inline json_t *lastro_to_json(const lastro_value *v);

static inline json_t *lastro_to_json_number_(const lastro_value *v) {
    int64_t n;
    return lastro->int64(v, &n) ? json_integer((json_int_t)n) : json_real(lastro->number(v));
}

static inline json_t *lastro_to_json_container_(const lastro_value *v, bool object) {
    json_t *ret = object ? json_object() : json_array();
    lastro_iter it;
    for (lastro->iterate(v, &it); ret && lastro->next(&it);) {
        json_t *item = lastro_to_json(it.value); /* the setters take it, also when it is NULL or they fail */
        int failed = object ? json_object_setn_new(ret, it.key.at, it.key.len, item)
                            : json_array_append_new(ret, item);
        if (failed) {
            json_decref(ret);
            ret = NULL;
        }
    }
    return ret;
}

/* A new reference, the caller's. NULL: v is absent, out of memory, or a number beyond the range of a double.
 */
static inline json_t *lastro_to_json(const lastro_value *v) {
    switch (lastro->kind(v)) {
    case LASTRO_NULL:
        return json_null();
    case LASTRO_BOOL:
        return json_boolean(lastro->truth(v));
    case LASTRO_NUMBER:
        return lastro_to_json_number_(v);
    case LASTRO_STRING:
        return json_stringn(lastro->text(v).at, lastro->text(v).len);
    case LASTRO_ARRAY:
    case LASTRO_OBJECT:
        return lastro_to_json_container_(v, lastro->kind(v) == LASTRO_OBJECT);
    default:
        return NULL;
    }
}

/* Writes a whole document; NULL writes null. j stays the caller's. */
static inline void lastro_write_json(lastro_writer *w, const json_t *j) {
    const char *name;
    size_t i, len;
    json_t *item;
    switch (j ? json_typeof(j) : JSON_NULL) {
    case JSON_OBJECT:
        lastro->begin_object(w);
        json_object_keylen_foreach((json_t *)(uintptr_t)j, name, len, item) {
            lastro->key(w, name, len);
            lastro_write_json(w, item);
        }
        lastro->end_object(w);
        break;
    case JSON_ARRAY:
        lastro->begin_array(w);
        json_array_foreach(j, i, item) lastro_write_json(w, item);
        lastro->end_array(w);
        break;
    case JSON_STRING:
        lastro->write_text(w, json_string_value(j), json_string_length(j));
        break;
    case JSON_INTEGER:
        lastro->write_int(w, (int64_t)json_integer_value(j));
        break;
    case JSON_REAL:
        lastro->write_double(w, json_real_value(j));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        lastro->write_bool(w, json_is_true(j));
        break;
    case JSON_NULL:
        lastro->write_null(w);
        break;
    }
}

/* The same as a member. */
static inline void lastro_put_json(lastro_writer *w, const char *name, const json_t *j) {
    lastro_key(w, name);
    lastro_write_json(w, j);
}

#endif
