/* SPDX-License-Identifier: MIT */
/* talk.c -- tools that talk with the client while they run: log messages, progress, questions that every era can ask. */
#include "conformance.h"

TOOL(test_tool_with_logging) {
    static const char *const lines[] = {"Tool execution started", "Tool processing data", "Tool execution completed"};
    for (size_t i = 0; i < LASTRO_COUNT(lines); i++) {
        if (i && !wait_ms(call, 50, err))
            return LASTRO_ECANCELLED;
        lastro->log(call, LASTRO_LOG_INFO, lines[i]);
    }
    return say(call, err, "Tool with logging executed successfully");
}

TOOL(test_logging_tool) {
    static const char *const lines[] = {"a message of level debug", "a message of level info", "a message of level notice",
                                        "a message of level warning", "a message of level error"};
    for (int32_t level = LASTRO_LOG_DEBUG; level <= LASTRO_LOG_ERROR; level++)
        lastro->log(call, level, lines[level]);
    return say(call, err, "One message of each level was sent");
}

/* The longer wait after the last step is for clients that drop progress which comes in the same read as the result. */
TOOL(test_tool_with_progress) {
    for (int done = 0; done <= 100; done += 50) {
        lastro->progress(call, done, 100, NULL);
        if (!wait_ms(call, done < 100 ? 50 : 150, err))
            return LASTRO_ECANCELLED;
    }
    return say(call, err, "Tool with progress executed successfully");
}

/* Slow enough for a client to change its mind, and to see that it was heard. */
TOOL(test_slow) {
    int64_t whole = (int64_t)(lastro->number(lastro_get(args, "seconds")) * 1000);
    for (int64_t done = 0; done < whole; done += 50) {
        lastro->progress(call, (double)done, (double)whole, "waiting");
        if (!wait_ms(call, whole - done < 50 ? whole - done : 50, err))
            return note_cancelled(call, lastro_get_text(args, "label", ""), err);
    }
    return say(call, err, "Waited %lld ms", (long long)whole);
}

/* The client may close its stream and fetch the result later. */
TOOL(test_reconnection) {
    lastro->let_go(call, 200);
    if (!wait_ms(call, 100, err))
        return LASTRO_ECANCELLED;
    return say(call, err, "Reconnection test completed: the result came after the stream was let go");
}

TOOL(test_sampling) {
    const lastro_value *answer = NULL;
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    lastro_put_array(w, "messages");
    lastro_message_text(w, "user", lastro_copy(call, lastro_get_text(args, "prompt", "")));
    lastro->end_array(w);
    lastro_put_int(w, "maxTokens", 100);
    lastro->end_object(w);
    lastro_status s = ask(call, "answer", "sampling/createMessage", lastro_written(call, w, err), &answer, err);
    return s ? s : say(call, err, "LLM response: %s", sampled(call, answer));
}

TOOL(test_elicitation) {
    static const char schema[] = "{\"type\":\"object\",\"properties\":{"
                                 "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                                 "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
                                 "\"required\":[\"username\",\"email\"]}";
    const lastro_value *answer = NULL;
    const char *message = lastro_copy(call, lastro_get_text(args, "message", ""));
    lastro_status s = ask_user(call, "user", form(call, message, schema, err), &answer, err);
    return s ? s : say(call, err, "User response: %s", shown(call, answer));
}

/* One fixed form; the result says what came back. */
static lastro_status ask_form(lastro_call *call, const char *form, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "form", form, &answer, err);
    return s ? s : say(call, err, "Elicitation completed: %s", shown(call, answer));
}

TOOL(test_elicitation_sep1034_defaults) {
    return ask_form(call,
        "{\"message\":\"Please review the values\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
        "\"age\":{\"type\":\"integer\",\"default\":30},"
        "\"score\":{\"type\":\"number\",\"default\":95.5},"
        "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":\"active\"},"
        "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}}", err);
}

TOOL(test_elicitation_sep1330_enums) {
#define TITLED(value, title) "{\"const\":\"" value "\",\"title\":\"" title "\"}"
    return ask_form(call,
        "{\"message\":\"Please choose\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[" TITLED("value1", "First Option") ","
            TITLED("value2", "Second Option") "," TITLED("value3", "Third Option") "]},"
        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
            "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
        "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[" TITLED("value1", "First Choice") ","
            TITLED("value2", "Second Choice") "," TITLED("value3", "Third Choice") "]}}},\"required\":[]}}", err);
}

/* Nothing comes back of what happens on the page: only whether the user agreed to go there. */
TOOL(test_url_elicitation) {
    const lastro_value *answer = NULL;
    bool named = lastro->era(call) == LASTRO_ERA_LEGACY; /* only there it has an id */
    lastro_status s = ask_user(call, "page",
        named ? "{\"mode\":\"url\",\"message\":\"Please sign in\",\"url\":\"https://example.com/sign-in\",\"elicitationId\":\"sign-in\"}"
              : "{\"mode\":\"url\",\"message\":\"Please sign in\",\"url\":\"https://example.com/sign-in\"}", &answer, err);
    if (s)
        return s;
    char *action = lastro_copy(call, lastro_get_text(answer, "action", "nothing"));
    return say(call, err, "The user's answer to the page: %s", action ? action : "");
}
