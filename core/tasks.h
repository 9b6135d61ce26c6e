/* SPDX-License-Identifier: MIT */
/* tasks.h -- the store behind the extension io.modelcontextprotocol/tasks: calls whose outcome is fetched later. A task
 * is a record that is worked on by runs, one after another: a run is one pass of a tool's handler. It ends with an
 * outcome, or with questions to the client; when those are answered another run begins. While a task waits for answers
 * nothing but its texts is kept.
 *
 *      tasks_open → working ⇄ input_required (task_park, task_answer)
 *                      ↓              ↓ (task_cancel)
 *      completed, failed, cancelled (task_settle)
 *
 * Lifetime. A task may run and wait life_ms from its creation; a run that goes on longer is cancelled. What came of it is
 * kept until then, and at least keep_ms after its end. Nothing lives longer than life_ms + keep_ms but a run that does
 * not listen. Time passes when the store is used: there is no timer.
 * Bounds. At most `most` tasks that hold at most `bytes`. When there is no room, finished tasks go before their time:
 * those whose end the client has seen, the oldest first, then the other finished ones, the oldest first. Tasks that are
 * not finished never go; when only such are left no new one is made.
 *
 * All functions: any thread; none waits. One lock guards the store; it is never held while a function of the caller's
 * runs, except those that a raised cancel token wakes: they must not call back. */
#ifndef LASTRO_CORE_TASKS_H
#define LASTRO_CORE_TASKS_H

#include "cancel.h"
#include "json.h"

#include <lastro/abi.h>

typedef struct tasks tasks;
typedef struct task task; /* counted: every task * that is handed out is given back by task_release or as said */

typedef enum { TASK_WORKING, TASK_INPUT_REQUIRED, TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED } task_state;
const char *task_state_name(task_state s);

typedef struct {
    size_t most, bytes;
    int64_t life_ms, keep_ms;
    int64_t poll_ms;                      /* what clients are told to wait between two looks */
    void (*changed)(void *arg, task *t);  /* it has another state; may be NULL */
    void *arg;
} tasks_config;

tasks *tasks_create(const tasks_config *config); /* NULL: out of memory */
void tasks_destroy(tasks *ts);                   /* nobody holds a task any more; accepts NULL */

/* The task of that id (len bytes) that belongs to that principal; NULL: there is none, or it is somebody else's. */
task *tasks_find(tasks *ts, const char *id, size_t len, const char *principal);
void task_release(task *t);

const char *task_id(const task *t);        /* 32 hexadecimal digits from the kernel's random numbers */
const char *task_principal(const task *t);
int64_t task_life(const task *t);          /* ms from its creation that it may run and wait */
int64_t task_deadline(const task *t);      /* the end of that, monotonic ms */

/* Members of an open object: taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs; save for a
 * handle also inputRequests (the open ones), result or error. An outcome that was fetched counts as seen. */
typedef enum { TASK_HANDLE, TASK_NEWS, TASK_FETCHED } task_view;
void task_write(task *t, json_writer *w, task_view view);

/* ---- for who works on it ---- */

/* A new task, and its first run, which holds the returned reference until it ends. message: what is going on, for people;
 * NULL: nothing is said. NULL: LASTRO_ELIMIT (no room) or LASTRO_ENOMEM, told in err. */
task *tasks_open(tasks *ts, const char *principal, const char *message, lastro_error *err);
/* Nobody was told of it: it is gone, and its run has ended. */
void task_forget(task *t);
/* The run can be cancelled through this token, which lives until the run ends; raised at once when it is too late. */
void task_run(task *t, cancel_token *cancel);
/* What is going on now. */
void task_say(task *t, const char *message);
/* The run ends with a final state. json: result (completed) or error object (failed) as malloc'ed text, taken; NULL for
 * cancelled. message: of a failure, for people; may be NULL. A run that was cancelled because its time was over counts as
 * failed. */
void task_settle(task *t, task_state state, char *json, size_t len, const char *message);
/* The run ends with questions: an object of requests by key, at least one that was not asked yet. request, a text of the
 * caller's, is what it needs for the next run; the first one is kept. All of it is copied. A task that was cancelled
 * meanwhile is settled as such; one that there is no room for fails. */
void task_park(task *t, const char *request, size_t len, const json_value *questions);
/* What task_park was given. For the run that follows. */
json_text task_request(const task *t);
/* The answers so far, as members of an open object. For the run that follows. */
void task_write_answers(const task *t, json_writer *w);

/* ---- for the client's requests ---- */

/* Asks the run to stop; a task that waits for answers is cancelled at once; a finished one stays as it is. */
void task_cancel(task *t);
/* Takes the answers (an object) to open questions, ignores all else. *ret_run: none is open any more, and a run has begun:
 * the caller carries it out, with a reference of its own. LASTRO_ELIMIT, LASTRO_ENOMEM: nothing was taken from the first
 * answer on that had no room. */
lastro_status task_answer(task *t, const json_value *answers, bool *ret_run, lastro_error *err);
/* The request of that open question; NULL: none is open under that key. a: where it is read into. */
const json_value *task_question(task *t, const char *key, size_t len, arena *a);

#endif
