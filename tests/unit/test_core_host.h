/* SPDX-License-Identifier: MIT */
/* test_core_host.h -- a server over a plugin that lives in the test program (no file is loaded), and a client that keeps
 * what it is sent. For test_mcp.c and the fuzz target of the protocol. */
#ifndef LASTRO_TESTS_CORE_HOST_H
#define LASTRO_TESTS_CORE_HOST_H

#include "clock.h"
#include "loader.h"
#include "mcp.h"

#include <lastro/lastro.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) const lastro_host *lastro;

/* ---- the plugin ---- */

static atomic_int inner_echoes, inner_begun, inner_stopped; /* runs of echo; waits that began; that saw their cancellation */

static inline lastro_status inner_echo(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    (void)self, (void)call, (void)err;
    atomic_fetch_add(&inner_echoes, 1);
    lastro->begin_object(out);
    lastro_put_string(out, "text", lastro_get_text(args, "text", ""));
    lastro->end_object(out);
    return LASTRO_OK;
}

static inline lastro_status inner_wait(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    (void)self;
    atomic_fetch_add(&inner_begun, 1);
    for (int64_t ms = lastro_get_int(args, "ms", 0); ms > 0; ms--) {
        if (lastro->cancelled(call)) {
            atomic_fetch_add(&inner_stopped, 1);
            return lastro_fail(err, LASTRO_ECANCELLED, "stopped");
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    lastro->begin_object(out);
    lastro_put_text(out, "text", "waited");
    lastro->end_object(out);
    return LASTRO_OK;
}

/* Three steps of progress and a line of each level; the result is content only. */
static inline lastro_status inner_talk(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    (void)self, (void)args, (void)out, (void)err;
    for (int i = 0; i < 3; i++)
        lastro->progress(call, i * 0.5, i < 2 ? 1 : 0, i == 1 ? "half" : NULL);
    for (int32_t level = LASTRO_LOG_DEBUG; level <= LASTRO_LOG_ERROR; level++)
        lastro->log(call, level, "a line");
    lastro_content_text(call, "first");
    lastro_content_text(call, "second");
    return LASTRO_OK;
}

static inline lastro_status inner_question(lastro_call *call, const char *key, const char *how, lastro_text message,
                                           lastro_writer *out, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    if (strcmp(how, "sampling/createMessage") == 0) {
        lastro_put_int(w, "maxTokens", 9);
        lastro_put_array(w, "messages");
        lastro->end_array(w);
    } else {
        lastro_put_string(w, "message", message);
        lastro_put_object(w, "requestedSchema");
        lastro_put_text(w, "type", "object");
        lastro_put_object(w, "properties");
        lastro->end_object(w);
        lastro->end_object(w);
    }
    lastro->end_object(w);
    lastro_question q = {.size = sizeof q, .key = key, .method = how, .params = lastro_written(call, w, err)};
    lastro_status s = q.params ? lastro->ask(call, &q, &answer, err) : LASTRO_EINTERNAL;
    if (s)
        return s;
    lastro->begin_object(out);
    lastro_put_value(out, "answer", answer);
    lastro->end_object(out);
    return LASTRO_OK;
}
static inline lastro_status inner_ask(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                      lastro_error *err) {
    (void)self;
    char *how = lastro_copy(call, lastro_get_text(args, "method", "elicitation/create"));
    return inner_question(call, "user_name", how, lastro_get_text(args, "message", "Who?"), out, err);
}

/* Fails with the status and the text it is given. */
static inline lastro_status inner_fail(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    (void)self;
    char *text = lastro_copy(call, lastro_get_text(args, "text", ""));
    lastro->begin_object(out);
    return lastro_fail(err, (lastro_status)lastro_get_int(args, "status", LASTRO_EINTERNAL), "%s", text ? text : "");
}

static inline lastro_status inner_bad(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                      lastro_error *err) {
    (void)self, (void)call, (void)args, (void)err;
    lastro->begin_object(out);
    lastro_put_int(out, "text", 5);
    lastro->end_object(out);
    return LASTRO_OK;
}

/* So many bytes, as content or as structured result. */
static inline lastro_status inner_big(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                      lastro_error *err) {
    (void)self, (void)err;
    size_t n = (size_t)lastro_get_int(args, "bytes", 0);
    char *text = lastro->alloc(call, n + 1);
    if (!text)
        return LASTRO_ENOMEM;
    memset(text, 'x', n);
    if (lastro_get_bool(args, "content", false))
        lastro_content_text(call, text);
    lastro->begin_object(out);
    lastro_put_string(out, "text", (lastro_text){text, lastro_get_bool(args, "content", false) ? 1 : n});
    lastro->end_object(out);
    return LASTRO_OK;
}

static inline lastro_status inner_origin(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                         lastro_error *err) {
    (void)self, (void)args, (void)err;
    lastro_access access = {.size = sizeof access, .source = "book", .url = "book://1", .retrieved_at = 86400000};
    lastro_block block = {.size = sizeof block, .source = "book", .detail = "page 1"};
    lastro->record_access(call, &access);
    lastro->block(call, &block);
    lastro->derived(call, "inner", "by hand");
    lastro->begin_object(out);
    lastro_put_text(out, "text", "42");
    lastro->end_object(out);
    return LASTRO_OK;
}

/* A part for each of "items"; what they return, in their order. */
static inline lastro_status inner_parts(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                        lastro_error *err) {
    lastro_service_call parts[16];
    const lastro_value *items = lastro_get(args, "items");
    size_t n = lastro->count(items);
    (void)self;
    for (size_t i = 0; i < n; i++)
        parts[i] = (lastro_service_call){.size = sizeof *parts, .service = "inner", .version = 1, .method = "part",
                                         .args = lastro->at(items, i)};
    lastro_status s = lastro->services(call, parts, n);
    if (s) {
        for (size_t i = 0; i < n; i++)
            if (!parts[i].result)
                return lastro_fail(err, s, "%s", parts[i].error.text);
    }
    lastro_block block = {.size = sizeof block, .source = "book"};
    lastro->block(call, &block);
    lastro->begin_object(out);
    lastro_put_array(out, "results");
    for (size_t i = 0; i < n; i++)
        lastro->write_value(out, parts[i].result);
    lastro->end_array(out);
    lastro->end_object(out);
    return LASTRO_OK;
}

/* One part: waits a little, says so, may ask, and records where it read. */
static inline lastro_status inner_part(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    (void)self;
    int64_t n = lastro_get_int(args, "n", 0);
    if (lastro_has(args, "ask"))
        return inner_question(call, lastro_copy(call, lastro_get_text(args, "ask", "k")), "elicitation/create",
                              (lastro_text){"Who?", 4}, out, err);
    nanosleep(&(struct timespec){.tv_nsec = n * 1000000}, NULL);
    lastro->progress(call, (double)n, 0, NULL);
    lastro_access access = {.size = sizeof access, .source = "book", .url = "book://part", .retrieved_at = n * 1000};
    lastro->record_access(call, &access);
    lastro->begin_object(out);
    lastro_put_int(out, "n", n);
    lastro->end_object(out);
    return LASTRO_OK;
}

#define INNER_OBJECT(members) "{\"type\":\"object\",\"additionalProperties\":false" members "}"
#define INNER_TEXT INNER_OBJECT(",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":100000000}}")
#define INNER_NONE INNER_OBJECT("")
#define INNER_TOOL(name, input, output)                                                                             \
    "{\"name\":\"" name "\",\"title\":\"Inner " name "\",\"description\":\"" name " of the test.\",\"annotations\":{" \
    "\"readOnlyHint\":true},\"inputSchema\":" input output "}"
#define INNER_OUT(schema) ",\"outputSchema\":" schema
#define INNER_ANY INNER_OUT("{\"type\":\"object\"}")

static const lastro_tool inner_tools[] = {
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_echo,
     .contract = INNER_TOOL("echo", INNER_TEXT, INNER_OUT(INNER_TEXT))},
    {.size = sizeof(lastro_tool), .run = inner_wait,
     .contract = INNER_TOOL("wait", INNER_OBJECT(",\"properties\":{\"ms\":{\"type\":\"integer\"}}"), INNER_OUT(INNER_TEXT))},
    {.size = sizeof(lastro_tool), .run = inner_talk, .contract = INNER_TOOL("talk", INNER_NONE, )},
    {.size = sizeof(lastro_tool), .run = inner_ask,
     .contract = INNER_TOOL("ask", INNER_OBJECT(",\"properties\":{\"method\":{},\"message\":{\"type\":\"string\"}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_fail,
     .contract = INNER_TOOL("fail", INNER_OBJECT(",\"properties\":{\"status\":{\"type\":\"integer\"},\"text\":{}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_bad,
     .contract = INNER_TOOL("bad", INNER_NONE, INNER_OUT(INNER_TEXT))},
    {.size = sizeof(lastro_tool), .run = inner_big,
     .contract = INNER_TOOL("big", INNER_OBJECT(",\"properties\":{\"bytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000000"
                                                "},\"content\":{\"type\":\"boolean\"}}"), INNER_OUT(INNER_TEXT))},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK | LASTRO_TOOL_PROVENANCE, .run = inner_origin,
     .contract = INNER_TOOL("origin", INNER_NONE, INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_PROVENANCE, .run = inner_parts,
     .contract = INNER_TOOL("parts", INNER_OBJECT(",\"required\":[\"items\"],\"properties\":{\"items\":{\"type\":\"array\","
                                                  "\"maxItems\":16}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_echo,
     .contract = INNER_TOOL("switched_off", INNER_NONE, )},
};

static inline lastro_status inner_read(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    (void)self;
    if (lastro_text_is(uri, "inner://item/none"))
        return LASTRO_ENOTFOUND;
    if (lastro_text_is(uri, "inner://item/bad"))
        return lastro_fail(err, LASTRO_EUPSTREAM, "the shelf is closed");
    if (lastro_text_is(uri, "inner://item/ask")) {
        const lastro_value *answer;
        lastro_question q = {.size = sizeof q, .key = "which", .method = "sampling/createMessage",
                             .params = "{\"messages\":[],\"maxTokens\":9}"};
        lastro_status s = lastro->ask(call, &q, &answer, err);
        if (s)
            return s;
    }
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){"content", 7});
    return LASTRO_OK;
}
static inline lastro_status inner_complete(void *self, lastro_call *call, lastro_text name, lastro_text prefix, lastro_writer *values,
                                           lastro_error *err) {
    char text[32];
    (void)self, (void)call, (void)err;
    for (int i = 0; i < (lastro_text_is(name, "few") ? 3 : 150); i++) {
        snprintf(text, sizeof text, "%.*s%d", (int)(prefix.len < 8 ? prefix.len : 0), prefix.at, i);
        if (!lastro_text_is(name, "nothing"))
            lastro_add_text(values, text);
    }
    return LASTRO_OK;
}
static const lastro_resource inner_one = {.size = sizeof(lastro_resource), .uri = "inner://one", .name = "one",
                                          .title = "One", .mime_type = "text/plain", .read = inner_read};
static const lastro_resource inner_item = {.size = sizeof(lastro_resource), .uri = "inner://item/{id}", .name = "item",
                                           .read = inner_read, .complete = inner_complete};

static inline lastro_status inner_greet(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages,
                                        lastro_error *err) {
    (void)self, (void)err;
    char *who = lastro_copy(call, lastro_get_text(arguments, "who", ""));
    lastro_message_text(messages, "user", who ? who : "");
    return LASTRO_OK;
}
static const lastro_prompt_argument inner_who = {.size = sizeof(lastro_prompt_argument), .name = "who", .title = "Who", .required = true};
static const lastro_prompt inner_prompts[] = {
    {.size = sizeof(lastro_prompt), .name = "greet", .title = "Greet", .description = "Says hello.", .get = inner_greet,
     .arguments = (const lastro_prompt_argument *const[]){&inner_who, NULL}, .complete = inner_complete,
     .tools = (const char *const[]){"echo", NULL}},
    {.size = sizeof(lastro_prompt), .name = "hidden", .description = "Names a tool that is not enabled.", .get = inner_greet,
     .tools = (const char *const[]){"echo", "switched_off", NULL}},
};
static const lastro_source inner_book = {.size = sizeof(lastro_source), .name = "book", .title = "The Book", .license = "CC0-1.0",
                                         .citation = "The Book, {detail}, {date}.", .local = true};
static const lastro_method inner_method = {.size = sizeof(lastro_method), .name = "part", .input_schema = "{\"type\":\"object\"}",
                                           .output_schema = "{\"type\":\"object\"}", .run = inner_part};
static const lastro_service inner_service = {.size = sizeof(lastro_service), .name = "inner", .version = 1,
                                             .methods = (const lastro_method *const[]){&inner_method, NULL}};

static inline lastro_status inner_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; !s && i < LASTRO_COUNT(inner_tools); i++)
        s = lastro->add_tool(r, &inner_tools[i], err);
    for (size_t i = 0; !s && i < LASTRO_COUNT(inner_prompts); i++)
        s = lastro->add_prompt(r, &inner_prompts[i], err);
    if (s || (s = lastro->add_resource(r, &inner_one, err)) || (s = lastro->add_template(r, &inner_item, err)) ||
        (s = lastro->add_source(r, &inner_book, err)) || (s = lastro->add_service(r, &inner_service, err)) ||
        (s = lastro->add_instructions(r, "echo", "Echo answers.", err)))
        return s;
    return lastro->add_instructions(r, "switched_off", "Never said.", err);
}
static const lastro_plugin inner_plugin = {LASTRO_PLUGIN_HEAD, .name = "inner", .version = "1.2.3", .init = inner_init};

/* ---- the server ---- */

/* A file with this text; its name goes to path (at least 32 bytes). */
static inline bool core_temp_file(char *path, const char *text, size_t len) {
    memcpy(path, "/tmp/lastro-test-XXXXXX", 24);
    int fd = mkstemp(path);
    bool ok = fd >= 0 && write(fd, text, len) == (ssize_t)len;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* A server by a manifest's text; NULL with the reason in err. */
static inline server *core_server_of(const char *manifest_text, lastro_error *err) {
    char path[64];
    server_options opts = {.manifest_path = path, .offline = true};
    *err = (lastro_error){0};
    server *s = core_temp_file(path, manifest_text, strlen(manifest_text)) ? server_create(&opts, err) : NULL;
    unlink(path);
    if (s)
        s->opts.manifest_path = NULL;
    return s;
}

/* One with that plugin. enabled: JSON array of its enabled tools, NULL: all. limits: the manifest's object. */
static inline server *core_server_with(const lastro_plugin *desc, const char *enabled, const char *limits) {
    static manifest_plugin entry = {.library = "inner.so", .enabled = true, .isolation = "none"};
    char text[600];
    lastro_error err;
    snprintf(text, sizeof text, "{\"manifest\":1,\"name\":\"test\",\"title\":\"Test\",\"version\":\"9.8.7\",\"description\":\"Of the tests\","
             "\"publisher\":\"org.example\",\"instructions\":\"Be kind.\",\"limits\":%s,\"plugins\":[]}", limits);
    server *s = core_server_of(text, &err);
    registry *reg = s ? calloc(1, sizeof *reg) : NULL;
    plugin *p = reg ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    arena_init(&p->mem, 0);
    entry.name = desc->name;
    entry.tools = enabled ? json_read_copy(&p->mem, enabled, strlen(enabled), NULL, NULL) : NULL;
    *p = (plugin){.entry = &entry, .desc = desc, .fd = -1, .active = true, .mem = p->mem};
    *reg = (registry){.manifest = s->manifest, .plugins = p, .plugin_count = 1};
    lastro_registrar r = {.reg = reg, .owner = p};
    if (desc->init(&s->host, &r, &p->self, &err) != LASTRO_OK || registry_seal(reg, &err) != LASTRO_OK) {
        fprintf(stderr, "the plugin of the test: %s\n", err.text);
        abort();
    }
    loader_unload(s->reg);
    surface_destroy(s->surface);
    s->reg = reg;
    s->surface = surface_create(reg);
    return s;
}

/* One with the plugin above. */
#define INNER_ENABLED "[\"echo\",\"wait\",\"talk\",\"ask\",\"fail\",\"bad\",\"big\",\"origin\",\"parts\"]"
static inline server *core_inner_server(const char *limits) {
    return core_server_with(&inner_plugin, INNER_ENABLED, limits);
}

/* ---- the client ---- */

enum { CLIENT_LINES = 4096 };
typedef struct {
    peer base; /* first */
    pthread_mutex_t lock;
    pthread_cond_t more;
    char *lines[CLIENT_LINES];
    size_t count, heard;
    int held; /* calls that answer to it */
    arena mem;
} client;

static inline void client_send(peer *p, const char *json, size_t len, peer_kind kind) {
    client *c = (client *)p;
    (void)kind;
    pthread_mutex_lock(&c->lock);
    if (c->count < CLIENT_LINES)
        c->lines[c->count++] = strndup(json, len);
    pthread_cond_broadcast(&c->more);
    pthread_mutex_unlock(&c->lock);
}
static inline void client_retain(peer *p) {
    client *c = (client *)p;
    pthread_mutex_lock(&c->lock);
    c->held++;
    pthread_mutex_unlock(&c->lock);
}
static inline void client_release(peer *p) {
    client *c = (client *)p;
    pthread_mutex_lock(&c->lock);
    c->held--;
    pthread_cond_broadcast(&c->more);
    pthread_mutex_unlock(&c->lock);
}
static inline void client_open(client *c) {
    pthread_condattr_t attr;
    *c = (client){.base = {.send = client_send, .retain = client_retain, .release = client_release}};
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->more, &attr);
    pthread_condattr_destroy(&attr);
    arena_init(&c->mem, 0);
}
static inline void client_close(client *c) {
    for (size_t i = 0; i < c->count; i++)
        free(c->lines[i]);
    arena_free(&c->mem);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->more);
}
/* Waits until more than count lines came, at most ms. */
static inline bool client_wait(client *c, size_t count, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int late = 0;
    pthread_mutex_lock(&c->lock);
    while (c->count <= count && !late)
        late = pthread_cond_timedwait(&c->more, &c->lock, &until);
    bool there = c->count > count;
    pthread_mutex_unlock(&c->lock);
    return there;
}
/* The next line that was not heard yet, waited for up to five seconds; NULL: none, or no JSON. */
static inline const json_value *client_hear(client *c) {
    if (!client_wait(c, c->heard, 5000))
        return NULL;
    pthread_mutex_lock(&c->lock);
    const char *line = c->lines[c->heard++];
    pthread_mutex_unlock(&c->lock);
    return json_read_copy(&c->mem, line, strlen(line), NULL, NULL);
}

/* A member of a member: "result", "tools", "0", "name", NULL. Digits step into arrays. */
static inline const json_value *json_path(const json_value *v, const char *const *path) {
    for (; v && *path; path++)
        v = json_is(v, JSON_ARRAY) ? json_at(v, (size_t)atoi(*path)) : json_member(v, *path);
    return v;
}
#define AT(v, ...) json_path((v), (const char *const[]){__VA_ARGS__, NULL})

#endif
