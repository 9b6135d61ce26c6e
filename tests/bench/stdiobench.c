/* SPDX-License-Identifier: MIT */
/* stdiobench -- measures one MCP server on stdio from outside and prints one JSON line:
 *   cold_ms   fork to the answer of initialize, a value for each start
 *   rss_kb    resident memory of the process tree, idle, 0.4 s after the answer of tools/list
 *   pss_kb    the same with shared pages divided among their users
 *   ping_us   median of 1,000 pings, one at a time
 * usage: stdiobench [--cold N] -- COMMAND [ARG…] */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COLD_MOST = 1000, PINGS = 1000, LINE_MOST = 4 << 20, GIVE_UP_S = 60, SETTLE_US = 400000 };

typedef struct {
    pid_t pid;
    int in, out; /* the server's */
    size_t have, used;
    char *buf;   /* LINE_MOST bytes */
} server;

typedef struct {
    long rss_kb, pss_kb;
    int processes;
} memory;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("stdiobench: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void start(server *s, char **command) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        die("pipe: %s", strerror(errno));
    s->have = s->used = 0;
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(command[0], command);
        _exit(127);
    }
    if (s->pid < 0)
        die("fork: %s", strerror(errno));
    close(in[0]);
    close(out[1]);
    s->in = in[1];
    s->out = out[0];
}

/* Ends it as a client does: closes its input, waits, and only then kills. */
static void stop(server *s) {
    close(s->in);
    close(s->out);
    for (int i = 0; i < 200 && waitpid(s->pid, NULL, WNOHANG) == 0; i++)
        usleep(10000);
    kill(-s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
}

static void send_line(const server *s, const char *text) {
    for (size_t left = strlen(text); left;) {
        ssize_t n = write(s->in, text, left);
        if (n < 0)
            die("the server does not read: %s", strerror(errno));
        text += n;
        left -= (size_t)n;
    }
}

/* The next line, without its newline; valid until the next call. */
static char *receive_line(server *s) {
    memmove(s->buf, s->buf + s->used, s->have - s->used);
    s->have -= s->used;
    s->used = 0;
    for (;;) {
        char *end = memchr(s->buf, '\n', s->have);
        if (end) {
            *end = '\0';
            s->used = (size_t)(end - s->buf) + 1;
            return s->buf;
        }
        if (s->have == LINE_MOST)
            die("a line of more than %d bytes", LINE_MOST);
        ssize_t n = read(s->out, s->buf + s->have, LINE_MOST - s->have);
        if (n <= 0)
            die("the server ended its output");
        s->have += (size_t)n;
    }
}

/* Sends a request and waits for the line that carries its id and a result. */
static char *ask(server *s, int id, const char *method, const char *params) {
    char line[1024], mark[32];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}\n", id, method, *params ? ",\"params\":" : "",
             params);
    snprintf(mark, sizeof mark, "\"id\":%d", id);
    send_line(s, line);
    for (;;) {
        char *reply = receive_line(s), *at = strstr(reply, mark);
        if (!at || isdigit((unsigned char)at[strlen(mark)]))
            continue;
        if (!strstr(reply, "\"result\""))
            die("%s: %.300s", method, reply);
        return reply;
    }
}

static void initialize(server *s) {
    ask(s, 0, "initialize",
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"stdiobench\",\"version\":\"1\"}}");
    send_line(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

static void add_process(pid_t pid, memory *ret) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    ret->processes++;
    while (fgets(line, sizeof line, f)) {
        long kb;
        if (sscanf(line, "Rss: %ld", &kb) == 1)
            ret->rss_kb += kb;
        else if (sscanf(line, "Pss: %ld", &kb) == 1)
            ret->pss_kb += kb;
    }
    fclose(f);
}

/* The server and whatever it started: they share its process group. */
static memory measure(pid_t group) {
    memory total = {0};
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && getpgid(pid) == group)
            add_process(pid, &total);
    }
    if (dir)
        closedir(dir);
    return total;
}

static double ping_median_us(server *s) {
    static double took[PINGS];
    for (int i = 0; i < PINGS; i++) {
        double t = now_ms();
        ask(s, 100 + i, "ping", "");
        took[i] = (now_ms() - t) * 1e3;
    }
    qsort(took, PINGS, sizeof *took, by_value);
    return took[PINGS / 2];
}

int main(int argc, char **argv) {
    int cold = 10, at = 1;
    if (argc > 2 && strcmp(argv[1], "--cold") == 0) {
        cold = atoi(argv[2]);
        at = 3;
    }
    if (at + 1 >= argc || strcmp(argv[at], "--") != 0 || cold < 1 || cold > COLD_MOST)
        die("usage: stdiobench [--cold 1..%d] -- COMMAND [ARG…]", COLD_MOST);
    signal(SIGPIPE, SIG_IGN);
    alarm(GIVE_UP_S);

    server s = {.buf = malloc(LINE_MOST)};
    static double took[COLD_MOST];
    if (!s.buf)
        die("out of memory");
    for (int i = 0; i < cold; i++) {
        if (i)
            stop(&s);
        double t = now_ms();
        start(&s, argv + at + 1);
        initialize(&s);
        took[i] = now_ms() - t;
    }
    size_t list_bytes = strlen(ask(&s, 1, "tools/list", "{}"));
    usleep(SETTLE_US);
    memory idle = measure(s.pid);
    double ping = ping_median_us(&s);
    stop(&s);
    free(s.buf);

    printf("{\"cold_ms\":[");
    for (int i = 0; i < cold; i++)
        printf("%s%.3f", i ? "," : "", took[i]);
    printf("],\"rss_kb\":%ld,\"pss_kb\":%ld,\"processes\":%d,\"list_bytes\":%zu,\"ping_us\":%.1f}\n", idle.rss_kb, idle.pss_kb,
           idle.processes, list_bytes, ping);
    return 0;
}
