/* SPDX-License-Identifier: MIT */
/* test_talk.h -- a dialogue with the protocol, without a transport: say a message, hear what comes, compare it.
 * JSON is written with ' for ". For tests of CUnit, over test_core_host.h. */
#ifndef LASTRO_TESTS_TALK_H
#define LASTRO_TESTS_TALK_H

#include "test_core_host.h"
#include "unit.h"

#define CLAIM "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{}}"
#define CLAIM_ASKS                                                                                                  \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':" \
    "{'elicitation':{},'sampling':{}}}"

static server *srv;
static session *ses;
static client peer_;

static inline void start_plugin(const lastro_plugin *desc, const char *enabled, const char *limits) {
    srv = core_server_with(desc, enabled, limits);
    CU_ASSERT_PTR_NOT_NULL_FATAL(srv);
    ses = session_create(srv);
    client_open(&peer_);
}
static inline void start_with(const char *limits) {
    start_plugin(&inner_plugin, INNER_ENABLED, limits);
}
static inline void start(void) {
    start_with("{}");
}
static inline void finish(void) {
    CU_ASSERT(server_wait_idle(srv, 5000));
    mcp_end_listeners(ses, false);
    CU_ASSERT_EQUAL(peer_.held, 0); /* each call let go of its client */
    unit_check(peer_.heard == peer_.count, "%zu messages nobody expected, the first %s", peer_.count - peer_.heard,
               peer_.heard < peer_.count ? peer_.lines[peer_.heard] : "");
    session_destroy(ses);
    server_destroy(srv);
    client_close(&peer_);
}

static inline char *quoted(const char *text) {
    char *copy = arena_strndup(&peer_.mem, text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}
__attribute__((format(printf, 1, 2))) static inline void say(const char *fmt, ...) {
    static char text[65536];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *json = quoted(text);
    mcp_receive(ses, &peer_.base, json, strlen(json));
}
static inline const json_value *hear(void) {
    const json_value *v = client_hear(&peer_);
    unit_check(v != NULL, "no answer, or one that is no JSON");
    CU_ASSERT(!v || json_text_is(json_member(v, "jsonrpc"), "2.0"));
    return v;
}
static inline void silence(void) {
    CU_ASSERT(server_wait_idle(srv, 5000));
    unit_check(peer_.heard == peer_.count, "heard %s", peer_.heard < peer_.count ? peer_.lines[peer_.heard] : "");
    peer_.heard = peer_.count;
}
static inline const char *shown(const json_value *v) {
    json_writer w;
    json_writer_init(&w, 0);
    if (v)
        json_write_value(&w, v);
    const char *text = json_writer_finish(&w) ? arena_strndup(&peer_.mem, w.data, w.len) : "nothing";
    json_writer_free(&w);
    return text;
}
static inline void is_at(int line, const json_value *v, const char *expected) {
    const char *json = quoted(expected);
    const json_value *e = json_read_copy(&peer_.mem, json, strlen(json), NULL, NULL);
    unit_check(e && v && json_equal(v, e), "line %d: %s instead of %s", line, shown(v), json);
}
#define IS(v, expected) is_at(__LINE__, (v), (expected))
static inline const json_value *error_is_at(int line, const char *id, int code) {
    const json_value *v = hear();
    int64_t n = 0;
    const char *want = id ? quoted(id) : NULL;
    json_int64(AT(v, "error", "code"), &n);
    unit_check(n == code, "line %d: code %lld instead of %d in %s", line, (long long)n, code, shown(v));
    unit_check(json_str(AT(v, "error", "message")) != NULL, "line %d: no message", line);
    unit_check(want ? strcmp(shown(json_member(v, "id")), want) == 0 : !json_member(v, "id"), "line %d: id of %s", line, shown(v));
    return v;
}
#define ERROR_IS(id, code) error_is_at(__LINE__, (id), (code))
static inline const json_value *result_at(int line, const char *id) {
    const json_value *v = hear();
    unit_check(v && strcmp(shown(json_member(v, "id")), quoted(id)) == 0 && json_member(v, "result"), "line %d: %s", line, shown(v));
    return json_member(v, "result");
}
#define RESULT(id) result_at(__LINE__, (id))
static inline bool says(const json_value *v, const char *text) {
    const char *s = json_str(v);
    return s && strstr(s, text);
}
static inline void greet(const char *version) {
    say("{'jsonrpc':'2.0','id':'i','method':'initialize','params':{'protocolVersion':'%s','capabilities':{'elicitation':{},"
        "'roots':{}},'clientInfo':{'name':'t','version':'0'}}}", version);
    RESULT("'i'");
}

#endif
