/* SPDX-License-Identifier: MIT */
/* fetch_internal.h -- what the files of the fetch engine share; nobody else includes it.
 *
 *   fetch.c          the engine, one run (the loop of a calling thread), what it hands back
 *   fetch_item.c     one request of a run, from the cache to its outcome
 *   fetch_attempt.c  one exchange with the transport
 *   fetch_flight.c   equal requests in the air share one leader
 *   fetch_budget.c   slots of a source, shared by the parts of a call
 *   fetch_policy.c   addresses, limits, judgement, waits: no state
 *
 * Locks, outer to inner: engine | budget | attempt, then run. The run's lock is held only to leave or take
 * events. */
#ifndef LASTRO_CORE_FETCH_INTERNAL_H
#define LASTRO_CORE_FETCH_INTERNAL_H

#include "cache.h"
#include "fetch.h"
#include <pthread.h>

/* ---- fetch_policy.c ---- */

enum {
    FETCH_PARALLEL = 4,
    FETCH_BODY_MAX = 32 << 20,
    FETCH_ATTEMPT_MS = 30000,
    FETCH_ATTEMPTS = 3,
    FETCH_BUDGET_MS = 93000,
    FETCH_WAIT_MS = 1000,
    FETCH_WAIT_MAX_MS = 8000
};

/* A request class with its zeros replaced. */
typedef struct {
    const char *name;
    uint32_t attempt_ms, attempts, budget_ms, wait_ms, wait_max_ms;
} fetch_limits;

/* False: the source has no such class. name NULL: its first. */
bool fetch_limits_of(const lastro_source *source, const char *name, fetch_limits *ret);

/* As fetch_url_fault, for what follows a base. */
const char *fetch_target_fault(const char *target);

typedef struct {
    int32_t outcome; /* should this have been the last attempt */
    int32_t anomaly; /* LASTRO_ANOMALY_*; -1: none */
    bool final;
} fetch_judgement;
fetch_judgement fetch_judge_end(http_end end);
fetch_judgement fetch_judge_verdict(int32_t verdict, uint32_t http_status);
/* For a source without a classifier: by status alone. */
int32_t fetch_classify_status(uint32_t http_status);

/* The wait after the given number of failed attempts (from 1); random: 32 random bits. retry_after_ms: -1
 * none. */
int64_t fetch_wait_ms(const fetch_limits *limits, uint32_t failed, uint32_t random, int64_t retry_after_ms);

/* ---- fetch_budget.c ---- */

typedef struct fetch_pool fetch_pool;
typedef struct fetch_part fetch_part;

/* What one run holds and wants of one source's slots. Only the budget looks inside. */
typedef struct fetch_lane {
    const lastro_source *source;
    fetch_budget *budget;
    fetch_pool *pool;
    fetch_part *part;
    void (*wake)(void *arg); /* a slot may be had; called under the budget's lock, from any thread */
    void *arg;
    struct fetch_lane *next, *prev;
    bool waiting;
    struct fetch_lane *next_of_run;
    bool wanted; /* by a ready item of the run */
} fetch_lane;

/* False: out of memory. */
bool fetch_lane_open(fetch_lane *lane, fetch_budget *b, const lastro_source *source, uint32_t part);
bool fetch_lane_take(fetch_lane *lane); /* false: not now; wake will be called */
void fetch_lane_give(fetch_lane *lane);
void fetch_lane_rest(fetch_lane *lane); /* wants no slot now: others need not wait for it */

/* ---- runs and items ---- */

typedef struct {
    uint32_t attempts, anomalies[LASTRO_ANOMALY_COUNT];
} fetch_tally;
void fetch_tally_add(fetch_tally *to, const fetch_tally *more);

typedef enum { ITEM_READY, ITEM_FOLLOWING, ITEM_IN_AIR, ITEM_WAITING, ITEM_DONE } fetch_item_state;

typedef struct fetch_flight fetch_flight;
typedef struct fetch_attempt fetch_attempt;

typedef struct fetch_run_state {
    fetch_engine *engine;
    const fetch_context *ctx;
    pthread_mutex_t lock;
    pthread_cond_t wakeup;
    bool signalled; /* under lock; so are the items' events */
    struct fetch_item *items;
    size_t count, open;       /* open: not done */
    fetch_lane *lanes;        /* opened so far */
    fetch_budget *own_budget; /* when the context brings none */
} fetch_run_state;

/* Reached by: the run's thread; events under the run's lock; follow_* under the engine's. */
typedef struct fetch_item {
    fetch_run_state *run;
    const fetch_source *source;
    lastro_request request;
    fetch_limits limits;
    cache_lifetime life;
    const char *url, *real_url; /* canonical; the one really read */
    cache_key key;              /* source and real address */
    fetch_lane *lane;
    fetch_item_state state;
    bool has_slot, leads, event, missed; /* missed: counted as a miss of the cache */
    fetch_attempt *attempt;              /* in the air */
    fetch_flight *flight;                /* led or followed */
    struct fetch_item *follow_next, *follow_prev;
    int64_t started_ms, budget_end_ms, due_ms, ended_ms;
    uint32_t tries; /* of the flight it leads */
    fetch_tally tally;
    cache_answer *answer; /* of the last attempt that brought one */
    int32_t outcome;
    lastro_status status; /* LASTRO_OK: as the outcome says */
    bool from_cache;
    char reason[200];
} fetch_item;

/* The item's lane, opened at its first need. NULL: out of memory. */
fetch_lane *fetch_item_lane(fetch_item *item);
/* Leaves word for the item's run: look at it. Any thread. */
void fetch_item_signal(fetch_item *item);
/* One look at an item that is not done; event: it was signalled. */
void fetch_item_step(fetch_item *item, int64_t now, bool event);
/* Ends it, giving back all it holds; reason is copied. own: the outcome is this call's alone, not the
 * source's. */
void fetch_item_finish(fetch_item *item, int32_t outcome, bool own, const char *reason);
__attribute__((format(printf, 3, 4))) void fetch_item_log(fetch_item *item, int32_t level, const char *fmt,
                                                          ...);

/* ---- fetch_flight.c ---- */

enum { FLIGHT_BUCKETS = 64 };

typedef enum { FLIGHT_NONE, FLIGHT_LED, FLIGHT_FOLLOWED } fetch_flight_role;

/* Under the engine's lock: joins the flight of an equal request, or founds one when `found` is set.
 * FLIGHT_NONE: there is none, or (found) out of memory. */
fetch_flight_role fetch_flight_enter(fetch_item *item, bool found);
/* The leader's: one more attempt made (anomaly -1) or one more fault. */
void fetch_flight_count(fetch_item *item, int32_t attempts, int32_t anomaly);
/* The leader's: everybody gets this outcome and the item's answer; own: the followers must see for
 * themselves. */
void fetch_flight_end(fetch_item *item, int32_t outcome, bool own);
/* A follower's: takes what the flight came to into the item. False: it has not ended. ret_own as given to
 * end. */
bool fetch_flight_take(fetch_item *item, int32_t *ret_outcome, bool *ret_own);
void fetch_flight_leave(fetch_item *item);

/* ---- fetch_attempt.c ---- */

/* The result of an attempt, owned by the caller after fetch_attempt_take. */
typedef struct {
    http_end end;
    unsigned status;
    char *body;
    size_t body_len;
    int64_t retry_after_ms, wall_ms, mono_ms;
    char content_type[96], error[160];
} fetch_result;

/* Starts one; item->attempt is set. False: out of memory. */
bool fetch_attempt_start(fetch_item *item, const http_transport *transport, void *handle,
                         uint32_t timeout_ms);
/* False: it has not ended. True: ret is filled, item->attempt is gone. */
bool fetch_attempt_take(fetch_item *item, fetch_result *ret);
/* Ends it early without waiting for the transport; item->attempt is gone. */
void fetch_attempt_abandon(fetch_item *item);

/* ---- fetch.c ---- */

struct fetch_engine {
    fetch_config config;
    char *user_agent;
    cache *cache;         /* NULL: none */
    pthread_mutex_t lock; /* of what follows, up to joined */
    fetch_flight *flights[FLIGHT_BUCKETS];
    uint64_t random;
    uint64_t joined;
    pthread_mutex_t load_lock;
    const http_transport *transport;
    void *handle;
};

/* Loads it when nobody has. False: it cannot be had; err says why. */
bool fetch_engine_transport(fetch_engine *e, lastro_error *err);
uint32_t fetch_engine_random(fetch_engine *e);

#endif
