/* SPDX-License-Identifier: MIT */
/* task_run.c -- what happens to a task: runs that begin and end, answers, cancellation. */
#include "clock.h"
#include "fail.h"
#include "rpc.h"
#include "tasks_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

static void tell_changed(task *t) {
    if (t->store->config.changed)
        t->store->config.changed(t->store->config.arg, t);
}

void task_forget(task *t) {
    tasks *ts = t->store;
    pthread_mutex_lock(&ts->lock);
    t->run = NULL;
    task_unlist(t);
    task_unref(t);
    pthread_mutex_unlock(&ts->lock);
}

void task_run(task *t, cancel_token *cancel) {
    pthread_mutex_lock(&t->store->lock);
    t->run = cancel;
    if (t->cancelled || t->late)
        cancel_raise(cancel);
    pthread_mutex_unlock(&t->store->lock);
}

void task_say(task *t, const char *message) {
    if (!message)
        return;
    pthread_mutex_lock(&t->store->lock);
    if (t->state == TASK_WORKING) {
        task_set_message(t, message);
        t->updated = clock_wall_ms();
    }
    pthread_mutex_unlock(&t->store->lock);
}

static char *error_json(int code, const char *message, size_t *ret_len) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "code");
    json_write_int(&w, code);
    json_key(&w, "message");
    json_write_string(&w, message);
    json_end_object(&w);
    if (json_writer_finish(&w)) {
        *ret_len = w.len;
        return w.data;
    }
    json_writer_free(&w);
    return NULL;
}

/* The lock is held; the run is over. json is taken. */
static void finish(task *t, task_state state, char *json, size_t len, const char *message) {
    tasks *ts = t->store;
    t->run = NULL;
    task_weigh(t, 0, task_free_inputs(t));
    if (json && !tasks_make_room(ts, 0, len)) {
        free(json);
        message = "The result is too large for the room that is left for results that wait to be fetched.";
        json = error_json(RPC_INTERNAL, message, &len);
        state = TASK_FAILED;
    }
    t->state = state;
    t->outcome = json;
    t->outcome_len = json ? len : 0;
    task_weigh(t, t->outcome_len, 0);
    t->message[0] = '\0';
    task_set_message(t, message);
    t->updated = clock_wall_ms();
    int64_t age = clock_mono_ms() - t->born;
    if (t->ttl < age + ts->config.keep_ms)
        t->ttl = age + ts->config.keep_ms;
}

static void finish_late(task *t) {
    char text[160];
    size_t len = 0;
    snprintf(text, sizeof text, "The task did not end within the %lld ms that it had, so it was stopped.", (long long)task_life(t));
    char *json = error_json(RPC_INTERNAL, text, &len);
    finish(t, TASK_FAILED, json, len, text);
}

void task_settle(task *t, task_state state, char *json, size_t len, const char *message) {
    tasks *ts = t->store;
    pthread_mutex_lock(&ts->lock);
    if (state == TASK_CANCELLED && t->late && !t->cancelled)
        finish_late(t);
    else
        finish(t, state, json, len, message);
    pthread_mutex_unlock(&ts->lock);
    tell_changed(t);
    task_release(t);
}

/* ---- waiting for answers ---- */

static char *json_of(const json_value *v, size_t *ret_len) {
    json_writer w;
    json_writer_init(&w, 0);
    json_write_value(&w, v);
    if (!json_writer_finish(&w)) {
        json_writer_free(&w);
        return NULL;
    }
    *ret_len = w.len;
    return w.data;
}

static bool asks(const task *t) {
    for (const input *in = t->inputs; in; in = in->next)
        if (in->question)
            return true;
    return false;
}

/* The lock is held. False: no room, or no memory. */
static bool add_question(task *t, json_text key, const json_value *question) {
    if (task_find_input(t, key.at, key.len)) /* a key names one question for as long as the task lives */
        return true;
    input *in = calloc(1, sizeof *in);
    if (!in)
        return false;
    in->key_len = key.len;
    in->key = malloc(key.len + 1);
    in->question = json_of(question, &in->question_len);
    if (!in->key || !in->question || !tasks_make_room(t->store, 0, task_input_bytes(in))) {
        task_free_input(in);
        return false;
    }
    memcpy(in->key, key.at, key.len);
    in->key[key.len] = '\0';
    *t->inputs_end = in;
    t->inputs_end = &in->next;
    task_weigh(t, task_input_bytes(in), 0);
    return true;
}

/* The lock is held. */
static bool keep_request(task *t, const char *request, size_t len) {
    if (t->request) /* an earlier run left it */
        return true;
    t->request = tasks_make_room(t->store, 0, len) ? malloc(len + 1) : NULL;
    if (!t->request)
        return false;
    memcpy(t->request, request, len);
    t->request[len] = '\0';
    t->request_len = len;
    task_weigh(t, len, 0);
    return true;
}

/* The lock is held. Why the task cannot wait; NULL: it waits. */
static const char *park(task *t, const char *request, size_t len, const json_value *questions) {
    static const char full[] = "There is no room to keep the task while it waits for answers.";
    if (!keep_request(t, request, len))
        return full;
    for (json_iter it = json_iterate(questions); json_next(&it);)
        if (!add_question(t, json_text_of(it.key), it.value))
            return full;
    if (!asks(t))
        return "The tool asked again what had been answered.";
    t->run = NULL;
    t->state = TASK_INPUT_REQUIRED;
    t->updated = clock_wall_ms();
    return NULL;
}

void task_park(task *t, const char *request, size_t len, const json_value *questions) {
    tasks *ts = t->store;
    size_t error_len = 0;
    pthread_mutex_lock(&ts->lock);
    const char *fault = t->cancelled || t->late ? NULL : park(t, request, len, questions);
    if (t->cancelled) {
        finish(t, TASK_CANCELLED, NULL, 0, NULL);
    } else if (t->late) {
        finish_late(t);
    } else if (fault) {
        char *json = error_json(RPC_INTERNAL, fault, &error_len);
        finish(t, TASK_FAILED, json, error_len, fault);
    }
    pthread_mutex_unlock(&ts->lock);
    tell_changed(t);
    task_release(t);
}

json_text task_request(const task *t) {
    return (json_text){t->request, t->request_len};
}

void task_write_answers(const task *t, json_writer *w) {
    for (const input *in = t->inputs; in; in = in->next) {
        if (!in->answer)
            continue;
        json_key_n(w, in->key, in->key_len);
        json_write_raw(w, in->answer, in->answer_len);
    }
}

/* ---- the client's requests ---- */

void task_cancel(task *t) {
    tasks *ts = t->store;
    pthread_mutex_lock(&ts->lock);
    bool parked = t->state == TASK_INPUT_REQUIRED;
    t->cancelled = t->cancelled || !task_is_final(t);
    if (parked)
        finish(t, TASK_CANCELLED, NULL, 0, NULL);
    else if (t->run)
        cancel_raise(t->run);
    pthread_mutex_unlock(&ts->lock);
    if (parked)
        tell_changed(t);
}

/* The lock is held. */
static lastro_status take_answers(task *t, const json_value *answers, lastro_error *err) {
    for (json_iter it = json_iterate(answers); json_next(&it);) {
        json_text key = json_text_of(it.key);
        input *in = task_find_input(t, key.at, key.len);
        if (!in || !in->question)
            continue;
        size_t len = 0;
        char *text = json_of(it.value, &len);
        if (!text)
            return fail(err, LASTRO_ENOMEM, "out of memory");
        if (!tasks_make_room(t->store, 0, len)) {
            free(text);
            return fail(err, LASTRO_ELIMIT, "There is no room to keep the answer \"%.100s\"; try again when other tasks have ended.", in->key);
        }
        task_weigh(t, len, in->question_len);
        free(in->question);
        in->question = NULL;
        in->question_len = 0;
        in->answer = text;
        in->answer_len = len;
    }
    return LASTRO_OK;
}

lastro_status task_answer(task *t, const json_value *answers, bool *ret_run, lastro_error *err) {
    tasks *ts = t->store;
    lastro_status s = LASTRO_OK;
    *ret_run = false;
    pthread_mutex_lock(&ts->lock);
    if (t->state == TASK_INPUT_REQUIRED && t->listed) {
        s = take_answers(t, answers, err);
        t->updated = clock_wall_ms();
        if (!asks(t)) {
            *ret_run = true;
            t->state = TASK_WORKING;
            t->refs++;
        }
    }
    pthread_mutex_unlock(&ts->lock);
    if (*ret_run)
        tell_changed(t);
    return s;
}

const json_value *task_question(task *t, const char *key, size_t len, arena *a) {
    pthread_mutex_lock(&t->store->lock);
    const input *in = t->state == TASK_INPUT_REQUIRED ? task_find_input(t, key, len) : NULL;
    const json_value *v = in && in->question ? json_read_copy(a, in->question, in->question_len, NULL, NULL) : NULL;
    pthread_mutex_unlock(&t->store->lock);
    return v;
}
