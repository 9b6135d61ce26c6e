/* SPDX-License-Identifier: MIT */
/* mcp_question.h -- what a client can be asked: whether a question is well formed, how it reads in a revision, and whether
 * what came back is an answer to it. Used by the thread of the call that asks.
 * The error -32042 of 2025-11-25, by which a server may ask for a page instead of a question, is never sent: a question
 * does the same, and the handler need not begin anew. */
#ifndef LASTRO_CORE_MCP_QUESTION_H
#define LASTRO_CORE_MCP_QUESTION_H

#include "call.h"

typedef struct {
    const char *method;
    const char *capability, *part; /* what the client must have declared; part NULL: no part of it is asked for */
    revision since;
    const json_value *params;      /* as the plugin wrote them */
    schema *form;                  /* what the content of an accepted form must be; NULL: none is asked for */
} question;

/* Reads what the plugin asks. LASTRO_EINTERNAL: it is no question of the protocol (a defect of the plugin, told so).
 * The caller releases ret in every case. */
lastro_status question_read(lastro_call *c, const lastro_question *q, question *ret, lastro_error *err);
void question_release(question *q);

/* The params as the client's revision knows them. NULL with err filled: it has no words for them, or out of memory.
 * Before 2025-11-25 a form has no titled choices by oneOf (they become enum with enumNames) and no choice of several
 * (which is refused); "mode" is left out. A page has an elicitationId in 2025-11-25 alone: one is made unless given. */
const json_value *question_for(lastro_call *c, const question *q, lastro_error *err);

/* What is wrong with the answer, in the call's memory; NULL: nothing. */
const char *question_fault(lastro_call *c, const question *q, const json_value *answer);

#endif
