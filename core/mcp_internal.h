/* SPDX-License-Identifier: MIT */
/* mcp_internal.h -- what the mcp_*.c files share. */
#ifndef LASTRO_CORE_MCP_INTERNAL_H
#define LASTRO_CORE_MCP_INTERNAL_H

#include "mcp.h"
#include "rpc.h"

#define META_PREFIX "io.modelcontextprotocol/"

/* ---- for transports that look at a message before it is served ---- */

/* A call for one message from p; NULL: out of memory, which is logged. */
lastro_call *mcp_begin(session *s, peer *p);
/* Reads text into the call's memory. NULL: it is no JSON, and the call has ended with that answer. */
const json_value *mcp_parse(lastro_call *c, const char *text, size_t len);
/* Serves one message or batch on c->session; ends the call. */
void mcp_serve(lastro_call *c, const json_value *v);
/* The claim of the modern era in a request's params; NULL: there is none. */
const json_value *mcp_claim(const json_value *params);
/* What is wrong with the envelope of a request that makes the claim; NULL: nothing. */
const char *mcp_envelope_fault(const json_value *params);
/* Takes from a whole envelope what a call keeps of it: capabilities, log level. */
void mcp_read_envelope(lastro_call *c);
/* The claim names a modern revision that is served. */
bool mcp_serves(const json_value *claim);
/* Ends the call with -32022. */
void mcp_refuse_version(lastro_call *c, const json_value *claim);

/* The trace that the request is part of, as its _meta or its HTTP headers say: W3C Trace Context. What is not well formed
 * is as if it were not there; tracestate goes with its traceparent. Either may be NULL. */
void mcp_take_trace(lastro_call *c, const char *traceparent, const char *tracestate);

/* Gives the tracked call to a worker: c->job.run will end it. It ends at once, with an error, when too many wait. */
void mcp_submit(lastro_call *c);

/* Ends the message being written in c->out, sends it, and ends the call. */
void mcp_answer(lastro_call *c);
/* The call ends without an answer. */
void mcp_drop(lastro_call *c);
/* The call ends with a JSON-RPC error. data: JSON text, or NULL. */
__attribute__((format(printf, 4, 5))) void mcp_error(lastro_call *c, int code, const char *data, const char *fmt, ...);
/* What the code of that status carries as data; NULL: nothing. */
const char *mcp_error_data(lastro_call *c, int32_t status);
/* Opens the result object of the answer, with what a modern complete result carries; close it, then mcp_answer. */
void mcp_begin_result(lastro_call *c, caching hint);
void mcp_end_result(lastro_call *c);

/* One method. Runs on the transport's thread, or (slow) on a worker; must end the call. */
typedef void mcp_method(lastro_call *c);
mcp_method mcp_initialize, mcp_ping, mcp_discover, mcp_list_tools, mcp_list_resources, mcp_list_templates, mcp_list_prompts,
    mcp_call_tool, mcp_read_resource, mcp_get_prompt, mcp_complete, mcp_set_level, mcp_listen, mcp_subscribe, mcp_unsubscribe,
    mcp_get_task, mcp_update_task, mcp_cancel_task;

/* A handshake: what was negotiated before is forgotten. */
void session_begin(session *s, revision rev, const json_value *capabilities);
/* A legacy request: what it finds negotiated is copied into c, and stays there while the client initializes anew. quiet: it
 * says nothing about whether the client has seen the answer to initialize. */
void session_enter(session *s, lastro_call *c, bool quiet);
/* The client has seen the answer to initialize. */
void session_ready(session *s);

void mcp_take_response(session *s, const rpc_message *m);
/* The subscription of that request ends without an answer. False: there is none. */
bool mcp_end_listener(session *s, const json_value *id);
/* What a handler that is no tool came to: true when its writing may go out, else the call has ended. */
bool mcp_handler_ok(lastro_call *c, lastro_status s, const lastro_error *err);
/* What it wrote into the structured writer, read again; NULL: it is no JSON. */
const json_value *mcp_written(lastro_call *c);
/* Ends the call: there is no such resource. */
void mcp_no_resource(lastro_call *c, const json_value *uri);

/* Ends the text, sends it to the client unless the call is silent, and frees it. */
void mcp_send_aside(lastro_call *c, json_writer *w);

/* The result object of a tool's call, whole. text: of RUN_TOLD. */
void mcp_write_tool_result(lastro_call *c, json_writer *w, run_outcome outcome, const char *text);
/* Reads name and arguments of c->params into tool and args. False with err (LASTRO_EPARAMS): they are unusable. */
bool mcp_read_tool(lastro_call *c, lastro_error *err);
/* Runs c->tool and ends the call with what came of it. For a worker. */
void mcp_run_tool(lastro_call *c);

/* ---- mcp_tasks.c ---- */

/* A tool that is a task from its start: true, and the call may run, as one where the client knows tasks. False: the call
 * was refused and has ended. */
bool mcp_start_task(lastro_call *c);
/* The run of a call that became a task is over; ends the call. */
void mcp_end_task_run(lastro_call *c, run_outcome outcome, const lastro_error *err);
/* What progress says, for who looks in. */
void mcp_task_progress(lastro_call *c, const char *message);

/* Writes the input_required result of a call whose handler asks. */
void mcp_write_questions(lastro_call *c);
/* {KEY: {method, params}, …} of the questions that are open. */
void mcp_write_input_requests(lastro_call *c, json_writer *w);

#endif
