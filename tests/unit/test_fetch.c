/* SPDX-License-Identifier: MIT */
/* The rules of core/fetch.h, against a transport that plays scripts: outcomes, attempts, waits, sharing,
 * fairness. */
#include "cache.h"
#include "clock.h"
#include "fetch.h"
#include "unit.h"

#include <lastro/abi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
enum { SOON_MS = SANITIZED ? 500 : 100 };

/* ---- the transport: each address has its script, the last step of which repeats ---- */

typedef struct {
    int delay_ms;
    http_end end;
    unsigned status;
    const char *body;
    int64_t retry_after_ms; /* 0: none */
} step;

#define JSON_OK(delay)                                                                                       \
    { delay, HTTP_DONE, 200, "[{\"data\":\"01/01/2026\",\"valor\":\"1.5\"}]", 0 }
#define HTML(delay)                                                                                          \
    { delay, HTTP_DONE, 200, "<!DOCTYPE html><html>busy</html>", 0 }

typedef struct {
    const char *path; /* end of the address */
    step steps[6];
    int used;
} script;

struct http_exchange {
    http_exchange *next;
    http_request request;
    char *url;
    step step;
    int64_t due_ms;
    bool cancelled;
    int part;
};

enum { STARTS_MAX = 256, PARTS = 4 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool closing, opened;
    http_exchange *pending;
    script *scripts;
    size_t script_count;
    int starts, cancelled, in_air, in_air_max, loads;
    int64_t start_ms[STARTS_MAX];
    uint32_t timeout_ms[STARTS_MAX];
    int start_part[STARTS_MAX], start_in_air[STARTS_MAX]; /* of that part, itself included */
    int part_in_air[PARTS];
    char last_url[300];
    char start_trace[STARTS_MAX][64]; /* "": none */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void play(http_exchange *x, bool cancelled) {
    http_result r = {.end = cancelled ? HTTP_CANCELLED : x->step.end,
                     .content_type = "",
                     .error = "",
                     .retry_after_ms = x->step.retry_after_ms ? x->step.retry_after_ms : -1};
    if (r.end == HTTP_DONE && (uint32_t)x->step.delay_ms > x->request.timeout_ms)
        r.end = HTTP_TIMEOUT;
    if (r.end == HTTP_DONE) {
        r.status = x->step.status;
        r.body = strdup(x->step.body);
        r.body_len = strlen(x->step.body);
        r.content_type = *x->step.body == '<' ? "text/html" : "application/json";
    } else {
        r.error = r.end == HTTP_TIMEOUT ? "timed out" : "connection refused";
    }
    x->request.done(x->request.arg, &r);
    free(r.body);
    free(x->url);
    free(x);
}

/* Under the lock: the one that is due, or NULL and how long until the next. */
static http_exchange *take_due(int64_t now, int64_t *ret_next) {
    *ret_next = now + 1000;
    for (http_exchange **at = &fake.pending; *at; at = &(*at)->next) {
        http_exchange *x = *at;
        if (x->cancelled || fake.closing || x->due_ms <= now) {
            *at = x->next;
            fake.in_air--;
            fake.part_in_air[x->part]--;
            x->cancelled |= fake.closing;
            fake.cancelled += x->cancelled;
            return x;
        }
        *ret_next = x->due_ms < *ret_next ? x->due_ms : *ret_next;
    }
    return NULL;
}

static void *fake_thread(void *arg) {
    (void)arg;
    pthread_mutex_lock(&fake.lock);
    for (;;) {
        int64_t next;
        http_exchange *x = take_due(clock_mono_ms(), &next);
        if (x) {
            bool cancelled = x->cancelled; /* late cancellations still come until done was called */
            pthread_mutex_unlock(&fake.lock);
            play(x, cancelled);
            pthread_mutex_lock(&fake.lock);
            continue;
        }
        if (fake.closing)
            break;
        struct timespec until = {next / 1000, next % 1000 * 1000000};
        pthread_cond_timedwait(&fake.changed, &fake.lock, &until);
    }
    pthread_mutex_unlock(&fake.lock);
    return NULL;
}

static void *fake_open(const char *user_agent) {
    CU_ASSERT_STRING_EQUAL(user_agent, "lastro-test/1");
    fake.closing = false;
    fake.opened = true;
    pthread_create(&fake.thread, NULL, fake_thread, NULL);
    return &fake;
}

static void fake_close(void *t) {
    (void)t;
    pthread_mutex_lock(&fake.lock);
    fake.closing = true;
    pthread_cond_signal(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
    pthread_join(fake.thread, NULL);
}

static step step_for(const char *url) {
    for (size_t i = 0; i < fake.script_count; i++) {
        script *s = &fake.scripts[i];
        size_t url_len = strlen(url), len = strlen(s->path);
        if (url_len >= len && !strcmp(url + url_len - len, s->path)) {
            step now = s->steps[s->used];
            bool more = s->used + 1 < 6 && s->steps[s->used + 1].body;
            s->used += more;
            return now;
        }
    }
    return (step)JSON_OK(strstr(url, "/part") ? 20 : 5);
}

static http_exchange *fake_start(void *t, const http_request *request) {
    (void)t;
    http_exchange *x = calloc(1, sizeof *x);
    x->request = *request;
    x->url = strdup(request->url);
    const char *part = strstr(x->url, "/part");
    x->part = part ? part[5] - '0' : 0;
    pthread_mutex_lock(&fake.lock);
    x->step = step_for(x->url);
    int64_t delay = x->step.delay_ms;
    x->due_ms = clock_mono_ms() + (delay < request->timeout_ms ? delay : request->timeout_ms);
    x->next = fake.pending;
    fake.pending = x;
    fake.in_air++;
    fake.part_in_air[x->part]++;
    fake.in_air_max = fake.in_air > fake.in_air_max ? fake.in_air : fake.in_air_max;
    if (fake.starts < STARTS_MAX) {
        fake.start_ms[fake.starts] = clock_mono_ms();
        fake.timeout_ms[fake.starts] = request->timeout_ms;
        snprintf(fake.start_trace[fake.starts], sizeof *fake.start_trace, "%s", request->traceparent ? request->traceparent : "");
        fake.start_part[fake.starts] = x->part;
        fake.start_in_air[fake.starts] = fake.part_in_air[x->part];
    }
    fake.starts++;
    snprintf(fake.last_url, sizeof fake.last_url, "%s", x->url);
    pthread_cond_signal(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
    return x;
}

static void fake_cancel(void *t, http_exchange *x) {
    (void)t;
    pthread_mutex_lock(&fake.lock);
    x->cancelled = true;
    pthread_cond_signal(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

static const http_transport *fake_transport(void *arg, lastro_error *err) {
    static const http_transport table = {HTTP_TRANSPORT_VERSION, fake_open, fake_close, fake_start,
                                         fake_cancel};
    fake.loads++;
    if (!arg)
        return &table;
    snprintf(err->text, sizeof err->text, "modules/fetch.so is missing");
    return NULL;
}

static int fake_starts(void) {
    pthread_mutex_lock(&fake.lock);
    int n = fake.starts;
    pthread_mutex_unlock(&fake.lock);
    return n;
}

/* ---- the source ---- */

static int32_t classify(void *self, const lastro_attempt *a, char *reason, size_t size) {
    (void)self;
    if (a->http_status == 404)
        return LASTRO_BODY_NOT_FOUND;
    if (a->http_status == 429)
        return LASTRO_BODY_LIMITED;
    if (a->http_status >= 500)
        return LASTRO_BODY_RETRY;
    if (a->http_status >= 400)
        return LASTRO_BODY_REFUSED;
    if (a->body.len && (a->body.at[0] == '[' || a->body.at[0] == '{'))
        return LASTRO_BODY_OK;
    snprintf(reason, size, "an HTML page instead of data");
    return LASTRO_BODY_SUSPECT;
}

#define CLASS(...)                                                                                           \
    { .size = sizeof(lastro_request_class), __VA_ARGS__ }
static const lastro_request_class quick = CLASS(.name = "quick", .attempt_ms = 1000, .attempts = 3,
                                                .budget_ms = 5000, .wait_ms = 4, .wait_max_ms = 16);
static const lastro_request_class hasty = CLASS(.name = "hasty", .attempt_ms = 30, .attempts = 3,
                                                .budget_ms = 5000, .wait_ms = 2, .wait_max_ms = 4);
static const lastro_request_class broke = CLASS(.name = "broke", .attempt_ms = 40, .attempts = 100,
                                                .budget_ms = 100, .wait_ms = 1, .wait_max_ms = 2);
static const lastro_request_class cut =
    CLASS(.name = "cut", .attempt_ms = 5000, .attempts = 3, .budget_ms = 60, .wait_ms = 1, .wait_max_ms = 2);
static const lastro_request_class stubborn = CLASS(.name = "stubborn", .attempt_ms = 1000, .attempts = 5,
                                                   .budget_ms = 20000, .wait_ms = 20, .wait_max_ms = 80);
static const lastro_request_class sleepy = CLASS(.name = "sleepy", .attempt_ms = 1000, .attempts = 3,
                                                 .budget_ms = 60000, .wait_ms = 9000, .wait_max_ms = 9000);
static const lastro_request_class *const classes[] = {&quick, &hasty, &broke, &cut, &stubborn, &sleepy, NULL};
static const lastro_source source = {.size = sizeof source,
                                     .name = "sgs",
                                     .base_url = "https://api.example.org",
                                     .parallel = 4,
                                     .body_max = 1000,
                                     .classes = classes,
                                     .classify = classify};
static const fetch_source plain = {.source = &source};

/* ---- a call ---- */

enum { PINS = 64 };

typedef struct {
    arena memory;
    cancel_token cancel;
    fetch_context ctx;
    void (*release[PINS])(void *);
    void *pinned[PINS];
    size_t pin_count;
    fetch_access accesses[PINS];
    uint32_t access_count;
    char log[4000];
} call;

static uint32_t record(void *arg, const fetch_access *access) {
    call *c = arg;
    c->accesses[c->access_count++ % PINS] = *access;
    return c->access_count;
}

static void pin(void *arg, void (*release)(void *), void *pinned) {
    call *c = arg;
    CU_ASSERT_FATAL(c->pin_count < PINS);
    c->release[c->pin_count] = release;
    c->pinned[c->pin_count++] = pinned;
}

static void log_line(void *arg, int32_t level, const char *text) {
    call *c = arg;
    size_t at = strlen(c->log);
    snprintf(c->log + at, sizeof c->log - at, "%d %s\n", (int)level, text);
}

static void call_init(call *c) {
    memset(c, 0, sizeof *c);
    arena_init(&c->memory, 0);
    cancel_init(&c->cancel);
    c->ctx = (fetch_context){
        .arena = &c->memory, .cancel = &c->cancel, .record = record, .pin = pin, .log = log_line, .arg = c};
}

static void call_end(call *c) {
    for (size_t i = 0; i < c->pin_count; i++)
        c->release[i](c->pinned[i]);
    arena_free(&c->memory);
    cancel_destroy(&c->cancel);
}

static fetch_engine *engine;

static void setup(script *scripts, size_t count) {
    fake.scripts = scripts;
    fake.script_count = count;
    fake.starts = fake.cancelled = fake.in_air = fake.in_air_max = fake.loads = 0;
    fake.opened = false;
    memset(fake.part_in_air, 0, sizeof fake.part_in_air);
    fetch_config config = {
        .cache_bytes = 1 << 20, .user_agent = "lastro-test/1", .transport = fake_transport, .seed = 42};
    engine = fetch_create(&config);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
}

static void teardown(void) {
    fetch_destroy(engine);
    engine = NULL;
}

#define REQUEST(...)                                                                                         \
    (lastro_request) {                                                                                       \
        .size = sizeof(lastro_request), .source = "sgs", __VA_ARGS__                                         \
    }

static lastro_response get(call *c, lastro_request request) {
    const fetch_source *sources[] = {&plain};
    lastro_response r = {.size = sizeof r};
    fetch_run(engine, &c->ctx, sources, &request, 1, &r);
    return r;
}

static uint32_t anomaly_sum(const lastro_response *r) {
    uint32_t sum = 0;
    for (int i = 0; i < LASTRO_ANOMALY_COUNT; i++)
        sum += r->anomalies[i];
    return sum;
}

static fetch_stats stats(void) {
    fetch_stats s;
    fetch_get_stats(engine, &s);
    return s;
}

/* ---- outcomes ---- */

static void outcome__each_of_them(void) {
    script scripts[] = {
        {"/ok", {JSON_OK(1)}, 0},
        {"/404", {{1, HTTP_DONE, 404, "{\"e\":1}", 0}}, 0},
        {"/406", {{1, HTTP_DONE, 406, "{\"error\":\"10 anos\"}", 0}}, 0},
        {"/slow", {JSON_OK(500)}, 0},
        {"/down", {{1, HTTP_NETWORK, 0, "", 0}}, 0},
        {"/429", {{1, HTTP_DONE, 429, "{}", 0}}, 0},
        {"/502", {{1, HTTP_DONE, 502, "bad gateway", 0}}, 0},
        {"/html", {HTML(1)}, 0},
        {"/big", {{1, HTTP_TOO_LARGE, 0, "", 0}}, 0},
        {"/badurl", {{1, HTTP_BAD_URL, 0, "", 0}}, 0},
    };
    static const struct {
        const char *target, *class_name;
        int32_t outcome, anomaly;
        uint32_t attempts, anomalies;
        lastro_status status;
    } cases[] = {
        {"/ok", "quick", LASTRO_FETCH_OK, 0, 1, 0, LASTRO_OK},
        {"/404", "quick", LASTRO_FETCH_NOT_FOUND, 0, 1, 0, LASTRO_ENOTFOUND},
        {"/406", "quick", LASTRO_FETCH_REFUSED, LASTRO_ANOMALY_4XX, 1, 1, LASTRO_EUPSTREAM},
        {"/slow", "hasty", LASTRO_FETCH_TIMEOUT, LASTRO_ANOMALY_TIMEOUT, 3, 3, LASTRO_EUPSTREAM},
        {"/down", "quick", LASTRO_FETCH_NETWORK, LASTRO_ANOMALY_NETWORK, 3, 3, LASTRO_EUPSTREAM},
        {"/429", "quick", LASTRO_FETCH_LIMITED, LASTRO_ANOMALY_LIMITED, 3, 3, LASTRO_EUPSTREAM},
        {"/502", "quick", LASTRO_FETCH_SERVER, LASTRO_ANOMALY_5XX, 3, 3, LASTRO_EUPSTREAM},
        {"/html", "quick", LASTRO_FETCH_MALFORMED, LASTRO_ANOMALY_BODY, 3, 3, LASTRO_EUPSTREAM},
        {"/big", "quick", LASTRO_FETCH_TOO_LARGE, LASTRO_ANOMALY_BODY, 1, 1, LASTRO_ELIMIT},
        {"/badurl", "quick", LASTRO_FETCH_UNSUPPORTED, 0, 1, 0, LASTRO_EINTERNAL},
        {"/ok", "nosuch", LASTRO_FETCH_UNSUPPORTED, 0, 0, 0, LASTRO_EINTERNAL},
        {"no-slash", "quick", LASTRO_FETCH_UNSUPPORTED, 0, 0, 0, LASTRO_EINTERNAL},
        {"/not encoded", "quick", LASTRO_FETCH_UNSUPPORTED, 0, 0, 0, LASTRO_EINTERNAL},
        {"@evil.example/", "quick", LASTRO_FETCH_UNSUPPORTED, 0, 0, 0, LASTRO_EINTERNAL},
    };
    setup(scripts, sizeof scripts / sizeof *scripts);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call c;
        call_init(&c);
        lastro_response r = get(&c, REQUEST(.target = cases[i].target, .class_name = cases[i].class_name));
        unit_check(r.outcome == cases[i].outcome && r.attempts == cases[i].attempts &&
                       anomaly_sum(&r) == cases[i].anomalies &&
                       r.anomalies[cases[i].anomaly] == cases[i].anomalies &&
                       fetch_status_of(r.outcome) == cases[i].status && r.reason && r.access == 1 &&
                       c.accesses[0].outcome == r.outcome && c.accesses[0].attempts == r.attempts &&
                       (c.accesses[0].retrieved_at != 0) == (r.outcome <= LASTRO_FETCH_NOT_FOUND),
                   "%s %s: outcome %d, attempts %u, anomalies %u", cases[i].target, cases[i].class_name,
                   (int)r.outcome, r.attempts, anomaly_sum(&r));
        call_end(&c);
    }
    teardown();
}

static void outcome__the_body_of_a_refusal_can_be_read(void) {
    script scripts[] = {{"/406", {{1, HTTP_DONE, 406, "{\"error\":\"10 anos\"}", 0}}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    lastro_response r = get(&c, REQUEST(.target = "/406"));
    CU_ASSERT_EQUAL(r.http_status, 406);
    CU_ASSERT_EQUAL(r.verdict, LASTRO_BODY_REFUSED);
    CU_ASSERT_NSTRING_EQUAL(r.body.at, "{\"error\":\"10 anos\"}", r.body.len);
    CU_ASSERT_STRING_EQUAL(r.url, "https://api.example.org/406");
    CU_ASSERT_EQUAL(fake_starts(), 1);
    call_end(&c);
    teardown();
}

static void outcome__suspicion_is_resolved_by_repetition(void) {
    script scripts[] = {{"/432", {HTML(1), JSON_OK(1)}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    lastro_response r = get(&c, REQUEST(.target = "/432?key=secret", .fresh_ms = 0));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OK); /* no script for the query: the default */
    r = get(&c, REQUEST(.target = "/432", .fresh_ms = 60000));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(r.attempts, 2);
    CU_ASSERT_EQUAL(r.anomalies[LASTRO_ANOMALY_BODY], 1);
    CU_ASSERT_EQUAL(anomaly_sum(&r), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.log, "an HTML page instead of data"));
    CU_ASSERT_PTR_NULL(strstr(c.log, "secret"));
    CU_ASSERT_EQUAL(stats().entries, 1);
    call_end(&c);
    teardown();
}

static void outcome__a_bad_page_is_never_cached(void) {
    script scripts[] = {{"/x", {HTML(1), HTML(1), HTML(1), JSON_OK(1)}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    lastro_request request = REQUEST(.target = "/x", .fresh_ms = 60000, .negative_ms = 60000);
    lastro_response r = get(&c, request);
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_MALFORMED);
    CU_ASSERT(r.body.len > 0 && r.body.at[0] == '<');
    CU_ASSERT_EQUAL(stats().entries, 0);
    r = get(&c, request);
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(r.attempts, 1);
    call_end(&c);
    teardown();
}

static void outcome__a_transport_that_breaks_the_cap_is_caught(void) {
    static char body[1200];
    memset(body, '[', sizeof body - 1);
    script scripts[] = {{"/big", {{1, HTTP_DONE, 200, body, 0}}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    CU_ASSERT_EQUAL(get(&c, REQUEST(.target = "/big")).outcome, LASTRO_FETCH_TOO_LARGE);
    CU_ASSERT_EQUAL(fake_starts(), 1);
    call_end(&c);
    teardown();
}

static void outcome__no_module_says_so(void) {
    fetch_config config = {
        .user_agent = "lastro-test/1", .transport = fake_transport, .transport_arg = &fake};
    call c;
    call_init(&c);
    engine = fetch_create(&config);
    lastro_response r = get(&c, REQUEST(.target = "/x"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_UNSUPPORTED);
    CU_ASSERT_STRING_EQUAL(r.reason, "modules/fetch.so is missing");
    call_end(&c);
    teardown();
}

static void outcome__a_call_without_memory_is_told(void) {
    bool enough = false;
    setup(NULL, 0);
    for (size_t limit = 16; !enough; limit += 16) {
        call c;
        call_init(&c);
        c.memory.limit = limit;
        c.ctx.pin = NULL;
        const fetch_source *sources[] = {&plain};
        lastro_request request = REQUEST(.target = "/x");
        lastro_response r = {.size = sizeof r};
        lastro_status status = fetch_run(engine, &c.ctx, sources, &request, 1, &r);
        enough = status == LASTRO_OK;
        unit_check(enough ? r.body.len > 0 : status == LASTRO_ENOMEM && r.outcome == LASTRO_FETCH_UNSUPPORTED,
                   "%zu bytes: status %d, outcome %d", limit, (int)status, (int)r.outcome);
        CU_ASSERT(r.url && r.reason && r.body.at);
        call_end(&c);
    }
    CU_ASSERT(fake_starts() > 1); /* the body's copy was among what did not fit */
    teardown();
}

/* ---- waits and budgets ---- */

static void wait__grows_with_jitter_up_to_its_cap(void) {
    script scripts[] = {{"/502", {{1, HTTP_DONE, 502, "x", 0}}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    lastro_response r = get(&c, REQUEST(.target = "/502", .class_name = "stubborn"));
    CU_ASSERT_EQUAL_FATAL(r.attempts, 5);
    static const int64_t low[] = {15, 30, 60, 60}; /* three quarters of 20, 40, 80, 80 */
    for (int i = 0; i < 4; i++) {
        int64_t gap = fake.start_ms[i + 1] - fake.start_ms[i];
        unit_check(gap >= low[i], "wait %d was %lld ms", i, (long long)gap);
    }
    CU_ASSERT(r.waited_ms >= 165);
    call_end(&c);
    teardown();
}

static void wait__retry_after_is_a_lower_bound(void) {
    script scripts[] = {{"/429", {{1, HTTP_DONE, 429, "{}", 120}, JSON_OK(1)}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    lastro_response r = get(&c, REQUEST(.target = "/429"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(r.anomalies[LASTRO_ANOMALY_LIMITED], 1);
    CU_ASSERT(fake.start_ms[1] - fake.start_ms[0] >= 120);
    call_end(&c);
    teardown();
}

static void wait__one_that_does_not_fit_is_not_begun(void) {
    script scripts[] = {{"/budget", {{1, HTTP_DONE, 429, "{}", 6000}}, 0},
                        {"/deadline", {{1, HTTP_DONE, 503, "{}", 3000}}, 0}};
    call c;
    setup(scripts, 2);
    call_init(&c);
    int64_t from = clock_mono_ms();
    lastro_response r = get(&c, REQUEST(.target = "/budget"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_LIMITED);
    CU_ASSERT_EQUAL(r.attempts, 1);
    c.ctx.deadline_mono_ms = clock_mono_ms() + 2000;
    r = get(&c, REQUEST(.target = "/deadline"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_SERVER);
    CU_ASSERT_EQUAL(r.attempts, 1);
    CU_ASSERT(clock_mono_ms() - from < 1000);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.log, "does not fit in the request's time"));
    CU_ASSERT_PTR_NOT_NULL(strstr(c.log, "does not fit in the call's time"));
    call_end(&c);
    teardown();
}

static void budget__ends_the_attempts_and_cuts_the_last(void) {
    script scripts[] = {{"/slow", {JSON_OK(500)}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    int64_t from = clock_mono_ms();
    lastro_response r = get(&c, REQUEST(.target = "/slow", .class_name = "broke"));
    int64_t took = clock_mono_ms() - from;
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_TIMEOUT);
    unit_check(took >= 90 && took < 100 + SOON_MS, "took %lld ms", (long long)took);
    CU_ASSERT(r.attempts >= 1 && r.attempts <= 3); /* of a hundred */
    CU_ASSERT_EQUAL(r.anomalies[LASTRO_ANOMALY_TIMEOUT], r.attempts);
    int before = fake_starts();
    r = get(&c, REQUEST(.target = "/slow", .class_name = "cut"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_TIMEOUT);
    CU_ASSERT_EQUAL(r.attempts, 1);
    CU_ASSERT_EQUAL(fake.timeout_ms[before], 60);
    call_end(&c);
    teardown();
}

/* ---- ends from outside ---- */

typedef struct {
    call c;
    lastro_request request;
    lastro_response response;
    lastro_status status;
    int64_t ended_ms;
    pthread_t thread;
    const char *trace;
} background;

static void *run_background(void *arg) {
    background *b = arg;
    const fetch_source *sources[] = {&plain};
    b->response.size = sizeof b->response;
    b->status = fetch_run(engine, &b->c.ctx, sources, &b->request, 1, &b->response);
    b->ended_ms = clock_mono_ms();
    return NULL;
}

static void background_start(background *b, lastro_request request) {
    call_init(&b->c);
    b->c.ctx.trace = b->trace;
    b->request = request;
    pthread_create(&b->thread, NULL, run_background, b);
}

static void await(bool (*holds)(void)) {
    for (int i = 0; i < 5000 && !holds(); i++)
        usleep(1000);
    CU_ASSERT_FATAL(holds());
}

static bool one_started(void) {
    return fake_starts() >= 1;
}
static bool one_joined(void) {
    return stats().joined >= 1;
}
static bool one_cancelled(void) {
    pthread_mutex_lock(&fake.lock);
    bool yes = fake.cancelled >= 1;
    pthread_mutex_unlock(&fake.lock);
    return yes;
}
static bool nothing_in_air(void) {
    pthread_mutex_lock(&fake.lock);
    bool yes = fake.starts > 0 && !fake.in_air;
    pthread_mutex_unlock(&fake.lock);
    return yes;
}

static void check_cancelled(background *b, const char *what) {
    int64_t from = clock_mono_ms();
    cancel_raise(&b->c.cancel);
    pthread_join(b->thread, NULL);
    int64_t took = b->ended_ms - from;
    unit_check(took < SOON_MS, "%s: took %lld ms", what, (long long)took);
    CU_ASSERT_EQUAL(b->response.outcome, LASTRO_FETCH_CANCELLED);
    CU_ASSERT_EQUAL(b->status, LASTRO_ECANCELLED);
}

static void cancel__in_flight_ends_the_exchange(void) {
    script scripts[] = {{"/slow", {JSON_OK(900)}, 0}};
    background b = {.status = LASTRO_OK};
    setup(scripts, 1);
    background_start(&b, REQUEST(.target = "/slow"));
    await(one_started);
    check_cancelled(&b, "in flight");
    await(one_cancelled);
    call_end(&b.c);
    teardown();
}

static void cancel__during_a_wait(void) {
    script scripts[] = {{"/502", {{1, HTTP_DONE, 502, "x", 0}}, 0}};
    background b = {.status = LASTRO_OK};
    setup(scripts, 1);
    background_start(&b, REQUEST(.target = "/502", .class_name = "sleepy"));
    await(nothing_in_air);
    usleep(20000);
    check_cancelled(&b, "during a wait");
    CU_ASSERT_EQUAL(b.response.attempts, 1);
    CU_ASSERT_EQUAL(b.response.anomalies[LASTRO_ANOMALY_5XX], 1);
    call_end(&b.c);
    teardown();
}

static void cancel__before_it_begins(void) {
    call c;
    setup(NULL, 0);
    call_init(&c);
    cancel_raise(&c.cancel);
    CU_ASSERT_EQUAL(get(&c, REQUEST(.target = "/x")).outcome, LASTRO_FETCH_CANCELLED);
    CU_ASSERT_EQUAL(fake_starts(), 0);
    CU_ASSERT_EQUAL(fake.loads, 0);
    call_end(&c);
    teardown();
}

static void deadline__ends_the_run(void) {
    script scripts[] = {{"/slow", {JSON_OK(900)}, 0}};
    call c;
    setup(scripts, 1);
    call_init(&c);
    int64_t from = clock_mono_ms();
    c.ctx.deadline_mono_ms = from + 50;
    lastro_response r = get(&c, REQUEST(.target = "/slow"));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_DEADLINE);
    CU_ASSERT(clock_mono_ms() - from >= 50 && clock_mono_ms() - from < 50 + SOON_MS);
    await(one_cancelled);
    call_end(&c);
    teardown();
}

/* ---- single flight ---- */

static void flight__equal_requests_share_one(void) {
    script scripts[] = {{"/x", {HTML(60), JSON_OK(60)}, 0}};
    background a = {.trace = "00-11111111111111111111111111111111-1111111111111111-01"},
               b = {.trace = "00-22222222222222222222222222222222-2222222222222222-01"};
    setup(scripts, 1);
    background_start(&a, REQUEST(.target = "/x"));
    await(one_started);
    background_start(&b, REQUEST(.target = "/x", .fresh_ms = 60000));
    pthread_join(a.thread, NULL);
    pthread_join(b.thread, NULL);
    CU_ASSERT_EQUAL(fake_starts(), 2); /* one flight of two attempts */
    for (int i = 0; i < 2; i++) /* whoever founded it is who asks */
        CU_ASSERT_EQUAL(strncmp(fake.start_trace[i], "00-11111111111111111111111111111111-", 36), 0);
    CU_ASSERT_EQUAL(stats().joined, 1);
    for (int i = 0; i < 2; i++) {
        lastro_response *r = i ? &b.response : &a.response;
        CU_ASSERT_EQUAL(r->outcome, LASTRO_FETCH_OK);
        CU_ASSERT_EQUAL(r->attempts, 2);
        CU_ASSERT_EQUAL(r->anomalies[LASTRO_ANOMALY_BODY], 1);
        CU_ASSERT_FALSE(r->from_cache);
        CU_ASSERT_EQUAL(r->retrieved_at, a.response.retrieved_at);
    }
    CU_ASSERT_PTR_EQUAL(a.response.body.at, b.response.body.at); /* one copy of the bytes */
    CU_ASSERT_EQUAL(stats().entries, 1);                         /* the follower's wish, not the leader's */
    call_end(&a.c);
    CU_ASSERT(b.response.body.at[0] == '[');
    call_end(&b.c);
    teardown();
}

static void flight__when_the_leader_is_cancelled_another_takes_over(void) {
    script scripts[] = {{"/x", {JSON_OK(900), JSON_OK(30)}, 0}};
    background a = {.status = LASTRO_OK}, b = {.status = LASTRO_OK};
    setup(scripts, 1);
    background_start(&a, REQUEST(.target = "/x"));
    await(one_started);
    background_start(&b, REQUEST(.target = "/x"));
    await(one_joined);
    check_cancelled(&a, "the leader");
    pthread_join(b.thread, NULL);
    CU_ASSERT_EQUAL(b.response.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(b.response.attempts, 1); /* the cancelled one was not made for this answer */
    CU_ASSERT_EQUAL(anomaly_sum(&b.response), 0);
    CU_ASSERT_EQUAL(fake_starts(), 2);
    call_end(&a.c);
    call_end(&b.c);
    teardown();
}

static void flight__a_follower_can_leave(void) {
    script scripts[] = {{"/x", {JSON_OK(300)}, 0}};
    background a = {.status = LASTRO_OK}, b = {.status = LASTRO_OK};
    setup(scripts, 1);
    background_start(&a, REQUEST(.target = "/x"));
    await(one_started);
    background_start(&b, REQUEST(.target = "/x"));
    await(one_joined);
    check_cancelled(&b, "the follower");
    call_end(&b.c);
    pthread_join(a.thread, NULL);
    CU_ASSERT_EQUAL(a.response.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(fake_starts(), 1);
    call_end(&a.c);
    teardown();
}

static void flight__the_leaders_deadline_is_its_own(void) {
    script scripts[] = {{"/x", {HTML(40), JSON_OK(150), JSON_OK(20)}, 0}};
    background a = {.status = LASTRO_OK}, b = {.status = LASTRO_OK};
    setup(scripts, 1);
    call_init(&a.c);
    a.c.ctx.deadline_mono_ms = clock_mono_ms() + 120;
    a.request = REQUEST(.target = "/x");
    pthread_create(&a.thread, NULL, run_background, &a);
    await(one_started);
    background_start(&b, REQUEST(.target = "/x"));
    pthread_join(a.thread, NULL);
    pthread_join(b.thread, NULL);
    CU_ASSERT_EQUAL(a.response.outcome, LASTRO_FETCH_DEADLINE);
    CU_ASSERT_EQUAL(b.response.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_EQUAL(b.response.attempts, 2); /* the HTML page of the shared flight, then its own */
    CU_ASSERT_EQUAL(b.response.anomalies[LASTRO_ANOMALY_BODY], 1);
    call_end(&a.c);
    call_end(&b.c);
    teardown();
}

static void flight__within_one_run_too(void) {
    call c;
    setup(NULL, 0);
    call_init(&c);
    lastro_request requests[6];
    const fetch_source *sources[6];
    lastro_response rets[6];
    for (int i = 0; i < 6; i++) {
        requests[i] = REQUEST(.target = i % 2 ? "/odd" : "/even");
        sources[i] = &plain;
        rets[i] = (lastro_response){.size = sizeof *rets};
    }
    CU_ASSERT_EQUAL(fetch_run(engine, &c.ctx, sources, requests, 6, rets), LASTRO_OK);
    CU_ASSERT_EQUAL(fake_starts(), 2);
    for (uint32_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rets[i].access, i + 1); /* recorded in request order */
    call_end(&c);
    teardown();
}

/* ---- many at once ---- */

static lastro_status get_many(call *c, int count, const char *folder, lastro_response *rets) {
    enum { MANY = 64 };
    static _Thread_local char targets[MANY][40];
    lastro_request requests[MANY];
    const fetch_source *sources[MANY];
    for (int i = 0; i < count; i++) {
        snprintf(targets[i], sizeof targets[i], "%s/%d", folder, i);
        requests[i] = REQUEST(.target = targets[i]);
        sources[i] = &plain;
        rets[i] = (lastro_response){.size = sizeof *rets};
    }
    return fetch_run(engine, &c->ctx, sources, requests, (size_t)count, rets);
}

static void many__never_more_than_the_source_allows(void) {
    script scripts[] = {{"/7", {{1, HTTP_DONE, 404, "{}", 0}}, 0}, {"/9", {{1, HTTP_DONE, 406, "{}", 0}}, 0}};
    call c;
    lastro_response rets[20];
    setup(scripts, 2);
    call_init(&c);
    CU_ASSERT_EQUAL(get_many(&c, 20, "", rets), LASTRO_ENOTFOUND); /* the first failure in request order */
    CU_ASSERT_EQUAL(fake.in_air_max, 4);
    CU_ASSERT_EQUAL(fake_starts(), 20); /* all carried out */
    for (int i = 0; i < 20; i++)
        CU_ASSERT_EQUAL(rets[i].outcome, i == 7   ? LASTRO_FETCH_NOT_FOUND
                                         : i == 9 ? LASTRO_FETCH_REFUSED
                                                  : LASTRO_FETCH_OK);
    call_end(&c);
    teardown();
}

typedef struct {
    fetch_budget *budget;
    uint32_t part;
    lastro_status status;
} part_run;

static void *run_part(void *arg) {
    part_run *p = arg;
    call c;
    lastro_response rets[24];
    call_init(&c);
    c.ctx.budget = p->budget;
    c.ctx.part = p->part;
    p->status = get_many(&c, 24, p->part == 1 ? "/part1" : "/part2", rets);
    call_end(&c);
    return NULL;
}

/* While both have something to do neither starts one that would give it more than two of the four. */
static void check_shares(void) {
    int first2 = 0, last1 = 0, alone = 0, shared = 0;
    while (first2 < fake.starts && fake.start_part[first2] != 2)
        first2++;
    for (int i = 0; i < fake.starts; i++)
        last1 = fake.start_part[i] == 1 ? i : last1;
    for (int i = 0; i < fake.starts; i++) {
        if (i < first2)
            alone = fake.start_in_air[i] > alone ? fake.start_in_air[i] : alone;
        else if (i <= last1)
            shared = fake.start_in_air[i] > shared ? fake.start_in_air[i] : shared;
    }
    CU_ASSERT_EQUAL(alone, 4);
    unit_check(shared == 2, "a part held %d", shared);
    unit_check(first2 < 16, "the second began after %d",
               first2); /* the second did not wait for the first to end */
}

static void many__parts_of_a_call_share_fairly(void) {
    setup(NULL, 0);
    fetch_budget *budget = fetch_budget_create();
    part_run one = {budget, 1, LASTRO_OK}, two = {budget, 2, LASTRO_OK};
    pthread_t a, b;
    pthread_create(&a, NULL, run_part, &one);
    while (fake_starts() < 6)
        usleep(200);
    pthread_create(&b, NULL, run_part, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    CU_ASSERT_EQUAL(one.status, LASTRO_OK);
    CU_ASSERT_EQUAL(two.status, LASTRO_OK);
    CU_ASSERT_EQUAL(fake.in_air_max, 4);
    check_shares();
    fetch_budget_destroy(budget);
    teardown();
}

static void many__a_cancelled_part_leaves_its_slots(void) {
    script scripts[] = {{"/slow", {JSON_OK(900)}, 0}};
    background a = {.status = LASTRO_OK};
    call c;
    setup(scripts, 1);
    fetch_budget *budget = fetch_budget_create();
    call_init(&a.c);
    a.c.ctx.budget = budget;
    a.request = REQUEST(.target = "/slow");
    pthread_create(&a.thread, NULL, run_background, &a);
    await(one_started);
    check_cancelled(&a, "a part");
    lastro_response rets[8];
    call_init(&c);
    c.ctx.budget = budget;
    c.ctx.part = 1;
    CU_ASSERT_EQUAL(get_many(&c, 8, "", rets), LASTRO_OK);
    call_end(&c);
    call_end(&a.c);
    fetch_budget_destroy(budget);
    teardown();
}

static void many__a_plugin_of_another_abi_steps_by_its_own_size(void) {
    struct longer {
        lastro_request r;
        uint64_t more[2];
    } requests[2] = {{REQUEST(.target = "/a"), {~0u, ~0u}}, {REQUEST(.target = "/b"), {~0u, ~0u}}};
    struct longer_response {
        lastro_response r;
        uint64_t more[2];
    } rets[2];
    const fetch_source *sources[] = {&plain, &plain};
    call c;
    setup(NULL, 0);
    call_init(&c);
    memset(rets, 0x5a, sizeof rets);
    for (int i = 0; i < 2; i++) {
        requests[i].r.size = sizeof *requests;
        rets[i].r.size = sizeof *rets;
    }
    CU_ASSERT_EQUAL(fetch_run(engine, &c.ctx, sources, &requests[0].r, 2, &rets[0].r), LASTRO_OK);
    CU_ASSERT_STRING_EQUAL(rets[1].r.url, "https://api.example.org/b");
    CU_ASSERT_EQUAL(rets[1].r.size, sizeof *rets);
    CU_ASSERT_EQUAL(rets[1].more[0], 0x5a5a5a5a5a5a5a5au);
    call_end(&c);
    teardown();
}

/* ---- a storm: every way to end, all at once ---- */

typedef struct {
    unsigned seed;
    int wrong;
} stormer;

static void *storm(void *arg) {
    stormer *s = arg;
    static const char *const targets[] = {"/ok", "/404", "/502", "/html", "/429", "/down", "/slow", "/flaky"};
    for (int round = 0; round < 40; round++) {
        enum { N = 5 };
        lastro_request requests[N];
        const fetch_source *sources[N];
        lastro_response rets[N];
        call c;
        call_init(&c);
        for (int i = 0; i < N; i++) {
            requests[i] =
                REQUEST(.target = targets[rand_r(&s->seed) % 8], .fresh_ms = rand_r(&s->seed) % 3 ? 0 : 20,
                        .negative_ms = rand_r(&s->seed) % 2 ? 0 : 20);
            sources[i] = &plain;
            rets[i] = (lastro_response){.size = sizeof *rets};
        }
        if (rand_r(&s->seed) % 2)
            c.ctx.deadline_mono_ms = clock_mono_ms() + rand_r(&s->seed) % 30;
        fetch_run(engine, &c.ctx, sources, requests, N, rets);
        for (int i = 0; i < N; i++)
            s->wrong += (rets[i].outcome == LASTRO_FETCH_OK) != (rets[i].verdict == LASTRO_BODY_OK) ||
                        rets[i].outcome == LASTRO_FETCH_CANCELLED ||
                        rets[i].outcome >= LASTRO_FETCH_TOO_LARGE + (c.ctx.deadline_mono_ms ? 2 : 0) ||
                        (rets[i].outcome == LASTRO_FETCH_OK && rets[i].body.at[0] != '[');
        call_end(&c);
    }
    return NULL;
}

static void *raise_later(void *arg) {
    usleep(7000);
    cancel_raise(arg);
    return NULL;
}

static void many__a_storm_ends_and_leaves_nothing_behind(void) {
    script scripts[] = {
        {"/404", {{1, HTTP_DONE, 404, "{}", 0}}, 0},
        {"/502", {{2, HTTP_DONE, 502, "x", 0}}, 0},
        {"/html", {HTML(3)}, 0},
        {"/429", {{1, HTTP_DONE, 429, "{}", 3}}, 0},
        {"/down", {{0, HTTP_NETWORK, 0, "", 0}}, 0},
        {"/slow", {JSON_OK(15)}, 0},
        {"/flaky", {HTML(1), JSON_OK(1)}, 0},
    };
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    stormer stormers[THREADS];
    setup(scripts, sizeof scripts / sizeof *scripts);
    for (int i = 0; i < THREADS; i++) {
        stormers[i] = (stormer){(unsigned)i + 1, 0};
        pthread_create(&threads[i], NULL, storm, &stormers[i]);
    }
    for (int i = 0; i < 30; i++) { /* and among them some that are cancelled while they lead or follow */
        background b = {.status = LASTRO_OK};
        pthread_t raiser;
        background_start(&b, REQUEST(.target = "/slow"));
        pthread_create(&raiser, NULL, raise_later, &b.c.cancel);
        pthread_join(b.thread, NULL);
        pthread_join(raiser, NULL);
        CU_ASSERT(b.response.outcome == LASTRO_FETCH_OK || b.response.outcome == LASTRO_FETCH_CANCELLED);
        call_end(&b.c);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(stormers[i].wrong, 0);
    }
    CU_ASSERT(stats().joined > 0);
    await(nothing_in_air);
    teardown();
}

/* ---- cache ---- */

static void cache__a_hit_is_honest(void) {
    call c;
    setup(NULL, 0);
    call_init(&c);
    lastro_request request = REQUEST(.target = "/x", .fresh_ms = 60000);
    lastro_response first = get(&c, request);
    usleep(20000);
    lastro_response again = get(&c, request);
    CU_ASSERT_EQUAL(again.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_TRUE(again.from_cache);
    CU_ASSERT_EQUAL(again.attempts, 0);
    CU_ASSERT_EQUAL(again.waited_ms, 0);
    CU_ASSERT_EQUAL(again.retrieved_at, first.retrieved_at);
    CU_ASSERT_EQUAL(again.http_status, 200);
    CU_ASSERT_PTR_EQUAL(again.body.at, first.body.at);
    CU_ASSERT_EQUAL(fake_starts(), 1);
    CU_ASSERT_TRUE(c.accesses[1].from_cache);
    CU_ASSERT_EQUAL(c.accesses[1].retrieved_at, first.retrieved_at);
    CU_ASSERT_EQUAL(stats().hits, 1);
    CU_ASSERT_EQUAL(stats().misses, 1);
    request.fresh_ms = 5; /* older than that by now */
    CU_ASSERT_FALSE(get(&c, request).from_cache);
    request.fresh_ms = 0; /* never */
    CU_ASSERT_FALSE(get(&c, request).from_cache);
    fetch_purge(engine);
    CU_ASSERT_EQUAL(stats().entries, 0);
    CU_ASSERT(again.body.at[0] == '['); /* the call holds what it was given */
    call_end(&c);
    teardown();
}

static void cache__a_wrong_code_costs_its_seconds_once(void) {
    script scripts[] = {{"/404", {{1, HTTP_DONE, 404, "{}", 0}}, 0},
                        {"/406", {{1, HTTP_DONE, 406, "{}", 0}}, 0}};
    call c;
    setup(scripts, 2);
    call_init(&c);
    for (int i = 0; i < 3; i++) {
        lastro_response r = get(&c, REQUEST(.target = "/404", .fresh_ms = 60000, .negative_ms = 60000));
        CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_NOT_FOUND);
        CU_ASSERT_EQUAL(r.from_cache, i > 0);
        r = get(&c, REQUEST(.target = "/406", .negative_ms = 60000));
        CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_REFUSED);
        CU_ASSERT_EQUAL(r.http_status, 406);
        CU_ASSERT_EQUAL(anomaly_sum(&r), i == 0);
    }
    CU_ASSERT_EQUAL(fake_starts(), 2);
    CU_ASSERT_EQUAL(stats().negative_hits, 4);
    call_end(&c);
    teardown();
}

static void cache__offline_is_the_cache_and_no_more(void) {
    call c;
    setup(NULL, 0);
    call_init(&c);
    c.ctx.offline = true;
    lastro_response r = get(&c, REQUEST(.target = "/x", .fresh_ms = 60000));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OFFLINE);
    CU_ASSERT_EQUAL(fetch_status_of(r.outcome), LASTRO_EOFFLINE);
    CU_ASSERT_EQUAL(fake.loads, 0); /* not even the module */
    c.ctx.offline = false;
    get(&c, REQUEST(.target = "/x", .fresh_ms = 60000));
    c.ctx.offline = true;
    r = get(&c, REQUEST(.target = "/x", .fresh_ms = 60000));
    CU_ASSERT_EQUAL(r.outcome, LASTRO_FETCH_OK);
    CU_ASSERT_TRUE(r.from_cache);
    call_end(&c);
    teardown();
}

static void cache__bodies_are_copied_when_nothing_can_be_pinned(void) {
    call c;
    setup(NULL, 0);
    call_init(&c);
    c.ctx.pin = NULL;
    lastro_response r = get(&c, REQUEST(.target = "/x", .fresh_ms = 60000));
    fetch_purge(engine);
    CU_ASSERT(r.body.len > 2 && r.body.at[0] == '[' && !r.body.at[r.body.len]);
    call_end(&c);
    teardown();
}

/* ---- addresses ---- */

static void address__an_override_reads_elsewhere_and_says_so(void) {
    static const fetch_source other = {.source = &source, .base = "http://127.0.0.1:8080/sim"};
    const fetch_source *sources[] = {&other};
    call c;
    setup(NULL, 0);
    call_init(&c);
    lastro_request request = REQUEST(.target = "/x?a=b", .fresh_ms = 60000);
    lastro_response r = {.size = sizeof r};
    CU_ASSERT_EQUAL(fetch_run(engine, &c.ctx, sources, &request, 1, &r), LASTRO_OK);
    CU_ASSERT_STRING_EQUAL(r.url, "https://api.example.org/x?a=b");
    CU_ASSERT_STRING_EQUAL(fake.last_url, "http://127.0.0.1:8080/sim/x?a=b");
    CU_ASSERT_STRING_EQUAL(c.accesses[0].read_from, "http://127.0.0.1:8080/sim/x?a=b");
    r = get(&c, request); /* the true source's answer is not the override's */
    CU_ASSERT_FALSE(r.from_cache);
    CU_ASSERT_PTR_NULL(c.accesses[1].read_from);
    call_end(&c);
    teardown();
}

static void address__what_may_be_read(void) {
    static const struct {
        const char *base;
        bool allowed;
    } cases[] = {
        {"https://api.example.org", true},
        {"https://api.example.org:8443", true},
        {"https://[2001:db8::1]:443", true},
        {"http://127.0.0.1:80", true},
        {"http://127.9.8.7", true},
        {"http://localhost:8080/sim", true},
        {"http://[::1]:9", true},
        {"http://api.example.org", false},
        {"http://127.0.0.1.evil.org", false},
        {"http://127.1", false},
        {"http://127.0.0.0x1", false},
        {"http://127.0.0.01", false},
        {"http://0.0.0.0", false},
        {"http://localhost.evil.org", false},
        {"http://localhost@evil.org", false},
        {"https://user:s3cr3t@api.example.org", false},
        {"http://127.0.0.1\\@evil.org", false},
        {"ftp://127.0.0.1", false},
        {"file:///etc/passwd", false},
        {"https://", false},
        {"https:///x", false},
        {"https://host:", false},
        {"https://host:123456", false},
        {"HTTP://127.0.0.1", false},
        {"https://a b", false},
        {"https://a\r\nHost: b", false},
        {"http://[::1", false},
        {"http://[::1]x", false},
        {"https://api.example.org#x", false},
        {"", false},
    };
    setup(NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fetch_source other = {.source = &source, .base = cases[i].base};
        const fetch_source *sources[] = {&other};
        lastro_request request = REQUEST(.target = "/x");
        lastro_response r = {.size = sizeof r};
        call c;
        call_init(&c);
        fetch_run(engine, &c.ctx, sources, &request, 1, &r);
        unit_check((r.outcome == LASTRO_FETCH_OK) == cases[i].allowed, "'%s': %s", cases[i].base, r.reason);
        CU_ASSERT_PTR_NULL(strstr(r.reason, "s3cr3t"));
        CU_ASSERT(!c.accesses[0].read_from || !strstr(c.accesses[0].read_from, "s3cr3t"));
        call_end(&c);
    }
    teardown();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(outcome__each_of_them),
        UNIT_TEST(outcome__the_body_of_a_refusal_can_be_read),
        UNIT_TEST(outcome__suspicion_is_resolved_by_repetition),
        UNIT_TEST(outcome__a_bad_page_is_never_cached),
        UNIT_TEST(outcome__a_transport_that_breaks_the_cap_is_caught),
        UNIT_TEST(outcome__no_module_says_so),
        UNIT_TEST(outcome__a_call_without_memory_is_told),
        UNIT_TEST(wait__grows_with_jitter_up_to_its_cap),
        UNIT_TEST(wait__retry_after_is_a_lower_bound),
        UNIT_TEST(wait__one_that_does_not_fit_is_not_begun),
        UNIT_TEST(budget__ends_the_attempts_and_cuts_the_last),
        UNIT_TEST(cancel__in_flight_ends_the_exchange),
        UNIT_TEST(cancel__during_a_wait),
        UNIT_TEST(cancel__before_it_begins),
        UNIT_TEST(deadline__ends_the_run),
        UNIT_TEST(flight__equal_requests_share_one),
        UNIT_TEST(flight__when_the_leader_is_cancelled_another_takes_over),
        UNIT_TEST(flight__a_follower_can_leave),
        UNIT_TEST(flight__the_leaders_deadline_is_its_own),
        UNIT_TEST(flight__within_one_run_too),
        UNIT_TEST(many__never_more_than_the_source_allows),
        UNIT_TEST(many__parts_of_a_call_share_fairly),
        UNIT_TEST(many__a_cancelled_part_leaves_its_slots),
        UNIT_TEST(many__a_plugin_of_another_abi_steps_by_its_own_size),
        UNIT_TEST(many__a_storm_ends_and_leaves_nothing_behind),
        UNIT_TEST(cache__a_hit_is_honest),
        UNIT_TEST(cache__a_wrong_code_costs_its_seconds_once),
        UNIT_TEST(cache__offline_is_the_cache_and_no_more),
        UNIT_TEST(cache__bodies_are_copied_when_nothing_can_be_pinned),
        UNIT_TEST(address__an_override_reads_elsewhere_and_says_so),
        UNIT_TEST(address__what_may_be_read),
    };
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&fake.changed, &attr);
    clock_init();
    return UNIT_RUN("fetch", tests);
}
