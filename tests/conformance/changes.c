/* SPDX-License-Identifier: MIT */
/* changes.c -- what is different from one moment to the next, and the tools that make it so. */
#include "conformance.h"

#include <pthread.h>

enum { LABEL_MAX = 200 };

static struct {
    pthread_mutex_t lock;
    int64_t touched;
    int64_t cancelled;
    char label[LABEL_MAX]; /* of the call that was cancelled last */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the lists: they are always the same, but who is told otherwise looks again ---- */

TOOL(test_trigger_tool_change) {
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    return say(call, err, "Told of a change of the tools");
}

TOOL(test_trigger_prompt_change) {
    lastro->changed(LASTRO_CHANGED_PROMPTS, NULL);
    return say(call, err, "Told of a change of the prompts");
}

TOOL(test_trigger_resource_change) {
    lastro->changed(LASTRO_CHANGED_RESOURCES, NULL);
    return say(call, err, "Told of a change of the resources");
}

/* ---- test://watched-resource ---- */

TOOL(test_touch_watched) {
    pthread_mutex_lock(&state.lock);
    long long touched = ++state.touched;
    pthread_mutex_unlock(&state.lock);
    lastro->changed(LASTRO_CHANGED_RESOURCE, "test://watched-resource");
    return say(call, err, "Touched: %lld", touched);
}

lastro_status read_watched(UNUSED void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    pthread_mutex_lock(&state.lock);
    long long touched = state.touched;
    pthread_mutex_unlock(&state.lock);
    const char *text = lastro_format(call, "Touched: %lld", touched);
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){text, strlen(text)});
    return LASTRO_OK;
}

/* ---- test://cancelled-calls ---- */

lastro_status note_cancelled(UNUSED lastro_call *call, lastro_text label, lastro_error *err) {
    pthread_mutex_lock(&state.lock);
    state.cancelled++;
    snprintf(state.label, sizeof state.label, "%.*s", (int)(label.len < LABEL_MAX ? label.len : LABEL_MAX), label.at);
    lastro_trim_utf8(state.label, strlen(state.label));
    pthread_mutex_unlock(&state.lock);
    lastro->changed(LASTRO_CHANGED_RESOURCE, "test://cancelled-calls");
    return lastro_fail(err, LASTRO_ECANCELLED, "cancelled");
}

lastro_status read_cancelled(UNUSED void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    lastro_writer *w = lastro->scratch(call);
    lastro->begin_object(w);
    pthread_mutex_lock(&state.lock);
    lastro_put_int(w, "count", state.cancelled);
    lastro_put_text(w, "last", state.label);
    pthread_mutex_unlock(&state.lock);
    lastro->end_object(w);
    const char *text = lastro_written(call, w, err);
    if (!text)
        return (lastro_status)err->status;
    lastro_resource_text(contents, uri, "application/json", (lastro_text){text, strlen(text)});
    return LASTRO_OK;
}
