/* SPDX-License-Identifier: MIT */
/* mcp_listen.c -- subscriptions of the modern era: an open request whose notifications carry its id. */
#include "mcp_internal.h"

struct listener {
    struct listener *next;
    lastro_call *call; /* kept open: its id, its peer */
};

static void write_subscription_id(lastro_call *c, json_writer *w) {
    json_key(w, "_meta");
    json_begin_object(w);
    json_key(w, META_PREFIX "subscriptionId");
    json_write_value(w, c->id);
    json_end_object(w);
}

void mcp_listen(lastro_call *c) {
    struct listener *l = arena_new(&c->mem, struct listener);
    if (!json_is(json_member(c->params, "notifications"), JSON_OBJECT)) {
        mcp_error(c, RPC_PARAMS, NULL, "subscriptions/listen needs notifications, an object.");
        return;
    }
    if (!l) {
        mcp_error(c, RPC_INTERNAL, NULL, "Out of memory.");
        return;
    }
    json_writer *w = &c->out;
    rpc_begin_notification(w, "notifications/subscriptions/acknowledged");
    json_begin_object(w);
    write_subscription_id(c, w);
    json_key(w, "notifications"); /* what is granted: nothing here changes while the program runs */
    json_begin_object(w);
    json_end_object(w);
    json_end_object(w);
    rpc_end(w);
    if (json_writer_finish(w))
        c->peer->send(c->peer, w->data, w->len, PEER_ASIDE);
    json_writer_reset(w);
    l->call = c;
    pthread_mutex_lock(&c->session->lock);
    l->next = c->session->listeners;
    c->session->listeners = l;
    pthread_mutex_unlock(&c->session->lock);
}

bool mcp_end_listener(session *s, const json_value *id) {
    lastro_call *ended = NULL;
    pthread_mutex_lock(&s->lock);
    for (struct listener **at = &s->listeners; *at && !ended; at = &(*at)->next)
        if (rpc_same_id((*at)->call->id, id)) {
            ended = (*at)->call;
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    if (ended)
        mcp_drop(ended);
    return ended != NULL;
}

void mcp_end_listeners(session *s, bool answer) {
    pthread_mutex_lock(&s->lock);
    struct listener *l = s->listeners;
    s->listeners = NULL;
    pthread_mutex_unlock(&s->lock);
    while (l) {
        lastro_call *c = l->call;
        l = l->next;
        if (!answer) {
            mcp_drop(c);
            continue;
        }
        rpc_begin_result(&c->out, c->id);
        json_begin_object(&c->out);
        json_key(&c->out, "resultType");
        json_write_string(&c->out, "complete");
        write_subscription_id(c, &c->out);
        mcp_end_result(c);
        mcp_answer(c);
    }
}

void mcp_forget_peer(session *s, const peer *p) {
    struct listener *gone = NULL;
    pthread_mutex_lock(&s->lock);
    for (struct listener **at = &s->listeners; *at;) {
        struct listener *l = *at;
        if (l->call->peer != p) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        l->next = gone;
        gone = l;
    }
    pthread_mutex_unlock(&s->lock);
    while (gone) {
        lastro_call *c = gone->call;
        gone = gone->next; /* it dies with its call */
        mcp_drop(c);
    }
}
