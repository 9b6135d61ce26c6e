/* SPDX-License-Identifier: MIT */
/* mcp_subscribe.c -- what a legacy session watches: resources/subscribe and resources/unsubscribe. */
#include "mcp_internal.h"

enum { URI_BYTES_MOST = 64 << 10 }; /* watched by one session */

/* False: it was answered. */
static bool read_uri(lastro_call *c, text_key *ret) {
    const json_value *uri = json_member(c->params, "uri");
    json_text t = json_text_of(uri);
    if (!json_is(uri, JSON_STRING)) {
        mcp_error(c, RPC_PARAMS, NULL, "%s needs uri, a string.", c->method);
        return false;
    }
    *ret = text_key_of(t.at, t.len);
    return true;
}

void mcp_subscribe(lastro_call *c) {
    session *s = c->session;
    text_key uri;
    if (!read_uri(c, &uri))
        return;
    if (!registry_address(c->srv->reg, uri.at, uri.len)) {
        mcp_no_resource(c, json_member(c->params, "uri"));
        return;
    }
    pthread_mutex_lock(&s->lock);
    bool room = text_set_has(&s->watched, &uri) || s->watched.bytes + uri.len <= URI_BYTES_MOST;
    bool added = room && text_set_add(&s->watched, &uri);
    pthread_mutex_unlock(&s->lock);
    if (added)
        mcp_ping(c);
    else if (room)
        mcp_error(c, RPC_INTERNAL, NULL, "Out of memory.");
    else
        mcp_error(c, RPC_INTERNAL, NULL, "This session watches URIs of %d bytes together and cannot watch more; "
                                         "unsubscribe from one first.", (int)URI_BYTES_MOST);
}

void mcp_unsubscribe(lastro_call *c) {
    text_key uri;
    if (!read_uri(c, &uri))
        return;
    pthread_mutex_lock(&c->session->lock);
    text_set_remove(&c->session->watched, &uri); /* that it was not there is no error: nobody is told of it now */
    pthread_mutex_unlock(&c->session->lock);
    mcp_ping(c);
}
