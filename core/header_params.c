/* SPDX-License-Identifier: MIT */
#include "header_params.h"
#include "fail.h"
#include "schema_nodes.h"
#include "seal.h"

#include <ctype.h>
#include <string.h>

static const char MARK[] = "x-mcp-header", PREFIX[] = "=?base64?", SUFFIX[] = "?=";
enum { SHOWN = 80 }; /* bytes of a foreign text in ours */

/* ---- while loading ---- */

typedef struct marks {
    struct marks *next;
    header_param param;
} marks;

typedef struct walk {
    arena *mem;
    marks *list, **end;
    size_t count;
    lastro_error *err;
} walk;

/* Where a subschema stands. named: it is the property of that name in the schema of outer. */
typedef struct place {
    const struct place *outer;
    const json_value *name;
    bool reachable; /* by properties alone */
} place;

static bool is_token(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!text[i] || (!isalnum((unsigned char)text[i]) && !strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return len > 0;
}

static char *label_of(arena *a, const place *p) {
    if (!p->outer || !p->outer->name)
        return arena_strndup(a, json_text_of(p->name).at, json_text_of(p->name).len);
    const char *outer = label_of(a, p->outer);
    return outer ? arena_printf(a, "%s.%s", outer, json_text_of(p->name).at) : NULL;
}

static bool keep(walk *w, const place *p, json_text name) {
    marks *m = arena_new(w->mem, marks);
    size_t depth = 0;
    for (const place *at = p; at->name; at = at->outer)
        depth++;
    const json_value **path = arena_array(w->mem, const json_value *, depth);
    char *header = arena_printf(w->mem, "Mcp-Param-%.*s", (int)name.len, name.at), *label = label_of(w->mem, p);
    if (!m || !path || !header || !label)
        return fail(w->err, LASTRO_ENOMEM, "out of memory"), false;
    m->param = (header_param){header, label, path, depth};
    for (const place *at = p; at->name; at = at->outer)
        path[--depth] = at->name;
    *w->end = m;
    w->end = &m->next;
    w->count++;
    return true;
}

static bool take_mark(walk *w, const json_value *node, const json_value *mark, const place *p) {
    static const char *const types[] = {"string", "integer", "boolean"};
    if (!p->reachable || !p->name)
        return fail(w->err, LASTRO_EARGS, "%s may stand only on a property that is reached from the top by properties alone, not "
                    "under items, anyOf, $defs or the like", MARK), false;
    json_text name = json_text_of(mark);
    const char *label = json_text_of(p->name).at;
    if (!json_is(mark, JSON_STRING) || !is_token(name.at, name.len))
        return fail(w->err, LASTRO_EARGS, "%s of \"%.*s\" must be a header's name: letters, digits and !#$%%&'*+-.^_`|~", MARK, SHOWN,
                    label), false;
    const json_value *type = json_member(node, "type");
    bool good = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        good = good || json_text_is(type, types[i]);
    if (!good) /* also a list of types: clients would leave the tool out */
        return fail(w->err, LASTRO_EARGS, "%s of \"%.*s\" needs \"type\": \"string\", \"integer\" or \"boolean\" beside it", MARK, SHOWN,
                    label), false;
    for (const marks *m = w->list; m; m = m->next)
        if (strcasecmp(m->param.header + strlen("Mcp-Param-"), name.at) == 0)
            return fail(w->err, LASTRO_EARGS, "%s \"%.*s\" stands on two properties; upper and lower case are the same there", MARK,
                        SHOWN, name.at), false;
    return keep(w, p, name);
}

static bool visit(walk *w, const json_value *node, const place *p);

/* The subschemas in the value of one keyword. */
static bool visit_rule(walk *w, keyword_id k, const json_value *rule, const place *p) {
    bool through = k == KW_PROPERTIES && p->reachable;
    switch (schema_keywords[k].rule) {
    case RULE_SCHEMA:
    case RULE_ITEMS:
    case RULE_SCHEMAS:
    case RULE_SCHEMA_MAP:
    case RULE_DEPENDENCIES:
        break;
    default:
        return true; /* data: an x-mcp-header in it marks nothing */
    }
    bool many = json_is(rule, JSON_ARRAY) || schema_keywords[k].rule == RULE_SCHEMA_MAP || schema_keywords[k].rule == RULE_DEPENDENCIES;
    if (!many)
        return visit(w, rule, &(place){.outer = p});
    for (json_iter it = json_iterate(rule); json_next(&it);)
        if (!visit(w, it.value, &(place){.outer = p, .name = through ? it.key : NULL, .reachable = through}))
            return false;
    return true;
}

static bool visit(walk *w, const json_value *node, const place *p) {
    if (!json_is(node, JSON_OBJECT))
        return true;
    const json_value *mark = json_member(node, MARK);
    if (mark && !take_mark(w, node, mark, p))
        return false;
    for (json_iter it = json_iterate(node); json_next(&it);) {
        json_text name = json_text_of(it.key);
        keyword_id k = schema_keyword_find(name.at, name.len);
        if (k != KW_COUNT && !visit_rule(w, k, it.value, p))
            return false;
    }
    return true;
}

lastro_status header_params_read(arena *a, const json_value *input, const header_param **ret, size_t *ret_count,
                                 lastro_error *err) {
    lastro_error why = {0};
    walk w = {.mem = a, .err = &why};
    w.end = &w.list;
    if (!visit(&w, input, &(place){.reachable = true}))
        return fail(err, (lastro_status)why.status, "%s", why.text);
    header_param *all = w.count ? arena_array(a, header_param, w.count) : NULL;
    if (w.count && !all)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    size_t n = 0;
    for (const marks *m = w.list; m; m = m->next)
        all[n++] = m->param;
    *ret = all;
    *ret_count = n;
    return LASTRO_OK;
}

/* ---- values ---- */

const char *header_value_decode(arena *a, const char *value, size_t *ret_len) {
    value += strspn(value, " \t");
    size_t len = strlen(value), head = sizeof PREFIX - 1, tail = sizeof SUFFIX - 1;
    while (len && strchr(" \t", value[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        if (value[i] != '\t' && (value[i] < 0x20 || value[i] > 0x7e))
            return NULL;
    const char *text = value;
    if (len >= head + tail && memcmp(value, PREFIX, head) == 0 && memcmp(value + len - tail, SUFFIX, tail) == 0) {
        text = (const char *)base64_decode(a, value + head, len - head - tail, true, &len);
        if (!text || !json_valid_utf8(text, len))
            return NULL;
    } else {
        text = arena_strndup(a, value, len);
    }
    *ret_len = len;
    return text;
}

/* ---- a request ---- */

/* The argument; NULL: it is not given, or null, which is the same to headers. */
static const json_value *argument_of(const json_value *args, const header_param *p) {
    for (size_t i = 0; args && i < p->depth; i++)
        args = json_is(args, JSON_OBJECT) ? json_member_n(args, json_text_of(p->path[i]).at, json_text_of(p->path[i]).len) : NULL;
    return json_is(args, JSON_NULL) ? NULL : args;
}

/* An integer beyond it is not the same number in every client. */
static bool is_safe(const json_value *v) {
    const int64_t most = ((int64_t)1 << 53) - 1;
    int64_t n;
    return !json_number_is_integer(v) || (json_int64(v, &n) && n >= -most && n <= most);
}

static bool same_number(arena *a, const json_value *v, const char *text, size_t len) {
    const json_value *other = json_valid_number(text, len) ? json_read_copy(a, text, len, NULL, NULL) : NULL;
    return other && json_number_compare(v, other) == 0;
}

static bool agrees(arena *a, const json_value *v, const char *text, size_t len) {
    json_text t = json_text_of(v);
    switch (json_kind_of(v)) {
    case JSON_BOOL:
        return strcmp(text, json_bool(v) ? "true" : "false") == 0 && strlen(text) == len;
    case JSON_NUMBER:
        return same_number(a, v, text, len);
    case JSON_STRING:
        return t.len == len && memcmp(t.at, text, len) == 0;
    default:
        return false;
    }
}

static const char *say(arena *a, const header_param *p, const char *what) {
    const char *text = arena_printf(a, "The header %s %s arguments.%s.", p->header, what, p->label);
    return text ? text : "out of memory";
}

static const char *fault_of(arena *a, const header_param *p, const json_value *args, header_lookup look, void *arg) {
    unsigned count = 0;
    const char *value = look(arg, p->header, &count);
    const json_value *v = argument_of(args, p);
    if (count > 1)
        return say(a, p, "was sent more than once for");
    if (!v)
        return value ? say(a, p, "was sent without what it repeats: leave it out, or give") : NULL;
    if (json_kind_of(v) >= JSON_ARRAY && !value)
        return NULL; /* no header can repeat it: the input schema says what is wrong */
    if (json_is(v, JSON_NUMBER) && !is_safe(v))
        return say(a, p, "repeats integers from -9007199254740991 to 9007199254740991 only, which leaves out");
    if (!value)
        return say(a, p, "is missing; tools/list says that it repeats");
    size_t len;
    const char *text = header_value_decode(a, value, &len);
    if (!text)
        return say(a, p, "is not a plain text or =?base64?…?= of a UTF-8 text, as it must be to repeat");
    return agrees(a, v, text, len) ? NULL : say(a, p, "says something else than");
}

const char *header_params_fault(arena *a, const tool *t, const json_value *args, header_lookup look, void *arg) {
    const char *fault = NULL;
    for (size_t i = 0; i < t->header_param_count && !fault; i++)
        fault = fault_of(a, &t->header_params[i], args, look, arg);
    return fault;
}
