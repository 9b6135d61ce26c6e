/* SPDX-License-Identifier: MIT */
/* tasks.c -- tools that take long enough to become tasks where the client knows them. */
#include "conformance.h"

TOOL(greet) {
    char *name = lastro_copy(call, lastro_get_text(args, "name", ""));
    return say(call, err, "Hello, %s!", name ? name : "");
}

TOOL(slow_compute) {
    double seconds = lastro->number(lastro_get(args, "seconds"));
    char *label = lastro_copy(call, lastro_get_text(args, "label", "unnamed"));
    if (!wait_ms(call, (int64_t)(seconds * 1000), err))
        return note_cancelled(call, lastro_get_text(args, "label", ""), err);
    return say(call, err, "Computed %s in %g s", label ? label : "", seconds);
}

TOOL(failing_job) {
    if (!wait_ms(call, 300, err))
        return LASTRO_ECANCELLED;
    return lastro_fail(err, LASTRO_EUPSTREAM, "The job failed, as it always does");
}

TOOL(protocol_error_job) {
    if (!wait_ms(call, 100, err))
        return LASTRO_ECANCELLED;
    return lastro_fail(err, LASTRO_EPARAMS, "The job ended with a protocol error, as it always does");
}

/* Only pretends. */
TOOL(confirm_delete) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"confirm\":{\"type\":\"boolean\"}},\"required\":[\"confirm\"]}";
    const lastro_value *answer = NULL;
    char *name = lastro_copy(call, lastro_get_text(args, "filename", ""));
    const char *message = name ? lastro_format(call, "Delete %s?", name) : NULL;
    lastro_status s = ask_user(call, "confirm", form(call, message, schema, err), &answer, err);
    if (s)
        return s;
    bool yes = lastro_get_bool(lastro_get(answer, "content"), "confirm", false);
    return say(call, err, yes ? "Deleted %s" : "Kept %s", name);
}

TOOL(multi_input) {
    const lastro_value *first = NULL, *second = NULL;
    lastro_status s = ask_user(call, "first_name", FORM("What is the first name?", "name", "string"), &first, err);
    s = both(s, ask_user(call, "second_name", FORM("What is the second name?", "name", "string"), &second, err));
    return s ? s : say(call, err, "Hello, %s and %s!", typed(call, first, "name"), typed(call, second, "name"));
}

TOOL(test_tool_with_task) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "user_name", FORM("What is your name?", "name", "string"), &answer, err);
    if (s)
        return s;
    lastro->task(call, "greeting at leisure");
    if (!wait_ms(call, 100, err))
        return LASTRO_ECANCELLED;
    return say(call, err, "Hello, %s!", typed(call, answer, "name"));
}
