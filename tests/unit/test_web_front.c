/* SPDX-License-Identifier: MIT */
/* The rules of core/web.h for requests: heads, bodies, answers, who left, how it ends. Streams:
 * test_web_front_stream.c. */
#include "test_web_front.h"

#include "unit.h"

static void test_web_front__answers_from_within_request(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    for (int i = 0; i < 3; i++) {
        say(fd, POST("/now?a=%41&b", 5, "hello"));
        heard a = hear_answer(fd);
        CU_ASSERT(a.status == 200 && !a.closes && strcmp(a.body, "POST /now a=%41&b 5") == 0);
        CU_ASSERT(strstr(a.head, "X-Who: play\r\n") && strstr(a.head, "\r\nDate: ") &&
                  !strstr(a.head, "never"));
    }
    CU_ASSERT_STRING_EQUAL(play.last_remote, "127.0.0.1");
    close(fd);
    CU_ASSERT(web_close());
    CU_ASSERT(play.requests == 3 && play.gone == 0);
}

static void test_web_front__answers_from_another_thread(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    for (int i = 0; i < 200; i++) {
        say(fd, POST("/later", 2, "{}"));
        heard a = hear_answer(fd);
        CU_ASSERT(a.status == 200 && strcmp(a.body, "later") == 0);
    }
    close(fd);
    CU_ASSERT(web_close());
    CU_ASSERT(play.requests == 200 && play.gone == 0);
}

static void test_web_front__streams(void) {
    web_config c = web_defaults();
    char buf[256];
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/stream", 2, "{}"));
    heard a = hear_answer(fd);
    CU_ASSERT(a.status == 200 && a.chunked);
    web_exchange *x = play_held(0);
    CU_ASSERT_FATAL(x != NULL);
    CU_ASSERT(front->write(x, "data: 1\n\n", 9, false));
    hear_until(fd, "data: 1\n\n\r\n", buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "9\r\ndata: 1\n\n\r\n");
    CU_ASSERT(front->finish(x));
    hear_until(fd, "0\r\n\r\n", buf, sizeof buf);
    say(fd, POST("/now", 2, "{}"));
    CU_ASSERT(hear_answer(fd).status == 200);
    close(fd);
    CU_ASSERT(web_close());
}

static void test_web_front__tells_when_the_client_left(void) {
    web_config c = web_defaults();
    CU_ASSERT_FATAL(web_open(&c));
    int fd = dial();
    say(fd, POST("/hold", 2, "{}"));
    CU_ASSERT(play_held(0) != NULL);
    close(fd);
    CU_ASSERT(WAIT_FOR(play.done == 1));
    CU_ASSERT(play.gone == 1);
    CU_ASSERT(!play_reply(play_held(0), 200, "late", 4));
    CU_ASSERT(web_close());
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_web_front__answers_from_within_request),
        UNIT_TEST(test_web_front__answers_from_another_thread),
        UNIT_TEST(test_web_front__streams),
        UNIT_TEST(test_web_front__tells_when_the_client_left),
    };
    if (!play_begin())
        return 2;
    int result = UNIT_RUN("web_front", tests);
    play_end();
    return result;
}
