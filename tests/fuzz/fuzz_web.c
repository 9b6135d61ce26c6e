/* SPDX-License-Identifier: MIT */
/* What a client may send, on one connection to the real web module: pieces of bytes, an end or a reset,
 * answered in several ways from several threads. Whatever comes, each head and body that reaches the handler
 * is a sound one that stands in the input where a strict reader finds it, so nothing is smuggled behind
 * another; what comes back are answers; and each exchange gets its last word once.
 *
 * The first two bytes of an input: how large the pieces are, and how it ends. */
#include "tests/unit/test_web_front.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            broken(#condition);                                                                              \
    } while (0)

static void broken(const char *rule) {
    fprintf(stderr, "broken: %s (%s; heads %d, accepted %d, done %d, wrong %d)\n", rule, strerror(errno), play.heads,
            play.accepted, play.done, play.wrong);
    __builtin_trap();
}

enum { BODY_MAX = 4096, QUIET_MS = 2 };

/* ---- the strict reader: where the next request must be ---- */

typedef struct {
    const char *at;
    size_t len;
} span;

static struct {
    span left;    /* of the input, after the last request; the I/O thread's */
    span body;    /* of the last request, when its length was given */
    bool at_end;  /* the connection closes after the last request: no other may follow */
    bool chunked; /* body is not compared */
    bool bare;    /* the last line ended with two NULs: the next one must be a lone line feed */
} input;
static bool armed; /* false: a request of our own */
static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;

static bool take_line(span *s, span *ret) {
    const char *lf = memchr(s->at, '\n', s->len);
    if (!lf)
        return false;
    *ret = (span){s->at, (size_t)(lf - s->at)};
    s->len -= ret->len + 1;
    s->at = lf + 1;
    return true;
}

static bool is_text(span s, const char *text) {
    return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

static span cut(span *line, char at) {
    const char *c = memchr(line->at, at, line->len);
    span first = {line->at, c ? (size_t)(c - line->at) : line->len};
    size_t skip = c ? first.len + 1 : first.len;
    line->at += skip;
    line->len -= skip;
    return first;
}

/* A whole line of a head: CR LF at its end, no other control character. Three other ends pass, as libmicrohttpd
 * makes NUL of them all: NUL LF anywhere, ':' LF as the empty line, and NUL NUL LF LF for the end of the head. */
static span sound_line(span *s) {
    span line;
    MUST(take_line(s, &line));
    if (input.bare) {
        MUST(!line.len);
        input.bare = false;
        return line;
    }
    MUST(line.len);
    char last = line.at[line.len - 1];
    MUST(last == '\r' || last == '\0' || is_text(line, ":"));
    line.len--;
    input.bare = last == '\0' && line.len && line.at[line.len - 1] == '\0';
    line.len -= input.bare;
    for (size_t i = 0; i < line.len; i++)
        MUST((unsigned char)line.at[i] >= 32 || line.at[i] == '\t');
    return line;
}

/* Of "http://HOST/path" the path, where Host says the same. */
static span path_in(span target, const web_head *h) {
    static const char *const schemes[] = {"http://", "https://"};
    const char *host = h->header(h, "Host", NULL);
    for (int i = 0; i < 2; i++) {
        size_t skip = strlen(schemes[i]);
        if (target.len < skip || strncasecmp(target.at, schemes[i], skip) != 0)
            continue;
        target.at += skip, target.len -= skip;
        size_t len = host ? strlen(host) : 0;
        MUST(len && target.len >= len && strncasecmp(target.at, host, len) == 0);
        target.at += len, target.len -= len;
        MUST(!target.len || *target.at == '/');
        return target.len ? target : (span){"/", 1};
    }
    return target;
}

/* "METHOD TARGET HTTP/1.x" */
static void check_first_line(span line, const web_head *h) {
    span method = cut(&line, ' '), target = cut(&line, ' '), path = cut(&target, '?');
    MUST(is_text(method, h->method) && is_text(path_in(path, h), h->path));
    MUST(h->query ? is_text(target, h->query) : !target.len);
    MUST(is_text(line, "HTTP/1.1") || is_text(line, "HTTP/1.0"));
}

static void check_header(span line, const web_head *h) {
    span name = cut(&line, ':');
    char text[64];
    while (line.len && (*line.at == ' ' || *line.at == '\t'))
        line.at++, line.len--;
    while (line.len && (line.at[line.len - 1] == ' ' || line.at[line.len - 1] == '\t'))
        line.len--;
    MUST(name.len && !memchr(name.at, ' ', name.len) && !memchr(name.at, '\t', name.len));
    if (name.len >= sizeof text)
        return;
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    unsigned count;
    const char *value = h->header(h, text, &count);
    MUST(value && count && (count > 1 || is_text(line, value)));
}

/* Blank lines before a request are skipped; libmicrohttpd takes a line that begins with NUL for one. */
static span first_line(void) {
    for (;;) {
        span before = input.left, line;
        MUST(take_line(&input.left, &line));
        if (line.len && line.at[0] != '\0' && !is_text(line, "\r")) {
            input.left = before;
            return sound_line(&input.left);
        }
    }
}

static void check_head(const web_head *h) {
    MUST(!input.at_end);
    check_first_line(first_line(), h);
    for (span line; (line = sound_line(&input.left)).len;)
        check_header(line, h);
    const char *length = h->header(h, "content-length", NULL),
               *coding = h->header(h, "Transfer-Encoding", NULL);
    MUST(!length || !coding);
    input.chunked = coding;
    input.at_end = coding || strcmp(h->method, "POST") != 0;
    size_t len = length ? strtoul(length, NULL, 10) : 0;
    input.at_end |= len > BODY_MAX;
    len = len < input.left.len ? len : input.left.len; /* cut off: then request is not called */
    input.body = (span){input.left.at, len};
    input.left.at += len;
    input.left.len -= len;
}

/* ---- the handler ---- */

static bool on_head(void *arg, web_exchange *x, const web_head *h) {
    pthread_mutex_lock(&input_lock);
    if (armed)
        check_head(h);
    pthread_mutex_unlock(&input_lock);
    return play_head(arg, x, h);
}

static void on_request(void *arg, web_exchange *x, const web_head *h, const char *body, size_t len) {
    MUST(len <= BODY_MAX);
    pthread_mutex_lock(&input_lock);
    bool same = len == input.body.len && (!len || memcmp(body, input.body.at, len) == 0);
    MUST(!armed || input.chunked || same);
    pthread_mutex_unlock(&input_lock);
    if (strcmp(h->path, "/sleep") == 0 || strcmp(h->path, "/big") == 0)
        play_now(x, h, len);
    else
        play_request(arg, x, h, body, len);
}

static const web_handler handler = {NULL, on_head, on_request, play_gone, play_done};

/* ---- one input ---- */

static void begin(void) {
    web_config c = web_defaults();
    c.io_threads = 1;
    c.connections = 1; /* the next input waits until this one's connection is gone */
    c.body_max = BODY_MAX;
    c.head_ms = c.body_ms = c.idle_ms = 5000; /* longer than a loaded machine lets a thread wait */
    c.queue_max = 1024;
    MUST(play_begin());
    web = front->open(&c, &handler, web_why, sizeof web_why);
    MUST(web);
    web_find(front->address(web));
}

/* What is held is streamed, answered or cut, by turns. */
static void answer_held(void) {
    static unsigned turn;
    pthread_mutex_lock(&play.lock);
    for (unsigned i = 0; i < play.held_count; i++) {
        web_exchange *x = play.held[i];
        switch (turn++ % 4) {
        case 0:
            front->write(x, "data: 1\n\n", 9, false);
            front->finish(x);
            break;
        case 1:
            play_reply(x, 200, "held", 4);
            front->finish(x);
            break;
        case 2:
            play_stream(x);
            front->write(x, big_body, 3000, true);
            front->finish(x);
            break;
        default:
            front->abort(x);
        }
        front->release(x);
    }
    play.held_count = 0;
    pthread_mutex_unlock(&play.lock);
}

static bool is_any_held(void) {
    pthread_mutex_lock(&play.lock);
    bool any = play.held_count;
    pthread_mutex_unlock(&play.lock);
    return any;
}

/* Reads what comes until the end, or until nothing comes any more. */
static void hear_all(int fd) {
    char text[8192];
    bool first = true;
    for (;;) {
        ssize_t n = hear(fd, text, sizeof text, QUIET_MS);
        if (n == -2 && is_any_held()) {
            answer_held();
            continue;
        }
        if (n <= 0)
            return;
        MUST(!first || n < 9 || memcmp(text, "HTTP/1.1 ", 9) == 0);
        first = false;
    }
}

static void send_pieces(int fd, const char *bytes, size_t len, size_t piece) {
    for (size_t n; len; bytes += n, len -= n) {
        n = len < piece ? len : piece;
        if (!say_bytes(fd, bytes, n))
            return;
        if (n < len)
            sched_yield();
    }
}

static void arm(const char *bytes, size_t len) {
    pthread_mutex_lock(&input_lock);
    memset(&input, 0, sizeof input);
    input.left = (span){bytes, len};
    armed = bytes;
    pthread_mutex_unlock(&input_lock);
}

/* One connection is served at a time: when this one has its first answer, the one before it is gone. */
static int dial_alone(void) {
    int fd = dial();
    MUST(fd >= 0);
    MUST(say(fd, POST("/now", 0, "")));
    MUST(hear_answer(fd).status == 200);
    return fd;
}

static void hang_up(int fd) {
    struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t pieces[] = {1 << 20, 1 << 20, 1 << 20, 700, 100, 13, 2, 1};
    static char *bytes; /* kept until the connection that may still be read from is gone */
    if (!front)
        begin();
    if (size < 2 || size > 32768)
        return 0;
    arm(NULL, 0);
    int fd = dial_alone();
    free(bytes);
    bytes = malloc(size - 1);
    MUST(bytes);
    memcpy(bytes, data + 2, size - 2);
    arm(bytes, size - 2);
    send_pieces(fd, bytes, size - 2, pieces[data[0] % 8]);
    if (data[1] % 4 == 1)
        shutdown(fd, SHUT_WR);
    if (data[1] % 4 != 2)
        hear_all(fd);
    hang_up(fd);
    MUST(WAIT_FOR(front->open_exchanges(web) == 0 &&
                  play.done == play.accepted)); /* more may have been read already */
    answer_held();
    MUST(play.wrong == 0);
    return 0;
}
