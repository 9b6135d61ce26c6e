/* SPDX-License-Identifier: MIT */
#include "web_facts.h"
#include "header_params.h"

#include <string.h>
#include <strings.h>

/* ---- headers by themselves ---- */

static version_kind kind_of_version(const char *version) {
    if (!version)
        return VERSION_ABSENT;
    if (strcmp(version, WEB_MODERN) >= 0)
        return VERSION_MODERN;
    return revision_of(version, strlen(version)) != REV_NONE ? VERSION_LEGACY : VERSION_OTHER;
}

static bool good_session_id(const char *id) {
    size_t len = 0;
    while (id[len] >= 0x21 && id[len] <= 0x7e)
        len++;
    return len && !id[len] && len <= WEB_SESSION_ID_MAX;
}

void web_find_session(facts *f, const char *principal) {
    unsigned count = 0;
    const char *id = f->head->header(f->head, "Mcp-Session-Id", &count);
    if (!id)
        return;
    if (count > 1 || !good_session_id(id)) {
        f->session_state = SESSION_MALFORMED;
        return;
    }
    f->session = f->host->store->find(f->host->store, id, principal);
    f->session_state = f->session ? SESSION_LIVE : SESSION_UNKNOWN;
    if (!f->session)
        return;
    session *core = f->session->core;
    pthread_mutex_lock(&core->lock);
    f->session_rev = core->rev;
    pthread_mutex_unlock(&core->lock);
}

void web_read_version(facts *f) {
    f->version = f->head->header(f->head, "MCP-Protocol-Version", &f->versions);
    f->version_kind = kind_of_version(f->version);
}

bool web_accepts(const web_head *h, const char *type) {
    unsigned count = 0;
    const char *accept = h->header(h, "Accept", &count);
    size_t major = strcspn(type, "/") + 1;
    if (!accept || count > 1) /* a list cut in two on its way: only its beginning is seen here */
        return true;
    for (const char *at = accept; *at;) {
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ",; \t");
        if ((len == strlen(type) && strncasecmp(at, type, len) == 0) || (len == 3 && strncmp(at, "*/*", 3) == 0) ||
            (len == major + 1 && strncasecmp(at, type, major) == 0 && at[major] == '*'))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

bool web_is_json(const web_head *h) {
    static const char json[] = "application/json";
    const char *type = h->header(h, "Content-Type", NULL);
    size_t len = type ? strcspn(type, "; \t") : 0;
    return len == sizeof json - 1 && strncasecmp(type, json, len) == 0;
}
/* ---- headers against the body ---- */

/* Why that header does not say what the body says; NULL: it does. */
static const char *header_differs(facts *f, const char *name, const json_value *says, bool coded) {
    unsigned count = 0;
    const char *value = f->head->header(f->head, name, &count);
    size_t len = value ? strlen(value) : 0;
    json_text text = json_text_of(says);
    if (!value)
        return arena_printf(&f->call->mem, "The header %s is missing; the body says \"%.100s\".", name, text.at);
    if (count > 1)
        return arena_printf(&f->call->mem, "The header %s stands there more than once.", name);
    const char *said = coded ? header_value_decode(&f->call->mem, value, &len) : value;
    if (!said)
        return arena_printf(&f->call->mem, "The header %s cannot be read: between =?base64? and ?= stands strict base64 of UTF-8 text.", name);
    if (len != text.len || memcmp(said, text.at, len) != 0)
        return arena_printf(&f->call->mem, "The header %s says \"%.100s\", the body \"%.100s\".", name, value, text.at);
    return NULL;
}

/* The member of params that Mcp-Name repeats; NULL: none, or the body lacks it, which the method will tell. */
static const json_value *named_by(const facts *f) {
    static const struct {
        const char *method, *member;
    } named[] = {
        {"tools/call", "name"},   {"resources/read", "uri"},     {"prompts/get", "name"},
        {"tasks/get", "taskId"},  {"tasks/update", "taskId"},    {"tasks/cancel", "taskId"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].method, f->msg.method) == 0) {
            const json_value *v = json_member(f->msg.params, named[i].member);
            return json_is(v, JSON_STRING) ? v : NULL;
        }
    return NULL;
}

const char *web_headers_fault(facts *f) {
    const json_value *name = named_by(f);
    const char *fault = !f->version ? "The header MCP-Protocol-Version is missing."
                           : header_differs(f, "Mcp-Method", json_member(f->body, "method"), false);
    return fault || !name ? fault : header_differs(f, "Mcp-Name", name, true);
}

static const char *look_up(void *arg, const char *name, unsigned *count) {
    const web_head *h = arg;
    return h->header(h, name, count);
}
/* Arguments that are none, or of a tool that is none, are the method's to refuse. */
const char *web_parameters_fault(facts *f) {
    if (strcmp(f->msg.method, "tools/call") != 0)
        return NULL;
    json_text name = json_text_of(json_member(f->msg.params, "name"));
    const tool *t = name.at ? registry_tool(f->host->srv->reg, name.at, name.len) : NULL;
    const json_value *args = json_member(f->msg.params, "arguments");
    bool callable = t && (!args || json_is(args, JSON_OBJECT));
    return callable ? header_params_fault(&f->call->mem, t, args, look_up, (void *)f->head) : NULL;
}
