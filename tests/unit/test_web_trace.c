/* SPDX-License-Identifier: MIT */
/* The trace of a request over HTTP: of its headers, unless its message says one. */
#include "test_web.h"

#include <fcntl.h>

#define OF_HEADER "0af7651916cd43dd8448eb211c80319c"
#define OF_META "11111111111111111111111111111111"
#define HEADER "traceparent: 00-" OF_HEADER "-b7ad6b7169203331-01\n"

/* What went to standard error while that was asked. */
static const char *logged(const char *headers, const char *body) {
    static char text[65536];
    int fds[2], real = dup(STDERR_FILENO);
    CU_ASSERT_EQUAL_FATAL(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    dup2(fds[1], STDERR_FILENO);
    web_exchange *x = web_post(headers, body);
    CU_ASSERT(web_wait_whole(x));
    dup2(real, STDERR_FILENO);
    close(real);
    close(fds[1]);
    ssize_t n = read(fds[0], text, sizeof text - 1);
    close(fds[0]);
    text[n > 0 ? n : 0] = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "a line"));
    return text;
}

static void test_web_trace__the_header_serves_both_eras(void) {
    web_start();
    const char *mine = web_session();
    CU_ASSERT_PTR_NOT_NULL(strstr(logged(MODERN_CALL "talk\n" HEADER, CALL("1", "talk", "", "," META)), "[trace " OF_HEADER "]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(logged(web_text("%s" HEADER, mine), CALL("2", "talk", "", "")), "[trace " OF_HEADER "]"));
    CU_ASSERT_PTR_NULL(strstr(logged(MODERN_CALL "talk\n", CALL("3", "talk", "", "," META)), "trace"));
    CU_ASSERT_PTR_NULL(strstr(logged(MODERN_CALL "talk\ntraceparent: 00-bad\n", CALL("4", "talk", "", "," META)), "trace"));
    web_finish();
}

static void test_web_trace__the_message_comes_first(void) {
    web_start();
    const char *lines = logged(web_text("%s" HEADER, web_session()),
                               CALL("1", "talk", "", ",'_meta':{'traceparent':'00-" OF_META "-2222222222222222-00'}"));
    CU_ASSERT(strstr(lines, "[trace " OF_META "]") && !strstr(lines, OF_HEADER));
    web_finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_web_trace__the_header_serves_both_eras),
        UNIT_TEST(test_web_trace__the_message_comes_first),
    };
    return UNIT_RUN("web_trace", tests);
}
