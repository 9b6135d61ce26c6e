/* SPDX-License-Identifier: MIT */
/* shared.c -- waiting, answering and asking, as conformance.h says. */
#include "conformance.h"

#include <time.h>

enum { STEP_MS = 5 };

bool wait_ms(lastro_call *call, int64_t ms, lastro_error *err) {
    for (; ms > 0 && !lastro->cancelled(call); ms -= STEP_MS)
        nanosleep(&(struct timespec){.tv_nsec = (ms < STEP_MS ? ms : STEP_MS) * 1000000}, NULL);
    if (!lastro->cancelled(call))
        return true;
    lastro_fail(err, LASTRO_ECANCELLED, "cancelled");
    return false;
}

lastro_status say(lastro_call *call, lastro_error *err, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = len < 0 ? NULL : lastro->alloc(call, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_content_text(call, text);
    return LASTRO_OK;
}

const char *shown(lastro_call *call, const lastro_value *v) {
    const char *text = lastro->to_json(call, v).at;
    return text ? text : "";
}

const char *form(lastro_call *call, const char *message, const char *schema, lastro_error *err) {
    const lastro_value *requested = lastro->parse(call, schema, strlen(schema), err);
    if (!requested || !message)
        return NULL;
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    lastro_put_text(w, "message", message);
    lastro_put_value(w, "requestedSchema", requested);
    lastro->end_object(w);
    return lastro_written(call, w, err);
}

lastro_status ask(lastro_call *call, const char *key, const char *method, const char *params, const lastro_value **ret,
                  lastro_error *err) {
    lastro_question q = {.size = sizeof q, .key = key, .method = method, .params = params};
    return params ? lastro->ask(call, &q, ret, err) : (lastro_status)err->status;
}

lastro_status ask_user(lastro_call *call, const char *key, const char *form, const lastro_value **ret, lastro_error *err) {
    return ask(call, key, "elicitation/create", form, ret, err);
}

lastro_status both(lastro_status a, lastro_status b) {
    return a && a != LASTRO_EASK ? a : b && b != LASTRO_EASK ? b : a ? a : b;
}

const char *typed(lastro_call *call, const lastro_value *answer, const char *field) {
    bool accepted = lastro_text_is(lastro_get_text(answer, "action", ""), "accept");
    char *text = accepted ? lastro_copy(call, lastro_get_text(lastro_get(answer, "content"), field, NULL)) : NULL;
    return text ? text : "nobody";
}

const char *sampled(lastro_call *call, const lastro_value *answer) {
    char *text = lastro_copy(call, lastro_get_text(lastro_get(answer, "content"), "text", ""));
    return text ? text : "";
}
