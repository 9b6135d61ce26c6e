/* SPDX-License-Identifier: MIT */
/* The rules of core/http.h, of the module that is really loaded, against a small server on the loopback. */
#include "cancel.h"
#include "clock.h"
#include "fetch.h"
#include "http.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <lastro/abi.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the server ---- */

#define GOOD "[{\"data\":\"01/01/2026\",\"valor\":\"1.5\"}]"
enum { CONNECTIONS = 64, BOMB_BYTES = 8 << 20, BOMB_MAX = 128 << 10 };

static struct {
    int listener;
    unsigned port;
    pthread_t thread, connections[CONNECTIONS];
    atomic_int accepted, absolute; /* absolute: requests in a proxy's form */
    atomic_bool stopping;
    _Atomic int64_t closed_ms; /* when the client of a silent answer went away */
    atomic_int silent;
} server;

typedef struct {
    unsigned char at[BOMB_MAX];
    size_t len;
    unsigned bits, bit_count;
} packer;

static void pack(packer *p, unsigned value, unsigned count) {
    p->bits |= value << p->bit_count;
    for (p->bit_count += count; p->bit_count >= 8; p->bit_count -= 8, p->bits >>= 8)
        p->at[p->len++] = (unsigned char)p->bits;
}

/* gzip of zeros, by hand: one literal, then copies of 258 bytes from one byte back (13 bits each). */
static void pack_bomb(packer *p) {
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    memset(p, 0, sizeof *p);
    memcpy(p->at, head, sizeof head);
    p->len = sizeof head;
    pack(p, 3, 3);    /* last block, fixed codes */
    pack(p, 0x0c, 8); /* literal 0: 00110000, its first bit first */
    for (int i = 0; i < BOMB_BYTES / 258; i++)
        pack(p, 0xa3, 13); /* length 258: 11000101; distance 1: 00000 */
    pack(p, 0, 7 + 8);     /* end of block */
}

static uint32_t crc32_of(const char *text, size_t len) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* gzip with the text stored as it is. */
static size_t pack_stored(unsigned char *to, const char *text) {
    size_t len = strlen(text);
    const unsigned char head[] = {
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, (unsigned char)len, 0, (unsigned char)~len, 0xff};
    uint32_t tail[] = {crc32_of(text, len),
                       (uint32_t)len}; /* little-endian machines only, as the rest of Lastro's CI */
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, text, len);
    memcpy(to + sizeof head + len, tail, sizeof tail);
    return sizeof head + len + sizeof tail;
}

static void send_all(int fd, const void *data, size_t len) {
    const char *at = data;
    while (len) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        at += n;
        len -= (size_t)n;
    }
}

__attribute__((format(printf, 2, 3))) static void say(int fd, const char *fmt, ...) {
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    send_all(fd, text, strlen(text));
}

static void say_body(int fd, const char *status, const char *more, const void *body, size_t len) {
    say(fd, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n", status, len,
        more);
    send_all(fd, body, len);
}

/* Until the client goes away or the server ends. */
static void wait_for_close(int fd) {
    char byte;
    server.silent++;
    while (!server.stopping) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 10) > 0 && recv(fd, &byte, 1, 0) <= 0) {
            server.closed_ms = clock_mono_ms();
            return;
        }
    }
}

static void answer_redirect(int fd, const char *path) {
    static const struct {
        const char *path, *to;
    } table[] = {{"/to-ok", "/ok"},
                 {"/to-outside", "http://192.0.2.1/"},
                 {"/to-user", "http://user:s3cr3t@127.0.0.1/"},
                 {"/to-file", "file:///etc/passwd"},
                 {"/to-itself", "/to-itself"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(path, table[i].path))
            say(fd, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 4\r\n\r\nmove", table[i].to);
}

static void answer_packed(int fd, const char *path) {
    static packer bomb;
    unsigned char small[256];
    if (!strcmp(path, "/gzip")) {
        say_body(fd, "200 OK", "Content-Encoding: gzip\r\n", small, pack_stored(small, GOOD));
    } else if (!strcmp(path, "/bomb")) {
        pack_bomb(&bomb);
        say_body(fd, "200 OK", "Content-Encoding: gzip\r\n", bomb.at, bomb.len);
    }
}

/* False: the connection is to be closed. */
static bool answer_broken(int fd, const char *path) {
    if (!strcmp(path, "/cut"))
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[{\"data\":");
    else if (!strcmp(path, "/cut-chunk"))
        say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{\"da\r\n");
    else if (!strcmp(path, "/no-http"))
        say(fd, "hello\r\n");
    else if (!strcmp(path, "/half"))
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[{\"data\":");
    else if (strcmp(path, "/silent") != 0)
        return true;
    if (!strcmp(path, "/half") || !strcmp(path, "/silent"))
        wait_for_close(fd);
    return false;
}

static void answer_limited(int fd, const char *path) {
    if (!strcmp(path, "/429"))
        say_body(fd, "429 Too Many Requests", "Retry-After: 7\r\n", "{}", 2);
    else if (!strcmp(path, "/429-date"))
        say_body(fd, "429 Too Many Requests",
                 "Date: Fri, 21 Aug 2026 10:00:00 GMT\r\nRetry-After: Fri, 21 Aug 2026 10:01:30 GMT\r\n",
                 "{}", 2);
    else if (!strcmp(path, "/429-past"))
        say_body(fd, "429 Too Many Requests",
                 "Date: Fri, 21 Aug 2026 10:00:00 GMT\r\nRetry-After: Fri, 21 Aug 2026 09:00:00 GMT\r\n",
                 "{}", 2);
    else if (!strcmp(path, "/429-odd"))
        say_body(fd, "429 Too Many Requests", "Retry-After: soon\r\n", "{}", 2);
    else if (!strcmp(path, "/429-long"))
        say_body(fd, "429 Too Many Requests", "Retry-After: 99999999999999999999\r\n", "{}", 2);
}

static bool answer(int fd, const char *path, const char *request) {
    static const char zeros[5000];
    if (!strncmp(path, "/ok", 3))
        say_body(fd, "200 OK", "", GOOD, strlen(GOOD));
    else if (!strcmp(path, "/echo"))
        say_body(fd, "200 OK", "", request, strlen(request));
    else if (!strcmp(path, "/404"))
        say_body(fd, "404 Not Found", "", "{\"e\":1}", 7);
    else if (!strcmp(path, "/empty"))
        say_body(fd, "200 OK", "", "", 0);
    else if (!strcmp(path, "/big"))
        say_body(fd, "200 OK", "Set-Cookie: a=b\r\n", zeros, sizeof zeros);
    answer_redirect(fd, path);
    answer_packed(fd, path);
    answer_limited(fd, path);
    return answer_broken(fd, path);
}

/* Reads one request's head. False: the client went away or the server ends. */
static bool read_head(int fd, char *head, size_t size) {
    size_t len = 0;
    while (!server.stopping && len + 1 < size) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 10) <= 0)
            continue;
        ssize_t n = recv(fd, head + len, size - 1 - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
        head[len] = '\0';
        if (strstr(head, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void *serve_connection(void *arg) {
    int fd = (int)(intptr_t)arg;
    char head[1500], path[200];
    while (read_head(fd, head, sizeof head)) {
        if (sscanf(head, "GET %199s HTTP/1.1", path) != 1)
            break;
        server.absolute += path[0] != '/';
        if (!answer(fd, path, head))
            break;
    }
    close(fd);
    return NULL;
}

static void *serve(void *arg) {
    (void)arg;
    while (!server.stopping && server.accepted < CONNECTIONS) {
        struct pollfd p = {.fd = server.listener, .events = POLLIN};
        if (poll(&p, 1, 10) <= 0)
            continue;
        int fd = accept(server.listener, NULL, NULL);
        if (fd >= 0) {
            int n = server.accepted;
            pthread_create(&server.connections[n], NULL, serve_connection, (void *)(intptr_t)fd);
            server.accepted = n + 1;
        }
    }
    return NULL;
}

static void server_start(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof to;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.listener, (struct sockaddr *)&to, len) || listen(server.listener, 64) ||
        getsockname(server.listener, (struct sockaddr *)&to, &len))
        abort();
    server.port = ntohs(to.sin_port);
    server.accepted = server.absolute = server.silent = 0;
    server.closed_ms = 0;
    server.stopping = false;
    pthread_create(&server.thread, NULL, serve, NULL);
}

static void server_stop(void) {
    server.stopping = true;
    pthread_join(server.thread, NULL);
    for (int i = 0; i < server.accepted; i++)
        pthread_join(server.connections[i], NULL);
    close(server.listener);
}

/* ---- the client ---- */

static const http_transport *http;
static void *handle;

static const http_transport *load(void *arg, lastro_error *err) {
    char path[512];
    const char *dir = getenv("LASTRO_MODULE_DIR");
    (void)arg;
    if (dir)
        snprintf(path, sizeof path, "%s/fetch.so", dir);
    else
        snprintf(path, sizeof path, "%s/modules/fetch.so", LASTRO_BINARY_DIR);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(err->text, sizeof err->text, "%s", dlerror());
        return NULL;
    }
    http_transport_entry_fn entry;
    *(void **)&entry = dlsym(library, HTTP_TRANSPORT_ENTRY);
    return entry ? entry() : NULL;
}

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    int calls;
    http_end end;
    unsigned status;
    char *body;
    size_t body_len;
    char content_type[64], error[300];
    int64_t retry_after_ms, took_ms, from_ms;
    http_exchange *exchange;
} got;

static void on_done(void *arg, http_result *r) {
    got *g = arg;
    pthread_mutex_lock(&g->lock);
    g->calls++;
    g->end = r->end;
    g->status = r->status;
    g->body = r->body;
    r->body = NULL;
    g->body_len = r->body_len;
    g->retry_after_ms = r->retry_after_ms;
    g->took_ms = clock_mono_ms() - g->from_ms;
    snprintf(g->content_type, sizeof g->content_type, "%s", r->content_type);
    snprintf(g->error, sizeof g->error, "%s", r->error);
    g->over = true;
    pthread_cond_signal(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void got_init(got *g) {
    memset(g, 0, sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

static void got_free(got *g) {
    free(g->body);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
}

static void got_start(got *g, const char *url, uint32_t timeout_ms) {
    http_request request = {.url = url,
                            .accept = "application/json",
                            .timeout_ms = timeout_ms,
                            .body_max = 1000,
                            .done = on_done,
                            .arg = g};
    g->from_ms = clock_mono_ms();
    g->exchange = http->start(handle, &request);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g->exchange);
}

static void got_wait(got *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->over)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void fetch_url(got *g, const char *url, uint32_t timeout_ms) {
    got_init(g);
    got_start(g, url, timeout_ms);
    got_wait(g);
}

static const char *url_of(char *buf, size_t size, const char *path) {
    snprintf(buf, size, "http://127.0.0.1:%u%s", server.port, path);
    return buf;
}

static void fetch_path(got *g, const char *path, uint32_t timeout_ms) {
    char url[200];
    fetch_url(g, url_of(url, sizeof url, path), timeout_ms);
}

static void setup(void) {
    server_start();
    handle = http->open("lastro-test/1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
}

static void teardown(void) {
    if (handle)
        http->close(handle);
    handle = NULL;
    server_stop();
}

/* ---- what comes back ---- */

static void get__body_status_and_type(void) {
    got g;
    setup();
    fetch_path(&g, "/ok", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_DONE);
    CU_ASSERT_EQUAL(g.status, 200);
    CU_ASSERT_STRING_EQUAL(g.body, GOOD);
    CU_ASSERT_EQUAL(g.body_len, strlen(GOOD));
    CU_ASSERT_STRING_EQUAL(g.content_type, "application/json");
    CU_ASSERT_STRING_EQUAL(g.error, "");
    CU_ASSERT_EQUAL(g.retry_after_ms, -1);
    got_free(&g);
    fetch_path(&g, "/404", 5000); /* a status is no failure here */
    CU_ASSERT_EQUAL(g.end, HTTP_DONE);
    CU_ASSERT_EQUAL(g.status, 404);
    CU_ASSERT_STRING_EQUAL(g.body, "{\"e\":1}");
    got_free(&g);
    fetch_path(&g, "/empty", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_DONE);
    CU_ASSERT_STRING_EQUAL(g.body, "");
    got_free(&g);
    teardown();
}

static void get__three_requests_use_one_connection(void) {
    setup();
    for (int i = 0; i < 3; i++) {
        got g;
        fetch_path(&g, "/ok", 5000);
        CU_ASSERT_EQUAL(g.status, 200);
        got_free(&g);
    }
    CU_ASSERT_EQUAL(server.accepted, 1);
    teardown();
}

static void get__says_who_asks_and_for_what(void) {
    got g;
    setup();
    fetch_path(&g, "/big", 5000); /* brings a cookie */
    got_free(&g);
    fetch_path(&g, "/echo", 5000);
    CU_ASSERT_PTR_NOT_NULL(strstr(g.body, "Accept: application/json\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(g.body, "User-Agent: lastro-test/1\r\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(g.body, "gzip"));
    CU_ASSERT_PTR_NULL(strstr(g.body, "Cookie"));
    CU_ASSERT_PTR_NULL(strstr(g.body, "Authorization"));
    CU_ASSERT_PTR_NULL(strcasestr(g.body, "trace"));
    got_free(&g);
    teardown();
}

static void get__says_whose_trace_it_is(void) {
    static const char parent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    char url[200];
    got g;
    setup();
    for (int bad = 0; bad < 2; bad++) { /* a line break never makes a header of its own */
        char *state = strdup(bad ? "a=1\r\nX: y" : "a=1");
        http_request request = {.url = url_of(url, sizeof url, "/echo"), .accept = "*/*", .traceparent = parent, .tracestate = state,
                                .timeout_ms = 5000, .body_max = 1000, .done = on_done, .arg = &g};
        got_init(&g);
        g.exchange = http->start(handle, &request);
        free(state); /* it was copied */
        got_wait(&g);
        CU_ASSERT_EQUAL(g.end == HTTP_DONE, !bad);
        if (!bad) {
            CU_ASSERT_PTR_NOT_NULL(strstr(g.body, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"));
            CU_ASSERT_PTR_NOT_NULL(strstr(g.body, "tracestate: a=1\r\n"));
        }
        got_free(&g);
    }
    teardown();
}

static void get__many_at_once(void) {
    enum { MANY = 24 };
    static got g[MANY];
    char url[200];
    setup();
    for (int i = 0; i < MANY; i++) {
        got_init(&g[i]);
        got_start(&g[i], url_of(url, sizeof url, "/ok"), 10000);
    }
    for (int i = 0; i < MANY; i++) {
        got_wait(&g[i]);
        CU_ASSERT_EQUAL(g[i].end, HTTP_DONE);
        CU_ASSERT_EQUAL(g[i].calls, 1);
        got_free(&g[i]);
    }
    teardown();
}

static void get__unpacks_gzip(void) {
    got g;
    setup();
    fetch_path(&g, "/gzip", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_DONE);
    CU_ASSERT_STRING_EQUAL_FATAL(g.body ? g.body : "", GOOD);
    got_free(&g);
    teardown();
}

static void get__the_cap_counts_unpacked_bytes(void) {
    got g;
    setup();
    fetch_path(&g, "/big", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_TOO_LARGE);
    CU_ASSERT_PTR_NULL(g.body);
    got_free(&g);
    fetch_path(&g, "/bomb", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_TOO_LARGE);
    CU_ASSERT_PTR_NULL(g.body);
    CU_ASSERT_PTR_NOT_NULL(strstr(g.error, "1000 bytes"));
    got_free(&g);
    teardown();
}

/* ---- faults ---- */

static void fault__a_slow_body_times_out(void) {
    got g;
    setup();
    fetch_path(&g, "/half", 120);
    CU_ASSERT_EQUAL(g.end, HTTP_TIMEOUT);
    CU_ASSERT_PTR_NULL(g.body);
    unit_check(g.took_ms >= 115 && g.took_ms < 1000, "took %lld ms", (long long)g.took_ms);
    got_free(&g);
    teardown();
}

static void fault__a_cut_body_is_no_body(void) {
    static const char *const paths[] = {"/cut", "/cut-chunk", "/no-http"};
    setup();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        got g;
        fetch_path(&g, paths[i], 5000);
        unit_check(g.end == HTTP_NETWORK && !g.body && !g.status && *g.error, "%s: %d, %s", paths[i],
                   (int)g.end, g.error);
        got_free(&g);
    }
    teardown();
}

static void fault__nobody_listens(void) {
    got g;
    setup();
    unsigned port = server.port;
    server_stop();
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/ok", port);
    fetch_url(&g, url, 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_NETWORK);
    CU_ASSERT(*g.error);
    got_free(&g);
    server_start();
    teardown();
}

static void fault__tls_to_a_plain_server(void) {
    got g;
    char url[100];
    setup();
    snprintf(url, sizeof url, "https://127.0.0.1:%u/ok", server.port);
    fetch_url(&g, url, 300);
    CU_ASSERT_NOT_EQUAL(g.end, HTTP_DONE);
    got_free(&g);
    teardown();
}

static void limited__retry_after(void) {
    static const struct {
        const char *path;
        int64_t wait_ms;
    } cases[] = {
        {"/429", 7000}, {"/429-date", 90000}, {"/429-past", 0}, {"/429-odd", -1}, {"/429-long", 604800000}};
    setup();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        got g;
        fetch_path(&g, cases[i].path, 5000);
        unit_check(g.status == 429 && g.retry_after_ms == cases[i].wait_ms, "%s: status %u, %lld ms",
                   cases[i].path, g.status, (long long)g.retry_after_ms);
        got_free(&g);
    }
    teardown();
}

/* ---- where it goes ---- */

static void redirect__from_loopback_to_loopback(void) {
    got g;
    setup();
    fetch_path(&g, "/to-ok", 5000);
    CU_ASSERT_EQUAL(g.end, HTTP_DONE);
    CU_ASSERT_EQUAL(g.status, 200);
    CU_ASSERT_STRING_EQUAL_FATAL(g.body ? g.body : "", GOOD);
    got_free(&g);
    CU_ASSERT_EQUAL(server.accepted, 1);
    teardown();
}

static void redirect__to_nowhere_else(void) {
    static const char *const paths[] = {"/to-outside", "/to-user", "/to-file", "/to-itself"};
    setup();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        got g;
        fetch_path(&g, paths[i], 5000);
        unit_check(g.end == HTTP_NETWORK && !g.body && !strstr(g.error, "s3cr3t") && g.took_ms < 2000,
                   "%s: %d, %s", paths[i], (int)g.end, g.error);
        got_free(&g);
    }
    teardown();
}

static void address__forbidden_ones_use_no_network(void) {
    static const char *const urls[] = {"http://192.0.2.1/",
                                       "http://example.org/",
                                       "http://127.0.0.1.example.org/",
                                       "http://user:s3cr3t@127.0.0.1/",
                                       "https://user:s3cr3t@example.org/",
                                       "ftp://127.0.0.1/",
                                       "file:///etc/passwd",
                                       "gopher://127.0.0.1/",
                                       "",
                                       "x",
                                       "http://127.0.0.1\\@example.org/"};
    char proxy[64];
    server_start();
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", server.port); /* would see what leaves */
    setenv("http_proxy", proxy, 1);
    handle = http->open("lastro-test/1");
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        got g;
        fetch_url(&g, urls[i], 3000);
        unit_check(g.end == HTTP_BAD_URL && !strstr(g.error, "s3cr3t"), "%s: %d, %s", urls[i], (int)g.end,
                   g.error);
        got_free(&g);
    }
    CU_ASSERT_EQUAL(server.accepted, 0);
    got g;
    fetch_path(&g, "/ok", 3000); /* a loopback address is asked for directly */
    CU_ASSERT_EQUAL(g.status, 200);
    CU_ASSERT_EQUAL(server.absolute, 0);
    got_free(&g);
    unsetenv("http_proxy");
    teardown();
}

/* ---- early ends ---- */

static void await_silent(void) {
    for (int i = 0; i < 5000 && !server.silent; i++)
        usleep(1000);
    CU_ASSERT_FATAL(server.silent > 0);
}

static void cancel__closes_the_socket_promptly(void) {
    got g;
    char url[100];
    setup();
    got_init(&g);
    got_start(&g, url_of(url, sizeof url, "/silent"), 30000);
    await_silent();
    int64_t from = clock_mono_ms();
    pthread_mutex_lock(&g.lock); /* as http.h asks: done takes it first */
    CU_ASSERT_FALSE(g.over);
    http->cancel(handle, g.exchange);
    pthread_mutex_unlock(&g.lock);
    got_wait(&g);
    int64_t done = clock_mono_ms() - from;
    for (int i = 0; i < 2000 && !server.closed_ms; i++)
        usleep(1000);
    int64_t closed = server.closed_ms - from;
    CU_ASSERT_EQUAL(g.end, HTTP_CANCELLED);
    CU_ASSERT_EQUAL(g.calls, 1);
    unit_check(done < 500 && closed >= 0 && closed < 500, "done after %lld ms, closed after %lld ms",
               (long long)done, (long long)closed);
    got_free(&g);
    teardown();
}

static void close__ends_what_is_in_the_air(void) {
    got g[3];
    char url[100];
    setup();
    for (int i = 0; i < 3; i++) {
        got_init(&g[i]);
        got_start(&g[i], url_of(url, sizeof url, "/silent"), 30000);
    }
    await_silent();
    http->close(handle);
    handle = NULL;
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(g[i].over); /* done was called before close returned */
        CU_ASSERT_EQUAL(g[i].end, HTTP_CANCELLED);
        got_free(&g[i]);
    }
    teardown();
}

/* ---- the engine on top ---- */

static void engine__reads_through_the_real_module(void) {
    static const lastro_source source = {
        .size = sizeof source, .name = "sgs", .base_url = "https://api.example.org"};
    char base[64];
    server_start();
    snprintf(base, sizeof base, "http://localhost:%u", server.port);
    fetch_source override = {.source = &source, .base = base};
    fetch_config config = {.cache_bytes = 1 << 20, .user_agent = "lastro-test/1", .transport = load};
    fetch_engine *e = fetch_create(&config);
    arena memory;
    cancel_token cancel;
    arena_init(&memory, 0);
    cancel_init(&cancel);
    fetch_context ctx = {.arena = &memory, .cancel = &cancel, .deadline_mono_ms = clock_mono_ms() + 10000};
    const char *const targets[] = {"/ok?1", "/404", "/gzip", "/ok?1"};
    const int32_t outcomes[] = {LASTRO_FETCH_OK, LASTRO_FETCH_NOT_FOUND, LASTRO_FETCH_OK, LASTRO_FETCH_OK};
    for (int i = 0; i < 4; i++) {
        lastro_request request = {
            .size = sizeof request, .source = "sgs", .target = targets[i], .fresh_ms = 60000};
        lastro_response r = {.size = sizeof r};
        const fetch_source *sources[] = {&override};
        fetch_run(e, &ctx, sources, &request, 1, &r);
        unit_check(r.outcome == outcomes[i] && r.from_cache == (i == 3), "%s: %d, %s", targets[i],
                   (int)r.outcome, r.reason);
    }
    CU_ASSERT_EQUAL(server.accepted, 1);
    fetch_destroy(e);
    cancel_destroy(&cancel);
    arena_free(&memory);
    server_stop();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(get__body_status_and_type),
        UNIT_TEST(get__three_requests_use_one_connection),
        UNIT_TEST(get__says_who_asks_and_for_what),
        UNIT_TEST(get__says_whose_trace_it_is),
        UNIT_TEST(get__many_at_once),
        UNIT_TEST(get__unpacks_gzip),
        UNIT_TEST(get__the_cap_counts_unpacked_bytes),
        UNIT_TEST(fault__a_slow_body_times_out),
        UNIT_TEST(fault__a_cut_body_is_no_body),
        UNIT_TEST(fault__nobody_listens),
        UNIT_TEST(fault__tls_to_a_plain_server),
        UNIT_TEST(limited__retry_after),
        UNIT_TEST(redirect__from_loopback_to_loopback),
        UNIT_TEST(redirect__to_nowhere_else),
        UNIT_TEST(address__forbidden_ones_use_no_network),
        UNIT_TEST(cancel__closes_the_socket_promptly),
        UNIT_TEST(close__ends_what_is_in_the_air),
        UNIT_TEST(engine__reads_through_the_real_module),
    };
    lastro_error err = {.status = LASTRO_OK};
    signal(SIGPIPE, SIG_IGN); /* as the host does */
    clock_init();
    http = load(NULL, &err);
    if (!http || http->version != HTTP_TRANSPORT_VERSION) {
        fprintf(stderr, "no transport: %s\n", err.text);
        return 2;
    }
    return UNIT_RUN("http", tests);
}
