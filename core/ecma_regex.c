/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "ecma_regex.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ECMA-262 white space and line terminators, and all the rest, as ranges of a PCRE2 class. */
#define SPACE                                                                                                \
    "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACE                                                                                             \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"      \
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

/* One step of a plain pattern: between min and max bytes of a set of ASCII characters. */
typedef struct {
    uint64_t set[2];
    uint32_t min, max;
} plain_step;
enum { PLAIN_STEPS = 24 };

struct regex {
    pcre2_code *code;
    pcre2_match_context *context;
    uint32_t steps; /* > 0: plain[] decides, code is not there */
    bool open_end;  /* plain, without the final $ */
    plain_step plain[PLAIN_STEPS];
};

/* ---- plain patterns: ^ steps $, where taking as much as possible is always right ---- */

static bool in_set(const plain_step *s, unsigned char c) {
    return c < 128 && (s->set[c >> 6] >> (c & 63) & 1);
}

static void add_range(plain_step *s, unsigned from, unsigned to) {
    for (unsigned c = from; c <= to; c++)
        s->set[c >> 6] |= (uint64_t)1 << (c & 63);
}

/* The escape after a backslash when it names ASCII characters only. */
static bool plain_escape(plain_step *s, char c) {
    if (c == 'd' || c == 'w')
        add_range(s, '0', '9');
    if (c == 'w') {
        add_range(s, 'a', 'z');
        add_range(s, 'A', 'Z');
        add_range(s, '_', '_');
    }
    if (c == 'd' || c == 'w')
        return true;
    if (!c || !strchr("^$\\.*+?()[]{}|/-", c))
        return false;
    add_range(s, (unsigned char)c, (unsigned char)c);
    return true;
}

static const char *plain_class(plain_step *s, const char *at, const char *end) {
    if (at == end || *at == '^' || *at == ']')
        return NULL;
    for (; at < end && *at != ']'; at++) {
        unsigned char c = (unsigned char)*at;
        if (c >= 128 || c == '[')
            return NULL;
        if (c == '\\') {
            if (++at == end || !plain_escape(s, *at))
                return NULL;
            if (end - at > 2 && at[1] == '-' && at[2] != ']')
                return NULL;
        } else if (end - at > 2 && at[1] == '-' && at[2] != ']') {
            unsigned char to = (unsigned char)at[2];
            if (to >= 128 || to == '\\' || to == '[' || to < c)
                return NULL;
            add_range(s, c, to);
            at += 2;
        } else {
            add_range(s, c, c);
        }
    }
    return at < end ? at + 1 : NULL;
}

/* Digits of {n}, at most 4 of them. */
static const char *plain_count(const char *at, const char *end, uint32_t *ret) {
    const char *from = at;
    for (*ret = 0; at < end && *at >= '0' && *at <= '9' && at - from < 4; at++)
        *ret = *ret * 10 + (uint32_t)(*at - '0');
    return at > from ? at : NULL;
}

static const char *plain_braces(plain_step *s, const char *at, const char *end) {
    at = plain_count(at, end, &s->min);
    s->max = s->min;
    if (at && at < end && *at == ',') {
        s->max = UINT32_MAX;
        if (++at < end && *at != '}')
            at = plain_count(at, end, &s->max);
    }
    return at && at < end && *at == '}' && s->min <= s->max ? at + 1 : NULL;
}

static const char *plain_quantifier(plain_step *s, const char *at, const char *end) {
    s->min = s->max = 1;
    if (at == end || !strchr("*+?{", *at))
        return at;
    char q = *at++;
    if (q == '{') {
        at = plain_braces(s, at, end);
    } else {
        s->min = q == '+';
        s->max = q == '?' ? 1 : UINT32_MAX;
    }
    return at && (at == end || !strchr("*+?{", *at)) ? at : NULL; /* lazy or nonsense: not plain */
}

/* Greedy is right when a step of open length shares no character with what may follow it. */
static bool plain_is_exact(const regex *re) {
    for (uint32_t i = 0; i < re->steps; i++)
        for (uint32_t k = i + 1; re->plain[i].min != re->plain[i].max && k < re->steps; k++) {
            const plain_step *a = &re->plain[i], *b = &re->plain[k];
            if ((a->set[0] & b->set[0]) || (a->set[1] & b->set[1]))
                return false;
            if (b->min)
                break;
        }
    return true;
}

static bool plain_compile(regex *re, const char *at, const char *end) {
    if (at == end || *at++ != '^')
        return false;
    while (at && at < end && *at != '$') {
        if (re->steps == PLAIN_STEPS)
            return false;
        plain_step *s = &re->plain[re->steps++];
        unsigned char c = (unsigned char)*at++;
        if (c == '[') {
            at = plain_class(s, at, end);
        } else if (c == '\\') {
            if (at == end || !plain_escape(s, *at++))
                return false;
        } else if (c >= 128 || !c || strchr(".*+?(){}|]^", c)) {
            return false;
        } else {
            add_range(s, c, c);
        }
        at = at ? plain_quantifier(s, at, end) : NULL;
    }
    re->open_end = at == end;
    return at && (at == end || at + 1 == end) && re->steps && plain_is_exact(re);
}

static regex_verdict plain_match(const regex *re, const char *text, size_t len) {
    const char *at = text, *end = text + len;
    for (const plain_step *s = re->plain; s < re->plain + re->steps; s++) {
        uint32_t n = 0;
        while (n < s->max && at < end && in_set(s, (unsigned char)*at))
            n++, at++;
        if (n < s->min)
            return REGEX_NO;
    }
    return re->open_end || at == end ? REGEX_YES : REGEX_NO;
}

/* ---- from ECMA-262 to PCRE2 ---- */

typedef struct {
    const char *at, *end;
    char *out;
    size_t len, cap;
    bool atom; /* something a quantifier may follow */
    char *err;
    size_t err_size;
} translation;

__attribute__((format(printf, 2, 3))) static bool refuse(translation *t, const char *fmt, ...) {
    if (t->err_size) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(t->err, t->err_size, fmt, ap);
        va_end(ap);
    }
    return false;
}

static bool emit(translation *t, const char *text, size_t len) {
    if (len >= t->cap - t->len) {
        size_t cap = (t->cap + len) * 2 + 16;
        char *p = realloc(t->out, cap);
        if (!p)
            return refuse(t, "out of memory");
        t->out = p;
        t->cap = cap;
    }
    memcpy(t->out + t->len, text, len);
    t->len += len;
    return true;
}

static bool emit_text(translation *t, const char *text) {
    return emit(t, text, strlen(text));
}

static bool emit_code(translation *t, uint32_t code) {
    char text[16];
    return emit(t, text, (size_t)snprintf(text, sizeof text, "\\x{%x}", (unsigned)code));
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* n hexadecimal digits at t->at; false: they are not there. */
static bool hex(translation *t, int n, uint32_t *ret) {
    *ret = 0;
    for (int i = 0; i < n; i++, t->at++) {
        char c = t->at < t->end ? *t->at : '\0';
        if (!is_digit(c) && !((c | 32) >= 'a' && (c | 32) <= 'f'))
            return false;
        *ret = *ret << 4 | (uint32_t)(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
}

/* After \u: XXXX, a surrogate pair \uXXXX\uXXXX, or {X…}. */
static bool unicode_escape(translation *t) {
    uint32_t code = 0, low = 0;
    if (t->at < t->end && *t->at == '{') {
        const char *from = ++t->at;
        while (t->at < t->end && *t->at != '}' && t->at - from < 8)
            t->at++;
        int n = (int)(t->at - from);
        t->at = from;
        if (!n || !hex(t, n, &code) || t->at == t->end || *t->at++ != '}')
            return refuse(t, "malformed \\u{…} escape");
    } else if (!hex(t, 4, &code)) {
        return refuse(t, "\\u needs four hexadecimal digits");
    }
    if (code >= 0xd800 && code < 0xdc00 && t->end - t->at >= 6 && t->at[0] == '\\' && t->at[1] == 'u') {
        t->at += 2;
        if (!hex(t, 4, &low) || low < 0xdc00 || low > 0xdfff)
            return refuse(t, "a lone surrogate matches no text");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return refuse(t, "\\u escape is no character");
    return emit_code(t, code);
}

static const struct {
    const char *name, *code;
} categories[] = {
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Unassigned", "Cn"},
    {"Private_Use", "Co"},
    {"Surrogate", "Cs"},
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"LC", "L&"},
    {"Lowercase_Letter", "Ll"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Titlecase_Letter", "Lt"},
    {"Uppercase_Letter", "Lu"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Close_Punctuation", "Pe"},
    {"Final_Punctuation", "Pf"},
    {"Initial_Punctuation", "Pi"},
    {"Other_Punctuation", "Po"},
    {"Open_Punctuation", "Ps"},
    {"Symbol", "S"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Math_Symbol", "Sm"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Space_Separator", "Zs"},
};

/* Property prefixes of ECMA-262 and what PCRE2 wants before the value. */
static const struct {
    const char *ecma, *pcre;
} property_kinds[] = {{"General_Category=", ""}, {"gc=", ""},
                      {"Script=", "sc:"},        {"sc=", "sc:"},
                      {"scx=", "scx:"},          {"Script_Extensions=", "scx:"}};

static bool property_escape(translation *t, char which) {
    const char *close = memchr(t->at, '}', (size_t)(t->end - t->at));
    char name[64], head[4] = {'\\', which, '{', '\0'};
    size_t len = close ? (size_t)(close - t->at) : 0;
    if (len < 2 || *t->at != '{' || len > sizeof name)
        return refuse(t, "\\%c needs a {property}", which);
    memcpy(name, t->at + 1, len - 1);
    name[len - 1] = '\0';
    t->at = close + 1;
    if (strchr(name, '^') || strchr(name, ' '))
        return refuse(t, "unknown property '%s'", name);
    const char *value = name, *prefix = "";
    for (size_t i = 0; i < sizeof property_kinds / sizeof *property_kinds; i++)
        if (!strncmp(name, property_kinds[i].ecma, strlen(property_kinds[i].ecma))) {
            value = name + strlen(property_kinds[i].ecma);
            prefix = property_kinds[i].pcre;
        }
    for (size_t i = 0; !*prefix && i < sizeof categories / sizeof *categories; i++)
        if (!strcmp(value, categories[i].name))
            value = categories[i].code;
    return emit_text(t, head) && emit_text(t, prefix) && emit_text(t, value) && emit_text(t, "}");
}

static bool control_escape(translation *t) {
    if (t->at == t->end || !is_letter(*t->at))
        return refuse(t, "\\c needs a letter");
    return emit_code(t, (uint32_t)*t->at++ & 31u);
}

static bool back_reference(translation *t, char first) {
    char text[24];
    size_t n = 0;
    memcpy(text, "\\g{", 3);
    text[3 + n++] = first;
    while (t->at < t->end && is_digit(*t->at) && n < 8)
        text[3 + n++] = *t->at++;
    text[3 + n++] = '}';
    return emit(t, text, n + 3);
}

static bool name_reference(translation *t) {
    const char *close = t->at < t->end && *t->at == '<' ? memchr(t->at, '>', (size_t)(t->end - t->at)) : NULL;
    if (!close)
        return refuse(t, "\\k needs a <name>");
    const char *from = t->at;
    t->at = close + 1;
    return emit_text(t, "\\k") && emit(t, from, (size_t)(t->at - from));
}

/* Escapes that mean the same inside and outside a class. *ret_done false: c is none of them. */
static bool common_escape(translation *t, char c, bool *ret_done) {
    uint32_t code;
    *ret_done = true;
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'f':
    case 'n':
    case 'r':
    case 't': {
        char text[2] = {'\\', c};
        return emit(t, text, 2);
    }
    case 'v':
        return emit_text(t, "\\x0b");
    case 'c':
        return control_escape(t);
    case 'x':
        return hex(t, 2, &code) ? emit_code(t, code) : refuse(t, "\\x needs two hexadecimal digits");
    case 'u':
        return unicode_escape(t);
    case 'p':
    case 'P':
        return property_escape(t, c);
    case '0':
        if (t->at < t->end && is_digit(*t->at))
            return refuse(t, "octal escapes are not part of ECMA-262");
        return emit_text(t, "\\x00");
    default:
        *ret_done = false;
        return true;
    }
}

/* \ before a character that is itself: punctuation keeps the backslash, the rest of ASCII is no escape. */
static bool identity_escape(translation *t, char c) {
    char text[2] = {'\\', c};
    if (is_letter(c) || is_digit(c) || !c)
        return refuse(t, "\\%c is not an escape of ECMA-262", c);
    return (unsigned char)c < 128 ? emit(t, text, 2) : emit(t, text + 1, 1);
}

static bool class_escape(translation *t) {
    if (t->at == t->end)
        return refuse(t, "\\ at the end of the pattern");
    char c = *t->at++;
    bool done, ok = common_escape(t, c, &done);
    if (!done)
        ok = c == 's'   ? emit_text(t, SPACE)
             : c == 'S' ? emit_text(t, NO_SPACE)
             : c == 'b' ? emit_text(t, "\\x08")
                        : identity_escape(t, c);
    bool set = strchr("dDwWsSpP", c) != NULL;
    if (ok && set && t->end - t->at >= 2 && t->at[0] == '-' && t->at[1] != ']') {
        t->at++; /* a set begins no range: the hyphen is itself */
        ok = emit_text(t, "\\-");
    }
    return ok;
}

/* After '[': up to and including its ']'. */
static bool class(translation *t) {
    bool negated = t->at < t->end && *t->at == '^';
    t->at += negated;
    if (t->at < t->end && *t->at == ']') {
        t->at++;
        return emit_text(t, negated ? "[\\x{0}-\\x{10ffff}]" : "(?!)");
    }
    if (!emit_text(t, negated ? "[^" : "["))
        return false;
    while (t->at < t->end && *t->at != ']') {
        char c = *t->at++;
        bool ok = c == '\\' ? class_escape(t) : c == '[' ? emit_text(t, "\\[") : emit(t, &c, 1);
        if (!ok)
            return false;
    }
    if (t->at == t->end)
        return refuse(t, "[ without its ]");
    t->at++;
    return emit_text(t, "]");
}

static bool escape(translation *t) {
    if (t->at == t->end)
        return refuse(t, "\\ at the end of the pattern");
    char c = *t->at++;
    t->atom = c != 'b' && c != 'B';
    bool done, ok = common_escape(t, c, &done);
    if (done)
        return ok;
    if (c == 's' || c == 'S')
        return emit_text(t, c == 's' ? "[" SPACE "]" : "[^" SPACE "]");
    if (c == 'b' || c == 'B')
        return emit_text(t, c == 'b' ? "\\b" : "\\B");
    if (c == 'k')
        return name_reference(t);
    return is_digit(c) ? back_reference(t, c) : identity_escape(t, c);
}

/* What may follow "(?": longest first where one begins another. */
static const char *const group_heads[] = {"?:", "?=", "?!", "?<=", "?<!"};

static bool group(translation *t) {
    size_t left = (size_t)(t->end - t->at);
    t->atom = false;
    if (left && *t->at == '*')
        return refuse(t, "nothing to repeat before *");
    if (!left || *t->at != '?')
        return emit_text(t, "(");
    for (size_t i = 0; i < sizeof group_heads / sizeof *group_heads; i++) {
        size_t n = strlen(group_heads[i]);
        if (left >= n && !memcmp(t->at, group_heads[i], n)) {
            t->at += n;
            return emit_text(t, "(") && emit(t, group_heads[i], n);
        }
    }
    if (left < 3 || t->at[1] != '<' || (!is_letter(t->at[2]) && t->at[2] != '_' && t->at[2] != '$'))
        return refuse(t, "(?%.*s is not a group of ECMA-262", left > 1 ? 1 : 0, t->at + 1);
    t->at += 2;
    return emit_text(t, "(?<");
}

/* Bytes of a {n}, {n,} or {n,m} at t->at - 1; 0: the brace is itself. */
static size_t counted(const translation *t) {
    const char *at = t->at;
    if (at == t->end || !is_digit(*at))
        return 0;
    while (at < t->end && is_digit(*at))
        at++;
    if (at < t->end && *at == ',')
        for (at++; at < t->end && is_digit(*at);)
            at++;
    return at < t->end && *at == '}' ? (size_t)(at + 1 - t->at) : 0;
}

static bool quantifier(translation *t, char c) {
    size_t more = c == '{' ? counted(t) : 0;
    if (c == '{' && !more) {
        t->atom = true;
        return emit_text(t, "\\{");
    }
    if (!t->atom)
        return refuse(t, "nothing to repeat before %c", c);
    t->atom = false;
    if (!emit(t, &c, 1) || !emit(t, t->at, more))
        return false;
    t->at += more;
    if (t->at < t->end && *t->at == '?') {
        t->at++;
        return emit_text(t, "?");
    }
    return true;
}

static bool translate(translation *t) {
    while (t->at < t->end) {
        char c = *t->at++;
        bool ok;
        if (c == '\\') {
            ok = escape(t);
        } else if (c == '[') {
            t->atom = true;
            ok = class(t);
        } else if (c == '(') {
            ok = group(t);
        } else if (strchr("*+?{", c) && c) {
            ok = quantifier(t, c);
        } else {
            t->atom = c != '^' && c != '$' && c != '|';
            ok = c == '.' ? emit_text(t, "[^\\n\\r\\x{2028}\\x{2029}]") : emit(t, &c, 1);
        }
        if (!ok)
            return false;
    }
    return true;
}

/* ---- compiling and searching ---- */

static pcre2_code *pcre_compile(translation *t) {
    static const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
                                    PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        return (void)refuse(t, "out of memory"), NULL;
    pcre2_set_parens_nest_limit(context, REGEX_NESTING);
    int code;
    PCRE2_SIZE offset;
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)t->out, t->len, options, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (!re && t->err_size)
        pcre2_get_error_message(code, (PCRE2_UCHAR *)t->err, t->err_size);
    return re;
}

static bool pcre_prepare(regex *re, translation *t, uint32_t match_limit, uint32_t heap_kib) {
    re->code = pcre_compile(t);
    if (!re->code)
        return false;
    re->context = pcre2_match_context_create(NULL);
    if (!re->context)
        return refuse(t, "out of memory");
    pcre2_set_match_limit(re->context, match_limit ? match_limit : REGEX_MATCH_DEFAULT);
    pcre2_set_heap_limit(re->context, heap_kib ? heap_kib : REGEX_HEAP_KIB_DEFAULT);
    return true;
}

regex *regex_compile(const char *pattern, size_t len, uint32_t match_limit, uint32_t heap_kib, char *err,
                     size_t err_size) {
    translation t = {.at = pattern, .end = pattern + len, .err = err, .err_size = err ? err_size : 0};
    if (len > REGEX_PATTERN_MAX)
        return (void)refuse(&t, "pattern longer than %d bytes", REGEX_PATTERN_MAX), NULL;
    regex *re = calloc(1, sizeof *re);
    if (!re)
        return (void)refuse(&t, "out of memory"), NULL;
    if (plain_compile(re, pattern, pattern + len))
        return re;
    re->steps = 0;
    bool ok = emit(&t, "", 0) && translate(&t) && pcre_prepare(re, &t, match_limit, heap_kib);
    free(t.out);
    if (ok)
        return re;
    regex_free(re);
    return NULL;
}

void regex_free(regex *re) {
    if (!re)
        return;
    pcre2_code_free(re->code);
    pcre2_match_context_free(re->context);
    free(re);
}

bool regex_is_plain(const regex *re) {
    return re->steps > 0;
}

size_t regex_size(const regex *re) {
    size_t code = 0;
    if (re->code)
        pcre2_pattern_info(re->code, PCRE2_INFO_SIZE, &code);
    return sizeof *re + code;
}

/* One match block a thread, given back when the thread ends: a search then takes no memory of its own. */
static pthread_key_t block_key;
static pthread_once_t block_once = PTHREAD_ONCE_INIT;
static bool block_key_made;

static void block_free(void *block) {
    pcre2_match_data_free(block);
}

static void block_free_of_main(void) {
    block_free(pthread_getspecific(block_key));
    pthread_setspecific(block_key, NULL);
}

static void block_make_key(void) {
    block_key_made = pthread_key_create(&block_key, block_free) == 0;
    if (block_key_made)
        atexit(block_free_of_main);
}

static pcre2_match_data *block_of_thread(void) {
    pthread_once(&block_once, block_make_key);
    if (!block_key_made)
        return NULL;
    pcre2_match_data *block = pthread_getspecific(block_key);
    if (!block) {
        block = pcre2_match_data_create(1, NULL);
        if (block && pthread_setspecific(block_key, block) != 0)
            return pcre2_match_data_free(block), NULL;
    }
    return block;
}

regex_verdict regex_search(const regex *re, const char *text, size_t len) {
    if (re->steps)
        return plain_match(re, text, len);
    pcre2_match_data *block = block_of_thread();
    if (!block)
        return REGEX_LIMIT;
    int rc = pcre2_match(re->code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_UTF_CHECK, block, re->context);
    return rc >= 0 ? REGEX_YES : rc == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
}
