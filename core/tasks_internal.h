/* SPDX-License-Identifier: MIT */
/* tasks_internal.h -- what tasks.c (records, bounds, reading) and task_run.c (what happens to them) share. The lock of the
 * store is held wherever nothing else is said. */
#ifndef LASTRO_CORE_TASKS_INTERNAL_H
#define LASTRO_CORE_TASKS_INTERNAL_H

#include "tasks.h"

#include <pthread.h>

enum { ID_BYTES = 16, ID_DIGITS = ID_BYTES * 2, BUCKETS = 256, MESSAGE_BYTES = 400 };

/* A question of a task. */
typedef struct input {
    struct input *next;
    char *key;
    size_t key_len;
    char *question, *answer; /* JSON: first the one, then the other */
    size_t question_len, answer_len;
} input;

struct task {
    tasks *store;
    task *next;             /* in its bucket */
    task *older, *younger;  /* by creation */
    unsigned refs;          /* the store's own, the run's, and those who look at it */
    bool listed;            /* it can be found */
    bool cancelled, late;   /* the client, or the end of its time, asked the run to stop */
    bool seen;              /* the client was told its end */
    task_state state;
    char id[ID_DIGITS + 1];
    char *principal;
    int64_t born, ttl;      /* monotonic ms; ms from then until it may go */
    int64_t created, updated; /* wall clock ms */
    cancel_token *run;      /* of the run, while there is one that can be cancelled */
    char *request;
    size_t request_len;
    input *inputs, **inputs_end;
    char *outcome;          /* result or error; never changed once the state is final */
    size_t outcome_len;
    char message[MESSAGE_BYTES];
    size_t bytes;           /* of all this */
};

struct tasks {
    tasks_config config;
    pthread_mutex_t lock;
    task *buckets[BUCKETS];
    task *oldest, *youngest;
    size_t count, bytes;
};

static inline bool task_is_final(const task *t) {
    return t->state > TASK_INPUT_REQUIRED;
}

/* More, or less, is kept of it. */
void task_weigh(task *t, size_t more, size_t less);
/* Room for so many more tasks and bytes, at the cost of finished tasks; false: there is none. */
bool tasks_make_room(tasks *ts, size_t tasks_more, size_t bytes_more);
/* It can no longer be found, and counts no more. */
void task_unlist(task *t);
void task_unref(task *t);
void task_set_message(task *t, const char *message); /* NULL: it stays */

input *task_find_input(const task *t, const char *key, size_t len);
size_t task_input_bytes(const input *in);
void task_free_input(input *in);
/* What is held for another run goes; how much that was. */
size_t task_free_inputs(task *t);

#endif
