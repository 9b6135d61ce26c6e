/* SPDX-License-Identifier: MIT */
/* The program on its pipes, where no function can be called: lengths of lines, a client that does not read, the end. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    pid_t pid;
    int in, out; /* what it reads, what it writes */
} program;

static char manifest_path[] = "/tmp/lastro-test-XXXXXX";

static void start(program *p) {
    int in[2], out[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(in, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(out, O_CLOEXEC), 0);
    p->pid = fork();
    if (p->pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(LASTRO_BINARY_DIR "/lastro", "lastro", "--manifest", manifest_path, (char *)NULL);
        _exit(127);
    }
    CU_ASSERT_FATAL(p->pid > 0);
    close(in[0]);
    close(out[1]);
    p->in = in[1];
    p->out = out[0];
}
static void say(program *p, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(p->in, text, len);
        CU_ASSERT_FATAL(n > 0);
        text += n;
        len -= (size_t)n;
    }
}
#define SAY(p, text) say((p), (text), strlen(text))

/* One line, waited for up to 20 seconds (sanitizers are slow); false: none. */
static bool hear(program *p, char *line, size_t size) {
    size_t len = 0;
    for (;;) {
        struct pollfd fd = {.fd = p->out, .events = POLLIN};
        char c;
        if (poll(&fd, 1, 20000) <= 0 || read(p->out, &c, 1) != 1)
            return false;
        if (c == '\n')
            break;
        if (len + 1 < size)
            line[len++] = c;
    }
    line[len] = '\0';
    return true;
}
/* Waits for its end, at most 20 seconds; the exit status, or -1. */
static int ended(program *p) {
    int status = -1;
    for (int i = 0; i < 4000; i++) {
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            if (p->in >= 0)
                close(p->in);
            if (p->out >= 0)
                close(p->out);
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    kill(p->pid, SIGKILL);
    waitpid(p->pid, &status, 0);
    return -1;
}
static void leave(program *p) {
    close(p->in);
    p->in = -1;
}

static void test_stdio__a_line_past_the_limit_is_refused_whether_it_comes_whole_or_not(void) {
    static char line[4000], answer[4000];
    program p;
    start(&p);
    for (int whole = 0; whole < 2; whole++) {
        memset(line, ' ', sizeof line);
        memcpy(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 40);
        line[sizeof line - 1] = '\n';
        if (whole) {
            say(&p, line, sizeof line);
        } else {
            say(&p, line, 2500);
            nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
            say(&p, line + 2500, sizeof line - 2500);
        }
        CU_ASSERT_FATAL(hear(&p, answer, sizeof answer));
        unit_check(strstr(answer, "-32600") && strstr(answer, "longer than 2000 bytes"), "whole %d: %s", whole, answer);
        SAY(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\r\n\n");
        CU_ASSERT_FATAL(hear(&p, answer, sizeof answer));
        CU_ASSERT_STRING_EQUAL(answer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    }
    leave(&p);
    CU_ASSERT_EQUAL(ended(&p), 0);
}

static long ticks_of(pid_t pid) {
    char path[64], text[1024] = "";
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *rest = n > 0 ? strrchr(text, ')') : NULL;
    CU_ASSERT_EQUAL(rest ? sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) : 0, 2);
    return (long)(user + kernel);
}

/* Answers wait while the client does not read; the program sleeps meanwhile, goes on answering later, loses nothing. */
static void test_stdio__a_client_that_does_not_read_costs_no_processor_time(void) {
    enum { ASKED = 3000 };
    static char answer[4000];
    program p;
    start(&p);
    char line[128];
    for (int i = 0; i < ASKED; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"%060d\",\"method\":\"ping\"}\n", i);
        SAY(&p, line);
    }
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* it has read them all by now, and the pipe is full */
    long before = ticks_of(p.pid);
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    long spent = ticks_of(p.pid) - before;
    unit_check(spent * 5 < sysconf(_SC_CLK_TCK), "%ld ticks in a second of doing nothing", spent);
    for (int i = 0; i < ASKED; i++) {
        char id[80];
        if (!hear(&p, answer, sizeof answer)) {
            unit_check(0, "answer %d never came", i);
            break;
        }
        snprintf(id, sizeof id, "%060d", i);
        if (!strstr(answer, id))
            unit_check(0, "answer %d is %s", i, answer);
    }
    leave(&p);
    CU_ASSERT_EQUAL(ended(&p), 0);
}

/* After the end of input, too: what was answered is not cut off while the client goes on reading, however slowly. */
static void test_stdio__a_slow_reader_gets_every_line_after_the_end_of_input(void) {
    enum { ASKED = 6000, SLICE = 32768, ID = 200 };
    static char piece[SLICE];
    char line[ID + 64];
    size_t lines = 0;
    char last = 0;
    program p;
    start(&p);
    for (int i = 0; i < ASKED; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"ping\"}\n", ID, i);
        SAY(&p, line);
    }
    leave(&p);
    for (ssize_t n; (n = read(p.out, piece, sizeof piece)) > 0;) { /* 40 pieces: about three seconds */
        for (ssize_t i = 0; i < n; i++)
            lines += piece[i] == '\n';
        last = piece[n - 1];
        nanosleep(&(struct timespec){.tv_nsec = 70000000}, NULL);
    }
    unit_check(lines == ASKED && last == '\n', "%zu lines of %d, the last byte is %d", lines, ASKED, last);
    CU_ASSERT_EQUAL(ended(&p), 0);
}

/* One that does not read at all is not waited for. */
static void test_stdio__ends_soon_after_the_end_of_input_when_nobody_reads(void) {
    char line[300];
    program p;
    start(&p);
    for (int i = 0; i < 2000; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"%0200d\",\"method\":\"ping\"}\n", i);
        SAY(&p, line);
    }
    leave(&p);
    CU_ASSERT_EQUAL(ended(&p), 0);
}

static void test_stdio__the_last_line_needs_no_newline(void) {
    char answer[500];
    program p;
    start(&p);
    SAY(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    leave(&p);
    CU_ASSERT(hear(&p, answer, sizeof answer));
    CU_ASSERT_STRING_EQUAL(answer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    CU_ASSERT_EQUAL(ended(&p), 0);
}

static void test_stdio__ends_when_the_reader_left_or_a_signal_says_so(void) {
    char answer[500];
    program p;
    start(&p);
    close(p.out);
    p.out = -1;
    SAY(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    CU_ASSERT_EQUAL(ended(&p), 0);
    start(&p);
    SAY(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    CU_ASSERT(hear(&p, answer, sizeof answer)); /* it is there */
    kill(p.pid, SIGTERM);
    CU_ASSERT_EQUAL(ended(&p), 0);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_stdio__a_line_past_the_limit_is_refused_whether_it_comes_whole_or_not),
        UNIT_TEST(test_stdio__a_client_that_does_not_read_costs_no_processor_time),
        UNIT_TEST(test_stdio__a_slow_reader_gets_every_line_after_the_end_of_input),
        UNIT_TEST(test_stdio__ends_soon_after_the_end_of_input_when_nobody_reads),
        UNIT_TEST(test_stdio__the_last_line_needs_no_newline),
        UNIT_TEST(test_stdio__ends_when_the_reader_left_or_a_signal_says_so),
    };
    static const char manifest[] = "{\"manifest\":1,\"name\":\"t\",\"version\":\"1\",\"limits\":{\"messageBytes\":2000},\"plugins\":[]}";
    int fd = mkstemp(manifest_path);
    if (fd < 0 || write(fd, manifest, sizeof manifest - 1) != (ssize_t)sizeof manifest - 1)
        return 2;
    close(fd);
    signal(SIGPIPE, SIG_IGN);
    int failed = UNIT_RUN("stdio", tests);
    unlink(manifest_path);
    return failed;
}
