/* SPDX-License-Identifier: MIT */
/* Who is told that something changed: subscriptions of the modern era, sessions of the legacy ones, and nobody else.
 * JSON is written here with ' for ". */
#include "test_talk.h"

#include <malloc.h>

#define CLAIM_TASKS                                                                                                 \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':" \
    "{'extensions':{'io.modelcontextprotocol/tasks':{}}}}"
#define STAMP "io.modelcontextprotocol/subscriptionId"

/* Says it in that session, to be answered to that client. */
static void say_as(session *s, client *c, const char *text) {
    const char *json = quoted(text);
    mcp_receive(s, &c->base, json, strlen(json));
}

/* The next message is this one, member for member. */
#define HEARS(expected) IS(hear(), expected)
static void fails_at(int line, const char *id, int code, const char *text) {
    const json_value *v = error_is_at(line, id, code);
    unit_check(says(AT(v, "error", "message"), text), "line %d: %s", line, shown(v));
}
#define FAILS(id, code, text) fails_at(__LINE__, (id), (code), (text))

#define LISTEN(id, filter) "{'jsonrpc':'2.0','id':" id ",'method':'subscriptions/listen','params':{'notifications':" filter "," CLAIM "}}"
#define ACK(id, granted)                                                                                           \
    "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{'_meta':{'" STAMP "':" id "}," \
    "'notifications':" granted "}}"
#define TOLD(what, id) "{'jsonrpc':'2.0','method':'notifications/" what "','params':{'_meta':{'" STAMP "':" id "}}}"
#define UPDATED(uri, id)                                                                                              \
    "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'_meta':{'" STAMP "':" id "},'uri':'" uri \
    "'}}"
#define CANCEL(id) "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':" id "}}"

/* ---- subscriptions of the modern era ---- */

static void test_listen__grants_what_was_asked_and_can_be_had(void) {
    static const struct {
        const char *filter, *granted;
    } cases[] = {
        {"{}", "{}"},
        {"{'toolsListChanged':true}", "{'toolsListChanged':true}"},
        {"{'toolsListChanged':false,'promptsListChanged':true}", "{'promptsListChanged':true}"},
        {"{'resourcesListChanged':true,'somethingNew':7}", "{'resourcesListChanged':true}"},
        {"{'resourceSubscriptions':[]}", "{'resourceSubscriptions':[]}"},
        {"{'resourceSubscriptions':['inner://item/a b','inner://item/%zz','inner://item/a\\nb','inner://item/é']}",
         "{'resourceSubscriptions':['inner://item/é']}"},
        {"{'resourceSubscriptions':['inner://one','inner://nowhere','inner://one','inner://item/7']}",
         "{'resourceSubscriptions':['inner://one','inner://item/7']}"},
    };
    start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char ack[1000];
        say("{'jsonrpc':'2.0','id':%zu,'method':'subscriptions/listen','params':{'notifications':%s," CLAIM "}}", i, cases[i].filter);
        snprintf(ack, sizeof ack, "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{'_meta':{'" STAMP
                 "':%zu},'notifications':%s}}", i, cases[i].granted);
        HEARS(ack);
    }
    finish();
}

static void test_listen__what_is_not_offered_is_not_granted(void) {
    lastro_error err;
    server *bare = core_server_of("{\"manifest\":1,\"name\":\"t\",\"version\":\"1\",\"plugins\":[]}", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bare);
    session *s = session_create(bare);
    client_open(&peer_);
    say_as(s, &peer_, LISTEN("'x'", "{'toolsListChanged':true,'promptsListChanged':true,'resourcesListChanged':true,"
                                    "'resourceSubscriptions':['inner://one']}"));
    HEARS(ACK("'x'", "{'toolsListChanged':true,'resourceSubscriptions':[]}"));
    session_destroy(s);
    server_destroy(bare);
    CU_ASSERT_EQUAL(peer_.held, 0); /* also those that were open when the session ended */
    client_close(&peer_);
}

static void test_listen__a_filter_that_cannot_be_read_is_refused(void) {
    static const char *const bad[] = {"null", "[]", "true", "{'toolsListChanged':1}", "{'promptsListChanged':null}",
                                      "{'resourceSubscriptions':'inner://one'}", "{'resourceSubscriptions':['inner://one',5]}"};
    start();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{'notifications':%s," CLAIM "}}", bad[i]);
        FAILS("1", -32602, "subscriptions/listen needs");
    }
    say("{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{" CLAIM "}}");
    FAILS("1", -32602, "needs notifications");
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    finish();
}

static void test_listen__news_of_tasks_need_the_extension(void) {
    start();
    say(LISTEN("1", "{'taskIds':['t']}"));
    const json_value *v = hear();
    unit_check(AT(v, "error", "data", "requiredCapabilities", "extensions", "io.modelcontextprotocol/tasks") != NULL, "%s",
               shown(v));
    say("{'jsonrpc':'2.0','id':1,'method':'subscriptions/listen','params':{'notifications':{'taskIds':['t']},"
        CLAIM_TASKS "}}");
    CU_ASSERT(json_text_is(AT(hear(), "method"), "notifications/subscriptions/acknowledged"));
    finish();
}

static void test_listen__each_subscription_hears_what_it_asked_for_stamped_with_its_id(void) {
    start();
    say(LISTEN("'tools'", "{'toolsListChanged':true}"));
    say(LISTEN("0", "{'promptsListChanged':true,'resourcesListChanged':true}"));
    say(LISTEN("'0'", "{'resourceSubscriptions':['inner://one','inner://item/a-b']}"));
    peer_.heard = 3;
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    HEARS(TOLD("tools/list_changed", "'tools'"));
    lastro->changed(LASTRO_CHANGED_PROMPTS, NULL);
    HEARS(TOLD("prompts/list_changed", "0"));
    lastro->changed(LASTRO_CHANGED_RESOURCES, NULL);
    HEARS(TOLD("resources/list_changed", "0"));
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://one");
    HEARS(UPDATED("inner://one", "'0'"));
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://item/a-b");
    HEARS(UPDATED("inner://item/a-b", "'0'"));
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://on");
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://item/a");
    lastro->changed(LASTRO_CHANGED_RESOURCE, NULL);
    lastro->changed(-1, NULL);
    lastro->changed(99, "inner://one");
    lastro->changed(LASTRO_CHANGED_RESOURCE, "\xff");
    silence();
    finish();
}

static void test_listen__ids_are_matched_with_their_type(void) {
    start();
    say(LISTEN("2", "{'toolsListChanged':true}"));
    say(LISTEN("'2'", "{'toolsListChanged':true}"));
    peer_.heard = 2;
    say(CANCEL("'2'"));
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    HEARS(TOLD("tools/list_changed", "2"));
    say(CANCEL("2.0")); /* the same number */
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    CU_ASSERT_EQUAL(peer_.held, 0);
    finish();
}

static void test_listen__what_one_session_may_hold_open_is_bounded(void) {
    start();
    ses->listeners_most = 3;
    say(LISTEN("1", "{'toolsListChanged':true}"));
    say(LISTEN("1", "{}"));
    peer_.heard = 1;
    FAILS("1", -32600, "choose another");
    say(LISTEN("2", "{'toolsListChanged':true}"));
    say(LISTEN("3", "{}"));
    peer_.heard = 4;
    say(LISTEN("4", "{}"));
    FAILS("4", -32603, "too many subscriptions");
    CU_ASSERT_EQUAL(peer_.held, 3);
    say(CANCEL("2"));
    say(LISTEN("4", "{}"));
    HEARS(ACK("4", "{}"));
    ses->listeners_most = 0; /* where many clients share it, as over HTTP */
    say(LISTEN("4", "{}"));
    HEARS(ACK("4", "{}"));
    say(CANCEL("4"));
    CU_ASSERT_EQUAL(peer_.held, 4);
    finish();
}

static void test_listen__the_uris_of_one_subscription_are_bounded(void) {
    static char text[200000];
    start();
    int n = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{%s,\"notifications\":{"
                     "\"resourceSubscriptions\":[\"inner://one\"", quoted(CLAIM));
    for (int i = 0; i < 1000; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ",\"inner://item/%070d\"", i);
    n += snprintf(text + n, sizeof text - (size_t)n, "]}}}");
    mcp_receive(ses, &peer_.base, text, (size_t)n);
    FAILS("1", -32602, "open another one");
    CU_ASSERT_EQUAL(peer_.held, 0);
    finish();
}

static void test_listen__a_graceful_end_is_a_result_and_the_last_word(void) {
    start();
    say(LISTEN("7", "{'toolsListChanged':true}"));
    say(LISTEN("'s'", "{}"));
    peer_.heard = 2;
    mcp_end_listeners(ses, true);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    const char *const ids[] = {"'s'", "7"};
    for (int i = 0; i < 2; i++) {
        char expected[300];
        snprintf(expected, sizeof expected, "{'jsonrpc':'2.0','id':%s,'result':{'resultType':'complete','_meta':{'" STAMP "':%s,"
                 "'io.modelcontextprotocol/serverInfo':{'name':'test','title':'Test','version':'9.8.7','description':'Of the tests'}}}}",
                 ids[i], ids[i]);
        HEARS(expected);
    }
    CU_ASSERT_EQUAL(peer_.held, 0);
    finish();
}

static void test_listen__a_client_that_left_is_forgotten_and_no_other(void) {
    client other;
    start();
    ses->listeners_most = 0;
    client_open(&other);
    for (int i = 0; i < 3; i++) {
        say(LISTEN("1", "{'toolsListChanged':true}"));
        say_as(ses, &other, LISTEN("1", "{'toolsListChanged':true}"));
    }
    peer_.heard = 3;
    mcp_forget_peer(ses, &other.base);
    mcp_forget_peer(ses, &other.base);
    CU_ASSERT_EQUAL(other.held, 0);
    CU_ASSERT_EQUAL(peer_.held, 3);
    CU_ASSERT_EQUAL(ses->listener_count, 3);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    for (int i = 0; i < 3; i++)
        HEARS(TOLD("tools/list_changed", "1"));
    CU_ASSERT_EQUAL(other.count, 3);
    finish();
    client_close(&other);
}

/* A transport may find out while it sends that its client is gone. */
static void send_and_leave(peer *p, const char *json, size_t len, peer_kind kind) {
    client_send(p, json, len, kind);
    if (strstr(json, "list_changed"))
        mcp_forget_peer(ses, p);
}
static void test_listen__a_client_may_be_found_gone_while_it_is_told(void) {
    start();
    peer_.base.send = send_and_leave;
    say(LISTEN("1", "{'toolsListChanged':true}"));
    say(LISTEN("2", "{'toolsListChanged':true}"));
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    CU_ASSERT_EQUAL(peer_.count, 3); /* the second was collected, and then ended */
    CU_ASSERT_EQUAL(peer_.held, 0);
    peer_.heard = 3;
    finish();
}

static void test_listen__thousands_of_listeners_are_told_and_ended(void) {
    enum { N = 5000 };
    start();
    client *many = calloc(N, sizeof(client));
    CU_ASSERT_PTR_NOT_NULL_FATAL(many);
    ses->listeners_most = 0;
    for (int i = 0; i < N; i++) {
        client_open(&many[i]);
        say_as(ses, &many[i], LISTEN("1", "{'toolsListChanged':true,'resourceSubscriptions':['inner://one']}"));
    }
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://one");
    for (int i = 0; i < N; i += 2)
        mcp_forget_peer(ses, &many[i].base);
    CU_ASSERT_EQUAL(ses->listener_count, N / 2);
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    mcp_end_listeners(ses, true);
    for (int i = 0; i < N; i++) {
        unit_check(many[i].count == (i % 2 ? 4u : 2u) && many[i].held == 0, "client %d: %zu messages, held %d", i, many[i].count,
                   many[i].held);
        client_close(&many[i]);
    }
    free(many);
    finish();
}

/* ---- all at once ---- */

enum { CROWD = 24, ROUNDS = 60 };
static atomic_bool telling;

static void *tell_all_the_time(void *arg) {
    (void)arg;
    while (atomic_load(&telling))
        for (int32_t what = LASTRO_CHANGED_TOOLS; what <= LASTRO_CHANGED_RESOURCE; what++)
            lastro->changed(what, "inner://one");
    return NULL;
}

/* A peer that keeps no text: it checks that nothing comes before the acknowledgement or after the result. */
typedef struct {
    peer base; /* first */
    atomic_int held, acknowledged, ended, wrong;
} strict;
static void strict_send(peer *p, const char *json, size_t len, peer_kind kind) {
    strict *s = (strict *)p;
    (void)len;
    bool ack = strstr(json, "acknowledged") != NULL;
    if (kind == PEER_ANSWER) {
        if (atomic_fetch_add(&s->ended, 1) || !atomic_load(&s->acknowledged))
            atomic_fetch_add(&s->wrong, 1);
    } else if (ack ? atomic_fetch_add(&s->acknowledged, 1) != 0 : !atomic_load(&s->acknowledged)) {
        atomic_fetch_add(&s->wrong, 1);
    } else if (atomic_load(&s->ended)) {
        atomic_fetch_add(&s->wrong, 1);
    }
}
static void strict_retain(peer *p) {
    atomic_fetch_add(&((strict *)p)->held, 1);
}
static void strict_release(peer *p) {
    atomic_fetch_sub(&((strict *)p)->held, 1);
}

static void *open_and_leave(void *arg) {
    session *s = arg;
    static const char text[] = LISTEN("1", "{'toolsListChanged':true,'resourceSubscriptions':['inner://one']}");
    char json[sizeof text];
    memcpy(json, text, sizeof text);
    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    intptr_t wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        strict *crowd = calloc(CROWD, sizeof *crowd);
        for (int i = 0; i < CROWD; i++) {
            crowd[i].base = (peer){.send = strict_send, .retain = strict_retain, .release = strict_release};
            mcp_receive(s, &crowd[i].base, json, sizeof json - 1);
        }
        for (int i = 0; i < CROWD; i++) {
            mcp_forget_peer(s, &crowd[i].base);
            while (atomic_load(&crowd[i].held)) /* somebody is just telling it */
                sched_yield();
            wrong += atomic_load(&crowd[i].wrong);
        }
        free(crowd);
    }
    return (void *)wrong;
}

static void test_changes__may_be_told_by_any_thread_while_clients_come_and_go(void) {
    start();
    pthread_t tellers[2], crowds[2];
    ses->listeners_most = 0;
    atomic_store(&telling, true);
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, tell_all_the_time, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&crowds[i], NULL, open_and_leave, ses);
    for (int i = 0; i < ROUNDS; i++) { /* sessions whose peer is not counted, as on stdio */
        client lone;
        client_open(&lone);
        lone.base.retain = lone.base.release = NULL;
        session *s = session_create(srv);
        s->aside = &lone.base;
        say_as(s, &lone, "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}");
        say_as(s, &lone, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
        say_as(s, &lone, LISTEN("1", "{'toolsListChanged':true}"));
        mcp_end_listeners(s, i % 2);
        session_destroy(s); /* from here on nobody touches it */
        client_close(&lone);
    }
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(crowds[i], &wrong);
        CU_ASSERT_PTR_NULL(wrong);
    }
    atomic_store(&telling, false);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    CU_ASSERT_EQUAL(ses->listener_count, 0);
    finish();
}

static void test_changes__a_subscription_that_ends_under_a_teller_says_nothing_more(void) {
    start();
    pthread_t teller;
    atomic_store(&telling, true);
    pthread_create(&teller, NULL, tell_all_the_time, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        strict it = {.base = {.send = strict_send, .retain = strict_retain, .release = strict_release}};
        static const char text[] = LISTEN("1", "{'toolsListChanged':true}");
        const char *json = quoted(text);
        mcp_receive(ses, &it.base, json, strlen(json));
        mcp_end_listeners(ses, true);
        while (atomic_load(&it.held))
            sched_yield();
        unit_check(!atomic_load(&it.wrong) && atomic_load(&it.ended) == 1 && atomic_load(&it.acknowledged) == 1, "round %d", round);
    }
    atomic_store(&telling, false);
    pthread_join(teller, NULL);
    finish();
}

static void test_changes__outside_the_server_s_life_nobody_is_told(void) {
    start();
    void (*changed)(int32_t, const char *) = lastro->changed;
    say(LISTEN("1", "{'toolsListChanged':true}"));
    peer_.heard = 1;
    atomic_store(&srv->serving, false); /* as while loading */
    changed(LASTRO_CHANGED_TOOLS, NULL);
    finish();
    changed(LASTRO_CHANGED_TOOLS, NULL);
    changed(LASTRO_CHANGED_RESOURCE, "inner://one");
}

/* ---- the legacy eras ---- */

#define INITIALIZED "{'jsonrpc':'2.0','method':'notifications/initialized'}"
#define SUBSCRIBE(id, uri) "{'jsonrpc':'2.0','id':" id ",'method':'resources/subscribe','params':{'uri':'" uri "'}}"
#define UNSUBSCRIBE(id, uri) "{'jsonrpc':'2.0','id':" id ",'method':'resources/unsubscribe','params':{'uri':'" uri "'}}"
static const char *const legacy[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
enum { LEGACY = sizeof legacy / sizeof *legacy };

static void tell_everything(void) {
    lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
    lastro->changed(LASTRO_CHANGED_PROMPTS, NULL);
    lastro->changed(LASTRO_CHANGED_RESOURCES, NULL);
    lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://one");
}

static void test_changes__legacy_sessions_hear_of_lists_once_they_are_ready(void) {
    for (size_t i = 0; i < LEGACY; i++) {
        start();
        ses->aside = &peer_.base;
        tell_everything();
        say("{'jsonrpc':'2.0','id':1,'method':'ping'}");
        peer_.heard = 1;
        greet(legacy[i]);
        tell_everything();
        say("{'jsonrpc':'2.0','id':1,'method':'ping'}"); /* may come before initialized */
        peer_.heard++;
        tell_everything();
        silence();
        say(INITIALIZED);
        tell_everything();
        HEARS("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
        HEARS("{'jsonrpc':'2.0','method':'notifications/prompts/list_changed'}");
        HEARS("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}");
        greet(legacy[i]); /* begins anew */
        tell_everything();
        silence();
        say("{'jsonrpc':'2.0','id':2,'method':'tools/list'}"); /* a client that does not say initialized */
        peer_.heard++;
        lastro->changed(LASTRO_CHANGED_TOOLS, NULL);
        HEARS("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
        finish();
    }
}

static void test_changes__initialized_alone_makes_no_session_ready(void) {
    start();
    ses->aside = &peer_.base;
    say(INITIALIZED);
    say("{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{" CLAIM "}}");
    CU_ASSERT_PTR_NOT_NULL(AT(hear(), "result", "tools"));
    tell_everything();
    finish();
}

static void test_changes__a_session_without_a_way_aside_hears_nothing(void) {
    start();
    greet("2025-11-25");
    say(INITIALIZED);
    say(SUBSCRIBE("1", "inner://one"));
    HEARS("{'jsonrpc':'2.0','id':1,'result':{}}");
    tell_everything();
    finish();
}

static void test_subscribe__a_session_hears_of_the_resources_it_watches(void) {
    for (size_t i = 0; i < LEGACY; i++) {
        start();
        ses->aside = &peer_.base;
        greet(legacy[i]);
        say(SUBSCRIBE("1", "inner://one"));
        HEARS("{'jsonrpc':'2.0','id':1,'result':{}}");
        say(SUBSCRIBE("2", "inner://item/9"));
        HEARS("{'jsonrpc':'2.0','id':2,'result':{}}");
        say(SUBSCRIBE("3", "inner://one"));
        HEARS("{'jsonrpc':'2.0','id':3,'result':{}}");
        lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://one");
        HEARS("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'inner://one'}}");
        lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://item/9");
        HEARS("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'uri':'inner://item/9'}}");
        lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://item/8");
        say(UNSUBSCRIBE("4", "inner://one"));
        HEARS("{'jsonrpc':'2.0','id':4,'result':{}}");
        say(UNSUBSCRIBE("5", "inner://one"));
        HEARS("{'jsonrpc':'2.0','id':5,'result':{}}");
        lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://one");
        greet(legacy[i]);
        say(INITIALIZED);
        lastro->changed(LASTRO_CHANGED_RESOURCE, "inner://item/9"); /* that was another conversation */
        finish();
    }
}

static void test_subscribe__an_unknown_resource_is_told_as_such(void) {
    start();
    greet("2025-06-18");
    say(SUBSCRIBE("1", "inner://nowhere"));
    const json_value *v = hear();
    unit_check(v && json_text_is(AT(v, "error", "data", "uri"), "inner://nowhere"), "%s", shown(v));
    int64_t code = 0;
    CU_ASSERT(json_int64(AT(v, "error", "code"), &code) && code == -32002);
    say("{'jsonrpc':'2.0','id':2,'method':'resources/subscribe','params':{}}");
    FAILS("2", -32602, "needs uri");
    say("{'jsonrpc':'2.0','id':3,'method':'resources/unsubscribe','params':{'uri':5}}");
    FAILS("3", -32602, "needs uri");
    say("{'jsonrpc':'2.0','id':4,'method':'resources/subscribe','params':{'uri':'inner://one'," CLAIM "}}");
    FAILS("4", -32601, "resources/subscribe");
    finish();
}

static void test_subscribe__what_a_session_watches_is_bounded(void) {
    start();
    greet("2025-11-25");
    for (int i = 0; i < 66; i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'resources/subscribe','params':{'uri':'inner://item/%0987d'}}", i);
        if (i < 65)
            HEARS("{'jsonrpc':'2.0','id':1,'result':{}}");
        else
            FAILS("1", -32603, "unsubscribe from one first");
    }
    say("{'jsonrpc':'2.0','id':1,'method':'resources/unsubscribe','params':{'uri':'inner://item/%0987d'}}", 7);
    HEARS("{'jsonrpc':'2.0','id':1,'result':{}}");
    say("{'jsonrpc':'2.0','id':1,'method':'resources/subscribe','params':{'uri':'inner://item/%0987d'}}", 65);
    HEARS("{'jsonrpc':'2.0','id':1,'result':{}}");
    finish();
}

/* ---- memory ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { COUNTS_MEMORY = false }; /* the sanitizers' allocators do not */
#else
enum { COUNTS_MEMORY = true };
#endif

static void keep_nothing(peer *p, const char *json, size_t len, peer_kind kind) {
    (void)p, (void)json, (void)len, (void)kind;
}

static size_t used_after(int rounds) {
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"a\":[1,2,3]}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"bb\":{}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"inner://item/1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"inner://item/1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"subscriptions/listen\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
        "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}},\"notifications\":{\"resourceSubscriptions\":[\"inner://one\"]}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}",
    };
    peer p = {.send = keep_nothing};
    for (int i = 0; i < rounds; i++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            mcp_receive(ses, &p, texts[t], strlen(texts[t]));
    return mallinfo2().uordblks;
}

static void test_sessions__do_not_grow_with_what_was_said(void) {
    start();
    size_t before = used_after(10), after = used_after(2000);
    if (COUNTS_MEMORY)
        unit_check(after <= before + 1000, "%zu bytes more after 2000 rounds", after - before);
    else
        printf("(memory is not counted under a sanitizer) ");
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_listen__grants_what_was_asked_and_can_be_had),
        UNIT_TEST(test_listen__what_is_not_offered_is_not_granted),
        UNIT_TEST(test_listen__a_filter_that_cannot_be_read_is_refused),
        UNIT_TEST(test_listen__news_of_tasks_need_the_extension),
        UNIT_TEST(test_listen__each_subscription_hears_what_it_asked_for_stamped_with_its_id),
        UNIT_TEST(test_listen__ids_are_matched_with_their_type),
        UNIT_TEST(test_listen__what_one_session_may_hold_open_is_bounded),
        UNIT_TEST(test_listen__the_uris_of_one_subscription_are_bounded),
        UNIT_TEST(test_listen__a_graceful_end_is_a_result_and_the_last_word),
        UNIT_TEST(test_listen__a_client_that_left_is_forgotten_and_no_other),
        UNIT_TEST(test_listen__a_client_may_be_found_gone_while_it_is_told),
        UNIT_TEST(test_listen__thousands_of_listeners_are_told_and_ended),
        UNIT_TEST(test_changes__may_be_told_by_any_thread_while_clients_come_and_go),
        UNIT_TEST(test_changes__a_subscription_that_ends_under_a_teller_says_nothing_more),
        UNIT_TEST(test_changes__outside_the_server_s_life_nobody_is_told),
        UNIT_TEST(test_changes__legacy_sessions_hear_of_lists_once_they_are_ready),
        UNIT_TEST(test_changes__initialized_alone_makes_no_session_ready),
        UNIT_TEST(test_changes__a_session_without_a_way_aside_hears_nothing),
        UNIT_TEST(test_subscribe__a_session_hears_of_the_resources_it_watches),
        UNIT_TEST(test_subscribe__an_unknown_resource_is_told_as_such),
        UNIT_TEST(test_subscribe__what_a_session_watches_is_bounded),
        UNIT_TEST(test_sessions__do_not_grow_with_what_was_said),
    };
    return UNIT_RUN("changes", tests);
}
