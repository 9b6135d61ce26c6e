/* SPDX-License-Identifier: MIT */
/* The life of a server over HTTP, with a front that only notes what it is told. */
#include "web_serve.h"
#include "test_core_host.h"
#include "unit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- the front ---- */

static char told[400];
static unsigned exchanges_left;
static int drained_pipe = -1;
static const char *address = "127.0.0.1:1";

static void note(const char *what) {
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s ", what);
}
static web_server *fake_open(const web_config *config, const web_handler *handler, char *why, size_t size) {
    note("open");
    if (config->listen && strcmp(config->listen, "127.0.0.1:99") == 0) {
        snprintf(why, size, "the port is taken");
        return NULL;
    }
    CU_ASSERT(handler->head && handler->request && handler->gone && handler->done);
    CU_ASSERT(config->body_max == 16 << 20 && config->head_ms && config->body_ms && config->idle_ms && config->stall_ms);
    CU_ASSERT(config->queue_max && config->connections && config->keepalive_ms && config->keepalive_text[0] == ':');
    const char *bodies[] = {config->too_large_body, config->busy_body};
    for (int i = 0; i < 2; i++) {
        arena a;
        arena_init(&a, 0);
        const json_value *v = json_read_copy(&a, bodies[i], strlen(bodies[i]), NULL, NULL);
        CU_ASSERT(json_str(AT(v, "error", "message")) && json_text_is(json_member(v, "jsonrpc"), "2.0") && !json_member(v, "id"));
        arena_free(&a);
    }
    return (web_server *)&told;
}
static const char *fake_address(web_server *s) {
    (void)s;
    return address;
}
static void fake_drain(web_server *s) {
    (void)s;
    note("drain");
    if (drained_pipe >= 0 && write(drained_pipe, "d", 1) != 1)
        abort();
}
static unsigned fake_exchanges(web_server *s) {
    (void)s;
    note("exchanges");
    return exchanges_left ? exchanges_left-- : 0;
}
static void (*while_closing)(void);
static void fake_close(web_server *s) {
    (void)s;
    note("close");
    if (while_closing)
        while_closing();
}
static const web_front front = {.version = WEB_FRONT_VERSION, .open = fake_open, .address = fake_address, .drain = fake_drain,
                                .open_exchanges = fake_exchanges, .close = fake_close};

static server *prepare(int64_t drain_ms) {
    web_serve_prepare();
    told[0] = '\0';
    exchanges_left = 0;
    server *s = core_inner_server("{\"callMs\":20000}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    s->manifest->http.drain_ms = drain_ms;
    return s;
}

/* Serves with a signal that is there already, so that it stops at once. */
static lastro_status serve_and_stop(server *s, int number) {
    lastro_error err = {0};
    raise(number); /* blocked: it waits for sigwait */
    return web_serve(s, &front, "127.0.0.1:1", &err);
}

/* ---- the tests ---- */

static void test_serve__knows_who_reaches_an_address(void) {
    static const struct {
        const char *listen;
        web_reach reach;
    } cases[] = {
        {"127.0.0.1:8717", WEB_LOOPBACK}, {"127.9.9.9:0", WEB_LOOPBACK},   {"[::1]:8717", WEB_LOOPBACK},
        {"[0:0::1]:1", WEB_LOOPBACK},     {"[::ffff:127.0.0.1]:1", WEB_LOOPBACK},
        {"0.0.0.0:8717", WEB_BEYOND},     {"192.0.2.1:80", WEB_BEYOND},    {"[::]:1", WEB_BEYOND},
        {"[2001:db8::1]:1", WEB_BEYOND},  {"[::ffff:10.0.0.1]:1", WEB_BEYOND}, {"128.0.0.1:1", WEB_BEYOND},
        {"unix:/run/x", WEB_UNIX},        {"unix:", WEB_UNREADABLE},       {"", WEB_UNREADABLE},
        {"8717", WEB_UNREADABLE},         {":8717", WEB_UNREADABLE},       {"127.0.0.1", WEB_UNREADABLE},
        {"127.0.0.1:", WEB_UNREADABLE},   {"127.0.0.1:65536", WEB_UNREADABLE}, {"127.0.0.1:-1", WEB_UNREADABLE},
        {"127.0.0.1:+1", WEB_UNREADABLE}, {"127.0.0.1:80x", WEB_UNREADABLE}, {"127.0.0.1:000080", WEB_UNREADABLE},
        {"::1:80", WEB_UNREADABLE},       {"[::1:80", WEB_UNREADABLE},     {"[127.0.0.1]:80", WEB_UNREADABLE},
        {"127.1:80", WEB_UNREADABLE},     {"localhost:80", WEB_UNREADABLE}, {"127.0.0.1.evil.example:80", WEB_UNREADABLE},
        {"[::1%lo]:80", WEB_UNREADABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        unit_check(web_serve_reach(cases[i].listen) == cases[i].reach, "\"%s\": %d", cases[i].listen,
                   (int)web_serve_reach(cases[i].listen));
}

/* The inherited socket is descriptor 3. */
static void test_serve__knows_who_reaches_an_inherited_socket(void) {
    static const struct {
        int family;
        const char *at;
        web_reach reach;
    } cases[] = {{AF_INET, "127.0.0.1", WEB_LOOPBACK}, {AF_INET, "0.0.0.0", WEB_BEYOND}, {AF_INET6, "::1", WEB_LOOPBACK},
                 {AF_INET6, "::", WEB_BEYOND}, {AF_UNIX, "", WEB_UNIX}};
    int kept = dup(3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        bool six = cases[i].family == AF_INET6;
        inet_pton(cases[i].family, cases[i].at, six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr);
        int fd = socket(cases[i].family, SOCK_STREAM, 0);
        int bound = cases[i].family == AF_UNIX ? 0
                    : six                      ? bind(fd, (struct sockaddr *)&v6, sizeof v6)
                                               : bind(fd, (struct sockaddr *)&v4, sizeof v4);
        if (fd < 0 || bound != 0) {
            CU_ASSERT(six); /* a machine without IPv6 */
            close(fd);
            continue;
        }
        CU_ASSERT_EQUAL(dup2(fd, 3), 3);
        unit_check(web_serve_reach(NULL) == cases[i].reach, "%s: %d", cases[i].at, (int)web_serve_reach(NULL));
        if (fd != 3)
            close(fd);
    }
    int pipes[2];
    CU_ASSERT_EQUAL(pipe(pipes), 0);
    CU_ASSERT_EQUAL(dup2(pipes[0], 3), 3);
    CU_ASSERT_EQUAL(web_serve_reach(NULL), WEB_UNREADABLE);
    for (int i = 0; i < 2; i++)
        if (pipes[i] != 3)
            close(pipes[i]);
    kept >= 0 ? (void)dup2(kept, 3) : (void)close(3);
    close(kept);

    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", "1", 1);
    CU_ASSERT_FALSE(web_serve_inherits());
    setenv("LISTEN_PID", pid, 1);
    CU_ASSERT_TRUE(web_serve_inherits());
    setenv("LISTEN_FDS", "0", 1);
    CU_ASSERT_FALSE(web_serve_inherits());
    unsetenv("LISTEN_FDS");
    CU_ASSERT_FALSE(web_serve_inherits());
    unsetenv("LISTEN_PID");
}

static void test_serve__stops_in_order_at_a_signal(void) {
    for (int i = 0; i < 2; i++) {
        server *s = prepare(1000);
        exchanges_left = 2;
        CU_ASSERT_EQUAL(serve_and_stop(s, i ? SIGINT : SIGTERM), LASTRO_OK);
        CU_ASSERT_STRING_EQUAL(told, "open drain exchanges exchanges exchanges close ");
        server_destroy(s);
    }
}

static void test_serve__says_why_it_cannot_listen(void) {
    server *s = prepare(1000);
    lastro_error err = {0};
    CU_ASSERT_EQUAL(web_serve(s, &front, "127.0.0.1:99", &err), LASTRO_EARGS);
    CU_ASSERT_STRING_EQUAL(err.text, "cannot listen at 127.0.0.1:99: the port is taken");
    CU_ASSERT_STRING_EQUAL(told, "open ");
    server_destroy(s);
}

static const char wait_line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\",\"arguments\":{\"ms\":%d},"
                                "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                                "\"io.modelcontextprotocol/clientCapabilities\":{}}}}";

static void start_wait(session *of, client *c, int ms) {
    char line[400];
    snprintf(line, sizeof line, wait_line, ms);
    mcp_receive(of, &c->base, line, strlen(line));
}

static void test_serve__lets_running_calls_end(void) {
    server *s = prepare(5000);
    client c;
    client_open(&c);
    session *of = session_create(s);
    start_wait(of, &c, 300);
    int64_t began = clock_mono_ms();
    CU_ASSERT_EQUAL(serve_and_stop(s, SIGTERM), LASTRO_OK);
    CU_ASSERT(clock_mono_ms() - began >= 250 && clock_mono_ms() - began < 4000);
    CU_ASSERT(c.count == 1 && strstr(c.lines[0], "waited"));
    session_destroy(of);
    client_close(&c);
    server_destroy(s);
}

static void test_serve__cancels_what_takes_longer_than_allowed(void) {
    server *s = prepare(150);
    client c;
    client_open(&c);
    session *of = session_create(s);
    int begun = atomic_load(&inner_begun), stopped = atomic_load(&inner_stopped);
    start_wait(of, &c, 15000);
    for (int i = 0; i < 5000 && atomic_load(&inner_begun) == begun; i++) /* what no worker has taken yet ends without running */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int64_t began = clock_mono_ms();
    CU_ASSERT_EQUAL(serve_and_stop(s, SIGTERM), LASTRO_OK);
    CU_ASSERT(clock_mono_ms() - began >= 150 && clock_mono_ms() - began < 5000);
    CU_ASSERT_EQUAL(atomic_load(&inner_stopped), stopped + 1);
    CU_ASSERT_STRING_EQUAL(told, "open drain close ");
    session_destroy(of);
    client_close(&c);
    server_destroy(s);
}

/* Of a request that was being read at the signal: its last byte comes when the front is already closing. */
static session *late_session;
static client late_client;
static void come_late(void) {
    start_wait(late_session, &late_client, 15000);
}

static void test_serve__ends_a_call_that_comes_while_it_closes(void) {
    server *s = prepare(1000);
    client_open(&late_client);
    late_session = session_create(s);
    while_closing = come_late;
    int stopped = atomic_load(&inner_stopped);
    int64_t began = clock_mono_ms();
    CU_ASSERT_EQUAL(serve_and_stop(s, SIGTERM), LASTRO_OK);
    while_closing = NULL;
    CU_ASSERT(clock_mono_ms() - began < 5000);
    CU_ASSERT(server_wait_idle(s, 0)); /* before what it uses is freed */
    CU_ASSERT_EQUAL(atomic_load(&inner_stopped), stopped + 1);
    CU_ASSERT_STRING_EQUAL(told, "open drain exchanges close ");
    session_destroy(late_session);
    client_close(&late_client);
    server_destroy(s);
}

/* Waits for the call to be cancelled, then another one comes, and only then the first ends. */
static void *follow(void *arg) {
    lastro_call *first = arg;
    server *s = first->srv;
    while (!cancel_raised(&first->cancel))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    come_late();
    server_untrack(first);
    call_put(first);
    server_settle(s);
    return NULL;
}

static void test_serve__cancels_a_call_that_comes_while_others_are_cancelled(void) {
    server *s = prepare(20);
    pthread_t thread;
    client_open(&late_client);
    late_session = session_create(s);
    lastro_call *first = call_get(s);
    server_track(first);
    int stopped = atomic_load(&inner_stopped);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, follow, first), 0);
    CU_ASSERT_EQUAL(serve_and_stop(s, SIGTERM), LASTRO_OK); /* or the process ends here */
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(atomic_load(&inner_stopped), stopped + 1);
    session_destroy(late_session);
    client_close(&late_client);
    server_destroy(s);
}

/* Serves in a child with a call that never ends, drains for drain_ms, and sends so many signals; its exit status. */
static int serve_deaf(int64_t drain_ms, int signals, const char *at) {
    int pipes[2];
    char byte;
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        drained_pipe = pipes[1];
        address = at;
        server *s = prepare(drain_ms);
        lastro_call *c = call_get(s);
        server_track(c);
        _exit(serve_and_stop(s, SIGTERM) == LASTRO_OK ? 50 : 51);
    }
    close(pipes[1]);
    CU_ASSERT_EQUAL(read(pipes[0], &byte, 1), 1); /* it is stopping */
    for (int i = 1; i < signals; i++)
        kill(pid, SIGTERM);
    int status = -1;
    for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(pipes[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_serve__does_not_wait_for_a_handler_that_never_listens(void) {
    char path[] = "/tmp/lastro-test-XXXXXX", at[40];
    close(mkstemp(path));
    snprintf(at, sizeof at, "unix:%s", path);
    CU_ASSERT_EQUAL(serve_deaf(50, 1, at), 0);
    CU_ASSERT(access(path, F_OK) != 0); /* the socket's name does not stay */
    unlink(path);
}

static void test_serve__ends_at_once_at_a_second_signal(void) {
    CU_ASSERT_EQUAL(serve_deaf(60000, 2, "127.0.0.1:1"), 1);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_serve__knows_who_reaches_an_address),
        UNIT_TEST(test_serve__knows_who_reaches_an_inherited_socket),
        UNIT_TEST(test_serve__does_not_wait_for_a_handler_that_never_listens), /* these fork: before any thread is made */
        UNIT_TEST(test_serve__ends_at_once_at_a_second_signal),
        UNIT_TEST(test_serve__stops_in_order_at_a_signal),
        UNIT_TEST(test_serve__says_why_it_cannot_listen),
        UNIT_TEST(test_serve__lets_running_calls_end),
        UNIT_TEST(test_serve__cancels_what_takes_longer_than_allowed),
        UNIT_TEST(test_serve__ends_a_call_that_comes_while_it_closes),
        UNIT_TEST(test_serve__cancels_a_call_that_comes_while_others_are_cancelled),
    };
    return UNIT_RUN("web_serve", tests);
}
