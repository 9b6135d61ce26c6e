/* SPDX-License-Identifier: MIT */
/* The store of tasks, without a protocol: states, whose they are, how long they live, what goes when there is no room, and
 * all of it from many threads. JSON is written with ' for ". */
#include "clock.h"
#include "tasks.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static arena mem;
static tasks *store;
static atomic_int changes;

static void nap(int64_t ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}
static const json_value *read_json(const char *text) {
    char *copy = arena_strndup(&mem, text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return json_read_copy(&mem, copy, strlen(copy), NULL, NULL);
}
static const char *shown(const json_value *v) {
    json_writer w;
    json_writer_init(&w, 0);
    if (v)
        json_write_value(&w, v);
    const char *text = json_writer_finish(&w) ? arena_strndup(&mem, w.data, w.len) : "nothing";
    json_writer_free(&w);
    return text;
}
static void is_at(int line, const json_value *v, const char *expected) {
    const json_value *e = expected ? read_json(expected) : NULL;
    unit_check(expected ? v && json_equal(v, e) : !v, "line %d: %s instead of %s", line, shown(v), expected ? expected : "nothing");
}
#define IS(v, expected) is_at(__LINE__, (v), (expected))

/* What a client sees of it. */
static const json_value *seen_as(task *t, task_view view) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    task_write(t, &w, view);
    json_end_object(&w);
    const json_value *v = json_writer_finish(&w) ? json_read_copy(&mem, w.data, w.len, NULL, NULL) : NULL;
    json_writer_free(&w);
    CU_ASSERT_PTR_NOT_NULL(v);
    return v;
}
static const json_value *seen(task *t, bool detailed) {
    return seen_as(t, detailed ? TASK_FETCHED : TASK_HANDLE);
}
static const json_value *member(task *t, const char *name) {
    return json_member(seen(t, true), name);
}
static bool state_is(task *t, const char *name) {
    return json_text_is(json_member(seen(t, false), "status"), name);
}

/* It also looks at the task: no lock may be held. */
static void count_change(void *arg, task *t) {
    json_writer w;
    (void)arg;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    task_write(t, &w, TASK_NEWS);
    json_writer_free(&w);
    atomic_fetch_add(&changes, 1);
}

static void start_with(tasks_config config) {
    config.changed = count_change;
    arena_init(&mem, 0);
    changes = 0;
    store = tasks_create(&config);
    CU_ASSERT_PTR_NOT_NULL_FATAL(store);
}
static void start(void) {
    start_with((tasks_config){.most = 100, .bytes = 1 << 20, .life_ms = 60000, .keep_ms = 20000, .poll_ms = 250});
}
static void stop(void) {
    tasks_destroy(store);
    arena_free(&mem);
}

static task *open_for(const char *principal) {
    lastro_error err;
    task *t = tasks_open(store, principal, NULL, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    return t;
}
/* One more reference, as a client's request has it; NULL: it is not found. */
static task *look(const char *id, const char *principal) {
    return tasks_find(store, id, strlen(id), principal);
}
static bool is_there(const char *id) {
    task *t = look(id, "ana");
    if (t)
        task_release(t);
    return t != NULL;
}
static void settle(task *t, task_state state, const char *json) {
    task_settle(t, state, json ? strdup(shown(read_json(json))) : NULL, json ? strlen(shown(read_json(json))) : 0, NULL);
}
static void park(task *t, const char *questions) {
    task_park(t, "request", 7, read_json(questions));
}
/* True: a run has begun. */
static bool answer(task *t, const char *answers) {
    bool run = false;
    lastro_error err;
    CU_ASSERT_EQUAL(task_answer(t, read_json(answers), &run, &err), LASTRO_OK);
    return run;
}
static void answers_are(task *t, const char *expected) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    task_write_answers(t, &w);
    json_end_object(&w);
    IS(json_writer_finish(&w) ? json_read_copy(&mem, w.data, w.len, NULL, NULL) : NULL, expected);
    json_writer_free(&w);
}

/* ---- states ---- */

static void test_tasks__a_task_shows_its_state_and_in_the_end_its_outcome(void) {
    static const struct {
        task_state state;
        const char *json, *name, *result, *error;
    } ends[] = {{TASK_COMPLETED, "{'content':[],'isError':true}", "completed", "{'content':[],'isError':true}", NULL},
                {TASK_FAILED, "{'code':-32603,'message':'no'}", "failed", NULL, "{'code':-32603,'message':'no'}"},
                {TASK_FAILED, NULL, "failed", NULL, "{'code':-32603,'message':'Out of memory.'}"},
                {TASK_CANCELLED, NULL, "cancelled", NULL, NULL}};
    start();
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        lastro_error err;
        task *run = tasks_open(store, "ana", "counting", &err), *t = look(task_id(run), "ana");
        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        const json_value *v = seen(t, false);
        IS(json_member(v, "status"), "'working'");
        IS(json_member(v, "statusMessage"), "'counting'");
        IS(json_member(v, "ttlMs"), "60000");
        IS(json_member(v, "pollIntervalMs"), "250");
        CU_ASSERT(json_text_of(json_member(v, "createdAt")).len == 25 && json_equal(json_member(v, "createdAt"), json_member(v, "lastUpdatedAt")));
        CU_ASSERT_EQUAL(json_count(v), 7);
        CU_ASSERT(json_equal(v, seen(t, true)));
        task_say(run, "half way");
        IS(member(t, "statusMessage"), "'half way'");
        task_say(run, NULL);
        IS(member(t, "statusMessage"), "'half way'");
        settle(run, ends[i].state, ends[i].json);
        v = seen(t, true);
        unit_check(json_text_is(json_member(v, "status"), ends[i].name), "%s", shown(v));
        IS(json_member(v, "result"), ends[i].result);
        IS(json_member(v, "error"), ends[i].error);
        IS(json_member(v, "statusMessage"), NULL);
        IS(json_member(v, "inputRequests"), NULL);
        CU_ASSERT_EQUAL(json_count(seen(t, false)), 5); /* neither outcome nor how often to ask for it */
        task_release(t);
    }
    CU_ASSERT_EQUAL(changes, 4);
    stop();
}

static void test_tasks__an_id_is_of_no_use_to_others(void) {
    start();
    task *run = open_for("ana"), *t;
    const char *id = task_id(run);
    CU_ASSERT_EQUAL(strlen(id), 32);
    CU_ASSERT_EQUAL(strspn(id, "0123456789abcdef"), 32);
    CU_ASSERT_PTR_NULL(look(id, "bia"));
    CU_ASSERT_PTR_NULL(look(id, "an"));
    CU_ASSERT_PTR_NULL(look(id, ""));
    CU_ASSERT_PTR_NULL(tasks_find(store, id, 31, "ana"));
    CU_ASSERT_PTR_NULL(look("", "ana"));
    CU_ASSERT_PTR_NULL(look("00000000000000000000000000000000", "ana"));
    CU_ASSERT_PTR_NULL(look("zz000000000000000000000000000000", "ana"));
    CU_ASSERT_PTR_NULL(tasks_find(store, "0123456789abcdef\0" "0123456789abcde", 32, "ana"));
    t = look(id, "ana");
    CU_ASSERT_PTR_EQUAL(t, run);
    CU_ASSERT_STRING_EQUAL(task_principal(t), "ana");
    task_release(t);
    task_forget(run);
    char ids[64][40];
    for (int i = 0; i < 64; i++) {
        run = open_for("ana");
        snprintf(ids[i], sizeof ids[i], "%s", task_id(run));
        for (int k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(ids[i], ids[k]);
        task_forget(run);
        CU_ASSERT(!is_there(ids[i])); /* nobody was told of it */
    }
    stop();
}

static void test_tasks__what_is_said_may_be_long_or_broken(void) {
    char text[2000];
    lastro_error err;
    start();
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text + 398, "\xc3\xa9\xc3\xa9", 4); /* cut in the middle of a character */
    task *run = tasks_open(store, "ana", text, &err);
    CU_ASSERT_EQUAL(json_text_of(member(run, "statusMessage")).len, 398);
    task_say(run, "a\xff" "b");
    IS(member(run, "statusMessage"), "'ab'");
    task_say(run, "");
    IS(member(run, "statusMessage"), NULL);
    settle(run, TASK_CANCELLED, NULL);
    stop();
}

/* ---- questions ---- */

static void test_tasks__open_questions_are_shown_until_each_is_answered(void) {
    start();
    task *run = open_for("ana"), *t = look(task_id(run), "ana");
    CU_ASSERT(!answer(t, "{'a':1}")); /* nothing is asked yet: it is ignored */
    park(run, "{'a':{'method':'m'},'b':{'method':'n'}}");
    CU_ASSERT(state_is(t, "input_required"));
    IS(member(t, "inputRequests"), "{'a':{'method':'m'},'b':{'method':'n'}}");
    IS(json_member(seen(t, false), "inputRequests"), NULL);
    IS(member(t, "pollIntervalMs"), "250");
    IS(task_question(t, "b", 1, &mem), "{'method':'n'}");
    IS(task_question(t, "c", 1, &mem), NULL);
    CU_ASSERT(!answer(t, "{'c':0,'b':{'n':1},'':2}"));
    IS(member(t, "inputRequests"), "{'a':{'method':'m'}}");
    IS(task_question(t, "b", 1, &mem), NULL);
    CU_ASSERT(!answer(t, "{'b':'again'}"));
    CU_ASSERT(!answer(t, "{}"));
    CU_ASSERT(state_is(t, "input_required"));
    CU_ASSERT(answer(t, "{'a':null,'z':1}"));
    CU_ASSERT(state_is(t, "working"));
    CU_ASSERT(!answer(t, "{'a':5}"));
    answers_are(t, "{'a':null,'b':{'n':1}}");
    CU_ASSERT_STRING_EQUAL(task_request(t).at, "request");
    CU_ASSERT_EQUAL(task_request(t).len, 7);
    task_park(t, "another", 7, read_json("{'c':{'method':'o'}}")); /* gives back what the second run held */
    IS(member(t, "inputRequests"), "{'c':{'method':'o'}}");
    CU_ASSERT(answer(t, "{'a':6,'c':[]}"));
    answers_are(t, "{'a':null,'b':{'n':1},'c':[]}");
    CU_ASSERT_STRING_EQUAL(task_request(t).at, "request"); /* the first one is kept */
    CU_ASSERT_EQUAL(changes, 4);
    settle(t, TASK_COMPLETED, "{}");
    CU_ASSERT_EQUAL(changes, 5);
    task_release(t);
    stop();
}

static void test_tasks__a_key_names_one_question_for_as_long_as_the_task_lives(void) {
    start();
    task *run = open_for("ana"), *t = look(task_id(run), "ana");
    park(run, "{'a':{'method':'m'}}");
    CU_ASSERT(answer(t, "{'a':1}"));
    park(run, "{'a':{'method':'other'}}");
    CU_ASSERT(state_is(t, "failed"));
    IS(json_member(member(t, "error"), "code"), "-32603");
    CU_ASSERT_PTR_NOT_NULL(member(t, "statusMessage"));
    task_release(t);
    stop();
}

/* ---- cancellation ---- */

static void test_tasks__cancelling_asks_the_run_and_its_end_decides(void) {
    cancel_token token;
    start();
    for (int i = 0; i < 3; i++) {
        cancel_init(&token);
        task *run = open_for("ana"), *t = look(task_id(run), "ana");
        if (i == 2)
            task_cancel(t); /* while it waits for a worker */
        task_run(run, &token);
        CU_ASSERT_EQUAL(cancel_raised(&token), i == 2);
        task_cancel(t);
        task_cancel(t);
        CU_ASSERT(cancel_raised(&token));
        CU_ASSERT(state_is(t, "working"));
        settle(run, i ? TASK_CANCELLED : TASK_COMPLETED, i ? NULL : "{}"); /* it may have been done already */
        CU_ASSERT(state_is(t, i ? "cancelled" : "completed"));
        cancel_destroy(&token); /* the run is over: the token is not looked at any more */
        task_cancel(t);
        CU_ASSERT(state_is(t, i ? "cancelled" : "completed"));
        task_release(t);
    }
    stop();
}

static void test_tasks__a_task_that_waits_for_answers_is_cancelled_at_once(void) {
    start();
    task *run = open_for("ana"), *t = look(task_id(run), "ana");
    park(run, "{'a':{'method':'m'}}");
    task_cancel(t);
    CU_ASSERT(state_is(t, "cancelled"));
    IS(member(t, "inputRequests"), NULL);
    CU_ASSERT(!answer(t, "{'a':1}"));
    task_cancel(t);
    CU_ASSERT_EQUAL(changes, 2);
    task_release(t);
    run = open_for("ana"), t = look(task_id(run), "ana");
    task_cancel(t);
    park(run, "{'a':{'method':'m'}}"); /* it asks after it was cancelled */
    CU_ASSERT(state_is(t, "cancelled"));
    task_release(t);
    stop();
}

/* ---- lifetime ---- */

static void test_tasks__time_ends_what_waits_and_stops_what_runs(void) {
    cancel_token token;
    start_with((tasks_config){.most = 100, .bytes = 1 << 20, .life_ms = 60, .keep_ms = 1000, .poll_ms = 1});
    cancel_init(&token);
    task *waits = open_for("ana"), *runs = open_for("ana"), *asks_late = open_for("ana"), *done = open_for("ana");
    char ids[4][40];
    snprintf(ids[0], 40, "%s", task_id(waits));
    snprintf(ids[1], 40, "%s", task_id(runs));
    snprintf(ids[2], 40, "%s", task_id(asks_late));
    snprintf(ids[3], 40, "%s", task_id(done));
    CU_ASSERT_EQUAL(task_life(waits), 60);
    CU_ASSERT(task_deadline(waits) <= clock_mono_ms() + 60);
    park(waits, "{'a':{'method':'m'}}");
    task_run(runs, &token);
    int64_t early;
    settle(done, TASK_COMPLETED, "{}");
    task *t = look(ids[3], "ana");
    CU_ASSERT(json_int64(member(t, "ttlMs"), &early) && early >= 1000); /* kept for so long after its end */
    task_release(t);
    nap(80);
    CU_ASSERT(!is_there(ids[0]));
    CU_ASSERT(is_there(ids[1]));
    CU_ASSERT(cancel_raised(&token));
    settle(runs, TASK_CANCELLED, NULL); /* as a run ends that was cancelled */
    park(asks_late, "{'a':{'method':'m'}}");
    for (int i = 1; i < 3; i++) {
        t = look(ids[i], "ana");
        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        CU_ASSERT(state_is(t, "failed"));
        CU_ASSERT(strstr(json_text_of(json_member(member(t, "error"), "message")).at, "60 ms") != NULL);
        task_release(t);
    }
    CU_ASSERT(is_there(ids[3]));
    nap(1020);
    for (int i = 0; i < 4; i++)
        CU_ASSERT(!is_there(ids[i]));
    cancel_destroy(&token);
    stop();
}

static void test_tasks__who_looks_at_a_task_can_go_on_when_it_is_gone(void) {
    start_with((tasks_config){.most = 100, .bytes = 1 << 20, .life_ms = 30, .keep_ms = 1, .poll_ms = 1});
    task *run = open_for("ana"), *t = look(task_id(run), "ana");
    char id[40];
    snprintf(id, sizeof id, "%s", task_id(run));
    park(run, "{'a':{'method':'m'}}");
    nap(40);
    CU_ASSERT(!is_there(id));
    CU_ASSERT(state_is(t, "input_required"));
    CU_ASSERT(!answer(t, "{'a':1}")); /* it is over: no run begins */
    task_cancel(t);
    task_release(t);
    stop();
}

/* ---- bounds ---- */

static void test_tasks__finished_tasks_make_room_the_seen_ones_first(void) {
    enum { MOST = 5 };
    char ids[MOST + 4][40];
    task *runs[MOST + 4];
    lastro_error err;
    start_with((tasks_config){.most = MOST, .bytes = 1 << 20, .life_ms = 60000, .keep_ms = 1, .poll_ms = 1});
    for (int i = 0; i < MOST; i++) {
        runs[i] = open_for("ana");
        snprintf(ids[i], 40, "%s", task_id(runs[i]));
    }
    CU_ASSERT_PTR_NULL(tasks_open(store, "ana", NULL, &err));
    CU_ASSERT_EQUAL(err.status, LASTRO_ELIMIT);
    CU_ASSERT(strstr(err.text, "5 tasks") != NULL);
    park(runs[0], "{'a':{'method':'m'}}"); /* the oldest, but it waits */
    for (int i = 1; i < 4; i++)
        settle(runs[i], TASK_COMPLETED, "{}");
    task *t = look(ids[2], "ana"); /* its client knows how it ended */
    seen(t, true);
    task_release(t);
    t = look(ids[1], "ana"); /* this one was told, but may not have heard */
    seen(t, false);
    seen_as(t, TASK_NEWS);
    task_release(t);
    static const int go[] = {2, 1, 3};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(is_there(ids[go[i]]));
        runs[MOST + i] = open_for("ana");
        unit_check(!is_there(ids[go[i]]), "%d is still there", go[i]);
    }
    CU_ASSERT_PTR_NULL(tasks_open(store, "bia", NULL, &err)); /* all five run or wait */
    CU_ASSERT(is_there(ids[0]) && is_there(ids[4]));
    settle(runs[4], TASK_CANCELLED, NULL);
    for (int i = MOST; i < MOST + 3; i++)
        settle(runs[i], TASK_CANCELLED, NULL);
    stop();
}

static char *long_result(size_t len) {
    char *text = malloc(len + 1);
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    text[len] = '\0';
    return text;
}

static void test_tasks__bytes_are_bounded_as_well(void) {
    enum { BYTES = 100000, BIG = 30000 };
    char ids[5][40];
    start_with((tasks_config){.most = 100, .bytes = BYTES, .life_ms = 60000, .keep_ms = 1, .poll_ms = 1});
    for (int i = 0; i < 4; i++) {
        task *run = open_for("ana");
        snprintf(ids[i], 40, "%s", task_id(run));
        task_settle(run, TASK_COMPLETED, long_result(BIG), BIG, NULL);
    }
    CU_ASSERT(!is_there(ids[0]) && is_there(ids[1]) && is_there(ids[2]) && is_there(ids[3]));
    task *run = open_for("ana"), *t = look(task_id(run), "ana");
    task_settle(run, TASK_COMPLETED, long_result(BYTES + 1), BYTES + 1, NULL); /* never: it costs nobody his result */
    CU_ASSERT(state_is(t, "failed"));
    CU_ASSERT(is_there(ids[1]) && is_there(ids[2]) && is_there(ids[3]));
    task_release(t);
    run = open_for("ana"), t = look(task_id(run), "ana");
    task_settle(run, TASK_COMPLETED, long_result(BYTES - 3000), BYTES - 3000, NULL); /* if all others go */
    CU_ASSERT(state_is(t, "completed"));
    CU_ASSERT(!is_there(ids[1]) && !is_there(ids[2]) && !is_there(ids[3]));
    task_release(t);
    stop();
}

static void test_tasks__there_may_be_no_room_to_wait_or_to_answer(void) {
    enum { BYTES = 20000 };
    lastro_error err;
    bool run;
    start_with((tasks_config){.most = 100, .bytes = BYTES, .life_ms = 60000, .keep_ms = 1, .poll_ms = 1});
    char *big = long_result(BYTES - 2000);
    task *first = open_for("ana"), *t = look(task_id(first), "ana");
    task_park(first, big, BYTES - 2000, read_json("{'a':{'method':'m'},'b':{'method':'n'}}"));
    CU_ASSERT(state_is(t, "input_required"));
    char *text = malloc(2 * BYTES);
    snprintf(text, 2 * BYTES, "{'b':1,'a':%s}", big);
    CU_ASSERT_EQUAL(task_answer(t, read_json(text), &run, &err), LASTRO_ELIMIT);
    CU_ASSERT(!run && strstr(err.text, "\"a\""));
    IS(member(t, "inputRequests"), "{'a':{'method':'m'}}"); /* what came before it was taken */
    CU_ASSERT(answer(t, "{'a':2}"));
    park(t, "{'c':{'method':'n'}}");
    task_cancel(t); /* gives its room back */
    task *second = open_for("ana"), *u = look(task_id(second), "ana");
    task_park(second, big, BYTES - 2000, read_json("{'a':{'method':'m'}}"));
    CU_ASSERT(state_is(u, "input_required"));
    task *third = open_for("ana"), *v = look(task_id(third), "ana");
    task_park(third, big, BYTES - 2000, read_json("{'a':{'method':'m'}}"));
    CU_ASSERT(state_is(v, "failed"));
    CU_ASSERT(strstr(json_text_of(member(v, "statusMessage")).at, "room") != NULL);
    task_release(t), task_release(u), task_release(v);
    free(text);
    free(big);
    stop();
}

/* ---- many threads ---- */

enum { WORKERS = 4, CLIENTS = 4, ROUNDS = 400, SLOTS = 32 };
static char slots[SLOTS][40]; /* ids that clients know of */
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int left, broken;

static unsigned dice(unsigned *seed) {
    return (*seed = *seed * 1664525u + 1013904223u) >> 16;
}
static void publish(const task *t, unsigned slot) {
    pthread_mutex_lock(&slots_lock);
    snprintf(slots[slot], sizeof *slots, "%s", task_id(t));
    pthread_mutex_unlock(&slots_lock);
}
static void finish_run(task *t, unsigned *seed, const json_value *question) {
    cancel_token token;
    cancel_init(&token);
    task_run(t, &token);
    task_say(t, "under way");
    unsigned what = dice(seed) % 4;
    if (what == 0)
        task_park(t, "{}", 2, question);
    else if (cancel_raised(&token) || what == 1)
        task_settle(t, TASK_CANCELLED, NULL, 0, NULL);
    else
        task_settle(t, what == 2 ? TASK_COMPLETED : TASK_FAILED, strdup("{}"), 2, "over");
    cancel_destroy(&token);
}

static void *work(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    arena own;
    arena_init(&own, 0);
    const json_value *question = json_read_copy(&own, "{\"k\":{\"method\":\"m\"}}", 20, NULL, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        lastro_error err;
        task *t = tasks_open(store, "ana", "begun", &err);
        while (!t) { /* as many wait as there is room for */
            nap(1);
            t = tasks_open(store, "ana", "begun", &err);
        }
        publish(t, dice(&seed) % SLOTS);
        finish_run(t, &seed, question);
    }
    arena_free(&own);
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void *ask(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    arena own;
    arena_init(&own, 0);
    const json_value *question = json_read_copy(&own, "{\"k2\":{\"method\":\"m\"}}", 21, NULL, NULL),
                     *answers = json_read_copy(&own, "{\"k\":1,\"k2\":2,\"k3\":3}", 22, NULL, NULL);
    while (atomic_load(&left)) {
        char id[40];
        bool run;
        lastro_error err;
        pthread_mutex_lock(&slots_lock);
        snprintf(id, sizeof id, "%s", slots[dice(&seed) % SLOTS]);
        pthread_mutex_unlock(&slots_lock);
        task *t = look(id, "ana");
        if (!t)
            continue;
        json_writer w;
        json_writer_init(&w, 0);
        json_begin_object(&w);
        task_write(t, &w, TASK_FETCHED);
        json_end_object(&w);
        atomic_fetch_add(&broken, !json_writer_finish(&w));
        json_writer_free(&w);
        if (dice(&seed) % 3 == 0)
            task_cancel(t);
        else if (task_answer(t, answers, &run, &err) == LASTRO_OK && run)
            finish_run(t, &seed, question);
        task_release(t);
    }
    arena_free(&own);
    return NULL;
}

static void test_tasks__runs_and_clients_meet_without_harm(void) {
    pthread_t threads[WORKERS + CLIENTS];
    start_with((tasks_config){.most = 64, .bytes = 200000, .life_ms = 40, .keep_ms = 20, .poll_ms = 1});
    memset(slots, 0, sizeof slots);
    left = WORKERS;
    for (uintptr_t i = 0; i < WORKERS + CLIENTS; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, i < WORKERS ? work : ask, (void *)(i + 1)) == 0);
    for (int i = 0; i < WORKERS + CLIENTS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(broken, 0); /* answers that are no JSON */
    CU_ASSERT(changes >= WORKERS * ROUNDS);
    stop(); /* what leaked, the sanitizer tells */
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_tasks__a_task_shows_its_state_and_in_the_end_its_outcome),
        UNIT_TEST(test_tasks__an_id_is_of_no_use_to_others),
        UNIT_TEST(test_tasks__what_is_said_may_be_long_or_broken),
        UNIT_TEST(test_tasks__open_questions_are_shown_until_each_is_answered),
        UNIT_TEST(test_tasks__a_key_names_one_question_for_as_long_as_the_task_lives),
        UNIT_TEST(test_tasks__cancelling_asks_the_run_and_its_end_decides),
        UNIT_TEST(test_tasks__a_task_that_waits_for_answers_is_cancelled_at_once),
        UNIT_TEST(test_tasks__time_ends_what_waits_and_stops_what_runs),
        UNIT_TEST(test_tasks__who_looks_at_a_task_can_go_on_when_it_is_gone),
        UNIT_TEST(test_tasks__finished_tasks_make_room_the_seen_ones_first),
        UNIT_TEST(test_tasks__bytes_are_bounded_as_well),
        UNIT_TEST(test_tasks__there_may_be_no_room_to_wait_or_to_answer),
        UNIT_TEST(test_tasks__runs_and_clients_meet_without_harm),
    };
    return UNIT_RUN("tasks", tests);
}
