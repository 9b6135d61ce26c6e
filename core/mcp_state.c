/* SPDX-License-Identifier: MIT */
#include "mcp_state.h"
#include "canonical.h"
#include "clock.h"
#include "fail.h"
#include "mcp_internal.h"

#include <string.h>

static const char PURPOSE[] = "state";

static void add(json_writer *w, const json_value *v) {
    json_text t = json_text_of(v);
    json_write_string_n(w, t.at ? t.at : "", t.len);
}

/* What a state is valid for, as a text that no other principal or request has. NULL: out of memory. */
static const char *bound_of(lastro_call *c) {
    static const json_value none = {.tag = JSON_OBJECT, .u.span = 1};
    const json_value *arguments = json_member(c->params, "arguments");
    char digest[72];
    json_writer w;
    if (!canonical_digest(arguments ? arguments : &none, digest))
        return NULL;
    json_writer_init(&w, 0);
    json_begin_array(&w);
    json_write_string(&w, c->principal.name);
    json_write_string(&w, c->method);
    add(&w, json_member(c->params, "name"));
    add(&w, json_member(c->params, "uri"));
    json_write_string(&w, digest);
    json_end_array(&w);
    const char *text = json_writer_finish(&w) ? arena_strndup(&c->mem, w.data, w.len) : NULL;
    json_writer_free(&w);
    return text;
}

static bool open_state(lastro_call *c, json_text state) {
    const char *bound = bound_of(c), *content;
    size_t len;
    if (!bound || !seal_open(&c->srv->seal, &c->mem, PURPOSE, bound, clock_wall_ms(), state.at, state.len, &content, &len))
        return false;
    c->earlier = json_member(json_read_copy(&c->mem, content, len, NULL, NULL), "answers");
    return c->earlier != NULL;
}

bool mcp_take_answers(lastro_call *c) {
    if (c->era != LASTRO_ERA_MODERN)
        return true;
    const json_value *given = json_member(c->params, "inputResponses"), *state = json_member(c->params, "requestState");
    if (given && !json_is(given, JSON_NULL) && !json_is(given, JSON_OBJECT)) {
        mcp_error(c, RPC_PARAMS, NULL, "inputResponses must be an object: the client's results by the keys of inputRequests.");
        return false;
    }
    c->answers = json_is(given, JSON_OBJECT) ? given : NULL;
    if (!state || json_is(state, JSON_NULL))
        return true;
    if (json_is(state, JSON_STRING) && open_state(c, json_text_of(state)))
        return true;
    mcp_error(c, RPC_PARAMS, NULL,
              "requestState cannot be used: it was changed, is older than %d minutes, or was given to another request or principal. "
              "Send the request again without requestState and inputResponses; the questions then come anew.", STATE_MS / 60000);
    return false;
}

const json_value *mcp_answer_to(const lastro_call *root, const char *key, bool *ret_new) {
    const json_value *given = json_member(root->answers, key);
    *ret_new = given != NULL;
    return given ? given : json_member(root->earlier, key);
}

bool mcp_keep_answer(lastro_call *root, arena *mem, const char *key, const json_value *answer) {
    call_answer *a = arena_new(mem, call_answer);
    const char *copy = a ? arena_strndup(mem, key, strlen(key)) : NULL;
    if (!copy)
        return false;
    pthread_mutex_lock(&root->lock);
    const call_answer *other = root->used;
    while (other && strcmp(other->key, key) != 0)
        other = other->next;
    if (!other) {
        *a = (call_answer){root->used, copy, answer};
        root->used = a;
    }
    pthread_mutex_unlock(&root->lock);
    return true;
}

static bool is_used(const lastro_call *c, json_text key) {
    for (const call_answer *a = c->used; a; a = a->next)
        if (strlen(a->key) == key.len && memcmp(a->key, key.at, key.len) == 0)
            return true;
    return false;
}

void mcp_write_answers(const lastro_call *c, json_writer *w) {
    json_begin_object(w);
    for (const call_answer *a = c->used; a; a = a->next) {
        json_key(w, a->key);
        json_write_value(w, a->value);
    }
    for (json_iter it = json_iterate(c->earlier); json_next(&it);)
        if (!is_used(c, json_text_of(it.key))) {
            json_key_n(w, json_text_of(it.key).at, json_text_of(it.key).len);
            json_write_value(w, it.value);
        }
    json_end_object(w);
}

const char *mcp_make_state(lastro_call *c, lastro_error *err) {
    static _Atomic uint64_t rounds; /* no two states are the same text */
    const char *bound = bound_of(c), *text = NULL;
    int64_t now = clock_wall_ms();
    json_writer w;
    json_writer_init(&w, STATE_ANSWERS_MAX);
    json_begin_object(&w);
    json_key(&w, "round");
    json_write_uint(&w, ++rounds);
    json_key(&w, "answers");
    mcp_write_answers(c, &w);
    json_end_object(&w);
    bool ok = json_writer_finish(&w);
    if (ok && bound)
        text = seal_make(&c->srv->seal, &c->mem, PURPOSE, bound, now + STATE_MS, w.data, w.len);
    if (!text && w.fault == JSON_W_LIMIT)
        fail(err, LASTRO_EPARAMS, "The answers so far take more than the %d bytes that a request carries from round to round; answer "
             "with less.", STATE_ANSWERS_MAX);
    else if (!text)
        fail(err, LASTRO_ENOMEM, "out of memory");
    json_writer_free(&w);
    return text;
}
