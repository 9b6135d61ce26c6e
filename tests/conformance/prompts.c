/* SPDX-License-Identifier: MIT */
/* prompts.c -- prompts of every kind of content, one with completion, one that asks. */
#include "conformance.h"

#define ARGUMENT(name_, title_, text)                                                                          \
    {.size = sizeof(lastro_prompt_argument), .name = name_, .title = title_, .description = text, .required = true}

static void begin_message(lastro_writer *w, const char *type) {
    lastro->begin_object(w);
    lastro_put_text(w, "role", "user");
    lastro_put_object(w, "content");
    lastro_put_text(w, "type", type);
}
static void end_message(lastro_writer *w) {
    lastro->end_object(w);
    lastro->end_object(w);
}

static lastro_status get_simple(UNUSED void *self, UNUSED lastro_call *call, UNUSED const lastro_value *arguments,
                                lastro_writer *messages, UNUSED lastro_error *err) {
    lastro_message_text(messages, "user", "This is a simple prompt for testing.");
    return LASTRO_OK;
}
static const lastro_prompt simple = {.size = sizeof(lastro_prompt), .name = "test_simple_prompt", .title = "Simple prompt",
    .description = "One message, no arguments.", .get = get_simple, .more = "{" PNG_ICONS "}"};

static lastro_status get_with_arguments(UNUSED void *self, lastro_call *call, const lastro_value *arguments,
                                        lastro_writer *messages, lastro_error *err) {
    char *one = lastro_copy(call, lastro_get_text(arguments, "arg1", ""));
    char *two = lastro_copy(call, lastro_get_text(arguments, "arg2", ""));
    char *text = one && two ? lastro_format(call, "Prompt with arguments: arg1='%s', arg2='%s'", one, two) : NULL;
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_message_text(messages, "user", text);
    return LASTRO_OK;
}
static lastro_status complete_argument(UNUSED void *self, UNUSED lastro_call *call, lastro_text argument, lastro_text prefix,
                                       lastro_writer *values, UNUSED lastro_error *err) {
    static const char *const words[] = {"test", "testValue1", "testing", "tests", "token"};
    for (size_t i = 0; lastro_text_is(argument, "arg1") && i < LASTRO_COUNT(words); i++)
        if (!prefix.len || strncmp(words[i], prefix.at, prefix.len) == 0)
            lastro_add_text(values, words[i]);
    return LASTRO_OK;
}
static const lastro_prompt_argument arg1 = ARGUMENT("arg1", "First", "The first argument; it can be completed.");
static const lastro_prompt_argument arg2 = ARGUMENT("arg2", "Second", "The second argument.");
static const lastro_prompt with_arguments = {.size = sizeof(lastro_prompt), .name = "test_prompt_with_arguments",
    .title = "Prompt with arguments", .description = "Both arguments stand in its text.",
    .arguments = (const lastro_prompt_argument *const[]){&arg1, &arg2, NULL}, .get = get_with_arguments,
    .complete = complete_argument};

static lastro_status get_with_resource(UNUSED void *self, UNUSED lastro_call *call, const lastro_value *arguments,
                                       lastro_writer *messages, UNUSED lastro_error *err) {
    static const char text[] = "Embedded resource content for testing.";
    begin_message(messages, "resource");
    lastro_key(messages, "resource");
    lastro_resource_text(messages, lastro_get_text(arguments, "resourceUri", ""), "text/plain",
                         (lastro_text){text, sizeof text - 1});
    end_message(messages);
    lastro_message_text(messages, "user", "Please process the embedded resource above.");
    return LASTRO_OK;
}
static const lastro_prompt_argument resource_uri = ARGUMENT("resourceUri", "Resource", "Address of the embedded resource.");
static const lastro_prompt with_resource = {.size = sizeof(lastro_prompt), .name = "test_prompt_with_embedded_resource",
    .title = "Prompt with a resource", .description = "A resource is embedded in its first message.",
    .arguments = (const lastro_prompt_argument *const[]){&resource_uri, NULL}, .get = get_with_resource};

static lastro_status get_with_image(UNUSED void *self, UNUSED lastro_call *call, UNUSED const lastro_value *arguments,
                                    lastro_writer *messages, UNUSED lastro_error *err) {
    begin_message(messages, "image");
    lastro_put_text(messages, "data", PNG_BASE64);
    lastro_put_text(messages, "mimeType", "image/png");
    end_message(messages);
    lastro_message_text(messages, "user", "Please analyze the image above.");
    return LASTRO_OK;
}
static const lastro_prompt with_image = {.size = sizeof(lastro_prompt), .name = "test_prompt_with_image",
    .title = "Prompt with an image", .description = "Its first message is an image.", .get = get_with_image};

static lastro_status get_asking(UNUSED void *self, lastro_call *call, UNUSED const lastro_value *arguments,
                                lastro_writer *messages, lastro_error *err) {
    const lastro_value *answer = NULL;
    lastro_status s = ask_user(call, "user_context", FORM("What context should the prompt use?", "context", "string"), &answer, err);
    char *text = s ? NULL : lastro_format(call, "Use this context: %s", typed(call, answer, "context"));
    if (text)
        lastro_message_text(messages, "user", text);
    return s || text ? s : lastro_fail(err, LASTRO_ENOMEM, "out of memory");
}
static const lastro_prompt asking = {.size = sizeof(lastro_prompt), .name = "test_input_required_result_prompt",
    .title = "Prompt that asks", .description = "Asks the user for its context first.", .get = get_asking};

const lastro_prompt *const fixture_prompts[] = {&simple, &with_arguments, &with_resource, &with_image, &asking, NULL};
