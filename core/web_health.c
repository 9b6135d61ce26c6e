/* SPDX-License-Identifier: MIT */
#include "web_health.h"

#include <string.h>

static const web_header headers[] = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {"Allow", "GET, HEAD"}};
enum { ALLOW = 1 }; /* how many headers only a refused method gets */

static bool answer(const web_front *front, web_exchange *x, unsigned status, const char *body, size_t len) {
    size_t count = sizeof headers / sizeof *headers - (status == 405 ? 0 : ALLOW);
    front->reply(x, &(web_answer){.status = status, .headers = headers, .header_count = count, .body = body, .len = len});
    return true;
}

static bool plugin_failed(const plugin *p) {
    return p->entry->enabled && !p->active;
}

/* Names alone: why a plugin failed may tell of its files and is in the log. */
static void write_state(const registry *reg, json_writer *w, bool *ret_ready) {
    *ret_ready = true;
    json_begin_object(w);
    json_key(w, "notLoaded");
    json_begin_array(w);
    for (size_t i = 0; i < reg->plugin_count; i++)
        if (plugin_failed(&reg->plugins[i])) {
            json_write_string(w, reg->plugins[i].entry->name);
            *ret_ready = false;
        }
    json_end_array(w);
    json_key(w, "status");
    json_write_string(w, *ret_ready ? "ready" : "incomplete");
    json_end_object(w);
}

static bool say_ready(const registry *reg, const web_front *front, web_exchange *x) {
    static const char none[] = "{\"status\":\"unknown\"}";
    json_writer w;
    bool ready;
    json_writer_init(&w, 0);
    write_state(reg, &w, &ready);
    bool ok = json_writer_finish(&w);
    answer(front, x, ok && ready ? 200 : 503, ok ? w.data : none, ok ? w.len : sizeof none - 1);
    json_writer_free(&w);
    return true;
}

bool web_health(const server *srv, const web_front *front, web_exchange *x, const web_head *h) {
    static const char ok[] = "{\"status\":\"ok\"}", only[] = "{\"error\":\"GET and HEAD alone are answered here.\"}";
    bool health = strcmp(h->path, "/health") == 0;
    if (!health && strcmp(h->path, "/ready") != 0)
        return false;
    if (strcmp(h->method, "GET") != 0 && strcmp(h->method, "HEAD") != 0)
        return answer(front, x, 405, only, sizeof only - 1);
    return health ? answer(front, x, 200, ok, sizeof ok - 1) : say_ready(srv->reg, front, x);
}
