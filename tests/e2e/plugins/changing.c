/* SPDX-License-Identifier: MIT */
/* changing.c -- a plugin whose things change by themselves: a thread of its own says so, whatever calls run. It ends
 * when the plugin does. */
#include <lastro/lastro.h>
#include <pthread.h>
#include <time.h>

enum { JOBS = 64 };

typedef struct {
    int32_t what;
    char uri[200];
    int64_t times, every_ms;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    job jobs[JOBS];
    size_t count;
    bool ending;
    int64_t changes;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static const char *const names[] = {"tools", "prompts", "resources", "resource"};

static void change(const job *j) {
    pthread_mutex_lock(&state.lock);
    state.changes++;
    pthread_mutex_unlock(&state.lock);
    lastro->changed(j->what, j->what == LASTRO_CHANGED_RESOURCE ? j->uri : NULL);
}

static void run_job(const job *j) {
    struct timespec pause = {.tv_sec = (time_t)(j->every_ms / 1000), .tv_nsec = (long)(j->every_ms % 1000) * 1000000};
    for (int64_t i = 0; i < j->times && !__atomic_load_n(&state.ending, __ATOMIC_ACQUIRE); i++) {
        change(j);
        if (j->every_ms)
            nanosleep(&pause, NULL);
    }
}

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&state.lock);
    while (!state.ending) {
        if (!state.count) {
            pthread_cond_wait(&state.wake, &state.lock);
            continue;
        }
        job j = state.jobs[0];
        memmove(state.jobs, state.jobs + 1, --state.count * sizeof *state.jobs);
        pthread_mutex_unlock(&state.lock);
        run_job(&j);
        pthread_mutex_lock(&state.lock);
    }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

static lastro_status set_off(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    job j = {.times = lastro_get_int(args, "times", 1), .every_ms = lastro_get_int(args, "every_ms", 0)};
    lastro_text what = lastro_get_text(args, "what", "tools"), uri = lastro_get_text(args, "uri", "changing://counter");
    (void)self, (void)out;
    for (size_t i = 0; i < LASTRO_COUNT(names); i++)
        if (lastro_text_is(what, names[i]))
            j.what = (int32_t)i;
    snprintf(j.uri, sizeof j.uri, "%.*s", (int)uri.len, uri.at);
    pthread_mutex_lock(&state.lock);
    bool room = state.count < JOBS;
    if (room)
        state.jobs[state.count++] = j;
    pthread_cond_signal(&state.wake);
    pthread_mutex_unlock(&state.lock);
    if (!room)
        return lastro_fail(err, LASTRO_ELIMIT, "%d changes are waiting already", (int)JOBS);
    lastro_content_text(call, "It will change.");
    return LASTRO_OK;
}

static const lastro_tool tool = {
    .size = sizeof tool, .flags = LASTRO_TOOL_QUICK, .run = set_off,
    .contract = "{\"name\":\"set_off\",\"description\":\"Lets something change, later and elsewhere.\",\"inputSchema\":{\"type\":\"object\","
                "\"additionalProperties\":false,\"properties\":{\"what\":{\"enum\":[\"tools\",\"prompts\",\"resources\",\"resource\"]},"
                "\"uri\":{\"type\":\"string\",\"maxLength\":199},\"times\":{\"type\":\"integer\",\"minimum\":1},"
                "\"every_ms\":{\"type\":\"integer\",\"minimum\":0}}}}"};

static lastro_status read_counter(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    pthread_mutex_lock(&state.lock);
    long long n = state.changes;
    pthread_mutex_unlock(&state.lock);
    char *text = lastro_format(call, "%lld", n);
    (void)self;
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){text, strlen(text)});
    return LASTRO_OK;
}
static const lastro_resource counter = {.size = sizeof counter, .uri = "changing://counter", .name = "counter",
                                        .description = "How often something changed.", .mime_type = "text/plain", .read = read_counter};
static const lastro_resource item = {.size = sizeof item, .uri = "changing://item/{id}", .name = "item", .read = read_counter};

static lastro_status get_prompt(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages, lastro_error *err) {
    (void)self, (void)call, (void)arguments, (void)err;
    lastro_message_text(messages, "user", "What changed?");
    return LASTRO_OK;
}
static const lastro_prompt prompt = {.size = sizeof prompt, .name = "what_changed", .description = "Asks what changed.", .get = get_prompt};

static lastro_status start(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s;
    (void)host;
    *ret_self = &state;
    for (int32_t what = LASTRO_CHANGED_TOOLS; what <= LASTRO_CHANGED_RESOURCE; what++)
        lastro->changed(what, "changing://counter"); /* there is nobody yet who could be told */
    if ((s = lastro->add_tool(r, &tool, err)) || (s = lastro->add_resource(r, &counter, err)) ||
        (s = lastro->add_template(r, &item, err)) || (s = lastro->add_prompt(r, &prompt, err)))
        return s;
    return pthread_create(&state.thread, NULL, work, NULL) ? lastro_fail(err, LASTRO_EINTERNAL, "no thread") : LASTRO_OK;
}

static void stop(void *self) {
    (void)self;
    pthread_mutex_lock(&state.lock);
    __atomic_store_n(&state.ending, true, __ATOMIC_RELEASE);
    pthread_cond_signal(&state.wake);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.thread, NULL);
}

static const lastro_plugin changing = {LASTRO_PLUGIN_HEAD, .name = "changing", .version = "1.0.0", .init = start, .shutdown = stop};
LASTRO_PLUGIN(changing)
