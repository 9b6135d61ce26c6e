/* SPDX-License-Identifier: MIT */
/* test_asking.h -- a plugin that asks what it is told to, in a tool, a prompt and a resource. For tests of questions. */
#ifndef LASTRO_TESTS_ASKING_H
#define LASTRO_TESTS_ASKING_H

#include "test_talk.h"

#define ASKING_FORM(fields) "{\"message\":\"Say\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" fields "}}}"

/* Asks each of args.questions {key, method, params}: one after the other when args.rounds, else all at once. */
static inline lastro_status asking_run(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    const lastro_value *questions = lastro_get(args, "questions"), *answers[16];
    size_t n = lastro->count(questions);
    (void)self;
    for (size_t i = 0; i < n && i < LASTRO_COUNT(answers); i++) {
        const lastro_value *at = lastro->at(questions, i), *params = lastro_get(at, "params");
        lastro_question q = {.size = sizeof q, .key = lastro_copy(call, lastro_get_text(at, "key", "k")),
                             .method = lastro_copy(call, lastro_get_text(at, "method", "elicitation/create")),
                             .params = params ? lastro->to_json(call, params).at : NULL};
        lastro_status one = lastro->ask(call, &q, &answers[i], err);
        if (one && (one != LASTRO_EASK || lastro_get_bool(args, "rounds", false)))
            return one;
        s = one ? one : s;
    }
    if (s)
        return s;
    lastro->begin_object(out);
    lastro_put_array(out, "answers");
    for (size_t i = 0; i < n; i++)
        lastro->write_value(out, answers[i]);
    lastro->end_array(out);
    lastro->end_object(out);
    return LASTRO_OK;
}

static inline lastro_status asking_early(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)out, (void)err;
    return LASTRO_EASK;
}

/* What the one question of prompt and resource asks; a test may change it between two rounds. */
static const char *asking_params = ASKING_FORM("\"name\":{\"type\":\"string\"}");

static inline lastro_status asking_who(lastro_call *call, const char *key, const char **ret, lastro_error *err) {
    const lastro_value *answer;
    lastro_question q = {.size = sizeof q, .key = key, .method = "elicitation/create", .params = asking_params};
    lastro_status s = lastro->ask(call, &q, &answer, err);
    if (s == LASTRO_OK)
        *ret = lastro->to_json(call, lastro_get(answer, "content")).at;
    return s;
}

static inline lastro_status asking_read(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    const char *first = "", *second = "";
    (void)self;
    if (lastro_text_is(uri, "asking://early"))
        return LASTRO_EASK;
    lastro_status s = asking_who(call, "first", &first, err);
    if (!s)
        s = asking_who(call, "second", &second, err);
    char *both = lastro->alloc(call, strlen(first) + strlen(second) + 1);
    if (s || !both)
        return s ? s : LASTRO_ENOMEM;
    strcat(strcpy(both, first), second);
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){both, strlen(both)});
    return LASTRO_OK;
}

static inline lastro_status asking_get(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages,
                                       lastro_error *err) {
    const char *text = "";
    (void)self;
    if (lastro_has(arguments, "early"))
        return LASTRO_EASK;
    lastro_status s = asking_who(call, "first", &text, err);
    if (!s)
        lastro_message_text(messages, "user", text);
    return s;
}

static inline lastro_status asking_complete(void *self, lastro_call *call, lastro_text argument, lastro_text prefix,
                                            lastro_writer *values, lastro_error *err) {
    const char *text;
    (void)self, (void)argument, (void)prefix, (void)values;
    return asking_who(call, "first", &text, err);
}

static const lastro_tool asking_tools[] = {
    {.size = sizeof(lastro_tool), .run = asking_run, .contract = INNER_TOOL("ask", "{\"type\":\"object\"}", INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = asking_run, .contract = INNER_TOOL("ask_too", "{\"type\":\"object\"}", INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = asking_early, .contract = INNER_TOOL("early", "{\"type\":\"object\"}", INNER_ANY)},
};
static const lastro_resource asking_resource = {.size = sizeof(lastro_resource), .uri = "asking://{id}", .name = "a", .read = asking_read};
static const lastro_prompt_argument asking_argument = {.size = sizeof(lastro_prompt_argument), .name = "early"};
static const lastro_prompt asking_prompt = {.size = sizeof(lastro_prompt), .name = "ask", .description = "Asks.", .get = asking_get,
                                            .arguments = (const lastro_prompt_argument *const[]){&asking_argument, NULL},
                                            .complete = asking_complete};

static inline lastro_status asking_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; !s && i < LASTRO_COUNT(asking_tools); i++)
        s = lastro->add_tool(r, &asking_tools[i], err);
    if (s || (s = lastro->add_template(r, &asking_resource, err)))
        return s;
    return lastro->add_prompt(r, &asking_prompt, err);
}
static const lastro_plugin asking_plugin = {LASTRO_PLUGIN_HEAD, .name = "asking", .version = "1.0.0", .init = asking_init};

static inline void start_asking(const char *limits) {
    start_plugin(&asking_plugin, NULL, limits);
}

#endif
