/* SPDX-License-Identifier: MIT */
/* json_write.c -- the streaming writer. Room is made for the worst case of a piece before it is written, so
 * the loops inside a piece ask for nothing; the limit is looked at after each piece.
 *
 * Numbers are printed and read back with the C library: the program never calls setlocale. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    LEVELS_MAX = 1024, /* bits in json_writer.object */
    PIECE = 1024,      /* bytes of a string escaped at a time: six times this are reserved */
    ESCAPED = 6,       /* "\u0001", the longest a byte becomes */
    WIDE = 16,         /* bytes a wide store may write beyond what counts */
    FIRST_CAP = 256
};

/* ---- the buffer ---- */

static bool fault(json_writer *w, json_fault what) {
    if (!w->fault)
        w->fault = what;
    return false;
}

static __attribute__((noinline)) bool grow(json_writer *w, size_t more) {
    size_t cap = w->cap ? w->cap : FIRST_CAP;
    if (more > SIZE_MAX / 4 - w->len)
        return fault(w, JSON_W_NOMEM);
    while (cap - w->len < more)
        cap *= 2;
    char *data = realloc(w->data, cap);
    if (!data)
        return fault(w, JSON_W_NOMEM);
    w->data = data;
    w->cap = cap;
    return true;
}

/* Room for more bytes after those written. */
static inline bool room(json_writer *w, size_t more) {
    return w->cap - w->len >= more || grow(w, more);
}

/* What stands up to p is written. */
static inline bool commit(json_writer *w, const char *p) {
    size_t len = (size_t)(p - w->data);
    if (w->limit && len > w->limit)
        return fault(w, JSON_W_LIMIT);
    w->len = len;
    return true;
}

static bool put(json_writer *w, const char *text, size_t len) {
    if (!room(w, len))
        return false;
    if (len)
        memcpy(w->data + w->len, text, len);
    return commit(w, w->data + w->len + len);
}

static inline bool put_char(json_writer *w, char c) {
    if (!room(w, 1))
        return false;
    w->data[w->len] = c;
    return commit(w, w->data + w->len + 1);
}

static bool put_line(json_writer *w, uint32_t depth) {
    size_t blanks = (size_t)w->indent * depth;
    if (!room(w, blanks + 1))
        return false;
    char *p = w->data + w->len;
    *p++ = '\n';
    memset(p, ' ', blanks);
    return commit(w, p + blanks);
}

/* ---- strings ---- */

/* What follows the backslash for a byte; 'u': four digits; 0: the byte stands for itself. */
#define U4 'u', 'u', 'u', 'u'
static const char escape_of[256] = {U4,  U4,  'b', 't', 'n', 'u', 'f',         'r',
                                    'u', 'u', U4,  U4,  U4,  U4,  ['"'] = '"', ['\\'] = '\\'};
#undef U4

static inline char *put_escape(char *out, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    char e = escape_of[c];
    *out++ = '\\';
    *out++ = e;
    if (e == 'u') {
        *out++ = '0';
        *out++ = '0';
        *out++ = hex[c >> 4];
        *out++ = hex[c & 15];
    }
    return out;
}

/* Copies from *from to out up to the first byte that needs care: one to escape, or with checked any beyond
 * ASCII. Returns the end of the copy; *from is where it stopped, end if nowhere. */
static inline char *copy_run(char *out, const char **from, const char *end, bool checked) {
    const char *p = *from;
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), below = _mm_set1_epi8(0x1f);
    while (end - p >= WIDE) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i care = checked ? _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)) /* signed: and all beyond ASCII */
                               : _mm_cmpeq_epi8(_mm_min_epu8(v, below), v);
        care = _mm_or_si128(care, _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(care);
        _mm_storeu_si128((__m128i *)(void *)out, v);
        if (mask) {
            unsigned n = (unsigned)__builtin_ctz(mask);
            *from = p + n;
            return out + n;
        }
        p += WIDE;
        out += WIDE;
    }
#endif
    while (p < end && !escape_of[(unsigned char)*p] && !(checked && (unsigned char)*p >= 0x80))
        *out++ = *p++;
    *from = p;
    return out;
}

/* Escapes the bytes from p to end; NULL: not UTF-8. */
static __attribute__((noinline)) char *put_piece(char *out, const char *p, const char *end, bool checked) {
    for (;;) {
        out = copy_run(out, &p, end, checked);
        if (p == end)
            return out;
        unsigned char c = (unsigned char)*p;
        if (c < 0x80) {
            out = put_escape(out, c);
            p++;
            continue;
        }
        unsigned n = json_utf8_step(p, end);
        if (!n)
            return NULL;
        memcpy(out, p, n);
        out += n;
        p += n;
    }
}

/* Bytes of v that need care, as copy_run has it; a byte above the first such may be wrongly marked. */
static inline uint64_t care_of(uint64_t v, bool checked) {
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
    uint64_t care = ((v - ones * 0x20) & ~v) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);
    return (checked ? care | v : care) & tops;
}

/* Escapes n bytes, at most PIECE; NULL: not UTF-8. Short texts that need no care, the usual case, are moved
 * in two loads that may overlap. */
static inline char *put_text(char *out, const char *p, size_t n, bool checked) {
    uint64_t first = 0, last = 0;
    uint32_t low, high;
    if (n >= 16)
        return put_piece(out, p, p + n, checked);
    if (n >= 8) {
        memcpy(&first, p, 8);
        memcpy(&last, p + n - 8, 8);
        if (care_of(first, checked) | care_of(last, checked))
            return put_piece(out, p, p + n, checked);
        memcpy(out, &first, 8);
        memcpy(out + n - 8, &last, 8);
    } else if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        if (care_of((uint64_t)high << 32 | low, checked))
            return put_piece(out, p, p + n, checked);
        memcpy(out, &low, 4);
        memcpy(out + n - 4, &high, 4);
    } else {
        for (size_t i = 0; i < n; i++) {
            if (escape_of[(unsigned char)p[i]] || (checked && (unsigned char)p[i] >= 0x80))
                return put_piece(out, p, p + n, checked);
            out[i] = p[i];
        }
    }
    return out + n;
}

/* Where a piece ends: not inside a character. */
static const char *piece_end(const char *p, const char *end) {
    if (end - p <= PIECE)
        return end;
    const char *cut = p + PIECE;
    for (int back = 0; back < 3 && ((unsigned char)*cut & 0xc0) == 0x80; back++)
        cut--;
    return cut;
}

static bool put_long_string(json_writer *w, const char *p, const char *end, bool checked) {
    if (!put_char(w, '"'))
        return false;
    while (p < end) {
        const char *stop = piece_end(p, end);
        if (!room(w, (size_t)(stop - p) * ESCAPED + WIDE))
            return false;
        char *out = put_piece(w->data + w->len, p, stop, checked);
        if (!out)
            return fault(w, JSON_W_UTF8);
        if (!commit(w, out))
            return false;
        p = stop;
    }
    return put_char(w, '"');
}

static bool put_string(json_writer *w, const char *text, size_t len) {
    if (len > PIECE)
        return put_long_string(w, text, text + len, true);
    if (!room(w, len * ESCAPED + 2 + WIDE))
        return false;
    char *out = w->data + w->len;
    *out++ = '"';
    out = put_text(out, text, len, true);
    if (!out)
        return fault(w, JSON_W_UTF8);
    *out++ = '"';
    return commit(w, out);
}

/* ---- structure ---- */

static inline bool in_object(const json_writer *w) {
    return w->depth && (w->object[(w->depth - 1) / 8] >> (w->depth - 1) % 8 & 1);
}

/* What stands before an item of the open container. */
static inline bool separate(json_writer *w) {
    if (w->comma && !put_char(w, ','))
        return false;
    w->comma = true;
    return !w->indent || put_line(w, w->depth);
}

static inline bool put_colon(json_writer *w) {
    return put_char(w, ':') && (!w->indent || put_char(w, ' '));
}

/* A value may begin here: what stands before it is written. */
static inline bool open_value(json_writer *w) {
    if (w->fault)
        return false;
    if (!w->depth)
        return !w->len || fault(w, JSON_W_MISUSE);
    if (!in_object(w))
        return separate(w);
    if (!w->after_key)
        return fault(w, JSON_W_MISUSE);
    w->after_key = false;
    return true;
}

static bool begin(json_writer *w, bool object) {
    if (!open_value(w))
        return false;
    if (w->depth == LEVELS_MAX)
        return fault(w, JSON_W_LIMIT);
    uint8_t bit = (uint8_t)(1u << w->depth % 8), *byte = &w->object[w->depth / 8];
    *byte = (uint8_t)(object ? *byte | bit : *byte & ~bit);
    w->depth++;
    w->comma = false;
    return put_char(w, object ? '{' : '[');
}

static bool end(json_writer *w, bool object) {
    if (w->fault)
        return false;
    if (!w->depth || in_object(w) != object || w->after_key)
        return fault(w, JSON_W_MISUSE);
    w->depth--;
    if (w->indent && w->comma && !put_line(w, w->depth))
        return false;
    w->comma = true;
    return put_char(w, object ? '}' : ']');
}

void json_begin_object(json_writer *w) {
    begin(w, true);
}

void json_end_object(json_writer *w) {
    end(w, true);
}

void json_begin_array(json_writer *w) {
    begin(w, false);
}

void json_end_array(json_writer *w) {
    end(w, false);
}

void json_key_n(json_writer *w, const char *name, size_t len) {
    if (w->fault)
        return;
    if (!in_object(w) || w->after_key) {
        fault(w, JSON_W_MISUSE);
        return;
    }
    w->after_key = separate(w) && put_string(w, name, len) && put_colon(w);
}

void json_key(json_writer *w, const char *name) {
    json_key_n(w, name, strlen(name));
}

/* ---- scalars ---- */

void json_write_string_n(json_writer *w, const char *text, size_t len) {
    if (open_value(w))
        put_string(w, text, len);
}

void json_write_null(json_writer *w) {
    if (open_value(w))
        put(w, "null", 4);
}

void json_write_string(json_writer *w, const char *text) {
    if (text)
        json_write_string_n(w, text, strlen(text));
    else
        json_write_null(w);
}

void json_write_bool(json_writer *w, bool value) {
    if (open_value(w))
        put(w, value ? "true" : "false", value ? 4 : 5);
}

enum { UINT_DIGITS = 20 };

/* Writes value so that it ends before end; returns where it begins. */
static char *digits_before(char *end, uint64_t value) {
    do
        *--end = (char)('0' + value % 10);
    while (value /= 10);
    return end;
}

static void write_integer(json_writer *w, uint64_t value, bool negative) {
    char text[UINT_DIGITS + 1], *end = text + sizeof text, *from = digits_before(end, value);
    if (negative)
        *--from = '-';
    if (open_value(w))
        put(w, from, (size_t)(end - from));
}

void json_write_uint(json_writer *w, uint64_t value) {
    write_integer(w, value, false);
}

void json_write_int(json_writer *w, int64_t value) {
    write_integer(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void json_write_number(json_writer *w, const char *text, size_t len) {
    if (w->fault)
        return;
    if (!json_valid_number(text, len))
        fault(w, JSON_W_NUMBER);
    else if (open_value(w))
        put(w, text, len);
}

void json_write_raw(json_writer *w, const char *json, size_t len) {
    if (!len)
        fault(w, JSON_W_MISUSE);
    else if (open_value(w))
        put(w, json, len);
}

/* ---- doubles ---- */

enum { SHORT_DIGITS = 15, PLACES_MAX = 22, DOUBLE_TEXT = 40, PLAIN_BELOW = -7, PLAIN_UP_TO = 21 };

/* digits (n of them, the last not 0) with the point after the first, times 10^power, as plain as it can be.
 */
static char *put_digits(char *out, const char *digits, int n, int power) {
    if (power < PLAIN_BELOW || power >= PLAIN_UP_TO) {
        *out++ = digits[0];
        if (n > 1) {
            *out++ = '.';
            memcpy(out, digits + 1, (size_t)n - 1);
            out += n - 1;
        }
        return out + snprintf(out, sizeof "e+308", "e%+d", power);
    }
    if (power < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > power; i--)
            *out++ = '0';
    }
    for (int i = 0; i < n; i++) {
        *out++ = digits[i];
        if (i == power && i + 1 < n)
            *out++ = '.';
    }
    for (int i = n; i <= power; i++)
        *out++ = '0';
    return out;
}

/* value > 0 as mantissa / 10^places with at most 15 digits: both are exact doubles then, so their quotient is
 * what reading the text gives. The fewest places come first. NULL: there is no such text. */
static char *put_short(char *out, double value) {
    static const double power_of_ten[PLACES_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (int places = 0; places <= PLACES_MAX; places++) {
        double scaled = value * power_of_ten[places];
        if (scaled >= 1e15)
            return NULL;
        uint64_t mantissa = (uint64_t)(scaled + 0.5);
        if (!mantissa || (double)mantissa / power_of_ten[places] != value)
            continue;
        char text[UINT_DIGITS], *end = text + sizeof text, *from = digits_before(end, mantissa);
        int n = (int)(end - from), power = n - 1 - places;
        while (n > 1 && from[n - 1] == '0')
            n--;
        return put_digits(out, from, n, power);
    }
    return NULL;
}

/* Adds one unit of the last digit to "d.ddde..."; false: it would become longer. */
static bool step_up(char *text) {
    for (char *p = strchr(text, 'e'); p > text;) {
        if (*--p == '.')
            continue;
        if (*p != '9') {
            ++*p;
            return true;
        }
        *p = '0';
    }
    return false;
}

/* Writes value with that many digits to text; false: it does not read back. Below a power of two doubles are
 * twice as dense as above it, so the nearest text may miss where the next one above does not. */
static bool print_digits(char *text, size_t size, int digits, double value) {
    int exponent;
    snprintf(text, size, "%.*e", digits - 1, value);
    if (strtod(text, NULL) == value)
        return true;
    return frexp(value, &exponent) == 0.5 && step_up(text) && strtod(text, NULL) == value;
}

/* value > 0 through the C library: the fewest digits that read back. put_short has tried 15 where it can. */
static char *put_long(char *out, double value) {
    char text[DOUBLE_TEXT], digits[DOUBLE_TEXT];
    int n = 0, precision = value < 2.3e-308 ? 1 : SHORT_DIGITS; /* below the normal range few digits may do */
    precision += value >= 1e-7 && value < 1e15;
    while (!print_digits(text, sizeof text, precision, value) && precision < 17)
        precision++;
    char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p != '.')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return put_digits(out, digits, n, atoi(e + 1));
}

void json_write_double(json_writer *w, double value) {
    char text[DOUBLE_TEXT], *out = text;
    if (w->fault)
        return;
    if (!isfinite(value)) {
        fault(w, JSON_W_NUMBER);
        return;
    }
    double size = fabs(value);
    if (value < 0)
        *out++ = '-';
    char *stop = size > 0 ? put_short(out, size) : put_digits(out, "0", 1, 0);
    if (!stop)
        stop = put_long(out, size);
    if (open_value(w))
        put(w, text, (size_t)(stop - text));
}

/* ---- documents ----
 * What json_read gave is valid UTF-8 and balanced, so a copy checks neither and keeps its own cursor. */

typedef struct {
    json_writer *w;
    char *out, *stop; /* where to write, and the end of the room */
    uint32_t open;    /* containers begun by this copy and not yet ended */
    struct {
        const json_value *end;
        bool object;
    } levels[LEVELS_MAX];
} copier;

/* Hands what the copier wrote to the writer, for something that writes by itself or needs more room. */
static bool copier_sync(copier *c) {
    return commit(c->w, c->out);
}

static void copier_resume(copier *c) {
    c->out = c->w->data + c->w->len;
    c->stop = c->w->data + c->w->cap;
}

/* Room for more bytes, and for the brackets that are still to come. */
static inline bool copier_room(copier *c, size_t more) {
    more += c->open + 2;
    if ((size_t)(c->stop - c->out) >= more)
        return true;
    if (!copier_sync(c) || !room(c->w, more))
        return false;
    copier_resume(c);
    return true;
}

static inline bool copy_string(copier *c, const json_value *v) {
    json_text t = json_text_of(v);
    if (t.len > PIECE) {
        if (!copier_sync(c) || !put_long_string(c->w, t.at, t.at + t.len, false))
            return false;
        copier_resume(c);
        return copier_room(c, 0);
    }
    if (!copier_room(c, t.len * ESCAPED + 2 + WIDE))
        return false;
    *c->out++ = '"';
    c->out = put_text(c->out, t.at, t.len, false);
    *c->out++ = '"';
    return true;
}

static bool copy_plain(copier *c, const char *text, size_t len) {
    if (!copier_room(c, len))
        return false;
    memcpy(c->out, text, len);
    c->out += len;
    return true;
}

static bool copy_begin(copier *c, const json_value *v) {
    if (c->w->depth + c->open == LEVELS_MAX)
        return fault(c->w, JSON_W_LIMIT);
    bool object = json_is(v, JSON_OBJECT);
    c->levels[c->open].end = json_skip(v);
    c->levels[c->open].object = object;
    c->open++;
    if (!copier_room(c, 0))
        return false;
    *c->out++ = object ? '{' : '[';
    return true;
}

/* One node: a scalar, or the beginning of a container. */
static inline bool copy_node(copier *c, const json_value *v) {
    switch (json_kind_of(v)) {
    case JSON_STRING:
        return copy_string(c, v);
    case JSON_NUMBER:
        return copy_plain(c, v->u.text, (size_t)(v->tag >> 16));
    case JSON_ARRAY:
    case JSON_OBJECT:
        return copy_begin(c, v);
    case JSON_BOOL:
        return json_bool(v) ? copy_plain(c, "true", 4) : copy_plain(c, "false", 5);
    default:
        return copy_plain(c, "null", 4);
    }
}

static void copy_compact(json_writer *w, const json_value *v) {
    copier c;
    if (!room(w, 1))
        return;
    c.w = w;
    c.open = 0;
    copier_resume(&c);
    bool first = true;
    do {
        if (c.open) {
            if (!first)
                *c.out++ = ',';
            if (c.levels[c.open - 1].object) {
                if (!copy_string(&c, v++))
                    return;
                *c.out++ = ':';
            }
        }
        if (!copy_node(&c, v))
            return;
        first = json_kind_of(v) >= JSON_ARRAY;
        v++;
        for (; c.open && v == c.levels[c.open - 1].end; c.open--, first = false)
            *c.out++ = c.levels[c.open - 1].object ? '}' : ']';
    } while (c.open);
    copier_sync(&c);
}

/* With line breaks, through the writer's own calls. */
static void copy_indented(json_writer *w, const json_value *v) {
    const json_value *ends[LEVELS_MAX];
    uint32_t open = 0;
    do {
        json_text t;
        if (open && in_object(w)) {
            t = json_text_of(v++);
            json_key_n(w, t.at, t.len);
        }
        t = json_text_of(v);
        if (json_kind_of(v) >= JSON_ARRAY && begin(w, json_is(v, JSON_OBJECT)))
            ends[open++] = json_skip(v);
        else if (json_is(v, JSON_STRING))
            json_write_string_n(w, t.at, t.len);
        else if (json_is(v, JSON_NUMBER))
            json_write_raw(w, t.at, t.len);
        else if (json_is(v, JSON_BOOL))
            json_write_bool(w, json_bool(v));
        else
            json_write_null(w);
        v++;
        for (; open && v == ends[open - 1]; open--)
            end(w, in_object(w));
    } while (open && !w->fault);
}

void json_write_value(json_writer *w, const json_value *v) {
    if (!v)
        json_write_null(w);
    else if (w->indent)
        copy_indented(w, v);
    else if (open_value(w))
        copy_compact(w, v);
}

/* ---- life ---- */

void json_writer_init(json_writer *w, size_t limit) {
    *w = (json_writer){.limit = limit};
}

void json_writer_free(json_writer *w) {
    free(w->data);
    *w = (json_writer){.limit = w->limit, .indent = w->indent};
}

void json_writer_reset(json_writer *w) {
    *w = (json_writer){.data = w->data, .cap = w->cap, .limit = w->limit, .indent = w->indent};
}

bool json_writer_finish(json_writer *w) {
    if (!w->fault && (w->depth || !w->len))
        fault(w, JSON_W_MISUSE);
    if (w->fault || !room(w, 1))
        return false;
    w->data[w->len] = '\0';
    return true;
}

const char *json_fault_text(json_fault what) {
    static const char *const texts[] = {"ok",
                                        "values and keys in an order that is no JSON",
                                        "bytes that are not UTF-8",
                                        "not a JSON number",
                                        "out of memory",
                                        "longer or deeper than allowed"};
    return (size_t)what < sizeof texts / sizeof *texts ? texts[what] : "unknown fault";
}
