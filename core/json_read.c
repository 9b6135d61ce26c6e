/* SPDX-License-Identifier: MIT */
/* json_read.c -- text to nodes: one pass, no recursion, every string decoded where it stands.
 *
 * A NUL put at text[len] ends every scan of single bytes, so only wide loads and look-aheads ask for bounds.
 * While a container is open, its span is the distance back to its parent and its tag keeps its count
 * whenever a child is being read; closing it writes the final span.
 *
 * Memory: the nodes are the arena's newest piece during reading. Their number is guessed from the length,
 * corrected by the density seen so far, and the room left over is given back to the arena at the end. */
#include "json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
enum { WIDE = 16 }; /* bytes of a wide load */
#else
enum { WIDE = 8 };
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define NOINLINE __attribute__((noinline))

enum {
    SMALL_TEXT = 512, /* bytes; up to here there is room for the most nodes such a text can hold */
    FEW_MEMBERS = 16, /* duplicate names are found by comparing up to here, by hashing beyond */
    TAG_INTEGER = 0x200,
    TAG_TRUE = 0x100
};
#define TEXT_MAX UINT32_MAX /* bytes of one text: offsets, lines and node distances fit 32 bits */

/* One slot of the table of names: where the key is (nodes after its object; 0: free) and its hash. */
typedef struct {
    uint32_t hash, at;
} name_slot;

typedef struct {
    arena *a;
    char *text, *end;
    const char *wide_end;    /* where the last wide load may begin; NULL: the text is too short for any */
    json_value *nodes, *fit; /* the array, and the end of what fits */
    size_t max_nodes;
    uint32_t max_depth;
    bool last_wins;
    name_slot *names; /* scratch for objects of many members */
    size_t names_cap;
    const char *string_at; /* where the string begins that is being decoded when reading fails; or NULL */
    json_error *err;
    const char *failed_at;
} reader;

enum { C_SPACE = 1, C_DIGIT = 2, C_PLAIN = 4 /* in a string: stands for itself, ASCII */ };
#define P4 C_PLAIN, C_PLAIN, C_PLAIN, C_PLAIN
#define P16 P4, P4, P4, P4
#define D (C_PLAIN | C_DIGIT)
/* clang-format off */
static const uint8_t class_of[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, C_SPACE, C_SPACE, 0, 0, C_SPACE, 0, 0, /* 00 */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                   /* 10 */
    C_PLAIN | C_SPACE, C_PLAIN, 0, C_PLAIN, P4, P4, P4,               /* 20: not the quote */
    D, D, D, D, D, D, D, D, D, D, C_PLAIN, C_PLAIN, P4,               /* 30 */
    P16,                                                              /* 40 */
    P4, P4, P4, 0, C_PLAIN, C_PLAIN, C_PLAIN,                         /* 50: not the backslash */
    P16, P16,                                                         /* 60, 70 */
};
/* clang-format on */
#undef P4
#undef P16
#undef D
#define IS(p, class) (class_of[(unsigned char)*(p)] & (class))

/* ---- failing ---- */

/* Raw newlines stand outside of strings only, and decoding may have put others inside: skip the strings. */
static void locate(reader *r, const char *at, const json_value *n) {
    const char *stop = r->string_at && r->string_at < at ? r->string_at : at, *from = r->text,
               *line_start = from;
    unsigned line = 1;
    for (const json_value *v = r->nodes;; v++) {
        bool more = v < n && (!json_is(v, JSON_STRING) || v->u.text < stop);
        if (more && !json_is(v, JSON_STRING))
            continue;
        const char *gap_end = more ? v->u.text : stop;
        for (const char *p = from; p < gap_end && (p = memchr(p, '\n', (size_t)(gap_end - p))); p++) {
            line++;
            line_start = p + 1;
        }
        if (!more)
            break;
        from = v->u.text + json_text_of(v).len;
    }
    r->err->offset = (size_t)(at - r->text);
    r->err->line = line;
    r->err->column = (unsigned)(at - line_start) + 1;
}

static NOINLINE void fail(reader *r, const char *at, const char *what) {
    r->failed_at = at;
    if (r->err)
        snprintf(r->err->text, sizeof r->err->text, "%s", what);
}

/* "expected <what>, found <the byte at at>" */
static NOINLINE void fail_expected(reader *r, const char *at, const char *what) {
    r->failed_at = at;
    if (!r->err)
        return;
    unsigned char c = (unsigned char)*at;
    char found[24] = "end of text";
    if (at < r->end && c > 0x20 && c < 0x7f)
        snprintf(found, sizeof found, "'%c'", c);
    else if (at < r->end)
        snprintf(found, sizeof found, "byte 0x%02X", c);
    snprintf(r->err->text, sizeof r->err->text, "expected %s, found %s", what, found);
}

/* ---- room for nodes ---- */

/* Makes room for want more nodes after n, which moves with the array. NULL: failed. */
static NOINLINE json_value *grow(reader *r, json_value *n, size_t want, const char *p) {
    size_t have = (size_t)(n - r->nodes), cap = (size_t)(r->fit - r->nodes);
    size_t seen = (size_t)(p - r->text) + 1, left = (size_t)(r->end - p);
    size_t more = (size_t)((double)have * (double)left / (double)seen * 1.0625) + have / 8 + 64;
    if (more > left + want)
        more = left + want;
    if (r->max_nodes && more > r->max_nodes - have)
        more = r->max_nodes - have;
    if (more < want) {
        if (r->err)
            snprintf(r->err->text, sizeof r->err->text, "more than %zu values", r->max_nodes);
        r->failed_at = p;
        return NULL;
    }
    size_t extra = (have + more - cap) * sizeof(json_value);
    if ((size_t)(r->a->end - r->a->at) >= extra && arena_alloc(r->a, extra)) {
        r->fit = r->nodes + have + more;
        return n;
    }
    json_value *moved = arena_alloc(r->a, (have + more) * sizeof(json_value));
    if (!moved) {
        fail(r, p, "out of memory");
        return NULL;
    }
    memcpy(moved, r->nodes, have * sizeof(json_value));
    r->nodes = moved;
    r->fit = moved + have + more;
    return moved + have;
}

/* Returns the room after n to the arena; nothing else was taken since. */
static void give_back(reader *r, json_value *n) {
    r->a->used -= (size_t)(r->a->at - (char *)n);
    r->a->at = (char *)n;
}

/* ---- strings ---- */

/* The first byte from p on that is not plain ASCII text of a string; the NUL at the end is one. */
static inline char *plain_run(char *p, const char *wide_end) {
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    while (likely(p <= wide_end)) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i special = _mm_cmplt_epi8(v, space); /* signed: below the blank, or 0x80 and above */
        special = _mm_or_si128(special, _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(special);
        if (mask)
            return p + __builtin_ctz(mask);
        p += WIDE;
    }
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    while (p <= wide_end) {
        uint64_t v, q, b;
        memcpy(&v, p, sizeof v);
        q = v ^ ones * '"';
        b = v ^ ones * '\\';
        if (((v - ones * 0x20) | v | (q - ones) | (b - ones)) & tops)
            break;
        p += WIDE;
    }
#endif
    while (IS(p, C_PLAIN))
        p++;
    return p;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after "\u" at p, or -1. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4)
        return -1;
    int a = hex_digit(p[0]), b = hex_digit(p[1]), c = hex_digit(p[2]), d = hex_digit(p[3]);
    return (a | b | c | d) < 0 ? -1 : a << 12 | b << 8 | c << 4 | d;
}

static char *put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* p is at the backslash of "\u". Decodes to *out (which moves on); returns what follows, or NULL. */
static char *read_unicode(reader *r, char *p, char **out) {
    int32_t c = hex4(p + 2, r->end), low;
    if (c < 0) {
        fail(r, p, "expected four hexadecimal digits after \\u");
        return NULL;
    }
    char *next = p + 6;
    if (c >= 0xd800 && c <= 0xdfff) {
        bool pair = c < 0xdc00 && r->end - next >= 6 && next[0] == '\\' && next[1] == 'u';
        low = pair ? hex4(next + 2, r->end) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            fail(r, p, "half of a surrogate pair alone: no character");
            return NULL;
        }
        c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
        next += 6;
    }
    *out = put_utf8(*out, (uint32_t)c);
    return next;
}

/* p is at a backslash. */
static char *read_escape(reader *r, char *p, char **out) {
    static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (p[1] == 'u')
        return read_unicode(r, p, out);
    const char *found = p[1] ? strchr(plain, p[1]) : NULL;
    if (!found) {
        fail_expected(r, p + 1, "one of \"\\/bfnrtu after a backslash");
        return NULL;
    }
    *(*out)++ = means[found - plain];
    return p + 2;
}

/* The rest of the string that starts at start, from its first special byte p on. */
static NOINLINE char *read_string_rest(reader *r, char *start, char *p, json_value *node) {
    char *out = p; /* decoded so far; never ahead of p */
    r->string_at = start;
    while (*p != '"') {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x80) {
            unsigned n = json_utf8_step(p, r->end);
            if (!n) {
                fail(r, p, "bytes that are not UTF-8 in a string");
                return NULL;
            }
            if (out != p)
                memmove(out, p, n);
            out += n;
            p += n;
        } else if (c == '\\') {
            p = read_escape(r, p, &out);
            if (!p)
                return NULL;
        } else {
            fail_expected(r, p, "the closing quote of a string");
            if (p < r->end)
                fail(r, p, "control character in a string: write it as an escape");
            return NULL;
        }
        char *run = p;
        p = plain_run(p, r->wide_end);
        if (out != run)
            memmove(out, run, (size_t)(p - run));
        out += p - run;
    }
    r->string_at = NULL;
    *out = '\0';
    node->tag = (uint64_t)(out - start) << 16 | JSON_STRING;
    node->u.text = start;
    return p + 1;
}

/* p is after the opening quote. Returns what follows the closing one, or NULL. */
static inline char *read_string(reader *r, char *p, const char *wide_end, json_value *node) {
    char *q = plain_run(p, wide_end);
    if (unlikely(*q != '"'))
        return read_string_rest(r, p, q, node);
    *q = '\0';
    node->tag = (uint64_t)(q - p) << 16 | JSON_STRING;
    node->u.text = p;
    return q + 1;
}

/* ---- numbers and names ---- */

/* p is at a digit or a minus sign. */
static inline char *read_number(reader *r, char *p, json_value *node) {
    char *start = p;
    uint64_t flag = TAG_INTEGER;
    p += *p == '-';
    if (unlikely(!IS(p, C_DIGIT))) {
        fail_expected(r, p, "a digit");
        return NULL;
    }
    if (unlikely(*p == '0' && IS(p + 1, C_DIGIT))) {
        fail(r, p, "a number must not begin with 0 before other digits");
        return NULL;
    }
    do
        p++;
    while (IS(p, C_DIGIT));
    if (*p == '.') {
        flag = 0;
        if (unlikely(!IS(++p, C_DIGIT))) {
            fail_expected(r, p, "a digit after the decimal point");
            return NULL;
        }
        do
            p++;
        while (IS(p, C_DIGIT));
    }
    if (unlikely((*p | 0x20) == 'e')) {
        flag = 0;
        p++;
        p += *p == '+' || *p == '-';
        if (!IS(p, C_DIGIT)) {
            fail_expected(r, p, "a digit of the exponent");
            return NULL;
        }
        do
            p++;
        while (IS(p, C_DIGIT));
    }
    node->tag = (uint64_t)(p - start) << 16 | flag | JSON_NUMBER;
    node->u.text = start;
    return p;
}

/* true, false or null at p. */
static inline char *read_word(reader *r, char *p, json_value *node) {
    size_t left = (size_t)(r->end - p);
    node->u.text = NULL;
    if (left >= 4 && !memcmp(p, "true", 4)) {
        node->tag = JSON_BOOL | TAG_TRUE;
        return p + 4;
    }
    if (left >= 5 && !memcmp(p, "false", 5)) {
        node->tag = JSON_BOOL;
        return p + 5;
    }
    if (left >= 4 && !memcmp(p, "null", 4)) {
        node->tag = JSON_NULL;
        return p + 4;
    }
    return NULL;
}

/* ---- duplicate names ---- */

static bool same_name(const json_value *a, const json_value *b) {
    return a->tag == b->tag && !memcmp(a->u.text, b->u.text, (size_t)(a->tag >> 16));
}

/* One of 64 bits, from the length, the first and the last byte (of an empty name: the quote before it). */
static inline uint64_t name_bit(const json_value *k) {
    size_t len = (size_t)(k->tag >> 16);
    const char *t = k->u.text;
    return UINT64_C(1) << (((unsigned)len * 9 + (unsigned)t[0] * 5 + (unsigned)*(t + len - 1)) & 63);
}

/* Every name sets a bit; only one whose bit is taken is compared with those before it. */
static const json_value *duplicate_of_few(const json_value *object, size_t count) {
    uint64_t taken = 0;
    const json_value *k = object + 1;
    for (size_t i = 0; i < count; i++, k = json_skip(k + 1)) {
        uint64_t bit = name_bit(k);
        if (unlikely(taken & bit))
            for (const json_value *e = object + 1; e < k; e = json_skip(e + 1))
                if (same_name(e, k))
                    return k;
        taken |= bit;
    }
    return NULL;
}

static uint32_t name_hash(const json_value *k) {
    const char *t = k->u.text;
    size_t len = (size_t)(k->tag >> 16);
    uint64_t h = len * UINT64_C(0x9E3779B97F4A7C15), w;
    for (; len >= 8; len -= 8, t += 8) {
        memcpy(&w, t, 8);
        h = (h ^ w) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, t, len);
    h = (h ^ w) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 29;
    h *= UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32);
}

static int compare_names(const void *a, const void *b) {
    const json_value *x = *(const json_value *const *)a, *y = *(const json_value *const *)b;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    int c = memcmp(x->u.text, y->u.text, (size_t)(x->tag >> 16));
    return c ? c : (x > y) - (x < y);
}

/* For names made to collide: sorting takes n log n whatever they are. */
static const json_value *duplicate_by_sorting(reader *r, const json_value *object, size_t count) {
    const json_value **keys =
        (const json_value **)(void *)r->names; /* two slots a name are there: room enough */
    const json_value *k = object + 1, *first = NULL;
    for (size_t i = 0; i < count; i++, k = json_skip(k + 1))
        keys[i] = k;
    qsort(keys, count, sizeof *keys, compare_names);
    for (size_t i = 1; i < count; i++)
        if (same_name(keys[i - 1], keys[i]) && (!first || keys[i] < first))
            first = keys[i];
    return first;
}

static bool names_reserve(reader *r, size_t slots) {
    if (slots <= r->names_cap)
        return true;
    free(r->names);
    r->names = malloc(slots * sizeof *r->names);
    r->names_cap = r->names ? slots : 0;
    return r->names != NULL;
}

static const json_value *duplicate_of_many(reader *r, const json_value *object, size_t count) {
    size_t slots = 64, budget = count * 16;
    while (slots < count * 2)
        slots *= 2;
    if (!names_reserve(r, slots)) {
        fail(r, object[1].u.text, "out of memory");
        return NULL;
    }
    memset(r->names, 0, slots * sizeof *r->names);
    const json_value *k = object + 1;
    for (size_t i = 0; i < count; i++, k = json_skip(k + 1)) {
        uint32_t hash = name_hash(k);
        name_slot *s = &r->names[hash & (slots - 1)];
        while (s->at) {
            if (s->hash == hash && same_name(object + s->at, k))
                return k;
            if (!budget--)
                return duplicate_by_sorting(r, object, count);
            s = s + 1 < r->names + slots ? s + 1 : r->names;
        }
        *s = (name_slot){hash, (uint32_t)(k - object)};
    }
    return NULL;
}

/* Takes out every member whose name comes again later. Returns the new end of the nodes; NULL: out of memory. */
static json_value *keep_last(reader *r, json_value *object, size_t *count) {
    if (!names_reserve(r, *count * 2)) {
        fail(r, object[1].u.text, "out of memory");
        return NULL;
    }
    const json_value **keys = (const json_value **)(void *)r->names;
    json_value *k = object + 1, *to = k;
    size_t members = *count;
    for (size_t i = 0; i < members; i++, k = (json_value *)(uintptr_t)json_skip(k + 1))
        keys[i] = k;
    qsort(keys, members, sizeof *keys, compare_names);
    for (size_t i = 1; i < members; i++)
        if (same_name(keys[i - 1], keys[i]))
            ((json_value *)(uintptr_t)keys[i - 1])->u.text = NULL; /* to be left out; its tag is still compared */
    k = object + 1;
    for (size_t i = 0; i < members; i++) {
        const json_value *next = json_skip(k + 1);
        size_t nodes = (size_t)(next - k);
        if (k->u.text) {
            memmove(to, k, nodes * sizeof *k);
            to += nodes;
        } else {
            --*count;
        }
        k = (json_value *)(uintptr_t)next;
    }
    object->tag = (uint64_t)*count << 16 | JSON_OBJECT;
    object->u.span = (uint64_t)(to - object);
    return to;
}

/* Sees to it that no name stands twice in the object that was just read, up to *n. */
static bool names_differ(reader *r, json_value *object, size_t count, json_value **n) {
    const json_value *twice =
        count <= FEW_MEMBERS ? duplicate_of_few(object, count) : duplicate_of_many(r, object, count);
    if (likely(!twice))
        return r->failed_at == NULL;
    if (r->last_wins) {
        json_value *end = keep_last(r, object, &count);
        if (end)
            *n = end;
        return end != NULL;
    }
    fail(r, twice->u.text - 1, "");
    json_text name = json_text_of(twice);
    if (r->err)
        snprintf(r->err->text, sizeof r->err->text, "member \"%.*s%s\" appears twice in one object",
                 (int)(name.len > 60 ? 0 : name.len), name.at, name.len > 60 ? "(long name)" : "");
    return false;
}

/* ---- the document ---- */

static inline char *skip_space(char *p) {
    while (IS(p, C_SPACE))
        p++;
    return p;
}

static void fail_value(reader *r, const char *p) {
    static const char bom[] = "\xEF\xBB\xBF";
    if (p == r->text && r->end - p >= 3 && !memcmp(p, bom, 3))
        fail(r, p, "expected a value, found a byte order mark");
    else
        fail_expected(r, p, "a value");
}

static void fail_depth(reader *r, const char *p) {
    fail(r, p, "");
    if (r->err)
        snprintf(r->err->text, sizeof r->err->text, "nested deeper than %" PRIu32 " levels", r->max_depth);
}

/* Reads it all. Returns the end of the nodes, or NULL; *last: the end of those written in both cases. */
static json_value *read_document(reader *r, json_value **last) {
    char *p = r->text, *q;
    const char *const wide_end = r->wide_end;
    json_value *n = r->nodes, *open = NULL; /* next free node; innermost open container */
    json_kind kind = JSON_ABSENT;           /* its kind */
    uint64_t count = 0;                     /* items or members of it so far */
    uint32_t depth = 0;

value: /* one is due at p */
    if (unlikely(n == r->fit)) {
        ptrdiff_t back = n - open;
        json_value *moved = grow(r, n, 1, p);
        if (!moved)
            goto failed;
        open = open ? moved - back : NULL;
        n = moved;
    }
    if (*p == '"') {
        q = read_string(r, p + 1, wide_end, n);
    } else if (IS(p, C_DIGIT) || *p == '-') {
        q = read_number(r, p, n);
    } else if (*p == '{' || *p == '[') {
        if (unlikely(depth == r->max_depth)) {
            fail_depth(r, p);
            goto failed;
        }
        depth++;
        if (open)
            open->tag = count << 16 | kind;
        kind = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
        n->tag = kind;
        n->u.span = open ? (uint64_t)(n - open) : 0;
        open = n++;
        count = 0;
        p = skip_space(p + 1);
        if (kind == JSON_OBJECT) {
            if (likely(*p == '"'))
                goto key_here;
            if (*p == '}')
                goto close;
            fail_expected(r, p, "a member name in quotes or '}'");
            goto failed;
        }
        if (*p == ']')
            goto close;
        goto value;
    } else if (IS(p, C_SPACE)) {
        p = skip_space(p);
        goto value;
    } else {
        q = read_word(r, p, n);
        if (unlikely(!q))
            fail_value(r, p);
    }
    if (unlikely(!q))
        goto failed;
    p = q;
    n++;

after: /* a value ended at p */
    if (unlikely(!open))
        goto end;
    count++;
after_space:
    if (likely(*p == ',')) {
        p++;
        if (kind == JSON_OBJECT)
            goto key;
        goto value;
    }
    if (likely(*p == (kind == JSON_OBJECT ? '}' : ']')))
        goto close;
    if (likely(IS(p, C_SPACE))) {
        p = skip_space(p);
        goto after_space;
    }
    fail_expected(r, p, kind == JSON_OBJECT ? "',' or '}' after a member" : "',' or ']' after an item");
    goto failed;

key: /* after the comma before a member */
    if (unlikely(*p != '"')) {
        p = skip_space(p);
        if (unlikely(*p != '"')) {
            fail_expected(r, p, "a member name in quotes");
            goto failed;
        }
    }
key_here:
    if (unlikely(r->fit - n < 2)) {
        ptrdiff_t back = n - open;
        json_value *moved = grow(r, n, 2, p);
        if (!moved)
            goto failed;
        open = moved - back;
        n = moved;
    }
    p = read_string(r, p + 1, wide_end, n);
    if (unlikely(!p))
        goto failed;
    n++;
    if (unlikely(*p != ':')) {
        p = skip_space(p);
        if (unlikely(*p != ':')) {
            fail_expected(r, p, "':' after a member name");
            goto failed;
        }
    }
    p++;
    goto value;

close: /* p is at the bracket that ends open */
    p++;
    depth--;
    {
        uint64_t back = open->u.span;
        open->tag = count << 16 | kind;
        open->u.span = (uint64_t)(n - open);
        if (count > 1 && kind == JSON_OBJECT) {
            json_value *shorter = n; /* a copy: n itself stays in a register */
            if (unlikely(!names_differ(r, open, (size_t)count, &shorter)))
                goto failed;
            n = shorter;
        }
        open = back ? open - back : NULL;
        if (open) {
            count = open->tag >> 16;
            kind = json_kind_of(open);
        }
    }
    goto after;

end:
    p = skip_space(p);
    *last = n;
    if (p == r->end)
        return n;
    fail_expected(r, p, "the end of the text after the value");
    return NULL;
failed:
    *last = n;
    return NULL;
}

static json_value *first_room(reader *r, size_t len) {
    size_t cap = len <= SMALL_TEXT ? len / 2 + 2 : len / 8 + SMALL_TEXT / 2;
    if (r->max_nodes && cap > r->max_nodes)
        cap = r->max_nodes;
    r->nodes = arena_alloc(r->a, cap * sizeof(json_value));
    r->fit = r->nodes ? r->nodes + cap : NULL;
    return r->nodes;
}

/* An error at the very beginning of the text. */
static const json_value *refuse(json_error *err, const char *what, size_t bound) {
    if (err) {
        *err = (json_error){.line = 1, .column = 1};
        if (bound)
            snprintf(err->text, sizeof err->text, "%s %zu bytes", what, bound);
        else
            snprintf(err->text, sizeof err->text, "%s", what);
    }
    return NULL;
}

const json_value *json_read(arena *a, char *text, size_t len, const json_limits *limits, json_error *err) {
    size_t max = limits && limits->bytes && limits->bytes < TEXT_MAX ? limits->bytes : TEXT_MAX;
    if (len > max)
        return refuse(err, "text longer than", max);
    reader r = {.a = a, .text = text, .end = text + len, .err = err};
    r.wide_end = len >= WIDE ? r.end - WIDE : NULL;
    r.max_nodes = limits ? limits->nodes : 0;
    r.last_wins = limits && limits->last_wins;
    r.max_depth = limits && limits->depth ? limits->depth : JSON_DEPTH_DEFAULT;
    if (!first_room(&r, len))
        return refuse(err, "out of memory", 0);
    text[len] = '\0';
    json_value *last, *done = read_document(&r, &last);
    if (!done && err)
        locate(&r, r.failed_at, last);
    give_back(&r, done ? done : r.nodes);
    free(r.names);
    return done ? r.nodes : NULL;
}

const json_value *json_read_copy(arena *a, const char *text, size_t len, const json_limits *limits,
                                 json_error *err) {
    size_t max = limits && limits->bytes && limits->bytes < TEXT_MAX ? limits->bytes : TEXT_MAX;
    if (len > max)
        return refuse(err, "text longer than", max);
    char *copy = arena_strndup(a, text, len);
    if (!copy)
        return refuse(err, "out of memory", 0);
    return json_read(a, copy, len, limits, err);
}
