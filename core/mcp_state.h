/* SPDX-License-Identifier: MIT */
/* mcp_state.h -- what a request of the modern era brings and takes from round to round: the client's answers, and the
 * requestState that keeps those of earlier rounds. It is signed, lasts ten minutes, and opens only for the same principal
 * and the same request (method, name or address, arguments). Nobody must send it: answers alone do as well. */
#ifndef LASTRO_CORE_MCP_STATE_H
#define LASTRO_CORE_MCP_STATE_H

#include "call.h"

enum { STATE_MS = 600000, STATE_ANSWERS_MAX = 256 << 10 }; /* bytes of all answers, as JSON */

/* Takes inputResponses and requestState of the request. False: they cannot be used, and the call has ended with -32602. */
bool mcp_take_answers(lastro_call *c);

/* The answer under that key, a new one before a sealed one; NULL: there is none. *ret_new: it came with this request. */
const json_value *mcp_answer_to(const lastro_call *root, const char *key, bool *ret_new);
/* The handler used that new answer: the next state keeps it. False: out of memory. mem: that of the call or a part. */
bool mcp_keep_answer(lastro_call *root, arena *mem, const char *key, const json_value *answer);

/* All answers that were used so far, as an object by key. */
void mcp_write_answers(const lastro_call *c, json_writer *w);
/* The state to send with the questions. NULL with err filled: LASTRO_EPARAMS (too many bytes of answers), LASTRO_ENOMEM. */
const char *mcp_make_state(lastro_call *c, lastro_error *err);

#endif
