/* SPDX-License-Identifier: MIT */
/* web_sse2024.c -- the transport of 2024-11-05, for clients that know no other: GET /sse is a session and its one event
 * stream, POST /messages?sessionId=… brings what the client says, and every answer is an event of the stream. The session
 * ends with the connection. Off unless http.sse. Any revision of the legacy era is negotiated here; the modern one has /mcp.
 *
 * Lifetime: a pair (the GET) is counted by its exchange, its POSTs and through them by their calls. The table has no
 * reference of its own: a pair leaves it before its exchange lets go.
 * Locks: the table's, then a pair's; neither is held while the protocol or the front is called. */
#include "web_sse2024.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { ID_BYTES = 16, ID_TEXT = 2 * ID_BYTES, BUCKETS = 256, SMALL = 4096 };

typedef struct pair {
    web_user user; /* first */
    peer aside;    /* of the session: what answers nothing */
    session *core;
    web_exchange *x;
    const char *principal;
    atomic_uint refs;
    atomic_bool gone;
    pthread_mutex_t lock; /* calls, ending, finished */
    unsigned calls;       /* that may still say something */
    bool ending, finished;
    struct pair *next;    /* the table's */
    bool listed;
    char id[ID_TEXT + 1];
} pair;

struct web_pairs {
    pthread_mutex_t lock;
    size_t count, most;
    pair *buckets[BUCKETS];
};

/* One POST. What turns away a message that has no id is its own answer; everything else is an event. */
typedef struct {
    web_user user; /* first */
    peer base;
    pair *pair;
    web_exchange *x;
    atomic_uint refs;
    atomic_bool answered;
    bool nameless;      /* no id is known that an event could bear */
    const char *origin; /* of the page that asks; NULL: none */
    char text[];
} post;

/* ---- the stream ---- */

static void send_event(pair *p, const char *json, size_t len) {
    static const char head[] = "event: message\ndata: ";
    char small[SMALL];
    size_t size = sizeof head - 1 + len + 2;
    char *text = size <= sizeof small ? small : malloc(size);
    if (text && !atomic_load(&p->gone)) {
        memcpy(text, head, sizeof head - 1);
        memcpy(text + sizeof head - 1, json, len);
        memcpy(text + size - 2, "\n\n", 2);
        p->user.host->front->write(p->x, text, size, web_may_wait());
    }
    if (text != small)
        free(text);
}

static void send_aside(peer *base, const char *json, size_t len, peer_kind kind) {
    (void)kind;
    send_event((pair *)(void *)((char *)base - offsetof(pair, aside)), json, len);
}

static void pair_release(pair *p) {
    if (atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    session_destroy(p->core);
    p->user.host->front->release(p->x);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void aside_retain(peer *base) {
    atomic_fetch_add(&((pair *)(void *)((char *)base - offsetof(pair, aside)))->refs, 1);
}

static void aside_release(peer *base) {
    pair_release((pair *)(void *)((char *)base - offsetof(pair, aside)));
}

/* The stream ends as soon as nothing more can be said on it. */
static void finish_when_quiet(pair *p, bool ending, int calls) {
    pthread_mutex_lock(&p->lock);
    p->ending |= ending;
    p->calls += (unsigned)calls;
    bool finish = p->ending && !p->calls && !p->finished;
    p->finished |= finish;
    pthread_mutex_unlock(&p->lock);
    if (finish)
        p->user.host->front->finish(p->x);
}

/* ---- the table ---- */

web_pairs *web_pairs_create(size_t most) {
    web_pairs *t = calloc(1, sizeof *t);
    if (t) {
        t->most = most;
        pthread_mutex_init(&t->lock, NULL);
    }
    return t;
}

void web_pairs_destroy(web_pairs *t) {
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static pair **bucket_of(web_pairs *t, const char *id) {
    unsigned h = 0;
    for (; *id; id++)
        h = h * 31 + (unsigned char)*id;
    return &t->buckets[h % BUCKETS];
}

static bool list(web_pairs *t, pair *p) {
    pthread_mutex_lock(&t->lock);
    if (t->count < t->most) {
        pair **at = bucket_of(t, p->id);
        p->next = *at;
        *at = p;
        p->listed = true;
        t->count++;
    }
    pthread_mutex_unlock(&t->lock);
    return p->listed;
}

static void unlist(web_pairs *t, pair *p) {
    pthread_mutex_lock(&t->lock);
    pair **at = bucket_of(t, p->id);
    while (p->listed && *at != p)
        at = &(*at)->next;
    if (p->listed) {
        *at = p->next;
        p->listed = false;
        t->count--;
    }
    pthread_mutex_unlock(&t->lock);
}

/* With a reference for the caller. NULL: unknown, or somebody else's. */
static pair *find(web_pairs *t, const char *id, const char *principal) {
    pthread_mutex_lock(&t->lock);
    pair *p = *bucket_of(t, id);
    while (p && strcmp(p->id, id) != 0)
        p = p->next;
    if (p && (principal ? !p->principal || strcmp(p->principal, principal) != 0 : p->principal != NULL))
        p = NULL;
    if (p)
        atomic_fetch_add(&p->refs, 1);
    pthread_mutex_unlock(&t->lock);
    return p;
}

void web_pairs_end(web_pairs *t) {
    size_t n = 0;
    pthread_mutex_lock(&t->lock);
    pair **all = malloc((t->count + 1) * sizeof *all);
    for (size_t i = 0; all && i < BUCKETS; i++)
        for (pair *p = t->buckets[i]; p; p = p->next) {
            atomic_fetch_add(&p->refs, 1);
            all[n++] = p;
        }
    pthread_mutex_unlock(&t->lock);
    for (size_t i = 0; i < n; i++) {
        finish_when_quiet(all[i], true, 0);
        pair_release(all[i]);
    }
    free(all);
}

/* ---- GET /sse ---- */

static bool make_id(char *id) {
    unsigned char random[ID_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    return true;
}

/* A pair whose one reference is the exchange's. NULL: out of memory or of random numbers. */
static pair *pair_create(const web_guest *g) {
    pair *p = calloc(1, sizeof *p);
    session *core = p ? session_create(g->host->srv) : NULL;
    if (!core || !make_id(p->id)) {
        session_destroy(core);
        free(p);
        return NULL;
    }
    p->user = (web_user){g->route, g->host};
    p->aside = (peer){.send = send_aside, .retain = aside_retain, .release = aside_release};
    p->core = core;
    p->principal = g->principal;
    core->principal = g->principal;
    core->aside = &p->aside;
    p->x = g->x;
    atomic_init(&p->refs, 1);
    pthread_mutex_init(&p->lock, NULL);
    g->host->front->retain(g->x);
    return p;
}

static bool only(web_guest *g, const char *verb, const char *text) {
    if (strcmp(g->head->method, verb) == 0)
        return true;
    web_refuse(g, 405, RPC_REQUEST, text, &(web_header){"Allow", verb});
    return false;
}

bool web_sse2024_head(web_guest *g) {
    if (!only(g, "GET", "GET opens the stream here."))
        return false;
    pair *p = pair_create(g);
    if (!p || !list(g->host->pairs, p)) {
        web_refuse(g, 503, RPC_INTERNAL, p ? "There are as many sessions as this server keeps; try again later." : "Out of memory.",
                   NULL);
        if (p)
            pair_release(p);
        return false;
    }
    g->host->front->set_user(g->x, p);
    return true;
}

void web_sse2024_request(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len) {
    pair *p = (pair *)u;
    char first[100];
    web_header headers[WEB_HEADERS];
    (void)body, (void)len;
    int n = snprintf(first, sizeof first, "event: endpoint\ndata: " WEB_SSE2024_MESSAGES "?sessionId=%s\n\n", p->id);
    web_answer a = {.status = 200, .headers = headers, .body = first, .len = (size_t)n};
    /* the door let its page in, if there is one */
    a.header_count = web_stream_headers(h->header(h, "Origin", NULL), headers);
    u->host->front->stream(x, &a);
}

/* Who tells of changes takes a reference to the stream under the session's lock: from here on nobody does, so that the last
 * one, once given up, is not taken again. */
static void tell_no_more(pair *p) {
    pthread_mutex_lock(&p->core->lock);
    p->core->aside = NULL;
    pthread_mutex_unlock(&p->core->lock);
}

void web_sse2024_gone(web_user *u, web_exchange *x) {
    pair *p = (pair *)u;
    (void)x;
    atomic_store(&p->gone, true);
    unlist(u->host->pairs, p);
    tell_no_more(p);
    server_cancel_session(u->host->srv, p->core);
}

void web_sse2024_done(web_user *u, web_exchange *x) {
    web_sse2024_gone(u, x);
    pair_release((pair *)u);
}

/* ---- POST /messages ---- */

static post *post_of(peer *base) {
    return (post *)(void *)((char *)base - offsetof(post, base));
}

static void reply(post *m, unsigned status, const char *body, size_t len) {
    web_header headers[WEB_HEADERS] = {{"Content-Type", "application/json"}};
    size_t own = len ? 1 : 0;
    web_answer a = {.status = status, .headers = headers, .body = body, .len = len};
    a.header_count = own + web_cors_headers(m->origin, headers + own);
    m->user.host->front->reply(m->x, &a);
}

static void post_send(peer *base, const char *json, size_t len, peer_kind kind) {
    post *m = post_of(base);
    if (kind == PEER_REFUSED && m->nameless && !atomic_exchange(&m->answered, true))
        reply(m, 400, json, len);
    else
        send_event(m->pair, json, len);
}

static void post_release(post *m) {
    if (atomic_fetch_sub(&m->refs, 1) != 1)
        return;
    pair_release(m->pair);
    m->user.host->front->release(m->x);
    free(m);
}

static void peer_retain(peer *base) {
    atomic_fetch_add(&post_of(base)->refs, 1);
    finish_when_quiet(post_of(base)->pair, false, 1);
}

static void peer_release(peer *base) {
    finish_when_quiet(post_of(base)->pair, false, -1);
    post_release(post_of(base));
}

/* The id in "a=b&sessionId=ID&c"; false: there is none that could be one. */
static bool read_id(const char *query, char id[ID_TEXT + 1]) {
    static const char name[] = "sessionId=";
    for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
        if (strncmp(at, name, sizeof name - 1) != 0)
            continue;
        at += sizeof name - 1;
        size_t len = strcspn(at, "&");
        snprintf(id, ID_TEXT + 1, "%.*s", (int)(len > ID_TEXT ? 0 : len), at);
        return *id;
    }
    return false;
}

/* Whose message it is; NULL: nobody's, and it was refused. */
static pair *find_pair(web_guest *g) {
    char id[ID_TEXT + 1];
    if (!read_id(g->head->query, id)) {
        web_refuse(g, 400, RPC_REQUEST, "The query needs sessionId, as the first event of GET " WEB_SSE2024_STREAM " gives it.", NULL);
        return NULL;
    }
    pair *p = find(g->host->pairs, id, g->principal);
    if (!p)
        web_refuse(g, 404, RPC_REQUEST, "There is no such session, or its stream has ended. Open GET " WEB_SSE2024_STREAM " again.", NULL);
    return p;
}

bool web_messages2024_head(web_guest *g) {
    if (!only(g, "POST", "POST brings a message here."))
        return false;
    if (!web_is_json(g->head)) {
        web_refuse(g, 415, RPC_REQUEST, "Content-Type must be application/json.", NULL);
        return false;
    }
    pair *p = find_pair(g);
    if (!p)
        return false;
    size_t len = g->origin ? strlen(g->origin) + 1 : 0;
    post *m = malloc(sizeof *m + len);
    if (!m) {
        web_refuse(g, 503, RPC_INTERNAL, "Out of memory.", NULL);
        pair_release(p);
        return false;
    }
    *m = (post){.user = {g->route, g->host}, .pair = p, .x = g->x,
                .base = {.send = post_send, .retain = peer_retain, .release = peer_release, .principal = g->principal}};
    if (len)
        m->origin = memcpy(m->text, g->origin, len);
    atomic_init(&m->refs, 1);
    g->host->front->retain(g->x);
    g->host->front->set_user(g->x, m);
    return true;
}

/* What no client of this transport needs: the modern era's rules are those of the other endpoint. An event, because a
 * client that only probes takes any error but a refused POST for "send initialize". */
static void refuse_modern(lastro_call *c, const rpc_message *m) {
    c->id = m->id;
    c->ending = PEER_ANSWER;
    mcp_error(c, RPC_REQUEST, NULL, "This transport serves protocols before 2026-07-28: send initialize, or ask at /mcp.");
}

void web_messages2024_request(web_user *u, web_exchange *x, const web_head *h, const char *body, size_t len) {
    post *m = (post *)u;
    rpc_message message = {0};
    (void)x, (void)h;
    m->nameless = true;
    lastro_call *c = mcp_begin(m->pair->core, &m->base);
    const json_value *v = c ? mcp_parse(c, body, len) : NULL;
    if (v)
        rpc_read(v, &message);
    m->nameless = !message.id;
    if (v && message.kind == RPC_IS_REQUEST && mcp_claim(message.params))
        refuse_modern(c, &message);
    else if (v)
        mcp_serve(c, v);
    if (!atomic_exchange(&m->answered, true))
        reply(m, c ? 202 : 503, "", 0);
}

void web_messages2024_gone(web_user *u, web_exchange *x) {
    (void)u, (void)x; /* what it brought goes on: its answers go elsewhere */
}

void web_messages2024_done(web_user *u, web_exchange *x) {
    (void)x;
    post_release((post *)u);
}
