/* SPDX-License-Identifier: MIT */
/* The rules of core/web.h for answers: from which thread, streams, who left, who reads too slowly, how it
 * ends. Requests are in test_web_front.c. */
#include "test_web_front.h"

#include "unit.h"

#include <dirent.h>
#include <sys/resource.h>

/* ---- answering ---- */

static void test_web_front__answers_from_any_thread(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial(), ok = 0;
    for (int i = 0; i < 500; i++) {
        say(fd, i % 2 ? POST("/later", 2, "{}") : POST("/now", 2, "{}"));
        heard a = hear_answer(fd);
        ok += a.status == 200 && strcmp(a.body, i % 2 ? "later" : "POST /now - 2") == 0;
    }
    CU_ASSERT(ok == 500);
    close(fd);
    CU_ASSERT(web_close());
    CU_ASSERT(play.requests == 500 && play.gone == 0);
}

static void test_web_front__connection_date_and_length_are_its_own(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    heard a = ask(POST("/now", 2, "{}"));
    CU_ASSERT(strstr(a.head, "\r\nX-Who: play\r\n") && strstr(a.head, "\r\nContent-Type: text/plain\r\n"));
    CU_ASSERT(strstr(a.head, "\r\nDate: ") && strstr(a.head, "\r\nContent-Length: 13\r\n") &&
              !strstr(a.head, "never"));
    CU_ASSERT(web_close());
}

static void test_web_front__a_header_that_cannot_be_one_is_never_sent(void) {
    web_config c = web_defaults();
    const web_header split[] = {{"X-A", "a\r\nX-B: b"}};
    web_answer a = {200, split, 1, "x", 1};
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    CU_ASSERT(!front->reply(play_held(0), &a));
    CU_ASSERT(hear_answer(fd).status == 0);
    close(fd);
    CU_ASSERT(web_close());
}

static void test_web_front__an_answered_exchange_takes_no_second_answer(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    web_exchange *x = play_held(0);
    CU_ASSERT(!front->write(x, "x", 1, false) && !front->finish(x)); /* no stream yet */
    CU_ASSERT(play_reply(x, 200, "one", 3));
    CU_ASSERT(!play_reply(x, 200, "two", 3) && !play_stream(x) && !front->write(x, "x", 1, false) &&
              !front->finish(x));
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "one");
    CU_ASSERT(WAIT_FOR(play.done == 1));
    CU_ASSERT(!play_reply(x, 200, "two", 3)); /* retained: it may still be asked */
    close(fd);
    front->close(web);
    CU_ASSERT(!play_reply(x, 200, "two", 3) && !play_stream(x) && !front->write(x, "x", 1, true) &&
              !front->finish(x));
    front->abort(x);
    play_let_go();
    CU_ASSERT(play.gone == 0 && play.wrong == 0);
}

static void test_web_front__cuts_what_is_aborted(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/abort", 2, "{}"));
    CU_ASSERT(hear_answer(fd).status == 0);
    close(fd);
    fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    front->abort(play_held(0));
    CU_ASSERT(hear_answer(fd).status == 0);
    close(fd);
    fd = dial();
    say(fd, POST("/stream", 2, "{}"));
    web_exchange *x = play_held(1);
    CU_ASSERT(hear_answer(fd).status == 200);
    front->abort(x);
    char text[64];
    CU_ASSERT(hear_until(fd, NULL, text, sizeof text) ==
              0); /* no last chunk: the client sees that it is cut */
    CU_ASSERT(!front->write(x, "x", 1, false) && !front->finish(x));
    close(fd);
    CU_ASSERT(WAIT_FOR(play.done == 3));
    CU_ASSERT(play.gone == 0); /* the handler knows */
    CU_ASSERT(web_close());
}

/* ---- streams ---- */

static void test_web_front__each_write_leaves_at_once(void) {
    web_config c = web_defaults();
    char text[256], event[64], want[128];
    int64_t slowest = 0;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/stream", 2, "{}"));
    heard a = hear_answer(fd);
    CU_ASSERT(a.status == 200 && a.chunked &&
              strstr(a.head, "text/event-stream")); /* the head, before any byte */
    web_exchange *x = play_held(0);
    for (int i = 0; i < 50; i++) {
        int len = snprintf(event, sizeof event, "data: %d\n\n", i);
        snprintf(want, sizeof want, "%X\r\n%s\r\n", (unsigned)len, event);
        if (i % 10 == 0)
            pause_ms(20);
        int64_t from = ms_now();
        CU_ASSERT(front->write(x, event, (size_t)len, i % 2));
        hear_until(fd, "\n\n\r\n", text, sizeof text); /* before the next is written */
        unit_check(strcmp(text, want) == 0, "event %d: '%s'", i, text);
        slowest = ms_now() - from > slowest ? ms_now() - from : slowest;
    }
    printf("(slowest of 50: %d ms) ", (int)slowest);
    CU_ASSERT(slowest < 1000);
    CU_ASSERT(front->write(x, "", 0, false));
    CU_ASSERT(front->finish(x) && !front->finish(x) && !front->write(x, "x", 1, false));
    hear_until(fd, "0\r\n\r\n", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "0\r\n\r\n");
    say(fd, POST("/now", 2, "{}")); /* the connection stays usable */
    CU_ASSERT(hear_answer(fd).status == 200);
    close(fd);
    CU_ASSERT(web_close());
    CU_ASSERT(play.gone == 0);
}

static void test_web_front__streams_to_get_and_to_old_clients(void) {
    web_config c = web_defaults();
    char text[256];
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, GET("/stream"));
    heard a = hear_answer(fd);
    CU_ASSERT(a.status == 200 && a.chunked && a.closes);
    CU_ASSERT(front->write(play_held(0), "one", 3, false) && front->finish(play_held(0)));
    hear_until(fd, NULL, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "3\r\none\r\n0\r\n\r\n");
    close(fd);
    fd = dial();
    say(fd, "GET /stream HTTP/1.0\r\n\r\n");
    a = hear_answer(fd);
    CU_ASSERT(a.status == 200 && !a.chunked && a.closes);
    CU_ASSERT(front->write(play_held(1), "one", 3, false) && front->write(play_held(1), "two", 3, false));
    CU_ASSERT(front->finish(play_held(1)));
    hear_until(fd, NULL, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "onetwo");
    close(fd);
    CU_ASSERT(web_close());
}

static void test_web_front__begins_a_stream_with_its_first_part(void) {
    web_config c = web_defaults();
    char text[256];
    web_answer first = {200, NULL, 0, "first", 5};
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    CU_ASSERT(front->stream(play_held(0), &first)); /* from another thread */
    CU_ASSERT(hear_answer(fd).chunked);
    hear_until(fd, "first\r\n", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "5\r\nfirst\r\n");
    CU_ASSERT(front->finish(play_held(0)));
    hear_until(fd, "0\r\n\r\n", text, sizeof text);
    close(fd);
    CU_ASSERT(web_close());
}

static void test_web_front__says_something_when_a_stream_is_quiet(void) {
    web_config c = web_defaults();
    char text[256];
    c.keepalive_ms = 200;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/stream", 2, "{}"));
    hear_answer(fd);
    int64_t from = ms_now();
    for (int i = 0; i < 3; i++) {
        hear_until(fd, "\n\n\r\n", text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, "9\r\n: quiet\n\n\r\n");
    }
    CU_ASSERT(ms_now() - from >= 500);
    close(fd);
    CU_ASSERT(WAIT_FOR(play.gone == 1));
    fd = dial(); /* but not while a whole answer is awaited */
    say(fd, POST("/hold", 2, "{}"));
    CU_ASSERT(hear(fd, text, sizeof text, 500) == -2);
    close(fd);
    CU_ASSERT(web_close());
}

/* ---- who left ---- */

typedef enum { FIN, HALF, RESET } way;

static void leave(int fd, way how) {
    struct linger now = {1, 0};
    if (how == RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (how == HALF)
        shutdown(fd, SHUT_WR);
    else
        close(fd);
}

static void test_web_front__tells_at_once_who_left(void) {
    static const char *const asked[] = {POST("/hold", 2, "{}"), GET("/hold"), POST("/stream", 2, "{}"),
                                        GET("/stream"), POST("/hold", 2, "{}") POST("/now", 2, "{}")};
    web_config c = web_defaults();
    int64_t slowest = 0;
    int rounds = 0;
    CU_ASSERT_FATAL(web_open(&c));
    for (way how = FIN; how <= RESET; how++)
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            int fd = dial();
            say(fd, asked[i]);
            web_exchange *x = play_held((unsigned)rounds++);
            pause_ms(5);
            int64_t from = ms_now();
            leave(fd, how);
            CU_ASSERT(WAIT_FOR(play.gone == rounds && play.done == rounds));
            slowest = ms_now() - from > slowest ? ms_now() - from : slowest;
            CU_ASSERT(!play_reply(x, 200, "late", 4) && !front->write(x, "late", 4, true) &&
                      !front->finish(x));
            if (how == HALF)
                close(fd);
        }
    printf("(slowest of %d: %d ms) ", rounds, (int)slowest);
    CU_ASSERT(slowest < 2000);
    CU_ASSERT(web_close());
}

/* `printf … | nc -N` and other simple clients: what is answered on the spot is answered to them too. */
static void test_web_front__answers_who_only_stopped_sending(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    for (int i = 0; i < 20; i++) {
        int fd = dial();
        say(fd, i % 2 ? GET("/now") : POST("/now", 2, "{}"));
        leave(fd, HALF);
        CU_ASSERT(hear_answer(fd).status == 200);
        close(fd);
    }
    CU_ASSERT(web_close());
    CU_ASSERT(play.gone == 0);
}

/* Nor has it left when its whole answer is on the way and it only stops sending. */
static void test_web_front__sends_the_rest_to_who_stopped_sending(void) {
    web_config c = web_defaults();
    char text[64 << 10];
    size_t got = 0;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    CU_ASSERT(play_reply(play_held(0), 200, big_body, sizeof big_body));
    got = (size_t)hear(fd, text, 100, PATIENCE_MS);
    leave(fd, HALF);
    pause_ms(50);
    for (ssize_t n; got < sizeof big_body && (n = hear(fd, text, sizeof text, PATIENCE_MS)) > 0;)
        got += (size_t)n;
    CU_ASSERT(got >= sizeof big_body);
    CU_ASSERT(WAIT_FOR(play.done == 1) && play.gone == 0);
    close(fd);
    CU_ASSERT(web_close());
}

/* The end of the connection comes before, while or after its request is looked at and answered. */
static void test_web_front__survives_clients_that_leave_at_any_moment(void) {
    static const char *const asked[] = {POST("/later", 2, "{}"),
                                        POST("/now", 2, "{}"),
                                        POST("/stream", 2, "{}"),
                                        POST("/hold", 2, "{}"),
                                        GET("/later"),
                                        POST("/head", 4, "{}"),
                                        POST("/later", 2, "{}") POST("/later", 2, "{}")};
    enum { ROUNDS = 700 };
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    for (int i = 0; i < ROUNDS; i++) {
        char text[64];
        int fd = dial();
        say(fd, asked[i % 7]);
        if (i % 3 == 1)
            hear(fd, text, sizeof text, 1);
        leave(fd, i % 2 ? RESET : FIN);
    }
    CU_ASSERT(WAIT_FOR(play.done == play.accepted && front->open_exchanges(web) == 0));
    CU_ASSERT(ask(POST("/now", 2, "{}")).status == 200);
    printf("(%d of %d left before the answer) ", play.gone, play.accepted);
    CU_ASSERT(web_close());
}

/* libmicrohttpd misses an end that comes in one event with the bytes before it, so here both come while the
 * only I/O thread is busy. */
static void test_web_front__tells_who_left_in_mid_request(void) {
    static const char *const begun[] = {"POST /now HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel",
                                        "POST /head HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel",
                                        "POST /now HTTP/1.1\r\nHo", "POS"};
    web_config c = web_defaults();
    c.io_threads = 1;
    CU_ASSERT_FATAL(web_open(&c));
    for (int i = 0; i < 12; i++) {
        int busy = dial(), fd = dial();
        say(fd, POST("/now", 0, ""));
        hear_answer(fd);
        say(busy, POST("/sleep", 0, ""));
        pause_ms(20);
        say(fd, begun[i % 4]);
        leave(fd, (way)(i / 4));
        hear_answer(busy);
        if (i / 4 == HALF) {
            CU_ASSERT(hears_end(fd, 2000));
            close(fd);
        }
        close(busy);
    }
    int64_t from = ms_now();
    CU_ASSERT(WAIT_FOR(front->open_exchanges(web) == 0) && ms_now() - from < 2000);
    printf("(last after %d ms) ", (int)(ms_now() - from));
    CU_ASSERT(play.gone == play.accepted - 24);
    CU_ASSERT(web_close());
}

/* SIGPIPE is not ignored here: a module that let it out would end this program. */
static void test_web_front__survives_clients_that_leave_in_mid_answer(void) {
    web_config c = web_defaults();
    char text[1024];
    CU_ASSERT_FATAL(web_open(&c));
    for (int i = 0; i < 20; i++) {
        int fd = dial();
        say(fd, POST("/big", 2, "{}"));
        CU_ASSERT(hear(fd, text, sizeof text, PATIENCE_MS) > 0);
        leave(fd, i % 2 ? RESET : FIN);
    }
    CU_ASSERT(WAIT_FOR(play.gone == 20 && play.done == 20));
    CU_ASSERT(ask(POST("/now", 2, "{}")).status == 200);
    CU_ASSERT(web_close());
}

/* ---- who reads too slowly ---- */

static int dial_small(void) {
    int fd = socket(web_at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(fd, (struct sockaddr *)&web_at, web_at_len))
        return -1;
    return fd;
}

static void test_web_front__cuts_who_reads_no_answer(void) {
    web_config c = web_defaults();
    c.stall_ms = 400;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial_small();
    int64_t from = ms_now();
    say(fd, POST("/big", 2, "{}"));
    CU_ASSERT(WAIT_FOR(play.gone == 1 && play.done == 1));
    printf("(after %d ms) ", (int)(ms_now() - from));
    CU_ASSERT(ms_now() - from >= 400);
    close(fd);
    CU_ASSERT(web_close());
}

/* It takes longer than stall_ms in all, but it reads. */
static void test_web_front__bears_who_reads_slowly(void) {
    web_config c = web_defaults();
    char text[64 << 10];
    size_t got = 0;
    c.stall_ms = 600;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    int64_t from = ms_now(), end = from + PATIENCE_MS;
    say(fd, POST("/big", 2, "{}"));
    while (got < sizeof big_body && ms_now() < end) {
        ssize_t n = hear(fd, text, sizeof text, PATIENCE_MS);
        if (n <= 0)
            break;
        got += (size_t)n;
        pause_ms(10);
    }
    CU_ASSERT(got >= sizeof big_body && play.gone == 0 && ms_now() - from > 600);
    close(fd);
    CU_ASSERT(web_close());
}

static void *read_later(void *arg) {
    char text[64 << 10];
    pause_ms(300);
    while (hear(*(int *)arg, text, sizeof text, 500) > 0)
        ;
    return NULL;
}

static void test_web_front__bounds_what_waits_on_a_stream(void) {
    web_config c = web_defaults();
    enum { PIECE = 64 << 10 };
    c.stall_ms = 1000;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial_small(), pieces = 0;
    say(fd, POST("/stream", 2, "{}"));
    web_exchange *x = play_held(0);
    while (front->write(x, big_body, PIECE, false) && pieces < 1000)
        pieces++;
    CU_ASSERT(pieces >= 3 && pieces < 1000); /* what the queue and the kernel took */
    CU_ASSERT(WAIT_FOR(play.gone == 1 && play.done == 1));
    close(fd);

    fd = dial_small(); /* one piece may be larger than the queue, the next must wait */
    say(fd, POST("/stream", 2, "{}"));
    x = play_held(1);
    CU_ASSERT(front->write(x, big_body, sizeof big_body, false));
    int64_t from = ms_now();
    CU_ASSERT(!front->write(x, "next", 4, true));
    CU_ASSERT(ms_now() - from >= 900 && ms_now() - from < 4000);
    CU_ASSERT(WAIT_FOR(play.gone == 2 && play.done == 2));
    close(fd);

    fd = dial(); /* who reads makes room */
    say(fd, POST("/stream", 2, "{}"));
    x = play_held(2);
    pthread_t reader;
    pthread_create(&reader, NULL, read_later, &fd);
    for (pieces = 0; pieces < 200 && front->write(x, big_body, PIECE, true); pieces++)
        ;
    CU_ASSERT(pieces == 200 && front->finish(x));
    pthread_join(reader, NULL);
    CU_ASSERT(WAIT_FOR(play.done == 3) && play.gone == 2);
    close(fd);
    CU_ASSERT(web_close());
}

/* Nobody writes, yet bytes wait: the watcher sees it. */
static void test_web_front__cuts_who_leaves_a_stream_unread(void) {
    web_config c = web_defaults();
    c.stall_ms = 400;
    c.queue_max = sizeof big_body;
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial_small();
    say(fd, POST("/stream", 2, "{}"));
    CU_ASSERT(front->write(play_held(0), big_body, sizeof big_body, false));
    CU_ASSERT(WAIT_FOR(play.gone == 1 && play.done == 1));
    close(fd);
    CU_ASSERT(web_close());
}

/* ---- many ---- */

static long resident_kib(void) {
    long pages = 0, rss = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%ld %ld", &pages, &rss) != 2)
        rss = 0;
    if (f)
        fclose(f);
    return rss * sysconf(_SC_PAGESIZE) / 1024;
}

static void test_web_front__holds_a_thousand_idle_streams(void) {
    enum { STREAMS = 1000 };
    static int fds[STREAMS];
    web_config c = web_defaults();
    char text[64];
    int opened = 0, heads = 0, told = 0;
    struct rlimit l = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &l);
    CU_ASSERT_FATAL(web_open(&c));
    ask(POST("/now", 2, "{}"));
    long before = resident_kib();
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = dial();
        opened += fds[i] >= 0 && say(fds[i], GET("/stream"));
        heads += hear_answer(fds[i]).status == 200;
    }
    CU_ASSERT(opened == STREAMS && heads == STREAMS && play_held(STREAMS - 1) != NULL);
    pause_ms(50);
    long each = (resident_kib() - before) * 1024 / STREAMS;
    int64_t from = ms_now();
    for (unsigned i = 0; i < STREAMS; i++)
        told += front->write(play_held(i), "data: to all\n\n", 14, false);
    CU_ASSERT(told == STREAMS);
    for (int i = 0; i < STREAMS; i++) {
        hear_until(fds[i], "to all\n\n\r\n", text, sizeof text);
        bool ok = strcmp(text, "E\r\ndata: to all\n\n\r\n") == 0;
        unit_check(ok, "stream %d: '%s', gone %d", i, text, play.gone);
        told -= ok;
    }
    printf("(%ld bytes resident each; a write to all in %d ms) ", each, (int)(ms_now() - from));
    CU_ASSERT(told == 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CU_ASSERT(each < 16 << 10);
#endif
    for (int i = 0; i < STREAMS; i++)
        close(fds[i]);
    CU_ASSERT(WAIT_FOR(play.gone == STREAMS && play.done == STREAMS + 1));
    CU_ASSERT(web_close());
}

/* ---- the end ---- */

static void test_web_front__drains(void) {
    web_config c = web_defaults();
    char text[256];
    CU_ASSERT_FATAL(web_open(&c));
    int held = dial(), streamed = dial(), idle = dial(), sending = dial();
    say(held, POST("/hold", 2, "{}"));
    play_held(0);
    say(streamed, POST("/stream", 2, "{}"));
    hear_answer(streamed);
    say(idle, POST("/now", 2, "{}"));
    CU_ASSERT(hear_answer(idle).status == 200);
    say(sending, "POST /now HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel");
    CU_ASSERT(WAIT_FOR(play.accepted == 4));
    front->drain(web);
    front->drain(web);
    CU_ASSERT(dial() < 0 && errno == ECONNREFUSED); /* refused, not left waiting */
    say(idle, POST("/now", 2, "{}"));
    heard a = hear_answer(idle);
    CU_ASSERT(a.status == 503 && a.closes && strcmp(a.body, c.busy_body) == 0);
    say(sending, "lo"); /* what runs goes on */
    CU_ASSERT(hear_answer(sending).status == 200);
    CU_ASSERT(play_reply(play_held(0), 200, "held", 4));
    a = hear_answer(held);
    CU_ASSERT(a.closes && strcmp(a.body, "held") == 0); /* but is the last on its connection */
    CU_ASSERT(front->write(play_held(1), "bye", 3, false) && front->finish(play_held(1)));
    hear_until(streamed, "0\r\n\r\n", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "3\r\nbye\r\n0\r\n\r\n");
    CU_ASSERT(WAIT_FOR(front->open_exchanges(web) == 0));
    CU_ASSERT(play.gone == 0);
    close(held), close(streamed), close(idle), close(sending);
    CU_ASSERT(web_close());
}

static void test_web_front__closes_whatever_is_open(void) {
    static const char *const asked[] = {POST("/hold", 2, "{}"),
                                        POST("/stream", 2, "{}"),
                                        GET("/stream"),
                                        "POST /now HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel",
                                        "POST /now HTTP/1.1\r\nHo",
                                        "POST /head HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhel",
                                        POST("/now", 2, "{}"),
                                        POST("/hold", 2, "{}") POST("/now", 2, "{}"),
                                        ""};
    enum { KINDS = sizeof asked / sizeof *asked, EACH = 20 };
    web_config c = web_defaults();
    int fds[KINDS * EACH], ended = 0;
    CU_ASSERT_FATAL(web_open(&c));
    for (int i = 0; i < KINDS * EACH; i++) {
        fds[i] = dial();
        say(fds[i], asked[i % KINDS]);
    }
    play_held(4 * EACH - 1);
    CU_ASSERT(WAIT_FOR(play.accepted == 6 * EACH && play.heads == 7 * EACH));
    int64_t from = ms_now();
    CU_ASSERT(web_close());
    CU_ASSERT(play.gone == 5 * EACH);
    CU_ASSERT(ms_now() - from < 5000);
    for (int i = 0; i < KINDS * EACH; i++) {
        ended += hears_end(fds[i], 1000);
        close(fds[i]);
    }
    CU_ASSERT(ended == KINDS * EACH);
}

/* While clients come and ask and workers answer, the server ends: nothing may hang, or be told twice or not
 * at all. */
static atomic_bool storm_over;
static void *storm(void *arg) {
    char text[256];
    while (!storm_over) {
        int fd = dial();
        if (fd < 0)
            break;
        say(fd, POST("/later", 2, "{}") POST("/stream", 2, "{}") POST("/now", 2, "{}"));
        hear(fd, text, sizeof text, 2);
        close(fd);
    }
    return arg;
}

static void test_web_front__closes_under_load(void) {
    for (int round = 0; round < 20; round++) {
        web_config c = web_defaults();
        pthread_t clients[3];
        CU_ASSERT_FATAL(web_open(&c));
        storm_over = false;
        for (int i = 0; i < 3; i++)
            pthread_create(&clients[i], NULL, storm, NULL);
        WAIT_FOR(play.requests > 20);
        if (round % 2)
            front->drain(web);
        CU_ASSERT(web_close());
        storm_over = true;
        for (int i = 0; i < 3; i++)
            pthread_join(clients[i], NULL);
    }
}

/* Those of the module's threads that block HUP, INT, QUIT, PIPE, ALRM and TERM. */
static int threads_that_block(void) {
    int blocking = 0;
    char path[300], line[256];
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        unsigned long long blocked = 0;
        char name[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
            if (sscanf(line, "Name: %63s", name) != 1)
                sscanf(line, "SigBlk: %llx", &blocked);
        if (f)
            fclose(f);
        bool ours = strncmp(name, "MHD-", 4) == 0 || strcmp(name, "lastro-web") == 0;
        blocking += ours && (blocked & 0x7007) == 0x7007;
    }
    closedir(tasks);
    return blocking;
}

/* A signal of the host must reach the host. Names are given a moment after the start. */
static void test_web_front__threads_block_every_signal(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT(WAIT_FOR(threads_that_block() == 3));
    CU_ASSERT(web_close());
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_web_front__answers_from_any_thread),
        UNIT_TEST(test_web_front__connection_date_and_length_are_its_own),
        UNIT_TEST(test_web_front__a_header_that_cannot_be_one_is_never_sent),
        UNIT_TEST(test_web_front__an_answered_exchange_takes_no_second_answer),
        UNIT_TEST(test_web_front__cuts_what_is_aborted),
        UNIT_TEST(test_web_front__each_write_leaves_at_once),
        UNIT_TEST(test_web_front__streams_to_get_and_to_old_clients),
        UNIT_TEST(test_web_front__begins_a_stream_with_its_first_part),
        UNIT_TEST(test_web_front__says_something_when_a_stream_is_quiet),
        UNIT_TEST(test_web_front__tells_at_once_who_left),
        UNIT_TEST(test_web_front__answers_who_only_stopped_sending),
        UNIT_TEST(test_web_front__sends_the_rest_to_who_stopped_sending),
        UNIT_TEST(test_web_front__survives_clients_that_leave_at_any_moment),
        UNIT_TEST(test_web_front__tells_who_left_in_mid_request),
        UNIT_TEST(test_web_front__survives_clients_that_leave_in_mid_answer),
        UNIT_TEST(test_web_front__cuts_who_reads_no_answer),
        UNIT_TEST(test_web_front__bears_who_reads_slowly),
        UNIT_TEST(test_web_front__bounds_what_waits_on_a_stream),
        UNIT_TEST(test_web_front__cuts_who_leaves_a_stream_unread),
        UNIT_TEST(test_web_front__holds_a_thousand_idle_streams),
        UNIT_TEST(test_web_front__drains),
        UNIT_TEST(test_web_front__closes_whatever_is_open),
        UNIT_TEST(test_web_front__closes_under_load),
        UNIT_TEST(test_web_front__threads_block_every_signal),
    };
    if (!play_begin())
        return 2;
    int result = UNIT_RUN("web_front_answers", tests);
    play_end();
    return result;
}
