/* SPDX-License-Identifier: MIT */
#include "rpc.h"

#include <string.h>

static bool id_is_good(const json_value *id) {
    return json_is(id, JSON_STRING) || (json_is(id, JSON_NUMBER) && json_number_is_integer(id));
}

static void invalid(rpc_message *m, const char *why) {
    m->kind = RPC_IS_INVALID;
    m->fault = why;
}

static void read_response(rpc_message *m) {
    m->kind = RPC_IS_RESPONSE;
    if (!m->id || (m->result && m->error))
        invalid(m, "a response needs an id and either a result or an error");
}

void rpc_read(const json_value *v, rpc_message *ret) {
    *ret = (rpc_message){.kind = RPC_IS_INVALID};
    if (!json_is(v, JSON_OBJECT)) {
        invalid(ret, "a message must be a JSON object");
        return;
    }
    const json_value *id = json_member(v, "id"), *method = json_member(v, "method");
    ret->id = id && id_is_good(id) ? id : NULL;
    ret->params = json_member(v, "params");
    ret->result = json_member(v, "result");
    ret->error = json_member(v, "error");
    ret->method = json_str(method);
    if (!json_text_is(json_member(v, "jsonrpc"), "2.0"))
        invalid(ret, "\"jsonrpc\" must be \"2.0\"");
    else if (id && !ret->id)
        invalid(ret, "\"id\" must be a string or an integer");
    else if (!method && (ret->result || ret->error))
        read_response(ret);
    else if (!ret->method)
        invalid(ret, "\"method\" must be a string");
    else if (!id)
        ret->kind = RPC_IS_NOTIFICATION; /* whatever its params: nobody waits for an answer */
    else if (ret->params && !json_is(ret->params, JSON_OBJECT))
        invalid(ret, "\"params\" must be an object");
    else
        ret->kind = RPC_IS_REQUEST;
}

bool rpc_same_id(const json_value *a, const json_value *b) {
    return json_kind_of(a) == json_kind_of(b) && json_equal(a, b);
}

static void begin(json_writer *w, const json_value *id) {
    json_begin_object(w);
    json_key_n(w, "jsonrpc", 7);
    json_write_string_n(w, "2.0", 3);
    if (id) {
        json_key_n(w, "id", 2);
        json_write_value(w, id);
    }
}

void rpc_begin_result(json_writer *w, const json_value *id) {
    begin(w, id);
    json_key_n(w, "result", 6);
}

void rpc_begin_notification(json_writer *w, const char *method) {
    begin(w, NULL);
    json_key(w, "method");
    json_write_string(w, method);
    json_key(w, "params");
}

void rpc_end(json_writer *w) {
    json_end_object(w);
}

void rpc_write_error_object(json_writer *w, int code, const char *text, const char *data) {
    json_begin_object(w);
    json_key(w, "code");
    json_write_int(w, code);
    json_key(w, "message");
    json_write_string(w, text);
    if (data) {
        json_key(w, "data");
        json_write_raw(w, data, strlen(data));
    }
    json_end_object(w);
}

void rpc_write_error(json_writer *w, const json_value *id, int code, const char *text, const char *data) {
    begin(w, id);
    json_key(w, "error");
    rpc_write_error_object(w, code, text, data);
    json_end_object(w);
}
