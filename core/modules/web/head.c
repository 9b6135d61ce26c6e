/* SPDX-License-Identifier: MIT */
/* head.c -- what a head must be before the handler sees it. libmicrohttpd takes much without a word that a
 * proxy before us may read otherwise; where two readers can disagree on where a request ends, one can be
 * smuggled behind another. Whatever is doubtful gets an answer and the end of its connection. */
#include "front.h"

#include <stdlib.h>
#include <string.h>

typedef enum {
    LAYOUT,
    METHOD,
    TARGET,
    AUTHORITY,
    VERSION,
    NAME,
    VALUE,
    HOST,
    LENGTH,
    CODING,
    NO_LENGTH,
    MEMORY
} fault_kind;

#define END "\n"
static const head_fault faults[] = {
    [LAYOUT] =
        {400,
         "Bad request: the head must be lines 'Name: value' that each end with CR LF, then an empty line. "
         "No folded lines, no lone line feeds, no NUL bytes, one blank between the parts of the first "
         "line." END},
    [METHOD] = {400, "Bad request: the method has a character that methods cannot have." END},
    [TARGET] = {400, "Bad request: the target must start with '/' and have no blanks or control characters; "
                     "percent-encode them." END},
    [AUTHORITY] = {400, "Bad request: the target names another host than the header Host." END},
    [VERSION] = {505, "HTTP version not supported: this server speaks HTTP/1.1 and HTTP/1.0." END},
    [NAME] =
        {400,
         "Bad request: a header's name is empty or has a character that names cannot have, such as a blank "
         "before the colon." END},
    [VALUE] = {400, "Bad request: a header's value has a control character." END},
    [HOST] = {400, "Bad request: send exactly one Host header (HTTP/1.0: at most one)." END},
    [LENGTH] = {400, "Bad request: Content-Length must be one decimal number, given once." END},
    [CODING] =
        {400,
         "Bad request: the only Transfer-Encoding taken is 'chunked', given once, in HTTP/1.1 and without "
         "Content-Length." END},
    [NO_LENGTH] = {411, "Length required: give the body's length in Content-Length, or send it chunked." END},
    [MEMORY] = {500, "The server is out of memory." END},
};

/* ---- characters ---- */

static bool is_token(const char *s, size_t len) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i], lower = c | 32;
        if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
              (c && memchr(others, c, sizeof others - 1))))
            return false;
    }
    return len > 0;
}

static bool is_control(unsigned char c) {
    return c < 32 || c == 127;
}

static bool is_value(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (is_control((unsigned char)s[i]) && s[i] != '\t')
            return false;
    return true;
}

static bool is_target(const char *s) {
    for (const char *c = s; *c; c++)
        if (*c == ' ' || is_control((unsigned char)*c))
            return false;
    return true;
}

/* "http://HOST/path", as clients send it to proxies and every server has to take it (RFC 9112, 3.2.2). Host has to say
 * the same, so that it alone is looked at by whoever asks which host is meant. NULL: it names another. */
static const char *path_of(const char *target, const char *host) {
    size_t scheme = strncasecmp(target, "http://", 7) == 0 ? 7 : strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
    if (!scheme)
        return target;
    target += scheme;
    size_t len = strcspn(target, "/");
    if (!len || !host || strlen(host) != len || strncasecmp(target, host, len) != 0)
        return NULL;
    return target[len] ? target + len : "/";
}

/* ---- the lines ---- */

static enum MHD_Result keep_line(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len,
                                 const char *value, size_t value_len) {
    (void)kind;
    web_exchange *x = cls;
    if (x->line_count == x->line_size) {
        unsigned size = x->line_size ? 2 * x->line_size : HEADER_LINES_FIRST;
        header_line *grown = realloc(x->lines, size * sizeof *grown);
        if (!grown) {
            x->lines_lost = true;
            return MHD_NO;
        }
        x->lines = grown;
        x->line_size = size;
    }
    uint32_t raw = (uint32_t)value_len, len = raw;
    while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    x->lines[x->line_count++] = (header_line){name, value ? value : "", (uint32_t)name_len, len, raw};
    return MHD_YES;
}

/* Values are handed out as C texts: those that ended with blanks are copied. */
static bool trim(web_exchange *x) {
    size_t need = 0;
    for (unsigned i = 0; i < x->line_count; i++)
        need += x->lines[i].value_len < x->lines[i].raw_len ? x->lines[i].value_len + 1 : 0;
    if (!need)
        return true;
    char *at = x->trimmed = malloc(need);
    for (unsigned i = 0; at && i < x->line_count; i++) {
        header_line *l = &x->lines[i];
        if (l->value_len == l->raw_len)
            continue;
        memcpy(at, l->value, l->value_len);
        at[l->value_len] = '\0';
        l->value = at;
        at += l->value_len + 1;
    }
    return at != NULL;
}

static bool same_name(const header_line *l, const char *name, size_t len) {
    return l->name_len == len && strncasecmp(l->name, name, len) == 0;
}

const char *head_header(const web_head *h, const char *name, unsigned *ret_count) {
    const web_exchange *x = (const void *)((const char *)h - offsetof(web_exchange, head));
    const char *first = NULL;
    size_t len = strlen(name);
    unsigned count = 0;
    for (unsigned i = 0; i < x->line_count; i++)
        if (same_name(&x->lines[i], name, len)) {
            if (!count++)
                first = x->lines[i].value;
            if (!ret_count)
                break;
        }
    if (ret_count)
        *ret_count = count;
    return first;
}

/* ---- the layout ----
 * 0.9.75 splits the head in its own buffer, each CR, LF and colon becoming NUL, and points into it. So the bytes can be
 * walked: every line must begin where the one before ended, and the last must end where the head does. That shows what
 * the values alone do not: folded lines (glued to a copy elsewhere), lone line feeds, NUL bytes, and the lines ": x" and
 * NUL x, which it takes for the end of the head. Three line ends cannot be told from CR LF once they are NULs, and pass:
 * NUL LF anywhere, ':' LF as the empty line, and NUL NUL LF LF as the end of a head. Another version may do otherwise and
 * is not walked. */

static bool is_known_library(void) {
    return strncmp(MHD_get_version(), "0.9.75", 6) == 0;
}

typedef struct {
    const char *at, *end;
} walk;

static bool ends_line(walk *w) {
    if (w->end - w->at < 2 || w->at[0] || w->at[1])
        return false;
    w->at += 2;
    return true;
}

static bool walk_line(walk *w, const header_line *l) {
    if (l->name != w->at || (size_t)(w->end - w->at) < (size_t)l->name_len + 1 + l->raw_len)
        return false;
    const char *last = w->end - l->raw_len;
    for (w->at += l->name_len + 1; w->at != l->value; w->at++)
        if (w->at >= last || (*w->at != ' ' && *w->at != '\t'))
            return false;
    w->at += l->raw_len;
    return ends_line(w);
}

static bool is_laid_out(const web_exchange *x, const char *url, const char *method, const char *version) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info || url != method + strlen(method) + 1)
        return false;
    walk w = {url + strlen(url) + 1, method + info->header_size};
    if (x->query)
        w.at += strlen(x->query) + 1;
    if (w.at != version)
        return false;
    w.at += strlen(version);
    bool ok = ends_line(&w);
    for (unsigned i = 0; ok && i < x->line_count; i++)
        ok = walk_line(&w, &x->lines[i]);
    return ok && ends_line(&w) && w.at == w.end;
}

/* ---- what the lines say ---- */

typedef struct {
    unsigned hosts, lengths, codings;
    const header_line *length, *coding;
} framing;

static void note_line(framing *f, web_exchange *x, const header_line *l) {
    if (same_name(l, "Host", 4)) {
        f->hosts++;
    } else if (same_name(l, "Content-Length", 14)) {
        f->lengths++;
        f->length = l;
    } else if (same_name(l, "Transfer-Encoding", 17)) {
        f->codings++;
        f->coding = l;
    } else if (same_name(l, "Expect", 6)) {
        x->expects = true;
    }
}

/* What does not fit is larger than anything we would read. */
static bool read_length(const header_line *l, uint64_t *ret) {
    *ret = 0;
    for (uint32_t i = 0; i < l->value_len; i++) {
        if (l->value[i] < '0' || l->value[i] > '9')
            return false;
        *ret = *ret > SWALLOW_MAX ? *ret : *ret * 10 + (uint64_t)(l->value[i] - '0');
    }
    return l->value_len > 0;
}

static const head_fault *judge_framing(web_exchange *x, const framing *f, bool old) {
    if (f->hosts > 1 || (!f->hosts && !old))
        return &faults[HOST];
    if (f->lengths > 1 || (f->length && !read_length(f->length, &x->expected)))
        return &faults[LENGTH];
    x->has_length = f->length;
    x->chunked = f->coding;
    if (f->coding && (f->codings > 1 || f->length || old || f->coding->value_len != 7 ||
                      strncasecmp(f->coding->value, "chunked", 7) != 0))
        return &faults[CODING];
    return NULL;
}

static bool brings_body(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

/* Only a request whose length was announced may be followed by another one on its connection: what a reader
 * that sees the head end elsewhere would take for the next request is then never read as one. Of a chunked
 * one the lines after the body cannot be walked. */
static const head_fault *judge_method(web_exchange *x, const char *method) {
    bool body = brings_body(method);
    if (body && !x->has_length && !x->chunked)
        return &faults[NO_LENGTH];
    x->last = !body || x->chunked;
    return NULL;
}

static const head_fault *judge_lines(web_exchange *x, bool old) {
    framing f = {0};
    for (unsigned i = 0; i < x->line_count; i++) {
        const header_line *l = &x->lines[i];
        if (!is_token(l->name, l->name_len))
            return &faults[NAME];
        if (!is_value(l->value, l->value_len))
            return &faults[VALUE];
        note_line(&f, x, l);
    }
    return judge_framing(x, &f, old);
}

static const head_fault *judge_target(web_exchange *x, const char *target) {
    const char *path = path_of(target, head_header(&x->head, "Host", NULL));
    if (!path)
        return &faults[AUTHORITY];
    if ((*path != '/' && strcmp(path, "*") != 0) || !is_target(path) || (x->query && !is_target(x->query)))
        return &faults[TARGET];
    x->head.path = path;
    return NULL;
}

const head_fault *head_read(web_exchange *x, const char *url, const char *method, const char *version) {
    x->head.method = method;
    x->head.path = url;
    MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, keep_line, x);
    if (x->lines_lost)
        return &faults[MEMORY];
    bool old = x->old = strcmp(version, "HTTP/1.0") == 0;
    if (!old && strcmp(version, "HTTP/1.1") != 0)
        return &faults[VERSION];
    const head_fault *fault = judge_lines(x, old);
    if (!fault && is_known_library() && !is_laid_out(x, url, method, version))
        fault = &faults[LAYOUT];
    if (!fault && !is_token(method, strlen(method)))
        fault = &faults[METHOD];
    if (!fault && !trim(x))
        fault = &faults[MEMORY];
    if (!fault)
        fault = judge_target(x, url);
    return fault ? fault : judge_method(x, method);
}
