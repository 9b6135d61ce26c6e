/* SPDX-License-Identifier: MIT */
/* rpc.h -- JSON-RPC 2.0 as MCP uses it: one message read from its JSON, answers written. No state. */
#ifndef LASTRO_CORE_RPC_H
#define LASTRO_CORE_RPC_H

#include "json.h"

enum {
    RPC_PARSE = -32700,
    RPC_REQUEST = -32600,
    RPC_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_RESOURCE = -32002, /* resource not found, up to 2025-11-25 */
    RPC_HEADER = -32020,   /* HTTP headers and body disagree */
    RPC_CLIENT = -32021,   /* a client capability is missing */
    RPC_VERSION = -32022   /* unsupported protocol version */
};

typedef enum { RPC_IS_REQUEST, RPC_IS_NOTIFICATION, RPC_IS_RESPONSE, RPC_IS_INVALID } rpc_kind;

typedef struct {
    rpc_kind kind;
    const json_value *id;      /* a valid one; NULL: none, or not readable */
    const char *method;        /* of a request or notification */
    const json_value *params;  /* NULL: absent */
    const json_value *result, *error; /* of a response */
    const char *fault;         /* RPC_IS_INVALID: why */
} rpc_message;

/* Ids: a string, or a number whose value is an integer (1e2 is one; it is echoed with its own text). null, true, 1.5,
 * arrays and objects are no ids: the message is invalid, and never taken for a notification. */
void rpc_read(const json_value *v, rpc_message *ret);
/* Two ids name the same request: same type, same value. */
bool rpc_same_id(const json_value *a, const json_value *b);

/* Begins {"jsonrpc":"2.0","id":…,"result": — the value is due; rpc_end closes. */
void rpc_begin_result(json_writer *w, const json_value *id);
/* Begins {"jsonrpc":"2.0","method":…,"params": — the value is due. */
void rpc_begin_notification(json_writer *w, const char *method);
void rpc_end(json_writer *w);
/* The whole error message; id NULL: left out. data: a JSON text, or NULL. */
void rpc_write_error(json_writer *w, const json_value *id, int code, const char *text, const char *data);
/* Its error member alone. */
void rpc_write_error_object(json_writer *w, int code, const char *text, const char *data);

#endif
