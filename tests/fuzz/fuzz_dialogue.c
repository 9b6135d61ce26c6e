/* SPDX-License-Identifier: MIT */
/* Whole dialogues: two clients of different principals say one line after the other, in both eras, and what a client can
 * only have from the server it can say too. After each line the server comes to rest before the next, so that a dialogue
 * always goes the same way.
 *
 *   @…       the second client says it
 *   !e !l    that client's subscriptions end with their result; its line was too long to be kept
 *   $ask     id of the last question that is open        $state   the last requestState
 *   $task    the last task                               $cursor  the last nextCursor
 *   $claim   "_meta":{…} of a modern client that can everything
 *
 * Whatever is said: each message that goes out is well formed, no request is answered twice or to another client, none is
 * forgotten, nothing hangs, and nothing is left. */
#include "tests/unit/test_core_host.h"

#include "mcp_internal.h"
#include "rpc.h"
#include "target.h"

#include <sched.h>

enum { LINES_MOST = 40, LINE_MOST = 64 << 10, IDS_MOST = 2048, ASKS_MOST = 64, TASKS_MOST = 64, REST_MS = 20000 };

/* ---- the plugin: tools of which it is known when they wait ---- */

static lastro_status hold(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args, (void)out;
    while (!lastro->cancelled(call))
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return lastro_fail(err, LASTRO_ECANCELLED, "stopped");
}

/* Two questions, one after the other, of which the second depends on the first. */
static lastro_status twice(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    lastro_writer *scratch = lastro->scratch(call);
    (void)self, (void)args;
    lastro_status s = inner_question(call, "first", "elicitation/create", (lastro_text){"Who?", 4}, scratch, err);
    return s ? s : inner_question(call, "second", "elicitation/create", (lastro_text){"And where?", 10}, out, err);
}

static lastro_status job(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    if (lastro->task)
        lastro->task(call, "working");
    if (lastro_get_bool(args, "fail", false))
        return lastro_fail(err, LASTRO_EPARAMS, "failed");
    if (lastro_get_bool(args, "hold", false))
        return hold(self, call, args, out, err);
    if (lastro_get_bool(args, "ask", false))
        return twice(self, call, args, out, err);
    lastro->begin_object(out);
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status change(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)err;
    char *uri = lastro_copy(call, lastro_get_text(args, "uri", "inner://one"));
    if (lastro->changed)
        lastro->changed((int32_t)lastro_get_int(args, "what", 0), uri);
    lastro->begin_object(out);
    lastro->end_object(out);
    return LASTRO_OK;
}

static lastro_status need(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)args;
    lastro_status s = lastro->need_client(call, "sampling", NULL, err);
    if (s)
        return s;
    lastro->begin_object(out);
    lastro->end_object(out);
    return LASTRO_OK;
}

#define FLAG(name) "\"" name "\":{\"type\":\"boolean\"}"
#define JOB_INPUT INNER_OBJECT(",\"properties\":{" FLAG("fail") "," FLAG("hold") "," FLAG("ask") "}")
static const lastro_tool tools[] = {
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_echo, .contract = INNER_TOOL("echo", INNER_TEXT, INNER_OUT(INNER_TEXT))},
    {.size = sizeof(lastro_tool), .run = hold, .contract = INNER_TOOL("hold", INNER_NONE, INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = twice, .contract = INNER_TOOL("twice", INNER_NONE, INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = inner_talk, .contract = INNER_TOOL("talk", INNER_NONE, )},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_TASK, .run = job, .contract = INNER_TOOL("job", JOB_INPUT, INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_TASK_ONLY, .run = job, .contract = INNER_TOOL("only", JOB_INPUT, INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = inner_ask,
     .contract = INNER_TOOL("ask", INNER_OBJECT(",\"properties\":{\"method\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .run = inner_fail,
     .contract = INNER_TOOL("fail", INNER_OBJECT(",\"properties\":{\"status\":{\"type\":\"integer\"},\"text\":{}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = change,
     .contract = INNER_TOOL("change", INNER_OBJECT(",\"properties\":{\"what\":{\"type\":\"integer\"},\"uri\":{\"type\":\"string\"}}"), INNER_ANY)},
    {.size = sizeof(lastro_tool), .run = need, .contract = INNER_TOOL("need", INNER_NONE, INNER_ANY)},
    {.size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK | LASTRO_TOOL_PROVENANCE, .run = inner_origin,
     .contract = INNER_TOOL("origin", INNER_NONE, INNER_ANY)},
};

static lastro_status init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    lastro = host;
    *ret_self = NULL;
    for (size_t i = 0; !s && i < LASTRO_COUNT(tools); i++)
        s = lastro->add_tool(r, &tools[i], err);
    if (s || (s = lastro->add_prompt(r, &inner_prompts[0], err)) || (s = lastro->add_resource(r, &inner_one, err)) ||
        (s = lastro->add_template(r, &inner_item, err)))
        return s;
    return lastro->add_source(r, &inner_book, err);
}
static const lastro_plugin plugin_ = {LASTRO_PLUGIN_HEAD, .name = "dialogue", .version = "1.0.0", .init = init};

/* ---- what the dialogue has seen ---- */

typedef struct {
    const json_value *id;
    unsigned requests, answers; /* of that id */
} exchange;

typedef struct {
    client c; /* first */
    session *s;
    const char *principal;
    arena mem;          /* of what was said and heard */
    size_t read;        /* lines that were looked at */
    exchange exchanges[IDS_MOST];
    size_t exchange_count;
    int64_t asks[ASKS_MOST]; /* open questions */
    size_t ask_count;
    size_t unanswered;  /* single requests whose answer is due */
    bool cancelled;     /* it cancelled something, or what it said cannot be counted */
} speaker;

static struct {
    char state[4096], cursor[1024];
    struct {
        char id[64];
        speaker *of;
    } tasks[TASKS_MOST];
    size_t task_count;
} seen;

static exchange *exchange_of(speaker *p, const json_value *id) {
    for (size_t i = 0; i < p->exchange_count; i++)
        if (rpc_same_id(p->exchanges[i].id, id))
            return &p->exchanges[i];
    MUST(p->exchange_count < LASTRO_COUNT(p->exchanges));
    exchange *e = &p->exchanges[p->exchange_count++];
    *e = (exchange){.id = id};
    return e;
}

static void keep(char *to, size_t size, const json_value *v) {
    if (json_str(v) && strlen(json_str(v)) < size)
        snprintf(to, size, "%s", json_str(v));
}

static void keep_task(speaker *p, const json_value *id) {
    if (!json_str(id) || seen.task_count == TASKS_MOST)
        return;
    for (size_t i = 0; i < seen.task_count; i++)
        if (strcmp(seen.tasks[i].id, json_str(id)) == 0)
            return;
    keep(seen.tasks[seen.task_count].id, sizeof seen.tasks[0].id, id);
    seen.tasks[seen.task_count++].of = p;
}

static void drop_ask(speaker *p, const json_value *id) {
    int64_t number;
    if (!json_int64(id, &number))
        return;
    for (size_t i = 0; i < p->ask_count; i++)
        if (p->asks[i] == number) {
            p->asks[i] = p->asks[--p->ask_count];
            return;
        }
}

static void hear_answer(speaker *p, const rpc_message *m) {
    exchange *e = exchange_of(p, m->id);
    MUST(++e->answers <= e->requests); /* not twice, and to nobody else */
    if (p->unanswered)
        p->unanswered--;
    keep(seen.state, sizeof seen.state, json_member(m->result, "requestState"));
    keep(seen.cursor, sizeof seen.cursor, json_member(m->result, "nextCursor"));
    keep_task(p, json_member(m->result, "taskId"));
}

static void hear_request(speaker *p, const rpc_message *m) {
    MUST(strcmp(m->method, "elicitation/create") == 0 || strcmp(m->method, "roots/list") == 0 ||
         strcmp(m->method, "sampling/createMessage") == 0);
    MUST(p->ask_count < ASKS_MOST && json_int64(m->id, &p->asks[p->ask_count]));
    p->ask_count++;
}

static void hear(speaker *p, const json_value *v) {
    rpc_message m;
    int64_t code;
    const json_value *error = json_member(v, "error");
    rpc_read(v, &m);
    MUST(json_text_is(json_member(v, "jsonrpc"), "2.0"));
    if (error)
        MUST(json_int64(json_member(error, "code"), &code) && json_str(json_member(error, "message")));
    if (error && !json_member(v, "id"))
        return;
    MUST(m.kind == RPC_IS_RESPONSE || m.kind == RPC_IS_REQUEST || m.kind == RPC_IS_NOTIFICATION);
    if (m.kind == RPC_IS_RESPONSE)
        hear_answer(p, &m);
    else if (m.kind == RPC_IS_REQUEST)
        hear_request(p, &m);
    else if (strcmp(m.method, "notifications/cancelled") == 0)
        drop_ask(p, json_member(m.params, "requestId"));
}

static void hear_all(speaker *p) {
    for (;;) {
        pthread_mutex_lock(&p->c.lock);
        const char *line = p->read < p->c.count ? p->c.lines[p->read] : NULL;
        MUST(p->c.count < CLIENT_LINES);
        pthread_mutex_unlock(&p->c.lock);
        if (!line)
            return;
        p->read++;
        const json_value *v = json_read_copy(&p->mem, line, strlen(line), NULL, NULL);
        MUST(v && !strchr(line, '\n'));
        MUST(!json_is(v, JSON_ARRAY) || json_count(v));
        if (!json_is(v, JSON_ARRAY))
            hear(p, v);
        for (json_iter it = json_iterate(v); json_is(v, JSON_ARRAY) && json_next(&it);)
            hear(p, it.value);
    }
}

/* ---- rest ---- */

static bool holds(const lastro_call *c) {
    const json_value *holding = json_member(c->args, "hold");
    return c->tool && (strcmp(c->tool->name, "hold") == 0 || json_bool(holding));
}

/* Every call that runs waits for an answer or for its end, and all that was said has been heard. */
static bool rests(server *srv, speaker *both) {
    size_t waiting = 0, running = 0;
    bool ending = false;
    pthread_mutex_lock(&srv->lock);
    for (const lastro_call *c = srv->inflight; c; c = c->inflight_next[INFLIGHT_OF_SERVER]) {
        ending |= cancel_raised(c->cancel_of);
        waiting += holds(c);
    }
    running = srv->inflight_count;
    pthread_mutex_unlock(&srv->lock);
    for (int i = 0; i < 2; i++) {
        hear_all(&both[i]);
        waiting += both[i].ask_count;
    }
    return !ending && running <= waiting;
}

static void come_to_rest(server *srv, speaker *both) {
    int64_t until = clock_mono_ms() + REST_MS;
    for (unsigned n = 0; !rests(srv, both); n++) {
        MUST(clock_mono_ms() < until); /* something hangs */
        if (n < 100)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

/* ---- saying ---- */

static void count_request(speaker *p, const json_value *v, bool single, bool refused) {
    rpc_message m;
    rpc_read(v, &m);
    if (m.id)
        exchange_of(p, m.id)->requests++; /* what is no request is refused with its id, when it has one */
    if (m.kind == RPC_IS_REQUEST && single)
        p->unanswered++;
    if (m.kind == RPC_IS_RESPONSE && !refused)
        drop_ask(p, m.id);
    if (m.kind == RPC_IS_NOTIFICATION && strcmp(m.method, "notifications/cancelled") == 0)
        p->cancelled = true;
}

/* A batch that is refused whole, answers to our questions included. */
static bool is_refused(const speaker *p, const json_value *batch) {
    bool refused = p->s->rev != REV_2025_03_26 || !json_count(batch);
    for (json_iter it = json_iterate(batch); json_next(&it);)
        refused |= mcp_claim(json_member(it.value, "params")) || json_text_is(json_member(it.value, "method"), "initialize");
    return refused;
}

/* What is going to be said, as far as it can be read. */
static void count_requests(speaker *p, const char *line, size_t len) {
    json_limits limits = {.depth = 256, .last_wins = true};
    const json_value *v = json_read_copy(&p->mem, line, len, &limits, NULL);
    if (json_is(v, JSON_ARRAY))
        p->cancelled = true; /* an answer may be due for each, or one for all */
    if (json_is(v, JSON_ARRAY))
        for (json_iter it = json_iterate(v); json_next(&it);)
            count_request(p, it.value, false, is_refused(p, v));
    else if (v)
        count_request(p, v, true, false);
}

static const char claim[] =
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{"
    "\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}";

/* The line with what it takes from the server in its place. */
static size_t fill(const speaker *p, const char *text, size_t len, char *line) {
    char ask[24] = "0";
    const char *made = seen.task_count ? seen.tasks[seen.task_count - 1].id : "none";
    if (p->ask_count)
        snprintf(ask, sizeof ask, "%lld", (long long)p->asks[p->ask_count - 1]);
    const struct {
        const char *name, *value;
    } known[] = {{"$ask", ask}, {"$state", seen.state}, {"$cursor", seen.cursor}, {"$task", made}, {"$claim", claim}};
    size_t n = 0;
    for (size_t i = 0; i < len && n + 5000 < LINE_MOST;) {
        const char *value = NULL;
        for (size_t k = 0; k < LASTRO_COUNT(known) && !value; k++) {
            size_t size = strlen(known[k].name);
            if (len - i >= size && memcmp(text + i, known[k].name, size) == 0) {
                value = known[k].value;
                i += size;
            }
        }
        if (value) {
            memcpy(line + n, value, strlen(value));
            n += strlen(value);
        } else {
            line[n++] = text[i++];
        }
    }
    return n;
}

static void say(speaker *p, const char *text, size_t len) {
    if (len == 2 && text[0] == '!' && text[1] == 'e') {
        p->cancelled = true;
        mcp_end_listeners(p->s, true);
    } else if (len == 2 && text[0] == '!' && text[1] == 'l') {
        mcp_refuse_long(p->s, &p->c.base, 10);
    } else {
        static char filled[LINE_MOST];
        size_t n = fill(p, text, len, filled);
        char *line = malloc(n + 1); /* its own memory, so that a step beyond is seen */
        MUST(line);
        memcpy(line, filled, n);
        count_requests(p, line, n);
        mcp_receive(p->s, &p->c.base, line, n);
        free(line);
    }
}

/* ---- a dialogue ---- */

static void open_speaker(speaker *p, server *srv, const char *principal) {
    *p = (speaker){.principal = principal};
    client_open(&p->c);
    arena_init(&p->mem, 0);
    p->s = session_create(srv);
    MUST(p->s);
    p->s->principal = principal;
    p->s->aside = &p->c.base;
}

/* None was forgotten: what has no answer yet waits for one. */
static void check_unanswered(server *srv, const speaker *p) {
    if (!p->cancelled)
        MUST(p->unanswered <= srv->inflight_count + p->s->listener_count);
}

static void cancel_tasks(void) {
    char line[300];
    for (size_t i = 0; i < seen.task_count; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"end%zu\",\"method\":\"tasks/cancel\",\"params\":{\"taskId\":\"%s\",$claim}}",
                 i, seen.tasks[i].id);
        say(seen.tasks[i].of, line, strlen(line));
    }
}

static void close_speaker(speaker *p) {
    hear_all(p);
    MUST(!p->s->listeners && !p->s->asks);
    session_destroy(p->s);
    MUST(p->c.held == 0);
    arena_free(&p->mem);
    client_close(&p->c);
}

static void run(server *srv, const char *text, size_t len) {
    static speaker both[2];
    memset(&seen, 0, sizeof seen);
    open_speaker(&both[0], srv, NULL);
    open_speaker(&both[1], srv, "other");
    const char *end = text + len;
    for (int n = 0; n < LINES_MOST && text < end; n++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            stop = end;
        bool second = *text == '@';
        say(&both[second], text + second, (size_t)(stop - text) - second);
        come_to_rest(srv, both);
        text = stop + 1;
    }
    for (int i = 0; i < 2; i++)
        check_unanswered(srv, &both[i]);
    server_cancel_all(srv);
    cancel_tasks();
    MUST(server_wait_idle(srv, REST_MS));
    for (int i = 0; i < 2; i++)
        mcp_end_listeners(both[i].s, len % 2);
    MUST(!srv->inflight);
    for (int i = 0; i < 2; i++)
        close_speaker(&both[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static server *srv; /* one for all inputs, as in the program; what an input left behind must not show in the next */
    if (!srv) {
        setenv("LASTRO_CLOCK", "2026-08-21T10:00:00-03:00", 1);
        MUST(clock_init());
        srv = core_server_with(&plugin_, NULL, "{\"callMs\":600000,\"workers\":16,\"resultBytes\":200000,\"pageItems\":3}");
        MUST(srv);
        memset(&srv->seal, 's', sizeof srv->seal); /* the same signatures each time */
    }
    run(srv, (const char *)data, size);
    return 0;
}
