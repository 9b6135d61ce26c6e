/* SPDX-License-Identifier: MIT */
/* The tools with which the protocol tests provoke the host: slow, large, noisy and wrong answers. */
#include <lastro/lastro.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int calls;   /* of fx_echo */
static atomic_int begun;   /* fx_slow calls that run or ran */
static atomic_int stopped; /* those that saw their cancellation */

#define OBJECT(members) "{\"type\":\"object\",\"additionalProperties\":false," members "}"
#define NO_INPUT "{\"type\":\"object\",\"additionalProperties\":false}"

#define TOOL(name, text, input, output) \
    "{\"name\":\"" name "\",\"title\":\"Fixture " name "\",\"description\":\"" text "\",\"annotations\":{\"readOnlyHint\":true}," \
    "\"inputSchema\":" input ",\"outputSchema\":" output "}"

static lastro_status echo(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)err;
    atomic_fetch_add(&calls, 1);
    lastro->begin_object(out);
    lastro_put_string(out, "text", lastro_get_text(args, "text", ""));
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status slow(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self;
    int64_t ms = lastro_get_int(args, "ms", 0), waited = 0;
    atomic_fetch_add(&begun, 1);
    for (; waited < ms; waited += 5) {
        if (lastro->cancelled(call)) {
            atomic_fetch_add(&stopped, 1);
            return lastro_fail(err, LASTRO_ECANCELLED, "cancelled after %lld ms", (long long)waited);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    lastro->begin_object(out);
    lastro_put_int(out, "waited", waited);
    lastro->end_object(out);
    return LASTRO_OK;
}

/* Sleeps through everything, cancellation too. */
static lastro_status deaf(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)err;
    int64_t ms = lastro_get_int(args, "ms", 0);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
    lastro->begin_object(out);
    lastro_put_int(out, "waited", ms);
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status count(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)err;
    lastro->begin_object(out);
    lastro_put_int(out, "echo", atomic_load(&calls));
    lastro_put_int(out, "begun", atomic_load(&begun));
    lastro_put_int(out, "stopped", atomic_load(&stopped));
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status big(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self;
    size_t n = (size_t)lastro_get_int(args, "bytes", 0);
    char *text = lastro->alloc(call, n + 1);
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "%zu bytes are not to be had", n);
    memset(text, 'x', n);
    lastro->begin_object(out);
    lastro_put_string(out, "text", (lastro_text){text, n});
    lastro->end_object(out);
    return LASTRO_OK;
}

static void *print_in_thread(void *unused) {
    (void)unused;
    printf("fixture: printf in a thread\n");
    fflush(stdout);
    return NULL;
}

static void shout(const char *where) {
    printf("fixture: printf in %s\n", where);
    fflush(stdout);
    static const char raw[] = "fixture: write to descriptor 1\n";
    if (write(STDOUT_FILENO, raw, sizeof raw - 1) < 0)
        return;
    printf("fixture: left in the buffer, without a newline");
}

static lastro_status print(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)err;
    shout("a call");
    pthread_t thread;
    if (pthread_create(&thread, NULL, print_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    lastro->begin_object(out);
    lastro_put_text(out, "text", "printed");
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status bad_output(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)err;
    lastro->begin_object(out);
    lastro_put_int(out, "text", 5);
    lastro->end_object(out);
    return LASTRO_OK;
}


/* Half a result, then a failure: none of it may go out. */
static lastro_status fail_call(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args;
    lastro->begin_object(out); /* half a result, then a failure */
    lastro_put_text(out, "text", "half");
    return lastro_fail(err, LASTRO_ENOTFOUND, "nothing is there under that name");
}

#define TEXT_OUTPUT OBJECT("\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}")
#define WAIT_INPUT OBJECT("\"required\":[\"ms\"],\"properties\":{\"ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":60000}}")
#define WAIT_OUTPUT OBJECT("\"required\":[\"waited\"],\"properties\":{\"waited\":{\"type\":\"integer\"}}")

static const lastro_tool tools[] = {
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = echo,
     .contract = TOOL("fx_echo", "Gives the text back.",
                      OBJECT("\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":2000000},"
                             "\"n\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}}"), TEXT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = slow, .contract = TOOL("fx_slow", "Waits, and can be cancelled.", WAIT_INPUT, WAIT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = deaf, .contract = TOOL("fx_deaf", "Waits and cannot be cancelled.", WAIT_INPUT, WAIT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = count,
     .contract = TOOL("fx_count", "How many calls of fx_echo ran, how many of fx_slow began and were stopped.", NO_INPUT,
                      OBJECT("\"required\":[\"echo\",\"begun\",\"stopped\"],\"properties\":{\"echo\":{\"type\":\"integer\"},"
                             "\"begun\":{\"type\":\"integer\"},\"stopped\":{\"type\":\"integer\"}}"))},
    {.size = sizeof(lastro_tool), .run = big,
     .contract = TOOL("fx_big", "An answer of so many bytes.",
                      OBJECT("\"required\":[\"bytes\"],\"properties\":{\"bytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000000}}"), TEXT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = print, .contract = TOOL("fx_print", "Prints to standard output.", NO_INPUT, TEXT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = bad_output, .contract = TOOL("fx_bad_output", "Breaks its own outputSchema.", NO_INPUT, TEXT_OUTPUT)},
    {.size = sizeof(lastro_tool), .run = fail_call, .contract = TOOL("fx_fail", "Fails with half a result written.", NO_INPUT, TEXT_OUTPUT)},
};

static lastro_status init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro = host;
    *ret_self = NULL;
    const lastro_value *config = lastro->config(r);
    if (config && lastro_get_bool(config, "print", false))
        shout("init");
    for (size_t i = 0; i < LASTRO_COUNT(tools); i++) {
        lastro_status s = lastro->add_tool(r, &tools[i], err);
        if (s)
            return s;
    }
    return LASTRO_OK;
}

static const lastro_plugin fixture = {LASTRO_PLUGIN_HEAD, .name = "fixture", .version = "1.0.0",
                                      .description = "Tools for the protocol tests", .init = init};
LASTRO_PLUGIN(fixture)
