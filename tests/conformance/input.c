/* SPDX-License-Identifier: MIT */
/* input.c -- tools that need something of the client. What carries the questions, and the state between two rounds, is the
 * host's business: here they only ask. */
#include "conformance.h"

#define ASK_NAME FORM("What is your name?", "name", "string")
#define ASK_OK FORM("Please confirm", "ok", "boolean")

TOOL(test_missing_capability) {
    lastro_status s = lastro->need_client(call, "sampling", NULL, err);
    return s ? s : say(call, err, "The client can be asked for a sample");
}

TOOL(test_streaming_elicitation) {
    const lastro_value *answer = NULL;
    lastro->progress(call, 1, 2, "about to ask");
    lastro_status s = ask_user(call, "user_name", ASK_NAME, &answer, err);
    return s ? s : say(call, err, "Hello, %s!", typed(call, answer, "name"));
}

TOOL(test_input_required_result_elicitation) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "user_name", ASK_NAME, &answer, err);
    return s ? s : say(call, err, "Hello, %s!", typed(call, answer, "name"));
}

TOOL(test_input_required_result_sampling) {
    const lastro_value *answer = NULL;
    lastro_status s = ask(call, "capital_question", "sampling/createMessage",
                          SAMPLE("What is the capital of France?", "100"), &answer, err);
    return s ? s : say(call, err, "LLM response: %s", sampled(call, answer));
}

static lastro_status ask_roots(lastro_call *call, const lastro_value **ret, lastro_error *err) {
    return ask(call, "client_roots", "roots/list", "{}", ret, err);
}

TOOL(test_input_required_result_list_roots) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_roots(call, &answer, err);
    return s ? s : say(call, err, "Roots: %s", shown(call, lastro_get(answer, "roots")));
}

static lastro_status confirm(lastro_call *call, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "confirm", ASK_OK, &answer, err);
    return s ? s : say(call, err, "state-ok");
}
TOOL(test_input_required_result_request_state) {
    return confirm(call, err);
}
TOOL(test_input_required_result_tampered_state) {
    return confirm(call, err);
}

TOOL(test_input_required_result_multiple_inputs) {
    const lastro_value *name = NULL, *greeting = NULL, *roots = NULL;
    lastro_status s = ask_user(call, "user_name", ASK_NAME, &name, err);
    s = both(s, ask(call, "greeting", "sampling/createMessage", SAMPLE("Generate a greeting", "50"), &greeting, err));
    s = both(s, ask_roots(call, &roots, err));
    return s ? s : say(call, err, "%s, %s! Roots: %s", sampled(call, greeting), typed(call, name, "name"), shown(call, lastro_get(roots, "roots")));
}

TOOL(test_input_required_result_multi_round) {
    const lastro_value *name = NULL, *color = NULL;
    lastro_status s = ask_user(call, "step1", FORM("Step 1: What is your name?", "name", "string"), &name, err);
    if (!s)
        s = ask_user(call, "step2", FORM("Step 2: What is your favorite color?", "color", "string"), &color, err);
    return s ? s : say(call, err, "%s likes %s", typed(call, name, "name"), typed(call, color, "color"));
}

TOOL(test_input_required_result_capabilities) {
    const lastro_value *name = NULL, *greeting = NULL;
    lastro_status s = LASTRO_OK;
    if (lastro->client_can(call, "elicitation", "form"))
        s = ask_user(call, "user_name", ASK_NAME, &name, err);
    if (lastro->client_can(call, "sampling", NULL))
        s = both(s, ask(call, "greeting", "sampling/createMessage", SAMPLE("Generate a greeting", "50"), &greeting, err));
    return s ? s : say(call, err, "Asked: %s%s%s", name ? "the user" : "", name && greeting ? " and " : "",
                       greeting ? "the model" : name ? "" : "nobody");
}
