/* SPDX-License-Identifier: MIT */
/* front.h -- inside the web module: web.h over libmicrohttpd.
 *
 * Threads: I/O threads (libmicrohttpd's); one watcher (ours), which accepts, sees clients leave and keeps
 * deadlines; and the host's own, which answer. All of the module's run with every signal blocked.
 *
 * Locks, in this order: web_server.accept_lock, web_server.peers_lock, web_exchange.lock, and libmicrohttpd's
 * own, which are innermost (suspending and resuming happens under web_exchange.lock). While libmicrohttpd
 * calls our reader it holds that response's lock, so nothing of a response is touched under
 * web_exchange.lock. The handler is called with no lock held.
 *
 * Lifetime: a peer is one connection, made when it is accepted, freed by the I/O thread it belongs to. An
 * exchange is counted: one reference is libmicrohttpd's (dropped when the request is completed), the others
 * are the host's and, for moments, the watcher's. web_exchange.connection and what it leads to is valid while
 * it is not NULL and the lock is held. A suspended connection is never freed: it is resumed only under the
 * lock and only if suspended.
 */
#ifndef LASTRO_MODULE_WEB_FRONT_H
#define LASTRO_MODULE_WEB_FRONT_H

#include "web.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    SWALLOW_MAX =
        64 << 20, /* bytes of a refused body that are read (and thrown away) so that the refusal arrives */
    POOL_BYTES = 16 << 10, /* libmicrohttpd's memory a connection: bounds the head */
    HEADER_LINES_FIRST = 16,
    BODY_KEPT = 4 << 10 /* a longer body's memory is given back after its request */
};

typedef struct peer peer;

/* ---- listen.c ---- */

typedef struct {
    int fd;
    bool inherited;    /* not ours to shut: what waits in it is for our successor */
    char address[140]; /* as web.h's address gives it */
    char path[108];    /* of a unix socket that we made, else "" */
    uint64_t inode;
} listener;

bool listener_open(listener *l, const char *where, char *why, size_t why_size);
void listener_refuse(listener *l); /* from now on connecting fails at once; once */
void listener_close(listener *l);

/* ---- peer.c: one connection ---- */

/* What a connection is doing, hence which deadline holds. */
typedef enum {
    PHASE_NEW,    /* accepted; libmicrohttpd has not taken it up */
    PHASE_FRESH,  /* taken up; its first head must be whole within head_ms */
    PHASE_IDLE,   /* between requests, or at most part of a request line has come (libmicrohttpd does not say)
                   */
    PHASE_HEAD,   /* the request line is there */
    PHASE_BODY,   /* the head is there */
    PHASE_WORK,   /* the handler has it */
    PHASE_STREAM, /* a stream is open */
    PHASE_SEND    /* the last bytes of an answer are on their way */
} peer_phase;

struct peer {
    web_server *server;
    int fd;
    uint32_t generation;    /* with fd: names this peer in events, since fds come again */
    bool hup;               /* peers_lock: the client left; the event comes only once */
    web_exchange *attached; /* peers_lock: what the client waits for, when it is not answered on the spot */
    web_exchange *spare;    /* the I/O thread's: memory of the last request for the next */
    _Atomic uint64_t
        phase;  /* since when (ms) << 3 | peer_phase: written by the I/O thread, read by the watcher */
    int unsent; /* the watcher's: bytes in the kernel's queue when it last changed … */
    uint64_t unsent_since; /* … and when that was */
    char remote[INET6_ADDRSTRLEN];
};

uint64_t now_ms(void); /* monotonic, coarse: some ms */
void peer_enter(peer *p, peer_phase phase);
peer *peer_of(struct MHD_Connection *c);
/* Watcher: a connection was accepted; NULL: out of memory. destroy: it is closed, or about to be. */
peer *peer_create(web_server *s, int fd, const struct sockaddr *at);
void peer_destroy(peer *p);
void peer_destroy_all(web_server *s); /* no thread is left */
/* libmicrohttpd's notice that a connection begins or ends. */
void peer_notice(void *cls, struct MHD_Connection *c, void **context,
                 enum MHD_ConnectionNotificationCode what);
/* The watcher and other threads find x from now on; a client that left already is told at once. I/O thread.
 */
void peer_attach(peer *p, web_exchange *x);
void peer_detach(peer *p, web_exchange *x);
/* peers_lock held. */
peer *peer_at(web_server *s, int fd, uint32_t generation);

/* ---- exchange.c: one request and its answer ---- */

typedef struct {
    const char *name, *value; /* libmicrohttpd's bytes, but for values that lost blanks at their end */
    uint32_t name_len, value_len, raw_len; /* raw_len: of the value as sent */
} header_line;

typedef enum {
    STAGE_HEAD,
    STAGE_BODY,
    STAGE_WHOLE
} exchange_stage; /* what libmicrohttpd's next call brings */

struct web_exchange {
    /* the I/O thread's own until done; head and user are also read by the handler */
    web_server *server;
    peer *peer; /* others: with the lock, while connection is not NULL */
    web_head head;
    header_line *lines;
    unsigned line_count, line_size;
    bool lines_lost; /* no memory for all of them */
    char *query, *trimmed;
    exchange_stage stage;
    bool offered;   /* to the handler, which counts as open */
    bool accepted;  /* the handler's head said yes: it gets done */
    bool attached;  /* to its peer */
    bool swallow;   /* the body is thrown away; the answer waits for its end */
    bool too_large; /* swallow, then 413 */
    bool last;      /* the connection is closed after the answer */
    bool expects;   /* Expect: 100-continue: the body has not been sent yet */
    bool has_length, chunked;
    bool old;       /* HTTP/1.0: the end of the connection is the end of a stream */
    uint64_t expected; /* Content-Length */
    char *body;
    size_t len, size;
    void *user;
    atomic_uint refs;

    /* any thread */
    pthread_mutex_t lock;
    pthread_cond_t room; /* the queue got shorter, or the exchange died */
    /* under the lock */
    struct MHD_Connection *connection; /* NULL: completed */
    struct MHD_Response *response;     /* answered, not yet given to libmicrohttpd */
    unsigned status;
    bool suspended;
    bool answered, streaming, finished;
    bool handed; /* libmicrohttpd has the whole answer: from now on it alone sees whether the client stays */
    bool dead;   /* nothing more goes out */
    bool aborted;
    bool gone_told, telling, done_owed; /* telling: gone runs; who finds done owed after it calls done */
    unsigned waiters;
    char *out; /* bytes that wait: [out_from, out_len) */
    size_t out_from, out_len, out_size;
    uint64_t written_ms;
};

web_exchange *exchange_begin(peer *p, struct MHD_Connection *c); /* NULL: out of memory */
void exchange_destroy(web_exchange *x);                          /* accepts NULL */
void exchange_ref(web_exchange *x);
void exchange_unref(web_exchange *x);
/* The client left, or the server ends: tells the handler, once. The caller has a reference and no lock. */
void exchange_gone(web_exchange *x);
/* libmicrohttpd is through with it. I/O thread; x is not to be used any more. */
void exchange_completed(web_exchange *x, bool well);
/* Gives the answer to libmicrohttpd, or suspends until there is one. I/O thread. */
enum MHD_Result exchange_send_or_wait(web_exchange *x);
/* Its own answer; false: it was answered already. */
bool exchange_refuse(web_exchange *x, unsigned status, const char *body);
/* Nothing that libmicrohttpd's callers borrowed is needed any more: idle streams hold no buffer. I/O thread.
 */
void exchange_drop_request(web_exchange *x);
/* The watcher's. peers_lock held. */
void exchange_keep_alive(web_exchange *x, uint64_t now);
bool exchange_has_backlog(web_exchange *x);

/* ---- answer.c: what web.h lets the host do with an exchange ---- */

void answer_set_user(web_exchange *x, void *user);
void *answer_user(const web_exchange *x);
bool answer_reply(web_exchange *x, const web_answer *a);
bool answer_stream(web_exchange *x, const web_answer *a);
bool answer_write(web_exchange *x, const char *bytes, size_t len, bool may_wait);
bool answer_finish(web_exchange *x);
void answer_abort(web_exchange *x);
/* With x's lock: appends to the queue and wakes the reader; false: out of memory. */
bool answer_append(web_exchange *x, const char *bytes, size_t len);
/* With x's lock: the I/O thread looks again. */
void answer_wake(web_exchange *x);
/* With x's lock: the client is cut off. */
void answer_cut(web_exchange *x);

/* ---- head.c: what a head must be before the handler sees it ---- */

typedef struct {
    unsigned status;
    const char *text;
} head_fault;

/* Reads the head into x. NULL: it is sound. */
const head_fault *head_read(web_exchange *x, const char *url, const char *method, const char *version);
const char *head_header(const web_head *h, const char *name, unsigned *ret_count);

/* ---- request.c: libmicrohttpd's callbacks on a request ---- */

void *request_line(void *cls, const char *uri, struct MHD_Connection *c);
enum MHD_Result request_step(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *data, size_t *size, void **context);
void request_completed(void *cls, struct MHD_Connection *c, void **context,
                       enum MHD_RequestTerminationCode why);

/* ---- watcher.c ---- */

bool watcher_init(web_server *s);    /* before the I/O threads, which use what it makes */
bool watcher_start(web_server *s);   /* after them, to which it gives connections */
void watcher_destroy(web_server *s); /* what init made */
void watcher_wake(web_server *s);
/* When it returns, nothing is accepted any more. False: that was so before. */
bool watcher_stop_accepting(web_server *s);
void watcher_stop(web_server *s); /* joins it; once, after watcher_start */
void watcher_watch(web_server *s, const peer *p);
void watcher_forget(web_server *s, const peer *p);

/* ---- front.c ---- */

struct web_server {
    web_config config;
    web_handler handler;
    listener listener;
    struct MHD_Daemon *daemon;
    pthread_t watcher;
    int events, alarm;  /* the watcher's epoll; an eventfd that wakes it */
    unsigned period_ms; /* between its sweeps */

    pthread_mutex_t peers_lock;
    peer **peers; /* by fd */
    size_t peers_size, peers_top;
    uint32_t generation;

    atomic_uint connections,
        open; /* open: exchanges offered to the handler that are not completed or not done */
    pthread_mutex_t accept_lock; /* held while connections are taken */
    atomic_bool draining, closing, ended;
    atomic_bool paused; /* connections wait in the backlog: the limit is reached, or descriptors are out */
};

#endif
