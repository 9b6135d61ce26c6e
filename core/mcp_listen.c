/* SPDX-License-Identifier: MIT */
/* mcp_listen.c -- subscriptions of the modern era: an open request whose notifications carry its id. */
#include "changes.h"
#include "mcp_internal.h"

#include <stdlib.h>
#include <string.h>

enum { URI_BYTES_MOST = 64 << 10 }; /* watched by one subscription */

/* ---- one listener ---- */

/* Of the call's client and id; it outlives the call. NULL: out of memory. */
static listener *listener_create(lastro_call *c) {
    json_text plain = json_text_of(c->id);
    json_writer_reset(&c->out);
    json_write_value(&c->out, c->id);
    listener *l = json_writer_finish(&c->out) ? calloc(1, sizeof *l + plain.len + 1 + c->out.len + 1) : NULL;
    if (!l)
        return NULL;
    l->id_plain = (char *)(l + 1);
    l->id_json = l->id_plain + plain.len + 1;
    memcpy(l->id_plain, plain.at, plain.len);
    memcpy(l->id_json, c->out.data, c->out.len);
    l->id = *c->id;
    l->id.u.text = l->id_plain;
    l->session = c->session;
    l->srv = c->srv;
    l->peer = c->peer;
    atomic_init(&l->users, 1);
    pthread_mutex_init(&l->lock, NULL);
    if (l->peer->retain)
        l->peer->retain(l->peer);
    json_writer_reset(&c->out);
    return l;
}

void listener_put(listener *l) {
    if (atomic_fetch_sub(&l->users, 1) != 1)
        return;
    if (l->peer->release)
        l->peer->release(l->peer);
    text_set_clear(&l->watched);
    if (l->tasks.count)
        atomic_fetch_sub(&l->srv->task_watchers, 1);
    text_set_clear(&l->tasks);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- the lists it is in; with session.lock held ---- */

static void enlist(listener *l) {
    session *s = l->session;
    l->next = s->listeners;
    if (l->next)
        l->next->prev = l;
    s->listeners = l;
    s->listener_count++;
    l->peer_next = l->peer->listeners;
    if (l->peer_next)
        l->peer_next->peer_prev = l;
    l->peer->listeners = l;
}

static void unlist(listener *l) {
    *(l->prev ? &l->prev->next : &l->session->listeners) = l->next;
    if (l->next)
        l->next->prev = l->prev;
    l->session->listener_count--;
    *(l->peer_prev ? &l->peer_prev->peer_next : &l->peer->listeners) = l->peer_next;
    if (l->peer_next)
        l->peer_next->peer_prev = l->peer_prev;
}

static listener *find(const session *s, const json_value *id) {
    listener *l = s->listeners;
    while (l && !rpc_same_id(&l->id, id))
        l = l->next;
    return l;
}

/* ---- what is granted ---- */

static const struct {
    const char *name;
    int32_t what;
    list_kind needs[2]; /* one of them must be offered */
} switches[] = {
    {"toolsListChanged", LASTRO_CHANGED_TOOLS, {LIST_TOOLS, LIST_TOOLS}},
    {"promptsListChanged", LASTRO_CHANGED_PROMPTS, {LIST_PROMPTS, LIST_PROMPTS}},
    {"resourcesListChanged", LASTRO_CHANGED_RESOURCES, {LIST_RESOURCES, LIST_TEMPLATES}},
};
enum { SWITCHES = sizeof switches / sizeof *switches };
static const char URIS[] = "resourceSubscriptions", TASK_IDS[] = "taskIds";

static bool is_texts(const json_value *v) {
    bool texts = !v || json_is(v, JSON_ARRAY);
    for (json_iter it = json_iterate(v); texts && json_next(&it);)
        texts = json_is(it.value, JSON_STRING);
    return texts;
}

/* NULL: the filter can be read. */
static const char *filter_fault(const json_value *filter) {
    if (!json_is(filter, JSON_OBJECT))
        return "notifications, an object such as {\"toolsListChanged\": true}";
    for (size_t i = 0; i < SWITCHES; i++) {
        const json_value *v = json_member(filter, switches[i].name);
        if (v && !json_is(v, JSON_BOOL))
            return "toolsListChanged, promptsListChanged and resourcesListChanged, where given, as true or false";
    }
    if (!is_texts(json_member(filter, URIS)))
        return "resourceSubscriptions, where given, as an array of URIs";
    return is_texts(json_member(filter, TASK_IDS)) ? NULL : "taskIds, where given, as an array of texts";
}

static bool granted(const listener *l, size_t i) {
    return (l->lists & 1u << switches[i].what) != 0;
}

/* What was asked and can be had. False: out of memory. */
static bool grant(listener *l, const registry *reg, const json_value *filter) {
    for (size_t i = 0; i < SWITCHES; i++)
        if (json_bool(json_member(filter, switches[i].name)) &&
            (surface_has(reg, switches[i].needs[0]) || surface_has(reg, switches[i].needs[1])))
            l->lists |= 1u << switches[i].what;
    bool ok = true;
    for (json_iter it = json_iterate(json_member(filter, URIS)); ok && json_next(&it);) {
        json_text t = json_text_of(it.value);
        text_key uri = text_key_of(t.at, t.len);
        if (registry_address(reg, t.at, t.len))
            ok = text_set_add(&l->watched, &uri);
    }
    return ok;
}

/* The tasks that are there and the client's own. False: out of memory. */
static bool grant_tasks(listener *l, const char *principal, const json_value *filter) {
    bool ok = true;
    for (json_iter it = json_iterate(json_member(filter, TASK_IDS)); ok && json_next(&it);) {
        json_text id = json_text_of(it.value);
        text_key key = text_key_of(id.at, id.len);
        task *t = tasks_find(l->srv->tasks, id.at, id.len, principal);
        if (!t)
            continue;
        ok = text_set_add(&l->tasks, &key);
        task_release(t);
    }
    if (l->tasks.count)
        atomic_fetch_add(&l->srv->task_watchers, 1);
    return ok;
}

static void write_subscription_id(const listener *l, json_writer *w) {
    json_key(w, META_PREFIX "subscriptionId");
    json_write_value(w, &l->id);
}

static void write_texts(json_writer *w, const char *name, const text_set *texts) {
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < texts->count; i++)
        json_write_string_n(w, texts->at[i].at, texts->at[i].len);
    json_end_array(w);
}

static void acknowledge(const listener *l, const json_value *filter, json_writer *w) {
    rpc_begin_notification(w, "notifications/subscriptions/acknowledged");
    json_begin_object(w);
    json_key(w, "_meta");
    json_begin_object(w);
    write_subscription_id(l, w);
    json_end_object(w);
    json_key(w, "notifications");
    json_begin_object(w);
    for (size_t i = 0; i < SWITCHES; i++)
        if (granted(l, i)) {
            json_key(w, switches[i].name);
            json_write_bool(w, true);
        }
    if (json_member(filter, URIS))
        write_texts(w, URIS, &l->watched);
    if (json_member(filter, TASK_IDS))
        write_texts(w, TASK_IDS, &l->tasks);
    json_end_object(w);
    json_end_object(w);
    rpc_end(w);
    if (json_writer_finish(w))
        l->peer->send(l->peer, w->data, w->len, PEER_ASIDE);
}

/* ---- opening ---- */

/* Who asks for news of tasks must know tasks. */
static bool may_watch_tasks(lastro_call *c, const json_value *filter) {
    lastro_error err = {0};
    if (!json_member(filter, TASK_IDS) ||
        mcp_need_client(c, "extensions", META_PREFIX "tasks", &err) == LASTRO_OK)
        return true;
    mcp_error(c, RPC_CLIENT, mcp_error_data(c, LASTRO_ECLIENT), "%s", err.text);
    return false;
}

/* From now on it is found, told and ended. Its lock is held: what happens meanwhile waits for the acknowledgement. NULL, or
 * why not. */
static const char *enter(listener *l, int *ret_code) {
    session *s = l->session;
    const char *refusal = NULL;
    *ret_code = RPC_REQUEST;
    pthread_mutex_lock(&s->lock);
    if (s->listeners_most && find(s, &l->id)) /* a session that many share has many clients' ids */
        refusal = "the id of this request is that of an open subscription; choose another";
    else if (s->listeners_most && s->listener_count >= s->listeners_most)
        *ret_code = RPC_INTERNAL, refusal = "too many subscriptions are open here; cancel one first, or ask for more in one of them";
    else
        enlist(l);
    pthread_mutex_unlock(&s->lock);
    return refusal;
}

static void refuse(lastro_call *c, listener *l, int code, const char *why) {
    if (l)
        listener_put(l);
    mcp_error(c, code, NULL, "%s.", why);
}

void mcp_listen(lastro_call *c) {
    const json_value *filter = json_member(c->params, "notifications");
    const char *fault = filter_fault(filter);
    if (fault) {
        mcp_error(c, RPC_PARAMS, NULL, "subscriptions/listen needs %s.", fault);
        return;
    }
    if (!may_watch_tasks(c, filter))
        return;
    listener *l = listener_create(c);
    if (!l || !grant(l, c->srv->reg, filter) || !grant_tasks(l, c->principal.name, filter)) {
        refuse(c, l, RPC_INTERNAL, "Out of memory");
        return;
    }
    if (l->watched.bytes > URI_BYTES_MOST) {
        refuse(c, l, RPC_PARAMS, "resourceSubscriptions: one subscription watches URIs of 65536 bytes together; open another one");
        return;
    }
    pthread_mutex_lock(&l->lock);
    int code;
    const char *refusal = enter(l, &code);
    if (!refusal) {
        acknowledge(l, filter, &c->out);
        changes_tell_states(l, c->principal.name); /* what happened before it was in the lists */
    }
    pthread_mutex_unlock(&l->lock);
    if (refusal)
        refuse(c, l, code, refusal);
    else
        mcp_drop(c); /* what stays open is the listener */
}

/* ---- ending ---- */

/* Out of the lists already: whoever still has a use of it sends nothing more. */
static void end_silently(listener *l) {
    atomic_store(&l->ended, true);
    listener_put(l);
}

bool mcp_end_listener(session *s, const json_value *id) {
    pthread_mutex_lock(&s->lock);
    listener *l = s->listeners_most ? find(s, id) : NULL; /* where many share a session an id says nothing */
    if (l)
        unlist(l);
    pthread_mutex_unlock(&s->lock);
    if (l)
        end_silently(l);
    return l != NULL;
}

void mcp_forget_peer(session *s, const peer *p) {
    listener *l;
    do {
        pthread_mutex_lock(&s->lock);
        l = p->listeners;
        if (l)
            unlist(l);
        pthread_mutex_unlock(&s->lock);
        if (l)
            end_silently(l);
    } while (l);
}

static void write_end(const listener *l, json_writer *w) {
    json_writer_reset(w);
    rpc_begin_result(w, &l->id);
    json_begin_object(w);
    json_key(w, "resultType");
    json_write_string(w, "complete");
    json_key(w, "_meta");
    json_begin_object(w);
    json_key(w, META_PREFIX "serverInfo");
    surface_write_identity(l->session->srv->reg, w, REV_2026_07_28);
    write_subscription_id(l, w);
    json_end_object(w);
    json_end_object(w);
    rpc_end(w);
}

static void end_with_result(listener *l, json_writer *w) {
    pthread_mutex_lock(&l->lock);
    write_end(l, w);
    if (!atomic_exchange(&l->ended, true) && json_writer_finish(w))
        l->peer->send(l->peer, w->data, w->len, PEER_ANSWER);
    pthread_mutex_unlock(&l->lock);
    listener_put(l);
}

/* The protocol's pages disagree on how a server ends a subscription (a notification or the result): this is what the
 * page on subscriptions says and what clients understand. */
void mcp_end_listeners(session *s, bool answer) {
    json_writer w;
    listener *l;
    json_writer_init(&w, 0);
    do {
        pthread_mutex_lock(&s->lock);
        l = s->listeners;
        if (l)
            unlist(l);
        pthread_mutex_unlock(&s->lock);
        if (l && answer)
            end_with_result(l, &w);
        else if (l)
            end_silently(l);
    } while (l);
    json_writer_free(&w);
}
