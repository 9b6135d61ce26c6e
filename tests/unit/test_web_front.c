/* SPDX-License-Identifier: MIT */
/* The rules of core/web.h for requests: what a head may be, bodies and their limits, deadlines, where it
 * listens. Answers, streams and ends are in test_web_front_answers.c. */
#include "test_web_front.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LINE "POST /now HTTP/1.1\r\n"
#define SMUGGLED "POST /now?smuggled HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"

/* ---- heads ---- */

typedef struct {
    const char *raw;
    size_t len; /* 0: strlen */
    int status;
} bad_head;

#define RAW(text)                                                                                            \
    { text, sizeof(text) - 1, 400 }

static const bad_head bad_heads[] = {
    /* where a body ends */
    RAW(LINE HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" SMUGGLED),
    RAW(LINE HOST "Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}" SMUGGLED),
    RAW(LINE HOST "Content-Length: 2\r\ncontent-length: 40\r\n\r\n{}" SMUGGLED),
    RAW(LINE HOST "Content-Length:\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 2,2\r\n\r\n{}"),
    RAW(LINE HOST "Content-Length: +2\r\n\r\n{}"),
    RAW(LINE HOST "Content-Length: 0x2\r\n\r\n{}"),
    RAW(LINE HOST "Content-Length: -2\r\n\r\n{}"),
    RAW(LINE HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding: identity\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Transfer-Encoding:\r\n\r\n" SMUGGLED),
    RAW("POST /now HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    /* where a head ends, and its lines */
    RAW(LINE HOST "Content-Length: 0\r\n: x\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 0\r\n:\r\n" SMUGGLED),
    RAW(LINE ": x\r\n" HOST "Content-Length: 0\r\n\r\n" SMUGGLED),
    RAW("GET /now HTTP/1.1\r\n" HOST ": x\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 0\r\n\0y: z\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 0\r\n\0\0z: z\r\n" SMUGGLED),
    RAW("GET /now HTTP/1.1\r\n" HOST "Content-: 2\r\n Length\r\n\r\n{}" SMUGGLED),
    RAW(LINE HOST "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X-A: b\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE " " HOST "Content-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "Content-Length: 0\r\n\n" SMUGGLED),
    RAW(LINE HOST "X-A: b\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW("POST /now HTTP/1.1\n" HOST "Content-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X-A: b\rContent-Length: 2\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X-A: a\0b\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X-A: a\0\0X-B: b\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X\0A: a\r\nContent-Length: 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X-A: a\x01z\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST "X-A: a\x7fz\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST "Content-Length : 0\r\n\r\n" SMUGGLED),
    RAW(LINE HOST "X A: b\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST "X(A): b\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST "X\xc3\xa7: b\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST "no colon\r\nContent-Length: 0\r\n\r\n"),
    /* Host */
    RAW(LINE "Content-Length: 0\r\n\r\n"),
    RAW(LINE HOST "Host: other\r\nContent-Length: 0\r\n\r\n"),
    RAW(LINE HOST HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now HTTP/1.0\r\n" HOST HOST "Content-Length: 0\r\n\r\n"),
    /* the first line */
    RAW("POST  /now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now  HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now HTTP/1.1 \r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now /x HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now\tx HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now\x01 HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now\0x HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now?a\0b HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST /now?a\x7f HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http://other/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http://localhos/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http://localhost:80/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http://a@localhost/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http:///now HTTP/1.1\r\nHost: \r\nContent-Length: 0\r\n\r\n"),
    RAW("POST http://localhost/now HTTP/1.0\r\nContent-Length: 0\r\n\r\n"),
    RAW("POST ftp://localhost/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("POST http:localhost/now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("PO(ST /now HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
    RAW("GET /now\r\n\r\n"),
    {LINE HOST "\r\n{}", 0, 411},
    {LINE HOST "\r\n" SMUGGLED, 0, 411},
    {"PUT /now HTTP/1.1\r\n" HOST "\r\n{}", 0, 411},
    {"PATCH /now HTTP/1.0\r\n\r\n{}", 0, 411},
    {"POST /now HTTP/1.2\r\n" HOST "Content-Length: 0\r\n\r\n", 0, 505},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 505},
    {LINE HOST "Content-Length: 99999999999999999999999\r\n\r\n", 0, 413},
};

static void test_web_front__refuses_heads_that_two_readers_may_read_otherwise(void) {
    web_config c = web_defaults();
    char text[4096];
    CU_ASSERT_FATAL(web_open(&c));
    for (size_t i = 0; i < sizeof bad_heads / sizeof *bad_heads; i++) {
        const bad_head *b = &bad_heads[i];
        int fd = dial();
        say_bytes(fd, b->raw, b->len ? b->len : strlen(b->raw));
        heard a = hear_answer(fd);
        hear_until(fd, NULL, text, sizeof text); /* to the end, which is there */
        unit_check(a.status == b->status && a.closes, "head %zu: %d instead of %d, %s:\n%s", i, a.status,
                   b->status, a.closes ? "closes" : "stays open", b->raw);
        unit_check(!strstr(text, "smuggled"), "head %zu: a second request was answered:\n%s", i, b->raw);
        close(fd);
    }
    CU_ASSERT(play.heads == 0);
    CU_ASSERT(web_close());
}

typedef struct {
    const char *raw, *body, *header;
    unsigned count;
} good_head;

static const good_head good_heads[] = {
    {POST("/now%00x", 0, ""), "POST /now%00x - 0", "(none)", 0},
    {POST("/now?%00&a=b&&c", 0, ""), "POST /now %00&a=b&&c 0", "(none)", 0},
    {POST("/now?", 0, ""), "POST /now  0", "(none)", 0},
    {LINE HOST "x-TEST:   a b \t \r\nX-Test: c\r\nContent-Length: 2\r\n\r\n{}", "POST /now - 2", "a b", 2},
    {LINE HOST "X-Test:\r\nContent-Length: 2\r\n\r\n{}", "POST /now - 2", "", 1},
    {LINE HOST "X-Test:  \t \r\nContent-Length: 2\r\n\r\n{}", "POST /now - 2", "", 1},
    {LINE HOST "X-Test: \xc3\xa7\t\xff\r\nContent-Length: 2\r\n\r\n{}", "POST /now - 2", "\xc3\xa7\t\xff", 1},
    {LINE HOST "X-Test: a:b: c\r\nContent-Length:2\r\nCookie: a=b; c=\"d\"\r\n\r\n{}", "POST /now - 2",
     "a:b: c", 1},
    {"\r\n" LINE HOST "Content-Length: 2\r\n\r\n{}", "POST /now - 2", "(none)", 0},
    {LINE HOST "Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n",
     "POST /now - 13", "(none)", 0},
    {"GET /now HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", "GET /now - 3", "(none)", 0},
    {GET("/now?q"), "GET /now q 0", "(none)", 0},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * - 0", "(none)", 0},
    {POST("http://localhost/now", 0, ""), "POST /now - 0", "(none)", 0},
    {POST("HTTPS://LocalHost/now/http://x?q", 0, ""), "POST /now/http://x q 0", "(none)", 0},
    {GET("http://localhost?q"), "GET / q 0", "(none)", 0},
    {"POST http://localhost/now HTTP/1.1\r\nHost: localhost \t\r\nContent-Length: 0\r\n\r\n", "POST /now - 0", "(none)", 0},
    {"M-SEARCH /now HTTP/1.1\r\n" HOST "\r\n", "M-SEARCH /now - 0", "(none)", 0},
    {"POST /now HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", "POST /now - 2", "(none)", 0},
};

static void test_web_front__gives_the_head_as_it_was_sent(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    for (size_t i = 0; i < sizeof good_heads / sizeof *good_heads; i++) {
        const good_head *g = &good_heads[i];
        heard a = ask(g->raw);
        unit_check(a.status == 200 && strcmp(a.body, g->body) == 0, "head %zu: %d '%s' instead of '%s'", i,
                   a.status, a.body, g->body);
        pthread_mutex_lock(&play.lock);
        unit_check(strcmp(play.last_header, g->header) == 0 && play.last_count == g->count,
                   "head %zu: X-Test '%s', %u times", i, play.last_header, play.last_count);
        pthread_mutex_unlock(&play.lock);
        CU_ASSERT(play_remote_was("127.0.0.1"));
    }
    CU_ASSERT(web_close());
}

/* A head of many small reads is the same head. */
static void test_web_front__reads_heads_in_pieces(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    const char *raw = LINE HOST "X-Test: a \r\nContent-Length: 5\r\n\r\nhello";
    int fd = dial();
    for (const char *at = raw; *at; at++) {
        say_bytes(fd, at, 1);
        if ((at - raw) % 7 == 0)
            pause_ms(1);
    }
    heard a = hear_answer(fd);
    CU_ASSERT(a.status == 200 && strcmp(a.body, "POST /now - 5") == 0);
    close(fd);
    CU_ASSERT(web_close());
}

static int ask_with_filler(const char *before, size_t filler, const char *after) {
    char *raw = malloc(filler + 2000);
    size_t len = (size_t)sprintf(raw, "%s", before);
    memset(raw + len, 'a', filler);
    strcpy(raw + len + filler, after);
    heard a = ask(raw);
    free(raw);
    return a.status;
}

static void test_web_front__bounds_the_head(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    const char *end = "\r\nContent-Length: 0\r\n\r\n";
    CU_ASSERT(ask_with_filler(LINE HOST "X-Test: ", 12000, end) == 200);
    CU_ASSERT(ask_with_filler(LINE HOST "X-Test: ", 40000, end) == 431);
    CU_ASSERT(ask_with_filler("POST /", 40000, " HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n") == 414);
    CU_ASSERT(web_close());
}

/* ---- connections ---- */

static void test_web_front__keeps_a_connection_only_after_bodies_of_known_length(void) {
    static const struct {
        const char *raw;
        bool closes;
    } rows[] = {
        {POST("/now", 2, "{}"), false},
        {POST("/now", 0, ""), false},
        {LINE HOST "Connection: close\r\nContent-Length: 0\r\n\r\n", true},
        {LINE HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
        {GET("/now"), true},
        {"DELETE /now HTTP/1.1\r\n" HOST "\r\n", true},
        {"OPTIONS /now HTTP/1.1\r\n" HOST "\r\n", true},
        {"HEAD /now HTTP/1.1\r\n" HOST "\r\n", true},
        {"DELETE /now HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", true},
        {GET("/head"), true},
        {GET("/later"), true},
        {POST("/head", 2, "{}"), false},
        {POST("/head", 0, ""), false},
        {"POST /now HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", true},
        {"POST /now HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}", false},
    };
    web_config c = web_defaults();
    char text[4096];
    CU_ASSERT_FATAL(web_open(&c));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int fd = dial();
        say(fd, rows[i].raw);
        say(fd, POST("/now?second", 0, ""));
        heard a = hear_answer(fd);
        hear_until(fd, rows[i].closes ? NULL : "second", text, sizeof text);
        unit_check(a.status && a.closes == rows[i].closes, "row %zu: %d, %s", i, a.status,
                   a.closes ? "closes" : "stays open");
        unit_check(!strstr(text, "second") == rows[i].closes, "row %zu: '%s'", i, text);
        close(fd);
    }
    CU_ASSERT(web_close());
}

static void test_web_front__answers_pipelined_requests_in_order(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    char text[64];
    say(fd, POST("/hold", 2, "{}") POST("/now?1", 2, "{}") POST("/later", 2, "{}") POST("/now?2", 2, "{}"));
    web_exchange *x = play_held(0);
    CU_ASSERT(hear(fd, text, sizeof text, 100) == -2); /* nothing overtakes */
    CU_ASSERT(play_reply(x, 200, "held", 4));
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "held");
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "POST /now 1 2");
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "later");
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "POST /now 2 2");
    close(fd);
    CU_ASSERT(web_close());
}

static void test_web_front__limits_connections_by_letting_them_wait(void) {
    web_config c = web_defaults();
    char text[64];
    c.connections = 2;
    CU_ASSERT_FATAL(web_open(&c));
    int first = dial(), second = dial(), third = dial(); /* the kernel completes it: the backlog */
    say(first, POST("/now", 0, ""));
    say(second, POST("/now", 0, ""));
    say(third, POST("/now", 0, ""));
    CU_ASSERT(hear_answer(first).status == 200);
    CU_ASSERT(hear_answer(second).status == 200);
    CU_ASSERT(hear(third, text, sizeof text, 200) == -2);
    close(first);
    CU_ASSERT(hear_answer(third).status == 200);
    close(second);
    close(third);
    CU_ASSERT(web_close());
}

/* ---- bodies ---- */

static void say_zeros(int fd, size_t len) {
    static const char zeros[64 << 10];
    for (size_t n; len && say_bytes(fd, zeros, n = len < sizeof zeros ? len : sizeof zeros); len -= n)
        ;
}

static heard ask_zeros(const char *path, const char *more, size_t len) {
    char head[256];
    int fd = dial();
    snprintf(head, sizeof head, "POST %s HTTP/1.1\r\n" HOST "%sContent-Length: %zu\r\n\r\n", path, more, len);
    say(fd, head);
    say_zeros(fd, len);
    heard a = hear_answer(fd);
    CU_ASSERT(!a.closes || hears_end(fd, PATIENCE_MS));
    close(fd);
    return a;
}

static void test_web_front__takes_bodies_up_to_the_limit(void) {
    web_config c = web_defaults();
    c.body_max = 8 << 20;
    CU_ASSERT_FATAL(web_open(&c));
    heard a = ask_zeros("/now", "", 8 << 20);
    CU_ASSERT(a.status == 200 && strcmp(a.body, "POST /now - 8388608") == 0);
    CU_ASSERT(play.requests == 1);
    a = ask_zeros("/now", "", (8 << 20) + 1);
    CU_ASSERT(a.status == 413 && strcmp(a.body, c.too_large_body) == 0);
    CU_ASSERT(strstr(a.head, "Content-Type: application/json\r\n") != NULL);
    CU_ASSERT(play.requests == 1);
    CU_ASSERT(web_close());
}

/* A refusal with unread bytes behind it would be lost in a reset: the client writes all, then reads. */
static void test_web_front__refusals_arrive_whole(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int late = 0, unnamed = 0, unanswered = 0;
    for (int i = 0; i < 10; i++) {
        late += ask_zeros("/now", "", 8 << 20).status == 413;
        heard a = ask_zeros("/head", "", 1 << 20);
        unnamed += a.status == 401 && strcmp(a.body, "who?") == 0 && !a.closes;
        unanswered += ask_zeros("/silent", "", 1 << 20).status == 500;
        CU_ASSERT(ask_zeros("/head", "", 8 << 20).status == 401);
    }
    CU_ASSERT(late == 10 && unnamed == 10 && unanswered == 10);
    CU_ASSERT(play.requests == 0);
    CU_ASSERT(web_close());
}

static void test_web_front__refuses_at_once_what_it_would_not_read(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT(ask(LINE HOST "Content-Length: 70000000\r\n\r\n").status == 413);
    CU_ASSERT(ask(LINE HOST "Content-Length: 1000000000000\r\n\r\n").status == 413);
    CU_ASSERT(ask("POST /head HTTP/1.1\r\n" HOST "Content-Length: 70000000\r\n\r\n").status ==
              401); /* who comes first */
    CU_ASSERT(ask(LINE HOST "Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n").status == 413);
    CU_ASSERT(
        ask("POST /head HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n").status ==
        401);
    CU_ASSERT(web_close());
}

static void test_web_front__says_continue(void) {
    web_config c = web_defaults();
    char text[256];
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, LINE HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    hear_until(fd, "\r\n\r\n", text, sizeof text);
    CU_ASSERT(strncmp(text, "HTTP/1.1 100 ", 13) == 0);
    say(fd, "hello");
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "POST /now - 5");
    close(fd);
    CU_ASSERT(web_close());
}

static void say_chunks(int fd, unsigned count) {
    char chunk[6 + 4096 + 3] = "1000\r\n";
    memset(chunk + 6, 'c', 4096);
    memcpy(chunk + 6 + 4096, "\r\n", 2);
    for (unsigned i = 0; i < count && say_bytes(fd, chunk, 6 + 4096 + 2); i++)
        ;
    say(fd, "0\r\n\r\n");
}

static heard ask_chunked(unsigned chunks) {
    int fd = dial();
    say(fd, LINE HOST "Transfer-Encoding: chunked\r\n\r\n");
    say_chunks(fd, chunks);
    heard a = hear_answer(fd);
    close(fd);
    return a;
}

static void test_web_front__limits_chunked_bodies(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT_STRING_EQUAL(ask_chunked(256).body, "POST /now - 1048576");
    CU_ASSERT(ask_chunked(257).status == 413);
    CU_ASSERT(ask_chunked(2000).status == 413); /* read to its end, 8 MB */
    CU_ASSERT(play.requests == 1 && play.accepted == 3);
    int fd = dial();
    say(fd, LINE HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n");
    CU_ASSERT(hear_answer(fd).status == 400);
    close(fd);
    CU_ASSERT(WAIT_FOR(play.done == 4));
    CU_ASSERT(web_close());
}

/* ---- deadlines ---- */

/* Sends raw a byte each 20 ms; ms until the connection ended, -1: it did not. */
static int64_t trickle(const char *raw) {
    int64_t from = ms_now();
    int fd = dial();
    bool ended = false;
    for (const char *at = raw; *at && !ended && ms_now() - from < PATIENCE_MS; at++) {
        say_bytes(fd, at, 1);
        ended = hears_end(fd, 20);
    }
    close(fd);
    return ended ? ms_now() - from : -1;
}

#define FORTY "........................................"
#define LONG FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY FORTY

static void test_web_front__deadlines_are_absolute(void) {
    web_config c = web_defaults();
    c.head_ms = c.body_ms = c.idle_ms = 300;
    CU_ASSERT_FATAL(web_open(&c));
    int64_t line = trickle("POST /" LONG), head = trickle(LINE HOST "X-A: " LONG),
            body = trickle(LINE HOST "Content-Length: 600\r\n\r\n" LONG);
    printf("(line %d, head %d, body %d ms of 300) ", (int)line, (int)head, (int)body);
    CU_ASSERT(line >= 290 && line < 5000);
    CU_ASSERT(head >= 290 && head < 5000);
    CU_ASSERT(body >= 290 && body < 5000);
    int fd = dial();
    say(fd, POST("/now", 0, ""));
    CU_ASSERT(hear_answer(fd).status == 200);
    int64_t from = ms_now();
    CU_ASSERT(hears_end(fd, PATIENCE_MS) && ms_now() - from >= 200);
    close(fd);
    fd = dial(); /* what the handler has may take longer than all of them */
    say(fd, POST("/hold", 0, ""));
    CU_ASSERT(!hears_end(fd, 900));
    CU_ASSERT(play_reply(play_held(0), 200, "held", 4));
    CU_ASSERT_STRING_EQUAL(hear_answer(fd).body, "held");
    close(fd);
    CU_ASSERT(web_close());
}

/* ---- where it listens ---- */

static void test_web_front__says_why_it_cannot_listen(void) {
    static const char *const wrong[] = {"",
                                        "8717",
                                        ":8717",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:x",
                                        "1.2.3:80",
                                        "[::1]",
                                        "[::1]:65536",
                                        "[::1:80",
                                        "::1:80",
                                        "[127.0.0.1]:1",
                                        "unix:",
                                        "unix:/no/such/folder/s",
                                        "host.example:80",
                                        "127.0.0.1:99999999999999999999",
                                        "127.0.0.1:-1",
                                        "127.0.0.1: 80"};
    web_config c = web_defaults();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        c.listen = wrong[i];
        bool opened = web_open(&c);
        unit_check(!opened && strlen(web_why) > 20, "'%s' was taken, or no reason given: '%s'", wrong[i],
                   web_why);
        if (opened)
            web_close();
    }
    c.listen = "127.0.0.1:0";
    CU_ASSERT_FATAL(web_open(&c));
    web_server *first = web;
    c.listen = front->address(first);
    CU_ASSERT(!web_open(&c) && strstr(web_why, "another program has that port"));
    web = first;
    CU_ASSERT(web_close());
}

static void test_web_front__listens_on_ipv6(void) {
    web_config c = web_defaults();
    c.listen = "[::1]:0";
    if (!web_open(&c)) {
        printf("(no IPv6 here: %s) ", web_why);
        return;
    }
    CU_ASSERT(strncmp(front->address(web), "[::1]:", 6) == 0 && strcmp(front->address(web), "[::1]:0") != 0);
    CU_ASSERT(ask(POST("/now", 0, "")).status == 200);
    CU_ASSERT(play_remote_was("::1"));
    CU_ASSERT(web_close());
}

static void test_web_front__listens_on_unix_sockets(void) {
    char path[64], where[80];
    struct stat st;
    web_config c = web_defaults();
    snprintf(path, sizeof path, "/tmp/lastro-test-%d.sock", (int)getpid());
    snprintf(where, sizeof where, "unix:%s", path);
    c.listen = where;
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT_STRING_EQUAL(front->address(web), where);
    CU_ASSERT(ask(POST("/now", 0, "")).status == 200 && ask(POST("/later", 0, "")).status == 200);
    CU_ASSERT(play_remote_was(""));
    int fd = dial();
    say(fd, POST("/hold", 0, ""));
    CU_ASSERT(play_held(0) != NULL);
    close(fd);
    CU_ASSERT(WAIT_FOR(play.gone == 1 && play.done == 3));
    web_server *first = web;
    CU_ASSERT(!web_open(&c) && strstr(web_why, "another program listens there"));
    web = first;
    play.accepted = play.done = 0;
    CU_ASSERT(web_close());
    CU_ASSERT(stat(path, &st) != 0);
    int dead = socket(AF_UNIX, SOCK_STREAM, 0); /* a server that died left its file */
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    memcpy(un.sun_path, path, strlen(path) + 1);
    CU_ASSERT(bind(dead, (struct sockaddr *)&un, sizeof un) == 0);
    close(dead);
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT(ask(POST("/now", 0, "")).status == 200);
    CU_ASSERT(web_close());
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    CU_ASSERT(!web_open(&c) && strstr(web_why, "no socket"));
    CU_ASSERT(stat(path, &st) == 0);
    unlink(path);
}

/* Descriptor 3 was kept free for this. */
static void test_web_front__takes_an_inherited_socket_and_leaves_it_listening(void) {
    web_config c = web_defaults();
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char pid[16];
    c.listen = NULL;
    CU_ASSERT(!web_open(&c) && strstr(web_why, "LISTEN_FDS"));
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(bind(listening, (struct sockaddr *)&in, sizeof in) == 0 && listen(listening, 8) == 0);
    dup2(listening, 3);
    setenv("LISTEN_FDS", "1", 1);
    setenv("LISTEN_PID", "1", 1);
    CU_ASSERT(!web_open(&c));
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "2", 1);
    CU_ASSERT(!web_open(&c) && strstr(web_why, "exactly one"));
    setenv("LISTEN_FDS", "1", 1);
    CU_ASSERT_FATAL(web_open(&c));
    CU_ASSERT(strncmp(front->address(web), "127.0.0.1:", 10) == 0);
    CU_ASSERT(ask(POST("/now", 0, "")).status == 200);
    front->drain(web);
    int fd = dial(); /* waits for a successor */
    CU_ASSERT(fd >= 0);
    CU_ASSERT(web_close());
    CU_ASSERT(!hears_end(fd, 50));
    int taken = accept(listening, NULL, NULL);
    CU_ASSERT(taken >= 0);
    close(taken);
    close(fd);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, 3);
    close(null);
    CU_ASSERT(!web_open(&c) && strstr(web_why, "no listening"));
    close(listening);
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_web_front__refuses_heads_that_two_readers_may_read_otherwise),
        UNIT_TEST(test_web_front__gives_the_head_as_it_was_sent),
        UNIT_TEST(test_web_front__reads_heads_in_pieces),
        UNIT_TEST(test_web_front__bounds_the_head),
        UNIT_TEST(test_web_front__keeps_a_connection_only_after_bodies_of_known_length),
        UNIT_TEST(test_web_front__answers_pipelined_requests_in_order),
        UNIT_TEST(test_web_front__limits_connections_by_letting_them_wait),
        UNIT_TEST(test_web_front__takes_bodies_up_to_the_limit),
        UNIT_TEST(test_web_front__refusals_arrive_whole),
        UNIT_TEST(test_web_front__refuses_at_once_what_it_would_not_read),
        UNIT_TEST(test_web_front__says_continue),
        UNIT_TEST(test_web_front__limits_chunked_bodies),
        UNIT_TEST(test_web_front__deadlines_are_absolute),
        UNIT_TEST(test_web_front__says_why_it_cannot_listen),
        UNIT_TEST(test_web_front__listens_on_ipv6),
        UNIT_TEST(test_web_front__listens_on_unix_sockets),
        UNIT_TEST(test_web_front__takes_an_inherited_socket_and_leaves_it_listening),
    };
    if (fcntl(3, F_GETFD) < 0)
        dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 3);
    if (!play_begin())
        return 2;
    int result = UNIT_RUN("web_front", tests);
    play_end();
    return result;
}
