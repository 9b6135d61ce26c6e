/* SPDX-License-Identifier: MIT */
/* test_sgs_host.h -- just enough of the host's table, over core/json.h, for the parts of plugin sgs that read
 * bodies. One thread; memory goes back with test_host_reset. Include after the plugin's sources. */
#ifndef LASTRO_TESTS_SGS_HOST_H
#define LASTRO_TESTS_SGS_HOST_H

#include "json.h"
#include <lastro/lastro.h>

static arena test_host_memory;

static int32_t host_kind(const lastro_value *v) {
    return (int32_t)json_kind_of(v);
}
static const lastro_value *host_member(const lastro_value *v, const char *name, size_t len) {
    return json_member_n(v, name, len);
}
static lastro_text host_text(const lastro_value *v) {
    json_text t = json_text_of(v);
    return (lastro_text){t.at, t.len};
}
static void host_iterate(const lastro_value *v, lastro_iter *it) {
    *it = (lastro_iter){
        .host = {v ? v + 1 : NULL, NULL}, .left = json_count(v), .flags = json_is(v, JSON_OBJECT)};
}
static bool host_next(lastro_iter *it) {
    if (!it->left)
        return false;
    it->left--;
    const json_value *at = it->host[0];
    it->key = it->flags ? host_text(at) : (lastro_text){NULL, 0};
    it->value = it->flags ? at + 1 : at;
    it->host[0] = json_skip(it->value);
    return true;
}
static void *host_alloc(lastro_call *call, size_t size) {
    (void)call;
    return arena_zalloc(&test_host_memory, size);
}
static const lastro_value *host_parse(lastro_call *call, const char *text, size_t len, lastro_error *err) {
    json_error why;
    (void)call;
    const lastro_value *v = json_read_copy(&test_host_memory, text, len, NULL, &why);
    if (!v)
        lastro_fail(err, LASTRO_EUPSTREAM, "%s", why.text);
    return v;
}

static const lastro_host test_host = {
    .size = sizeof test_host,
    .abi = LASTRO_ABI,
    .kind = host_kind,
    .count = json_count,
    .member = host_member,
    .at = json_at,
    .iterate = host_iterate,
    .next = host_next,
    .text = host_text,
    .truth = json_bool,
    .int64 = json_int64,
    .number = json_double,
    .alloc = host_alloc,
    .parse = host_parse,
};
const lastro_host *lastro = &test_host;

static void test_host_reset(void) {
    arena_free(&test_host_memory);
    arena_init(&test_host_memory, 0);
}

#endif
