/* SPDX-License-Identifier: MIT */
/* conformance.h -- what the files of the fixture share: the list of its tools, waiting, answering, asking. */
#ifndef LASTRO_TESTS_CONFORMANCE_H
#define LASTRO_TESTS_CONFORMANCE_H

#include "embedded.h" /* embedded_NAME: contracts/NAME.json, made by the build */
#include <lastro/lastro.h>

/* The tools in the order of tools/list. The official suite calls the first one with {}, and with any text the first one
 * whose schema names a header. */
#define TOOLS(X)                                                 \
    X(test_simple_text, LASTRO_TOOL_QUICK)                       \
    X(test_image_content, LASTRO_TOOL_QUICK)                     \
    X(test_audio_content, LASTRO_TOOL_QUICK)                     \
    X(test_embedded_resource, LASTRO_TOOL_QUICK)                 \
    X(test_multiple_content_types, LASTRO_TOOL_QUICK)            \
    X(test_tool_with_logging, 0)                                 \
    X(test_tool_with_progress, 0)                                \
    X(test_error_handling, LASTRO_TOOL_QUICK)                    \
    X(test_sampling, 0)                                          \
    X(test_elicitation, 0)                                       \
    X(test_elicitation_sep1034_defaults, 0)                      \
    X(test_elicitation_sep1330_enums, 0)                         \
    X(test_reconnection, 0)                                      \
    X(json_schema_2020_12_tool, LASTRO_TOOL_QUICK)               \
    X(test_custom_header, LASTRO_TOOL_QUICK)                     \
    X(test_missing_capability, 0)                                \
    X(test_streaming_elicitation, 0)                             \
    X(test_logging_tool, 0)                                      \
    X(test_trigger_tool_change, 0)                               \
    X(test_trigger_prompt_change, 0)                             \
    X(test_input_required_result_elicitation, 0)                 \
    X(test_input_required_result_sampling, 0)                    \
    X(test_input_required_result_list_roots, 0)                  \
    X(test_input_required_result_request_state, 0)               \
    X(test_input_required_result_multiple_inputs, 0)             \
    X(test_input_required_result_multi_round, 0)                 \
    X(test_input_required_result_tampered_state, 0)              \
    X(test_input_required_result_capabilities, 0)                \
    X(greet, LASTRO_TOOL_QUICK)                                  \
    X(slow_compute, LASTRO_TOOL_TASK)                            \
    X(failing_job, LASTRO_TOOL_TASK_ONLY)                        \
    X(protocol_error_job, LASTRO_TOOL_TASK)                      \
    X(confirm_delete, LASTRO_TOOL_TASK)                          \
    X(multi_input, LASTRO_TOOL_TASK)                             \
    X(test_tool_with_task, LASTRO_TOOL_MAY_TASK)                 \
    /* beyond what the suite asks for */                         \
    X(test_url_elicitation, 0)                                   \
    X(test_slow, 0)                                              \
    X(test_large_result, 0)                                      \
    X(test_resource_link, LASTRO_TOOL_QUICK)                     \
    X(test_caller, LASTRO_TOOL_QUICK)                            \
    X(test_touch_watched, 0)                                     \
    X(test_trigger_resource_change, 0)                           \
    X(test_header_kinds, LASTRO_TOOL_QUICK)

#define UNUSED __attribute__((unused))
#define TOOL(name)                                                                                             \
    lastro_status name(UNUSED void *self, UNUSED lastro_call *call, UNUSED const lastro_value *args,           \
                       UNUSED lastro_writer *out, UNUSED lastro_error *err)
#define DECLARE_TOOL(name, flags) TOOL(name);
TOOLS(DECLARE_TOOL)

/* Each list ends with NULL. */
extern const lastro_resource *const fixture_resources[], *const fixture_templates[];
extern const lastro_prompt *const fixture_prompts[];

/* A PNG of 16 by 16 pixels, 1 bit each: a white cross on red. Literal, so that it can be part of a longer one. */
#define PNG_BASE64                                                                                             \
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEXAICD////VwgFTAAAAFklEQVR42mNggAHmA1Ak/wOB4IIw"          \
    "AADSlwjvPADPTwAAAABJRU5ErkJggg=="
#define PNG_ICONS                                                                                              \
    "\"icons\":[{\"src\":\"data:image/png;base64," PNG_BASE64 "\",\"mimeType\":\"image/png\",\"sizes\":[\"16x16\"]}]"

/* Waits that long, or until the call is cancelled: then false, with err filled. */
bool wait_ms(lastro_call *call, int64_t ms, lastro_error *err);

/* The result is one text. */
__attribute__((format(printf, 3, 4))) lastro_status say(lastro_call *call, lastro_error *err, const char *fmt, ...);

/* The value as JSON text; "" when memory is spent. */
const char *shown(lastro_call *call, const lastro_value *v);

/* ---- asking ---- */

/* Parameters of an elicitation with one field, which must be given. */
#define FORM(message, field, type)                                                                             \
    "{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" field             \
    "\":{\"type\":\"" type "\"}},\"required\":[\"" field "\"]}}"
/* Parameters of a sampling request. */
#define SAMPLE(prompt, tokens)                                                                                 \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" prompt "\"}}],\"maxTokens\":" tokens "}"

/* Parameters of an elicitation whose message is not known beforehand. NULL with err filled: out of memory. */
const char *form(lastro_call *call, const char *message, const char *schema, lastro_error *err);

/* params: JSON text; NULL: err tells already why there is none. */
lastro_status ask(lastro_call *call, const char *key, const char *method, const char *params, const lastro_value **ret,
                  lastro_error *err);
lastro_status ask_user(lastro_call *call, const char *key, const char *form, const lastro_value **ret, lastro_error *err);
/* Questions of one round are put before the first of their statuses is returned: this one goes back. */
lastro_status both(lastro_status a, lastro_status b);
/* What the user typed into the field, NUL-terminated; "nobody" when the form did not come back filled in. */
const char *typed(lastro_call *call, const lastro_value *answer, const char *field);
/* What the model said. */
const char *sampled(lastro_call *call, const lastro_value *answer);

/* ---- what changes while the fixture runs (changes.c) ---- */

/* The call was cancelled: its label can be read from test://cancelled-calls from now on. Returns LASTRO_ECANCELLED. */
lastro_status note_cancelled(lastro_call *call, lastro_text label, lastro_error *err);
lastro_status read_watched(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err);
lastro_status read_cancelled(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err);

#endif
