/* SPDX-License-Identifier: MIT */
#include "tasks_internal.h"
#include "clock.h"
#include "fail.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const char *task_state_name(task_state s) {
    static const char *const names[] = {"working", "input_required", "completed", "failed", "cancelled"};
    return names[s];
}

/* ---- memory; the lock is held ---- */

void task_free_input(input *in) {
    free(in->key);
    free(in->question);
    free(in->answer);
    free(in);
}
size_t task_input_bytes(const input *in) {
    return sizeof *in + in->key_len + in->question_len + in->answer_len;
}

input *task_find_input(const task *t, const char *key, size_t len) {
    for (input *in = t->inputs; in; in = in->next)
        if (in->key_len == len && memcmp(in->key, key, len) == 0)
            return in;
    return NULL;
}

size_t task_free_inputs(task *t) {
    size_t bytes = t->request_len;
    for (input *in = t->inputs, *next; in; in = next) {
        next = in->next;
        bytes += task_input_bytes(in);
        task_free_input(in);
    }
    free(t->request);
    t->request = NULL;
    t->request_len = 0;
    t->inputs = NULL;
    t->inputs_end = &t->inputs;
    return bytes;
}

static void free_task(task *t) {
    task_free_inputs(t);
    free(t->principal);
    free(t->outcome);
    free(t);
}

void task_unref(task *t) {
    if (--t->refs == 0)
        free_task(t);
}

static task **bucket_of(tasks *ts, const char *id) {
    unsigned hash = 0; /* ids are random: any two digits will do */
    for (int i = 0; i < 2; i++)
        hash = hash << 4 | (unsigned)(id[i] <= '9' ? id[i] - '0' : id[i] - 'a' + 10);
    return &ts->buckets[hash & (BUCKETS - 1)];
}

static void list(tasks *ts, task *t) {
    task **at = bucket_of(ts, t->id);
    t->next = *at;
    *at = t;
    t->older = ts->youngest;
    if (t->older)
        t->older->younger = t;
    else
        ts->oldest = t;
    ts->youngest = t;
    t->listed = true;
    ts->count++;
    ts->bytes += t->bytes;
}

void task_unlist(task *t) {
    tasks *ts = t->store;
    if (!t->listed)
        return;
    task **at = bucket_of(ts, t->id);
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    *(t->older ? &t->older->younger : &ts->oldest) = t->younger;
    *(t->younger ? &t->younger->older : &ts->youngest) = t->older;
    t->listed = false;
    ts->count--;
    ts->bytes -= t->bytes;
    task_unref(t);
}

void task_weigh(task *t, size_t more, size_t less) {
    t->bytes += more - less;
    if (t->listed)
        t->store->bytes += more - less;
}

/* What time has brought about. Only the oldest need a look: all were given the same life. */
static void pass_time(tasks *ts) {
    int64_t now = clock_mono_ms();
    for (task *t = ts->oldest, *younger; t && now - t->born >= ts->config.life_ms; t = younger) {
        younger = t->younger;
        if (t->state == TASK_WORKING) {
            t->late = true;
            if (t->run)
                cancel_raise(t->run);
        } else if (now - t->born >= t->ttl) {
            task_unlist(t);
        }
    }
}

static task *to_give_up(tasks *ts) {
    task *unseen = NULL;
    for (task *t = ts->oldest; t; t = t->younger) {
        if (task_is_final(t) && t->seen)
            return t;
        if (task_is_final(t) && !unseen)
            unseen = t;
    }
    return unseen;
}

bool tasks_make_room(tasks *ts, size_t tasks_more, size_t bytes_more) {
    if (bytes_more > ts->config.bytes)
        return false;
    while (ts->count + tasks_more > ts->config.most || ts->bytes > ts->config.bytes - bytes_more) {
        task *t = to_give_up(ts);
        if (!t)
            return false;
        task_unlist(t);
    }
    return true;
}

/* ---- the store ---- */

tasks *tasks_create(const tasks_config *config) {
    tasks *ts = calloc(1, sizeof *ts);
    if (ts) {
        ts->config = *config;
        pthread_mutex_init(&ts->lock, NULL);
    }
    return ts;
}

void tasks_destroy(tasks *ts) {
    if (!ts)
        return;
    while (ts->oldest)
        task_unlist(ts->oldest);
    pthread_mutex_destroy(&ts->lock);
    free(ts);
}

static bool draw_id(char id[ID_DIGITS + 1]) {
    unsigned char random[ID_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (int i = 0; i < ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    return true;
}

void task_set_message(task *t, const char *message) {
    if (!message)
        return;
    snprintf(t->message, sizeof t->message, "%s", message);
    text_tidy(t->message);
}

task *tasks_open(tasks *ts, const char *principal, const char *message, lastro_error *err) {
    task *t = calloc(1, sizeof *t);
    char *owner = t ? strdup(principal) : NULL;
    if (!owner) {
        free(t);
        fail(err, LASTRO_ENOMEM, "out of memory");
        return NULL;
    }
    *t = (task){.store = ts, .refs = 2, .principal = owner, .ttl = ts->config.life_ms, .born = clock_mono_ms(),
                .created = clock_wall_ms(), .bytes = sizeof *t + strlen(owner) + 1};
    t->updated = t->created;
    t->inputs_end = &t->inputs;
    task_set_message(t, message);
    if (!draw_id(t->id)) {
        free_task(t);
        fail(err, LASTRO_EINTERNAL, "the kernel gives no random numbers");
        return NULL;
    }
    pthread_mutex_lock(&ts->lock);
    pass_time(ts);
    bool room = tasks_make_room(ts, 1, t->bytes);
    if (room)
        list(ts, t);
    pthread_mutex_unlock(&ts->lock);
    if (room)
        return t;
    free_task(t);
    fail(err, LASTRO_ELIMIT,
         "%zu tasks are under way and waiting, and no more are kept at once. Fetch or cancel (tasks/cancel) one of them, or try "
         "again when one has ended.",
         ts->config.most);
    return NULL;
}

task *tasks_find(tasks *ts, const char *id, size_t len, const char *principal) {
    task *found = NULL;
    if (len != ID_DIGITS || strspn(id, "0123456789abcdef") != ID_DIGITS)
        return NULL;
    pthread_mutex_lock(&ts->lock);
    pass_time(ts);
    for (task *t = *bucket_of(ts, id); t && !found; t = t->next)
        if (memcmp(t->id, id, ID_DIGITS) == 0 && strcmp(t->principal, principal) == 0)
            found = t;
    if (found)
        found->refs++;
    pthread_mutex_unlock(&ts->lock);
    return found;
}

void task_release(task *t) {
    pthread_mutex_t *lock = &t->store->lock;
    pthread_mutex_lock(lock);
    task_unref(t);
    pthread_mutex_unlock(lock);
}

const char *task_id(const task *t) {
    return t->id;
}
const char *task_principal(const task *t) {
    return t->principal;
}
int64_t task_life(const task *t) {
    return t->store->config.life_ms;
}
int64_t task_deadline(const task *t) {
    return t->born + task_life(t);
}

static void put(json_writer *w, const char *key, const char *text) {
    json_key(w, key);
    json_write_string(w, text);
}
static void put_time(json_writer *w, const char *key, int64_t ms) {
    char text[32];
    clock_format_iso(ms, 0, text, sizeof text);
    put(w, key, text);
}

/* The lock is held, here and in write_questions. */
static void write_state(const task *t, json_writer *w) {
    put(w, "taskId", t->id);
    put(w, "status", task_state_name(t->state));
    if (t->message[0])
        put(w, "statusMessage", t->message);
    put_time(w, "createdAt", t->created);
    put_time(w, "lastUpdatedAt", t->updated);
    json_key(w, "ttlMs");
    json_write_int(w, t->ttl);
    if (!task_is_final(t)) {
        json_key(w, "pollIntervalMs");
        json_write_int(w, t->store->config.poll_ms);
    }
}

static void write_questions(const task *t, json_writer *w) {
    json_key(w, "inputRequests");
    json_begin_object(w);
    for (const input *in = t->inputs; in; in = in->next) {
        if (!in->question)
            continue;
        json_key_n(w, in->key, in->key_len);
        json_write_raw(w, in->question, in->question_len);
    }
    json_end_object(w);
}

void task_write(task *t, json_writer *w, task_view view) {
    static const char no_memory[] = "{\"code\":-32603,\"message\":\"Out of memory.\"}";
    pthread_mutex_lock(&t->store->lock);
    task_state state = t->state;
    write_state(t, w);
    if (view != TASK_HANDLE && state == TASK_INPUT_REQUIRED)
        write_questions(t, w);
    t->seen = t->seen || (view == TASK_FETCHED && task_is_final(t));
    pthread_mutex_unlock(&t->store->lock);
    if (view == TASK_HANDLE || (state != TASK_COMPLETED && state != TASK_FAILED))
        return;
    json_key(w, state == TASK_COMPLETED ? "result" : "error"); /* it may be long, and changes no more: no lock */
    if (t->outcome)
        json_write_raw(w, t->outcome, t->outcome_len);
    else /* not even the error could be kept */
        json_write_raw(w, no_memory, sizeof no_memory - 1);
}
