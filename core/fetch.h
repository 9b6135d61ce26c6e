/* SPDX-License-Identifier: MIT */
/* fetch.h -- what the host does with a plugin's request: cache, single flight, attempts, waits, budgets,
 * judgement by the source's classifier. It moves no byte itself: the transport (http.h) does, and is loaded
 * at the first request. Threads: one engine serves every thread; fetch_run blocks its caller and may run many
 * times at once. */
#ifndef LASTRO_CORE_FETCH_H
#define LASTRO_CORE_FETCH_H

#include "arena.h"
#include "cancel.h"
#include "http.h"
#include <lastro/abi.h>

typedef struct fetch_engine fetch_engine;

typedef struct {
    size_t cache_bytes; /* of the in-memory cache of answers; 0: none */
    const char *user_agent;
    /* Gives the transport at the first real request; NULL with err filled: it cannot be had. Called once at a
     * time. */
    const http_transport *(*transport)(void *arg, lastro_error *err);
    void *transport_arg;
    uint64_t seed; /* of the jitter: the same waits in the same order; 0: from the clock */
} fetch_config;

fetch_engine *fetch_create(const fetch_config *config); /* NULL: out of memory */
void fetch_destroy(fetch_engine *e);                    /* no fetch_run is running; accepts NULL */

/* A registered source as the host knows it. */
typedef struct {
    const lastro_source *source;
    void *self;       /* the plugin's, for classify */
    const char *base; /* override of base_url; NULL: none */
} fetch_source;

/* Slots that the parts of one call share fairly: a part gets at most its share while another waits, all when
 * alone. */
typedef struct fetch_budget fetch_budget;
fetch_budget *fetch_budget_create(void);
void fetch_budget_destroy(fetch_budget *b); /* accepts NULL */

/* What one answer cost and where it came from, for provenance. */
typedef struct {
    const fetch_source *source;
    const char *url;       /* canonical */
    const char *read_from; /* address really read when an override was in force; NULL: the canonical one */
    int64_t retrieved_at;  /* 0: nothing usable was read */
    bool from_cache;
    uint32_t attempts;
    uint32_t anomalies[LASTRO_ANOMALY_COUNT];
    int32_t outcome; /* LASTRO_FETCH_* */
} fetch_access;

/* What of a call the engine needs. Its functions are called on the thread that called fetch_run. */
typedef struct {
    arena *arena; /* addresses and reasons; bodies too when pin is NULL. It lives as long as the call */
    cancel_token *cancel;     /* NULL: it cannot be cancelled */
    int64_t deadline_mono_ms; /* 0: none */
    bool offline;             /* the cache only */
    fetch_budget *budget;     /* NULL: the source's own `parallel` for this run */
    uint32_t part;            /* which part of the call this run belongs to */
    const char *trace, *trace_state; /* W3C trace context of the call; NULL: none. Of equal requests that share one
                                      * exchange, the first one's is sent */
    /* Called once per request in request order when all are done; returns the access number. May be NULL. */
    uint32_t (*record)(void *arg, const fetch_access *access);
    /* Called when the engine pins something for the call: release(pin) must be called when the call ends. */
    void (*pin)(void *arg, void (*release)(void *pinned), void *pinned);
    void (*log)(void *arg, int32_t level, const char *text);
    void *arg;
} fetch_context;

/* Carries out count requests (sources[i] belongs to requests[i]) and fills rets (their size set by the
 * caller: only that much is written; both arrays step by their first element's size). Returns LASTRO_OK when
 * every outcome is LASTRO_FETCH_OK, else the status of the first failure in request order. LASTRO_ENOMEM:
 * what was asked for could not be carried out for want of memory; the outcome is then
 * LASTRO_FETCH_UNSUPPORTED. rets are filled in every case. */
lastro_status fetch_run(fetch_engine *e, const fetch_context *ctx, const fetch_source *const *sources,
                        const lastro_request *requests, size_t count, lastro_response *rets);

/* NULL: this address may be read. Else why not, in English, quoting nothing of it. */
const char *fetch_url_fault(const char *url);

lastro_status fetch_status_of(int32_t outcome); /* LASTRO_FETCH_* to lastro_status */

typedef struct {
    uint64_t hits, misses, negative_hits, evictions, bytes, entries,
        joined; /* joined: shared another's flight */
} fetch_stats;
void fetch_get_stats(fetch_engine *e, fetch_stats *ret);
void fetch_purge(fetch_engine *e); /* forgets the cached answers; calls keep what they hold */

#endif
