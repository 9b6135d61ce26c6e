/* SPDX-License-Identifier: MIT */
#include "http.h"

#include "journal.h"
#include "respond.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_MOST = 4000, UPLOAD_MOST = 1 << 20 };

struct sim_server {
    const sim_world *world;
    sim_faults *faults;
    sim_journal *journal;
    struct MHD_Daemon *daemon;
    int stop_pipe[2]; /* the write end closes when the server stops; whoever waits polls the other */
};

/* One request from its first line to its end. */
typedef struct {
    char *path, *query; /* as sent */
    bool control;       /* /__sim/…: neither counted nor harmed */
    bool started;
    sim_ticket ticket;
    sim_text upload;
} exchange;

static const char *query_arg(const sim_request *req, const char *name) {
    return MHD_lookup_connection_value(req->conn, MHD_GET_ARGUMENT_KIND, name);
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn) {
    sim_server *s = cls;
    (void)conn;
    exchange *x = sim_alloc(1, sizeof *x);
    size_t n = strcspn(uri, "?");
    x->path = sim_copy(uri, n);
    x->query = uri[n] ? sim_copy(uri + n + 1, strlen(uri + n + 1)) : sim_copy("", 0);
    x->control = strncmp(x->path, "/__sim/", 7) == 0;
    if (!x->control)
        x->ticket = journal_begin(s->journal, x->path, x->query);
    return x;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **state,
                         enum MHD_RequestTerminationCode code) {
    sim_server *s = cls;
    exchange *x = *state;
    (void)conn;
    (void)code;
    if (!x)
        return;
    if (!x->control)
        journal_end(s->journal);
    free(x->path);
    free(x->query);
    text_free(&x->upload);
    free(x);
    *state = NULL;
}

static void serve_faults(sim_server *s, const exchange *x, sim_reply *ret) {
    char error[256];
    if (faults_load(s->faults, x->upload.at ? x->upload.at : "", error, sizeof error))
        reply_text(ret, 200, TYPE_JSON, "{\"ok\":true}");
    else {
        reply_text(ret, 400, TYPE_JSON, "{\"error\":");
        text_add_json(&ret->body, error);
        text_adds(&ret->body, "}");
    }
}

static void serve_control(sim_server *s, const char *method, const exchange *x, sim_reply *ret) {
    bool post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    if (!post && strcmp(x->path, "/__sim/requests") == 0) {
        journal_print(s->journal, &ret->body);
        ret->status = 200;
        ret->type = TYPE_JSON;
    } else if (post && strcmp(x->path, "/__sim/reset") == 0) {
        journal_reset(s->journal);
        reply_text(ret, 200, TYPE_JSON, "{\"ok\":true}");
    } else if (post && strcmp(x->path, "/__sim/faults") == 0)
        serve_faults(s, x, ret);
    else
        reply_text(ret, 404, "text/plain", "no such control\n");
}

static void serve_source(const sim_server *s, const sim_request *req, const char *method, sim_reply *ret) {
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        reply_text(ret, 405, "text/plain", "method not allowed");
    else if (!sgs_handle(s->world, req, ret) && !olinda_handle(s->world, req, ret) &&
             !ckan_handle(s->world, req, ret))
        reply_text(ret, 404, "text/plain", "endpoint not found!");
}

/* What the faults leave of the answer. A failing status without a body of its own brings the HTML
 * page, as the real gateway's do (2026-08). */
static void serve_faulty(const sim_server *s, sim_request *req, const char *method, const sim_fault *fault,
                         sim_reply *ret) {
    req->empty_value = fault->empty_value;
    if (fault->html)
        reply_html_page(s->world, ret);
    else if (fault->body)
        reply_text(ret, 200, TYPE_JSON, fault->body);
    else if (fault->redirect)
        reply_text(ret, 302, TYPE_HTML, "");
    else if (fault->status >= 400)
        reply_text(ret, 200, TYPE_HTML, s->world->pages.html);
    else
        serve_source(s, req, method, ret);
    if (fault->status != FAULT_ABSENT)
        ret->status = (unsigned)fault->status;
}

static long reply_delay(const sim_server *s, const sim_fault *fault, const sim_reply *reply) {
    if (!reply->html_page)
        return reply->delay_ms + (fault->delay_ms > 0 ? fault->delay_ms : 0);
    if (fault->delay_ms != FAULT_ABSENT)
        return fault->delay_ms;
    long set = faults_html_delay(s->faults);
    return set != FAULT_ABSENT ? set : s->world->html_delay_ms;
}

static enum MHD_Result answer(sim_server *s, struct MHD_Connection *conn, const char *url, const char *method,
                              const exchange *x) {
    sim_reply reply = {0};
    sim_fault fault = {.slow = FAULT_ABSENT, .cut = FAULT_ABSENT};
    sim_request req = {.path = url, .arg = query_arg, .conn = conn};
    bool alive = true;
    if (x->control)
        serve_control(s, method, x, &reply);
    else {
        faults_apply(s->faults, url, x->query, &fault);
        serve_faulty(s, &req, method, &fault, &reply);
        alive = wait_ms(conn, s->stop_pipe[0], reply_delay(s, &fault, &reply));
    }
    enum MHD_Result result = MHD_NO; /* closes the connection without a word */
    if (alive && !fault.drop) {
        if (!x->control)
            journal_status(s->journal, x->ticket, reply.status);
        result = respond(conn, s->stop_pipe[0], &reply, &fault);
    }
    text_free(&reply.body);
    fault_free(&fault);
    return result;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state) {
    exchange *x = *state;
    (void)version;
    if (!x->started) { /* the head only; the body, if any, follows */
        x->started = true;
        return MHD_YES;
    }
    if (*size == 0)
        return answer(cls, conn, url, method, x);
    if (x->control && x->upload.len + *size <= UPLOAD_MOST)
        text_add(&x->upload, data, *size);
    *size = 0;
    return MHD_YES;
}

static struct MHD_Daemon *daemon_start(sim_server *s, unsigned port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL,
                            (uint16_t)port, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR, &at,
                            MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
                            s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
                            MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_THREAD_STACK_SIZE,
                            (size_t)256 * 1024, MHD_OPTION_END);
}

sim_server *server_start(const sim_world *w, sim_faults *faults, unsigned port, char *error, size_t room) {
    sim_server *s = sim_alloc(1, sizeof *s);
    *s = (sim_server){.world = w, .faults = faults};
    if (pipe(s->stop_pipe) != 0) {
        snprintf(error, room, "no pipe");
        free(s);
        return NULL;
    }
    s->journal = journal_create();
    errno = 0;
    s->daemon = daemon_start(s, port);
    if (s->daemon)
        return s;
    snprintf(error, room, "cannot listen on 127.0.0.1:%u%s", port, errno == EADDRINUSE ? ": in use" : "");
    server_stop(s);
    return NULL;
}

unsigned server_port(const sim_server *s) {
    return MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void server_stop(sim_server *s) {
    if (!s)
        return;
    close(s->stop_pipe[1]);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    close(s->stop_pipe[0]);
    journal_destroy(s->journal);
    free(s);
}
