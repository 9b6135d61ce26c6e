/* SPDX-License-Identifier: MIT */
/* Lines of a client, as the stdio transport would give them, to a server with a plugin in the program. Whatever comes,
 * each line that goes out is one JSON-RPC message, and in the end no call, question or subscription is open. */
#include "tests/unit/test_core_host.h"

#include "rpc.h"
#include "target.h"

enum { LINES_MOST = 40 };

static void check_message(const json_value *v) {
    rpc_message m;
    rpc_read(v, &m);
    const json_value *error = json_member(v, "error");
    int64_t code;
    MUST(json_text_is(json_member(v, "jsonrpc"), "2.0"));
    if (error) {
        MUST(json_int64(json_member(error, "code"), &code) && json_str(json_member(error, "message")));
        MUST(!json_member(v, "id") || m.kind == RPC_IS_RESPONSE);
    } else {
        MUST(m.kind != RPC_IS_INVALID);
        MUST(m.kind != RPC_IS_RESPONSE || json_is(m.result, JSON_OBJECT));
        MUST(m.kind != RPC_IS_REQUEST || strcmp(m.method, "elicitation/create") == 0 || strcmp(m.method, "roots/list") == 0 ||
             strcmp(m.method, "sampling/createMessage") == 0);
    }
}

static void check_answers(client *c) {
    arena mem;
    arena_init(&mem, 0);
    for (size_t i = 0; i < c->count; i++) {
        const json_value *v = json_read_copy(&mem, c->lines[i], strlen(c->lines[i]), NULL, NULL);
        MUST(v && !strchr(c->lines[i], '\n'));
        if (json_is(v, JSON_ARRAY)) {
            MUST(json_count(v) > 0);
            for (json_iter it = json_iterate(v); json_next(&it);)
                check_message(it.value);
        } else {
            check_message(v);
        }
    }
    arena_free(&mem);
}

/* Calls that wait are cancelled, so that no input takes long; what was asked of the client stays unanswered. */
static void end_calls(server *srv) {
    while (!server_wait_idle(srv, 2))
        server_cancel_all(srv);
}

static void run(server *srv, const char *text, size_t len) {
    client c;
    client_open(&c);
    session *s = session_create(srv);
    MUST(s);
    const char *end = text + len;
    for (int n = 0; n < LINES_MOST && text < end; n++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            stop = end;
        char *line = malloc((size_t)(stop - text) + 1); /* its own memory, so that a step beyond is seen */
        MUST(line);
        memcpy(line, text, (size_t)(stop - text));
        mcp_receive(s, &c.base, line, (size_t)(stop - text));
        free(line);
        text = stop + 1;
    }
    end_calls(srv);
    mcp_end_listeners(s, len % 2);
    MUST(!s->listeners && !s->asks && c.held == 0 && !srv->inflight);
    session_destroy(s);
    check_answers(&c);
    client_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static server *srv; /* one for all inputs, as in the program; what an input left behind must not show in the next */
    if (!srv) {
        srv = core_inner_server("{\"callMs\":2000,\"workers\":4,\"resultBytes\":200000}");
        MUST(srv);
    }
    run(srv, (const char *)data, size);
    return 0;
}
