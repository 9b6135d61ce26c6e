/* SPDX-License-Identifier: MIT */
/* fetch.c -- the transport of core/http.h on libcurl: one thread, one multi handle with its pool of
 * connections. Other threads only leave exchanges and cancellations under the lock and wake it. */
#include "exchange.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE_CONNECTIONS = 32, POLL_MS = 60000 };

typedef struct {
    CURLM *multi;
    pthread_t thread;
    exchange_common common;
    pthread_mutex_t lock;
    http_exchange *incoming; /* newest first */
    bool closing, swept;     /* swept: no cancellation came since the last sweep */
    http_exchange *active;   /* the thread's own */
} transport;

/* ---- on the thread ---- */

static void end_exchange(transport *t, http_exchange *x, http_end end) {
    http_exchange **at = &t->active;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    if (x->easy)
        curl_multi_remove_handle(t->multi, x->easy);
    exchange_finish(x, end);
    exchange_destroy(x);
}

static void begin(transport *t, http_exchange *x) {
    http_end end = HTTP_NETWORK;
    x->next = t->active;
    t->active = x;
    if (!exchange_begin(x, &t->common, &end) || curl_multi_add_handle(t->multi, x->easy))
        end_exchange(t, x, end);
}

static http_exchange *oldest_first(http_exchange *list) {
    http_exchange *turned = NULL;
    while (list) {
        http_exchange *next = list->next;
        list->next = turned;
        turned = list;
        list = next;
    }
    return turned;
}

/* The next active exchange that somebody cancelled; all: any. */
static http_exchange *next_cancelled(transport *t, bool all) {
    pthread_mutex_lock(&t->lock);
    http_exchange *x = t->active;
    while (x && !x->cancelled && !all)
        x = x->next;
    pthread_mutex_unlock(&t->lock);
    return x;
}

/* What other threads left. False: it is time to end. */
static bool take_orders(transport *t) {
    pthread_mutex_lock(&t->lock);
    http_exchange *fresh = oldest_first(t->incoming);
    bool closing = t->closing, sweep = !t->swept || closing;
    t->incoming = NULL;
    t->swept = true;
    pthread_mutex_unlock(&t->lock);
    while (fresh) {
        http_exchange *next = fresh->next;
        begin(t, fresh);
        fresh = next;
    }
    for (http_exchange *x; sweep && (x = next_cancelled(t, closing));)
        end_exchange(t, x, HTTP_CANCELLED);
    return !closing;
}

static void hop_or_end(transport *t, http_exchange *x, CURLcode code) {
    http_end end;
    if (!exchange_hop(x, code, &end)) {
        end_exchange(t, x, end);
        return;
    }
    curl_multi_remove_handle(t->multi, x->easy);
    if (curl_multi_add_handle(t->multi, x->easy))
        end_exchange(t, x, HTTP_NETWORK);
}

static void read_messages(transport *t) {
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(t->multi, &left));) {
        char *x = NULL;
        CURLcode code = m->data.result;
        if (m->msg == CURLMSG_DONE && !curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x))
            hop_or_end(t, (http_exchange *)(void *)x, code);
    }
}

static void *run(void *arg) {
    transport *t = arg;
    while (take_orders(t)) {
        int running;
        curl_multi_perform(t->multi, &running);
        read_messages(t);
        curl_multi_poll(t->multi, NULL, 0, POLL_MS, NULL);
    }
    return NULL;
}

/* ---- entry points ---- */

static char *env_copy(const char *name) {
    const char *value = getenv(name);
    return value && *value ? strdup(value) : NULL;
}

/* The library itself reads neither of these, the curl program does. */
static void read_environment(exchange_common *c) {
    c->ca_file = env_copy("CURL_CA_BUNDLE");
    if (!c->ca_file)
        c->ca_file = env_copy("SSL_CERT_FILE");
    c->ca_dir = env_copy("SSL_CERT_DIR");
}

static void free_transport(transport *t) {
    curl_multi_cleanup(t->multi);
    curl_share_cleanup(t->common.share);
    pthread_mutex_destroy(&t->lock);
    free(t->common.user_agent);
    free(t->common.ca_file);
    free(t->common.ca_dir);
    free(t);
}

/* With every signal blocked: they are the host's. */
static bool start_thread(transport *t) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_create(&t->thread, NULL, run, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_setname_np(t->thread, "lastro-fetch");
    return started;
}

static void init_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void *transport_open(const char *user_agent) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_curl);
    transport *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    t->swept = true;
    t->multi = curl_multi_init();
    t->common.user_agent = strdup(user_agent);
    t->common.share = curl_share_init();
    if (t->common.share) /* used by our thread alone, so it needs no locks */
        curl_share_setopt(t->common.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    read_environment(&t->common);
    if (t->multi)
        curl_multi_setopt(t->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    if (t->multi && t->common.user_agent && start_thread(t))
        return t;
    free_transport(t);
    return NULL;
}

static void transport_close(void *arg) {
    transport *t = arg;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_mutex_unlock(&t->lock);
    curl_multi_wakeup(t->multi);
    pthread_join(t->thread, NULL);
    free_transport(t);
}

static http_exchange *transport_start(void *arg, const http_request *request) {
    transport *t = arg;
    http_exchange *x = exchange_create(request);
    if (!x)
        return NULL;
    pthread_mutex_lock(&t->lock);
    x->next = t->incoming;
    t->incoming = x;
    pthread_mutex_unlock(&t->lock);
    curl_multi_wakeup(t->multi);
    return x;
}

static void transport_cancel(void *arg, http_exchange *x) {
    transport *t = arg;
    pthread_mutex_lock(&t->lock);
    x->cancelled = true;
    t->swept = false;
    pthread_mutex_unlock(&t->lock);
    curl_multi_wakeup(t->multi);
}

__attribute__((visibility("default"))) const http_transport *http_transport_entry(void);
const http_transport *http_transport_entry(void) {
    static const http_transport table = {.version = HTTP_TRANSPORT_VERSION,
                                         .open = transport_open,
                                         .close = transport_close,
                                         .start = transport_start,
                                         .cancel = transport_cancel};
    return &table;
}
