/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "clock.h"
#include "content.h"
#include "fail.h"
#include "log.h"
#include "server.h"
#include "tasks.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_CALLS = 64, KEEP_BUFFER = 1 << 20, CALL_MEMORY = 512 << 20 };

/* ---- keeping and giving out ---- */

static void init(lastro_call *c) {
    cancel_init(&c->cancel);
    c->cancel_of = &c->cancel;
    c->root = c;
    c->rev = REV_NONE;
    c->language = "en";
    c->log_level = LASTRO_LOG_ERROR + 1;
    c->deadline = clock_mono_ms() + c->srv->manifest->limits.call_ms;
    c->content_end = &c->content;
    c->questions_end = &c->questions;
    c->next_part = 1;
    prov_init(&c->prov, &c->mem);
}

static lastro_call *fresh(server *srv) {
    lastro_call *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->srv = srv;
    arena_init(&c->mem, CALL_MEMORY);
    json_writer_init(&c->out, 0);
    json_writer_init(&c->structured, 0);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

lastro_call *call_get(server *srv) {
    pthread_mutex_lock(&srv->lock);
    lastro_call *c = srv->free_calls;
    if (c) {
        srv->free_calls = c->next_free;
        srv->free_count--;
    }
    pthread_mutex_unlock(&srv->lock);
    if (!c)
        c = fresh(srv);
    if (c)
        init(c);
    return c;
}

static void free_writers(call_writer *w) {
    for (; w; w = w->next) /* the nodes are the arena's */
        json_writer_free(&w->w);
}

static void end(lastro_call *c) {
    for (lastro_call *part = c->parts, *next; part; part = next) {
        next = part->next_free;
        call_put(part);
    }
    for (call_pin *p = c->pins; p; p = p->next)
        p->release(p->pinned);
    free_writers(c->content);
    free_writers(c->scratch);
    fetch_budget_destroy(c->budget);
    cancel_destroy(&c->cancel);
    if (c->peer && c->peer->release && c->root == c)
        c->peer->release(c->peer);
}

void call_destroy(lastro_call *c) {
    arena_free(&c->mem);
    json_writer_free(&c->out);
    json_writer_free(&c->structured);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* What a call keeps for the next one: its arena's last block, its buffers, its lock. */
static void wipe(lastro_call *c) {
    arena mem = c->mem;
    json_writer out = c->out, structured = c->structured;
    pthread_mutex_t lock = c->lock;
    server *srv = c->srv;
    memset(c, 0, sizeof *c);
    c->mem = mem, c->out = out, c->structured = structured, c->lock = lock, c->srv = srv;
    arena_reset(&c->mem);
    json_writer_reset(&c->out);
    json_writer_reset(&c->structured);
    c->structured.limit = 0;
}

void call_put(lastro_call *c) {
    if (!c)
        return;
    server *srv = c->srv;
    bool big = c->out.cap > KEEP_BUFFER || c->structured.cap > KEEP_BUFFER || c->mem.used > KEEP_BUFFER;
    end(c);
    if (big) {
        call_destroy(c);
        return;
    }
    wipe(c);
    pthread_mutex_lock(&srv->lock);
    bool keep = srv->free_count < KEEP_CALLS;
    if (keep) {
        c->next_free = srv->free_calls;
        srv->free_calls = c;
        srv->free_count++;
    }
    pthread_mutex_unlock(&srv->lock);
    if (!keep)
        call_destroy(c);
}

bool call_keep(lastro_call *c, void (*release)(void *pinned), void *pinned) {
    call_pin *p = arena_new(&c->mem, call_pin);
    if (!p)
        return false;
    *p = (call_pin){c->pins, release, pinned};
    c->pins = p;
    return true;
}

lastro_call *call_part(lastro_call *c, plugin *owner) {
    lastro_call *part = call_get(c->srv), *root = c->root;
    if (!part)
        return NULL;
    part->root = root;
    part->cancel_of = root->cancel_of;
    part->deadline = root->deadline;
    part->peer = root->peer;
    part->session = root->session;
    part->rev = root->rev;
    part->era = root->era;
    part->client = root->client;
    part->trace = root->trace;
    part->trace_state = root->trace_state;
    part->progress_token = root->progress_token;
    part->log_level = root->log_level;
    part->language = root->language;
    part->tool = root->tool;
    part->principal = root->principal;
    part->owner = owner;
    pthread_mutex_lock(&root->lock);
    part->part = root->next_part++;
    pthread_mutex_unlock(&root->lock);
    return part;
}

void call_join(lastro_call *c, lastro_call *part) {
    prov_absorb(&c->prov, &part->prov);
    part->next_free = c->parts;
    c->parts = part;
}

/* ---- running a tool ---- */

static const char *plugin_version(const lastro_call *c) {
    return c->owner && c->owner->desc->version ? c->owner->desc->version : "?";
}

static lastro_status fail_text(const lastro_call *c, lastro_error *err, lastro_status status, const char *key,
                               const char *extra, const char *extra_value) {
    char buf[sizeof err->text];
    text_render(c->language, key, buf, sizeof buf,
                TEXT_PAIRS("tool", c->tool->name, "plugin", c->owner->entry->name, "version",
                           plugin_version(c), extra, extra_value));
    return fail(err, status, "%s", buf);
}

bool call_check_input(lastro_call *c, lastro_error *err) {
    schema_report report = {0};
    if (schema_validate(c->tool->input, c->args, &c->mem, &report) == SCHEMA_VALID)
        return true;
    const schema_messages *table = text_messages(c->language);
    fail_text(c, err, LASTRO_EARGS, "invalid_intro", NULL, NULL);
    size_t at = strlen(err->text);
    for (size_t i = 0; i < report.count && at + 2 < sizeof err->text; i++) {
        char line[700];
        schema_message_render(table, &report.failures[i], line, sizeof line);
        if (at + strlen(line) + 2 >= sizeof err->text)
            break;
        at += (size_t)snprintf(err->text + at, sizeof err->text - at, "\n- %s", line);
    }
    return false;
}

/* a's last brace makes room for b's members. */
static bool splice(json_writer *a, const json_writer *b) {
    size_t need = a->len + b->len + 1;
    if (need > a->cap) {
        char *p = realloc(a->data, need);
        if (!p)
            return false;
        a->data = p;
        a->cap = need;
    }
    a->len--; /* the closing brace */
    if (a->len > 1)
        a->data[a->len++] = ',';
    memcpy(a->data + a->len, b->data + 1, b->len - 1);
    a->len += b->len - 1;
    a->data[a->len] = '\0';
    return true;
}

static lastro_status add_provenance(lastro_call *c, lastro_error *err) {
    uint32_t flags = c->tool->def->flags;
    if (!(flags & (LASTRO_TOOL_PROVENANCE | LASTRO_TOOL_PROVENANCE_LIST)))
        return LASTRO_OK;
    if (!c->prov.blocks || c->prov.failed) {
        log_error("tool \"%s\": %s", c->tool->name,
                  c->prov.failed ? "no memory for provenance" : "no provenance block");
        return fail_text(c, err, LASTRO_EINTERNAL, "defect_provenance", NULL, NULL);
    }
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "provenance");
    prov_write(&c->prov, &w, flags & LASTRO_TOOL_PROVENANCE_LIST, c->language);
    json_key(&w, "attribution");
    prov_write_attribution(&c->prov, &w);
    json_end_object(&w);
    bool ok = json_writer_finish(&w) && splice(&c->structured, &w);
    json_writer_free(&w);
    return ok ? LASTRO_OK : fail_text(c, err, LASTRO_EINTERNAL, "defect_provenance", NULL, NULL);
}

static lastro_status check_output(lastro_call *c, lastro_error *err) {
    json_error at;
    const json_value *v = json_read_copy(&c->mem, c->structured.data, c->structured.len, NULL, &at);
    schema_report report = {0};
    if (v && schema_validate(c->tool->output, v, &c->mem, &report) == SCHEMA_VALID)
        return LASTRO_OK;
    if (!v)
        log_error("tool \"%s\" of plugin \"%s\": result: %s", c->tool->name, c->owner->entry->name, at.text);
    for (size_t i = 0; i < report.count; i++) {
        char line[700];
        schema_message_render(text_messages("en"), &report.failures[i], line, sizeof line);
        log_error("tool \"%s\" of plugin \"%s\": result at \"%s\" breaks %s: %s", c->tool->name,
                  c->owner->entry->name, report.failures[i].instance_path, report.failures[i].schema_path,
                  line);
    }
    return fail_text(c, err, LASTRO_EINTERNAL, "defect_output", NULL, NULL);
}

static lastro_status check_size(lastro_call *c, lastro_error *err) {
    char bytes[32], limit[32], buf[sizeof err->text];
    int64_t size = (int64_t)c->structured.len * 2, most = c->srv->manifest->limits.result_bytes;
    bool cut = c->structured.fault == JSON_W_LIMIT;
    for (call_writer *w = c->content; w; w = w->next) {
        size += (int64_t)w->w.len;
        cut = cut || w->w.fault == JSON_W_LIMIT;
    }
    if (size <= most && !cut)
        return LASTRO_OK;
    snprintf(bytes, sizeof bytes, "%s%lld", size > most ? "" : "> ", (long long)(size > most ? size : most));
    snprintf(limit, sizeof limit, "%lld", (long long)most);
    text_render(c->language, "too_large", buf, sizeof buf,
                TEXT_PAIRS("tool", c->tool->name, "bytes", bytes, "limit", limit));
    return fail(err, LASTRO_ELIMIT, "%s", buf);
}

static lastro_status finish(lastro_call *c, lastro_error *err) {
    lastro_status s = check_size(c, err);
    if (s)
        return s;
    for (call_writer *w = c->content; w; w = w->next)
        if (!json_writer_finish(&w->w)) {
            log_error("tool \"%s\": a content item is no JSON object: %s", c->tool->name,
                      json_fault_text(w->w.fault));
            return fail_text(c, err, LASTRO_EINTERNAL, "defect_output", NULL, NULL);
        }
    if (!c->tool->output_schema && c->structured.len) {
        log_error("tool \"%s\": it wrote a structured result, but its contract has no outputSchema",
                  c->tool->name);
        return fail_text(c, err, LASTRO_EINTERNAL, "defect_output", NULL, NULL);
    }
    if (!c->tool->output_schema)
        return LASTRO_OK;
    if (!json_writer_finish(&c->structured) || c->structured.data[0] != '{') {
        log_error("tool \"%s\": its structured result is no JSON object: %s", c->tool->name,
                  json_fault_text(c->structured.fault));
        return fail_text(c, err, LASTRO_EINTERNAL, "defect_output", NULL, NULL);
    }
    s = add_provenance(c, err);
    if (!s)
        s = check_output(c, err);
    return s ? s : check_size(c, err);
}

/* What the call was given from its start, in ms. */
static int64_t time_given(const lastro_call *c) {
    return c->tool->def->deadline_ms ? (int64_t)c->tool->def->deadline_ms
           : c->task                 ? task_life(c->task)
                                     : c->srv->manifest->limits.call_ms;
}

/* The texts that the host, not the plugin, owes the client. */
static void complete_text(lastro_call *c, lastro_error *err) {
    char ms[32];
    snprintf(ms, sizeof ms, "%lld", (long long)time_given(c));
    if (err->status == LASTRO_EINTERNAL && err->text[0])
        log_error("tool \"%s\" of plugin \"%s\": %s", c->tool->name, c->owner->entry->name, err->text);
    text_tidy(err->text); /* a plugin's text may have been cut in a character */
    if (err->text[0])
        return;
    const char *key = err->status == LASTRO_ECANCELLED  ? "cancelled"
                      : err->status == LASTRO_EDEADLINE ? "deadline"
                                                        : "defect";
    if (status_describe(err->status)->rpc == 0 && err->status != LASTRO_ECANCELLED &&
        err->status != LASTRO_EDEADLINE)
        fail(err, (lastro_status)err->status, "%s: %s", c->tool->name, status_describe(err->status)->text);
    else
        fail_text(c, err, (lastro_status)err->status, key, "ms", ms);
}

run_outcome call_run_tool(lastro_call *c, lastro_error *err) {
    err->text[0] = '\0';
    c->owner = c->tool->owner;
    c->language = c->tool->language;
    if (c->tool->def->deadline_ms)
        c->deadline = clock_mono_ms() + c->tool->def->deadline_ms;
    if (!call_check_input(c, err))
        return RUN_TOLD;
    c->structured.limit = (size_t)c->srv->manifest->limits.result_bytes / 2;
    lastro_status s = c->tool->def->run(c->owner->self, c, c->args, &c->structured, err);
    if (atomic_load(&c->silent))
        return RUN_CANCELLED;
    if (s == LASTRO_EASK && c->questions)
        return RUN_ASK;
    if (s == LASTRO_EASK) {
        log_error("tool \"%s\" of plugin \"%s\" returned LASTRO_EASK but had asked nothing that is still open", c->tool->name,
                  c->owner->entry->name);
        s = LASTRO_EINTERNAL;
        err->text[0] = '\0';
    }
    if (s == LASTRO_OK) {
        err->text[0] = '\0'; /* a plugin may have filled it on a way that ended well */
        s = finish(c, err);
    }
    if (s == LASTRO_OK)
        return RUN_RESULT;
    err->status = (int32_t)s;
    complete_text(c, err);
    return status_describe((int32_t)s)->rpc ? RUN_ERROR : RUN_TOLD;
}

/* ---- writing what came of it ---- */

static void write_text_item(json_writer *w, const char *text, size_t len) {
    json_begin_object(w);
    json_key(w, "type");
    json_write_string(w, "text");
    json_key(w, "text");
    json_write_string_n(w, text, len);
    json_end_object(w);
}

static void meta_key(const lastro_call *c, json_writer *w, const char *name) {
    char key[300];
    const char *publisher = c->srv->manifest->publisher;
    snprintf(key, sizeof key, "%s/%s", publisher ? publisher : "lastro", name);
    json_key(w, key);
}

static void put(json_writer *w, const char *key, const char *text) {
    json_key(w, key);
    json_write_string(w, text);
}

/* Enough to make the same call again, much later. */
static void write_replay(const lastro_call *c, json_writer *w) {
    json_begin_object(w);
    put(w, "tool", c->tool->name);
    json_key(w, "arguments");
    json_write_value(w, c->args);
    json_key(w, "program");
    json_begin_object(w);
    put(w, "name", "lastro");
    put(w, "version", LASTRO_VERSION);
    json_end_object(w);
    json_key(w, "plugin");
    json_begin_object(w);
    put(w, "name", c->owner->entry->name);
    put(w, "version", plugin_version(c));
    json_end_object(w);
    json_end_object(w);
}

void call_write_meta(lastro_call *c, json_writer *w, bool told) {
    uint32_t flags = c->tool->def->flags;
    if (!told && c->prov.blocks && (flags & (LASTRO_TOOL_PROVENANCE | LASTRO_TOOL_PROVENANCE_LIST))) {
        meta_key(c, w, "provenance");
        prov_write(&c->prov, w, flags & LASTRO_TOOL_PROVENANCE_LIST, c->language);
        meta_key(c, w, "attribution");
        prov_write_attribution(&c->prov, w);
    }
    meta_key(c, w, "call");
    write_replay(c, w);
}

void call_write_result(lastro_call *c, json_writer *w, run_outcome outcome, const char *text) {
    bool told = outcome == RUN_TOLD, structured = !told && c->tool->output_schema;
    json_key(w, "content");
    json_begin_array(w);
    if (told)
        write_text_item(w, text, strlen(text));
    else if (structured)
        write_text_item(w, c->structured.data, c->structured.len);
    for (call_writer *item = told ? NULL : c->content; item; item = item->next)
        content_write(c, w, item->w.data, item->w.len);
    json_end_array(w);
    if (structured && (c->rev >= REV_2025_06_18 || c->era == LASTRO_ERA_SHELL)) {
        json_key(w, "structuredContent");
        json_write_raw(w, c->structured.data, c->structured.len);
    }
    if (told) {
        json_key(w, "isError");
        json_write_bool(w, true);
    }
}
