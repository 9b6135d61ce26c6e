/* SPDX-License-Identifier: MIT */
/* web_answers.c -- what happens when a row of the decision table fits, beyond a plain refusal. */
#include "web_facts.h"

#include <string.h>

/* ---- while the head is judged ---- */

bool web_end_preflight(facts *f) {
    web_answer_preflight(f->guest);
    return false;
}
bool web_end_key(facts *f) {
    bool tried = web_header_value(f, "Authorization") != NULL;
    web_header how = {"WWW-Authenticate", tried ? "Bearer realm=\"lastro\", error=\"invalid_token\"" : "Bearer realm=\"lastro\""};
    web_refuse(f->guest, 401, RPC_REQUEST,
               tried ? "The key in Authorization is not known here; it must stand there as Bearer KEY, a key that the server's operator gave."
                     : "A key is needed: send Authorization: Bearer KEY with one of the server's keys.",
               &how);
    return false;
}

/* The session's reference of this request goes; the end is seen by whoever comes later. */
bool web_end_session(facts *f) {
    web_store *st = f->host->store;
    if (st->remove(st, f->session))
        web_session_end(f->session);
    web_reply_empty(f->guest, 200);
    return false;
}
bool web_open_stream(facts *f) {
    return web_get_accept(f->guest, f->session);
}
bool web_end_method(facts *f) {
    bool get = strcmp(f->method, "GET") == 0;
    web_header allow = {"Allow", get ? "POST" : "POST, GET, DELETE, OPTIONS"};
    web_refuse(f->guest, 405, RPC_REQUEST,
               get ? "GET opens the event stream of a session: it needs Mcp-Session-Id. Messages are sent with POST."
                   : "Messages are sent with POST.",
               &allow);
    return false;
}
bool web_accept_post(facts *f) {
    bool stream = web_accepts(f->head, "text/event-stream"), json = web_accepts(f->head, "application/json");
    web_peer *p = web_peer_create(f->guest, json || !stream, stream);
    if (p)
        f->guest->host->front->set_user(f->guest->x, p);
    else
        web_refuse(f->guest, 503, RPC_INTERNAL, "Out of memory.", NULL);
    return p != NULL;
}

/* ---- with the body ---- */

bool web_end_nothing(facts *f) {
    (void)f;
    return false;
}
bool web_end_invalid(facts *f) {
    mcp_serve(f->call, f->body);
    return false;
}
bool web_end_drop(facts *f) {
    mcp_drop(f->call);
    return false;
}
bool web_end_version(facts *f) {
    f->call->id = f->msg.id;
    mcp_refuse_version(f->call, f->claim);
    return false;
}

/* On a session of its own, entered by this request. */
static void serve_on(facts *f, web_session *w, revision rev) {
    web_peer *p = f->peer;
    pthread_mutex_lock(&p->lock);
    p->session = w;
    p->primes = rev >= REV_2025_11_25;
    pthread_mutex_unlock(&p->lock);
    f->session = NULL; /* the peer's now */
    f->call->session = w->core;
    mcp_serve(f->call, f->body);
}

bool web_serve_modern(facts *f) {
    pthread_mutex_lock(&f->peer->lock);
    f->peer->listens = strcmp(f->msg.method, "subscriptions/listen") == 0;
    pthread_mutex_unlock(&f->peer->lock);
    mcp_serve(f->call, f->body);
    if (atomic_load(&f->peer->gone)) /* it left before there was something to cancel */
        web_peer_gone(f->peer);
    return false;
}
bool web_serve_legacy(facts *f) {
    serve_on(f, f->session, f->session_rev);
    return false;
}
bool web_begin_session(facts *f) {
    web_host *h = f->host;
    web_session *w = web_session_create(h->srv, h->front, h->log, f->peer->base.principal);
    if (!w || !h->store->add(h->store, w)) {
        web_session_release(w);
        f->peer->status = 503;
        f->call->id = f->msg.id;
        mcp_error(f->call, RPC_INTERNAL, NULL, "No session can be opened now: too many are in use. Try again later.");
        return false;
    }
    f->peer->fresh = true;
    serve_on(f, w, REV_NONE);
    if (w->core->rev == REV_NONE && h->store->remove(h->store, w)) /* it was refused */
        web_session_end(w);
    return false;
}
