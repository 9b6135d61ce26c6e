/* SPDX-License-Identifier: MIT */
/* test_web.h -- MCP over HTTP without HTTP: a front that keeps what is answered, over the server of test_core_host.h.
 * Headers are lines; those of a well-behaved client are there already. "Name: value" takes the place of one of them,
 * "Name:" takes it away, "+Name: value" comes on top. JSON is written with ' for ". */
#ifndef LASTRO_TESTS_WEB_H
#define LASTRO_TESTS_WEB_H

#include "test_core_host.h"
#include "unit.h"
#include "web_host.h"

#include <strings.h>

enum { WEB_TEST_HEADERS = 40 };

struct web_exchange {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int refs; /* the host's */
    void *user;
    bool accepted, gone, done, replied, streaming, finished;
    unsigned status;
    char *names[WEB_TEST_HEADERS], *values[WEB_TEST_HEADERS]; /* of the request, then of the answer */
    size_t asked, answered;
    char *body;
    size_t len;
    web_exchange *next;
};

static server *srv;
static web_host *host;
static web_exchange *exchanges;
static arena web_mem;
static atomic_int web_waited; /* writes that might have waited */

/* Texts that live as long as the server. Any thread. */
static pthread_mutex_t web_mem_lock = PTHREAD_MUTEX_INITIALIZER;
static inline char *web_copy(const char *text, size_t len) {
    pthread_mutex_lock(&web_mem_lock);
    char *copy = arena_strndup(&web_mem, text, len);
    pthread_mutex_unlock(&web_mem_lock);
    return copy;
}
__attribute__((format(printf, 1, 2))) static inline char *web_text(const char *fmt, ...) {
    static _Thread_local char text[20000];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return web_copy(text, (size_t)n);
}

/* ---- the front ---- */

static inline void web_keep(web_exchange *x, const char *bytes, size_t len) {
    x->body = realloc(x->body, x->len + len + 1);
    if (len)
        memcpy(x->body + x->len, bytes, len);
    x->len += len;
    x->body[x->len] = '\0';
    pthread_cond_broadcast(&x->more);
}

static inline bool web_begin(web_exchange *x, const web_answer *a, bool streaming) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->gone && !x->status;
    unit_check(!x->status, "answered twice: %u, %u", x->status, a->status);
    if (ok) {
        x->status = a->status;
        x->streaming = streaming;
        x->replied = !streaming;
        for (size_t i = 0; i < a->header_count; i++) {
            x->names[x->answered] = strdup(a->headers[i].name);
            x->values[x->answered++] = strdup(a->headers[i].value);
        }
        web_keep(x, a->body, a->len);
    }
    pthread_mutex_unlock(&x->lock);
    return ok;
}

static inline void front_set_user(web_exchange *x, void *user) {
    x->user = user;
}
static inline void *front_user(const web_exchange *x) {
    return x->user;
}
static inline void front_count(web_exchange *x, int by) {
    pthread_mutex_lock(&x->lock);
    x->refs += by;
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
}
static inline void front_retain(web_exchange *x) {
    front_count(x, 1);
}
static inline void front_release(web_exchange *x) {
    front_count(x, -1);
}
static inline bool front_reply(web_exchange *x, const web_answer *a) {
    return web_begin(x, a, false);
}
static inline bool front_stream(web_exchange *x, const web_answer *a) {
    return web_begin(x, a, true);
}
static inline bool front_write(web_exchange *x, const char *bytes, size_t len, bool may_wait) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->gone && x->streaming && !x->finished;
    atomic_fetch_add(&web_waited, may_wait);
    if (ok)
        web_keep(x, bytes, len);
    pthread_mutex_unlock(&x->lock);
    return ok;
}
static inline bool front_finish(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    bool ok = !x->gone && x->streaming && !x->finished;
    x->finished = x->finished || ok;
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
    return ok;
}
static const web_front fake_front = {.version = WEB_FRONT_VERSION, .set_user = front_set_user, .user = front_user,
                                     .retain = front_retain, .release = front_release, .reply = front_reply,
                                     .stream = front_stream, .write = front_write, .finish = front_finish};

/* ---- the server ---- */

static inline void web_start_with(server *s, bool loopback, const web_keys *keys) {
    srv = s;
    CU_ASSERT_PTR_NOT_NULL_FATAL(srv);
    arena_init(&web_mem, 0);
    atomic_store(&web_waited, 0);
    host = web_host_create(srv, &fake_front, &(web_host_options){.loopback = loopback, .keys = keys});
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
}
static inline void web_start(void) {
    web_start_with(core_inner_server("{}"), true, NULL);
}

/* The client hangs up; what was open sees it. */
static inline void web_close(web_exchange *x) {
    const web_handler *h = web_host_handler(host);
    pthread_mutex_lock(&x->lock);
    bool was_open = x->accepted && !x->done, whole = x->replied || x->finished;
    x->gone = x->gone || !whole;
    pthread_mutex_unlock(&x->lock);
    if (was_open && !whole)
        h->gone(h->arg, x);
    x->done = true;
    if (was_open)
        h->done(h->arg, x);
}

static inline void web_free(web_exchange *x) {
    unit_check(x->refs == 0, "an exchange is still held %d times", x->refs);
    for (size_t i = 0; i < x->answered; i++) {
        free(x->names[i]);
        free(x->values[i]);
    }
    free(x->body);
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->more);
    free(x);
}

static inline void web_finish(void) {
    for (web_exchange *x = exchanges; x; x = x->next)
        web_close(x);
    CU_ASSERT(server_wait_idle(srv, 5000));
    web_host_destroy(host);
    for (web_exchange *x = exchanges, *next; x; x = next) {
        next = x->next;
        web_free(x);
    }
    exchanges = NULL;
    server_destroy(srv);
    arena_free(&web_mem);
}

/* ---- asking ---- */

static inline char *web_quoted(const char *text) {
    char *copy = web_copy(text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

typedef struct {
    web_head base; /* first */
    size_t count;
    char *names[WEB_TEST_HEADERS], *values[WEB_TEST_HEADERS];
} web_test_head;

static inline const char *web_header_of(const web_head *h, const char *name, unsigned *ret_count) {
    const web_test_head *t = (const web_test_head *)h;
    const char *first = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < t->count; i++)
        if (strcasecmp(t->names[i], name) == 0 && !n++)
            first = t->values[i];
    if (ret_count)
        *ret_count = n;
    return first;
}

static inline void web_add_header(web_test_head *h, char *line) {
    bool on_top = *line == '+';
    char *name = line + on_top, *value = strchr(name, ':');
    *value++ = '\0';
    value += strspn(value, " ");
    for (size_t i = 0; i < h->count && !on_top; i++)
        if (strcasecmp(h->names[i], name) == 0) {
            h->count--;
            h->names[i] = h->names[h->count];
            h->values[i] = h->values[h->count];
        }
    if (*value) {
        h->names[h->count] = name;
        h->values[h->count++] = value;
    }
}

static inline void web_read_headers(web_test_head *h, const char *lines) {
    char *rest = web_copy(lines, strlen(lines)), *line;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            web_add_header(h, line);
}

#define WEB_USUAL                                                                                          \
    "Host: 127.0.0.1:8717\nContent-Type: application/json\nAccept: application/json, text/event-stream\n"

static inline web_exchange *web_open(void) {
    web_exchange *x = calloc(1, sizeof *x);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->more, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_lock(&web_mem_lock);
    x->next = exchanges;
    exchanges = x;
    pthread_mutex_unlock(&web_mem_lock);
    return x;
}

static inline web_exchange *web_ask(const char *verb, const char *path, const char *headers, const char *body) {
    const web_handler *h = web_host_handler(host);
    web_exchange *x = web_open();
    web_test_head head = {.base = {.method = verb, .path = path, .remote = "127.0.0.1", .header = web_header_of}};
    web_read_headers(&head, WEB_USUAL);
    web_read_headers(&head, headers);
    x->accepted = h->head(h->arg, x, &head.base);
    char *text = web_quoted(body);
    if (x->accepted)
        h->request(h->arg, x, &head.base, text, strlen(text));
    else
        unit_check(x->status != 0, "head refused without an answer: %s %s", verb, path);
    return x;
}

static inline web_exchange *web_post(const char *headers, const char *body) {
    return web_ask("POST", "/mcp", headers, body);
}

/* ---- looking at answers ---- */

typedef enum { WEB_HEAD, WEB_WHOLE, WEB_TEXT, WEB_FREE } web_wanted;

static inline bool web_has(const web_exchange *x, web_wanted what, const char *text) {
    switch (what) {
    case WEB_HEAD:
        return x->status != 0;
    case WEB_WHOLE:
        return x->replied || x->finished;
    case WEB_TEXT:
        return x->body && strstr(x->body, text);
    default:
        return x->refs == 0;
    }
}

static inline bool web_wait(web_exchange *x, web_wanted what, const char *text) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 5;
    int late = 0;
    pthread_mutex_lock(&x->lock);
    while (!web_has(x, what, text) && !late)
        late = pthread_cond_timedwait(&x->more, &x->lock, &until);
    bool there = web_has(x, what, text);
    pthread_mutex_unlock(&x->lock);
    return there;
}

/* A header of the answer; NULL: none. */
static inline const char *web_answered(const web_exchange *x, const char *name) {
    for (size_t i = 0; i < x->answered; i++)
        if (strcasecmp(x->names[i], name) == 0)
            return x->values[i];
    return NULL;
}

/* As a front does when all of it was sent. */
static inline bool web_wait_whole(web_exchange *x) {
    bool whole = web_wait(x, WEB_WHOLE, NULL);
    if (whole)
        web_close(x);
    return whole;
}

/* The body of a whole answer. */
static inline const json_value *web_json(web_exchange *x) {
    web_wait_whole(x);
    pthread_mutex_lock(&web_mem_lock);
    const json_value *v = json_read_copy(&web_mem, x->body ? x->body : "", x->len, NULL, NULL);
    pthread_mutex_unlock(&web_mem_lock);
    return v;
}

/* What came until now. */
static inline char *web_body(web_exchange *x) {
    pthread_mutex_lock(&x->lock);
    char *all = web_copy(x->body ? x->body : "", x->len);
    pthread_mutex_unlock(&x->lock);
    return all;
}

/* The data of the n-th event; NULL: there are not so many. "": an event without data. */
static inline const char *web_event_data(web_exchange *x, size_t n) {
    char *all = web_body(x), *found = NULL;
    for (char *end; !found && (end = strstr(all, "\n\n")); all = end + 2) {
        *end = '\0';
        if (n--)
            continue;
        found = strstr(all, "data: ");
        found = found ? found + 6 : all;
    }
    return found;
}

static inline bool web_is(web_exchange *x, unsigned status, int code, const char *what) {
    bool whole = web_wait_whole(x);
    int64_t got = 0;
    json_int64(AT(web_json(x), "error", "code"), &got);
    bool ok = whole && x->status == status && got == code;
    unit_check(ok, "%s: %u with %lld, not %u with %d: %.300s", what, x->status, (long long)got, status, code, x->body ? x->body : "");
    return ok;
}

/* Status, and the code of the JSON-RPC error (0: there is none). */
#define EXPECT(x, status, code) web_is((x), (status), (code), #x)

/* ---- eras ---- */

#define VERSION "MCP-Protocol-Version: 2026-07-28\n"
#define META "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}"
#define META_ASKS                                                                                                      \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':" \
    "{'elicitation':{}}}"
#define REQUEST(id, method, params) "{'jsonrpc':'2.0','id':" id ",'method':'" method "','params':{" params "}}"
#define CALL(id, name, args, more) REQUEST(id, "tools/call", "'name':'" name "','arguments':{" args "}" more)
#define MODERN_CALL VERSION "Mcp-Method: tools/call\nMcp-Name: "

/* A legacy session; its header line. */
static inline const char *web_session_of(const char *version, const char *more) {
    char *body = web_text("{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':'%s','capabilities':"
                              "{'elicitation':{},'sampling':{},'roots':{}},'clientInfo':{'name':'t','version':'1'}}}", version);
    web_exchange *x = web_post(more, body);
    const char *id = web_answered(x, "Mcp-Session-Id");
    CU_ASSERT_EQUAL(x->status, 200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(id);
    web_exchange *y = web_post(web_text("%sMcp-Session-Id: %s\n", more, id),
                               "{'jsonrpc':'2.0','method':'notifications/initialized'}");
    CU_ASSERT_EQUAL(y->status, 202);
    web_close(x);
    web_close(y);
    return web_text("%sMcp-Session-Id: %s\n", more, id);
}
static inline const char *web_session(void) {
    return web_session_of("2025-11-25", "");
}

#endif
