/* SPDX-License-Identifier: MIT */
#include "outlet.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    outlet out;
    int reader, wake;
} line_end;

static void open_end(line_end *e, bool socket) {
    int fds[2];
    CU_ASSERT_EQUAL_FATAL(socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds), 0);
    e->reader = fds[0];
    e->wake = eventfd(0, EFD_NONBLOCK);
    outlet_init(&e->out, fds[1], e->wake);
}
static void close_end(line_end *e) {
    outlet_destroy(&e->out);
    if (e->reader >= 0)
        close(e->reader);
    close(e->wake);
}
static bool woken(line_end *e) {
    uint64_t n;
    return read(e->wake, &n, sizeof n) == sizeof n;
}

/* Reads n bytes, flushing in between as the loop of the transport does. */
static char *read_all(line_end *e, size_t n) {
    char *text = malloc(n + 1);
    size_t len = 0;
    fcntl(e->reader, F_SETFL, O_NONBLOCK);
    for (int idle = 0; len < n && idle < 2000;) {
        ssize_t got = read(e->reader, text + len, n - len);
        outlet_flush(&e->out);
        if (got > 0) {
            len += (size_t)got;
            idle = 0;
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            idle++;
        }
    }
    text[len] = '\0';
    return text;
}

/* Megabytes into a pipe nobody reads: no call may block, all of it arrives later, in order. */
static void fill_and_read(bool socket) {
    enum { LINES = 3000 };
    line_end e;
    char line[1200];
    size_t total = 0;
    open_end(&e, socket);
    CU_ASSERT(!e.out.blocking);
    alarm(30); /* a call that blocks ends the program */
    for (int i = 0; i < LINES; i++) {
        int n = snprintf(line, sizeof line, "%d:%0*d", i, i % 1000 + 1, i);
        outlet_line(&e.out, line, (size_t)n);
        total += (size_t)n + 1;
    }
    size_t waiting = outlet_flush(&e.out);
    CU_ASSERT(waiting > 0 && waiting < total);
    CU_ASSERT(woken(&e));
    char *text = read_all(&e, total), *at = text;
    alarm(0);
    CU_ASSERT_EQUAL(strlen(text), total);
    for (int i = 0; i < LINES; i++) {
        int n = snprintf(line, sizeof line, "%d:%0*d\n", i, i % 1000 + 1, i);
        if (strncmp(at, line, (size_t)n) != 0) {
            unit_check(0, "line %d is lost or out of order", i);
            break;
        }
        at += n;
    }
    CU_ASSERT_EQUAL(outlet_flush(&e.out), 0);
    CU_ASSERT(!outlet_broken(&e.out));
    free(text);
    close_end(&e);
}
static void test_outlet__a_full_pipe_blocks_nobody_and_loses_nothing(void) {
    fill_and_read(false);
}
static void test_outlet__a_full_socket_blocks_nobody_and_loses_nothing(void) {
    fill_and_read(true);
}

/* The loop flushes before it sleeps. If that rang its own bell, it would spin as long as the client does not read. */
static void test_outlet__flushing_into_a_full_pipe_does_not_wake_the_one_who_flushes(void) {
    static char line[1 << 20];
    line_end e;
    open_end(&e, false);
    memset(line, 'x', sizeof line);
    outlet_line(&e.out, line, sizeof line);
    CU_ASSERT(woken(&e));
    CU_ASSERT(outlet_flush(&e.out) > 0);
    CU_ASSERT(!woken(&e));
    close_end(&e);
}

static void test_outlet__the_mode_of_the_descriptor_s_other_users_is_left_alone(void) {
    line_end e;
    int fds[2];
    CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
    int other = dup(fds[1]);
    e = (line_end){.reader = fds[0], .wake = eventfd(0, EFD_NONBLOCK)};
    outlet_init(&e.out, fds[1], e.wake);
    CU_ASSERT_EQUAL(fcntl(other, F_GETFL) & O_NONBLOCK, 0);
    CU_ASSERT_NOT_EQUAL(fcntl(e.out.fd, F_GETFL) & O_NONBLOCK, 0);
    close(other);
    close_end(&e);
}

static void test_outlet__a_reader_that_left_is_noticed(void) {
    for (int socket = 0; socket < 2; socket++) {
        line_end e;
        open_end(&e, socket);
        close(e.reader);
        e.reader = -1;
        outlet_line(&e.out, "x", 1);
        CU_ASSERT(outlet_broken(&e.out));
        CU_ASSERT(woken(&e));
        outlet_line(&e.out, "y", 1); /* and after that nothing is kept */
        CU_ASSERT_EQUAL(outlet_flush(&e.out), 0);
        close_end(&e);
    }
}

static void test_outlet__a_reader_that_leaves_later_is_noticed(void) {
    static char line[1 << 20];
    line_end e;
    open_end(&e, false);
    memset(line, 'x', sizeof line);
    outlet_line(&e.out, line, sizeof line);
    CU_ASSERT(outlet_flush(&e.out) > 0);
    close(e.reader);
    e.reader = -1;
    CU_ASSERT_EQUAL(outlet_flush(&e.out), 0);
    CU_ASSERT(outlet_broken(&e.out));
    close_end(&e);
}

static void test_outlet__holding_gathers_and_letting_go_writes(void) {
    static char line[300 << 10];
    line_end e;
    char buf[64];
    open_end(&e, false);
    fcntl(e.reader, F_SETFL, O_NONBLOCK);
    outlet_hold(&e.out, true);
    outlet_line(&e.out, "one", 3);
    outlet_line(&e.out, "two", 3);
    CU_ASSERT_EQUAL(read(e.reader, buf, sizeof buf), -1);
    outlet_hold(&e.out, false);
    CU_ASSERT_EQUAL(read(e.reader, buf, sizeof buf), 8);
    CU_ASSERT_NSTRING_EQUAL(buf, "one\ntwo\n", 8);
    outlet_hold(&e.out, true);
    memset(line, 'x', sizeof line);
    outlet_line(&e.out, line, sizeof line); /* too much to gather */
    CU_ASSERT(read(e.reader, buf, sizeof buf) > 0);
    close_end(&e);
}

static void test_outlet__a_file_takes_all(void) {
    char path[] = "/tmp/lastro-test-XXXXXX", buf[32];
    int fd = mkstemp(path), wake = eventfd(0, EFD_NONBLOCK);
    outlet o;
    outlet_init(&o, fd, wake);
    outlet_line(&o, "a", 1);
    outlet_line(&o, "", 0);
    CU_ASSERT_EQUAL(outlet_flush(&o), 0);
    outlet_destroy(&o);
    fd = open(path, O_RDONLY);
    CU_ASSERT_EQUAL(read(fd, buf, sizeof buf), 3);
    CU_ASSERT_NSTRING_EQUAL(buf, "a\n\n", 3);
    close(fd);
    close(wake);
    unlink(path);
}

enum { WRITERS = 4, EACH = 2000 };
typedef struct {
    outlet *out;
    int number;
} writer;
static void *write_many(void *arg) {
    writer *w = arg;
    char line[64];
    for (int i = 0; i < EACH; i++) {
        int n = snprintf(line, sizeof line, "%d %d", w->number, i);
        outlet_line(w->out, line, (size_t)n);
    }
    return NULL;
}
static void test_outlet__lines_of_many_threads_stay_whole(void) {
    line_end e;
    pthread_t threads[WRITERS];
    writer writers[WRITERS];
    int next[WRITERS] = {0};
    size_t total = 0;
    open_end(&e, false);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){&e.out, i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
        for (int j = 0; j < EACH; j++)
            total += (size_t)snprintf(NULL, 0, "%d %d\n", i, j);
    }
    char *text = read_all(&e, total), *rest = text;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        int who = -1, what = -1;
        sscanf(line, "%d %d", &who, &what);
        unit_check(who >= 0 && who < WRITERS && what == next[who < 0 || who >= WRITERS ? 0 : who]++, "line \"%s\"", line);
    }
    for (int i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL(next[i], EACH);
    free(text);
    close_end(&e);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_outlet__a_full_pipe_blocks_nobody_and_loses_nothing),
        UNIT_TEST(test_outlet__a_full_socket_blocks_nobody_and_loses_nothing),
        UNIT_TEST(test_outlet__flushing_into_a_full_pipe_does_not_wake_the_one_who_flushes),
        UNIT_TEST(test_outlet__the_mode_of_the_descriptor_s_other_users_is_left_alone),
        UNIT_TEST(test_outlet__a_reader_that_left_is_noticed),
        UNIT_TEST(test_outlet__a_reader_that_leaves_later_is_noticed),
        UNIT_TEST(test_outlet__holding_gathers_and_letting_go_writes),
        UNIT_TEST(test_outlet__a_file_takes_all),
        UNIT_TEST(test_outlet__lines_of_many_threads_stay_whole),
    };
    signal(SIGPIPE, SIG_IGN); /* as main does */
    return UNIT_RUN("outlet", tests);
}
