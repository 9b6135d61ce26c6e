/* SPDX-License-Identifier: MIT */
/* fetch.c -- the engine, the loop of one run, and what it hands back. */
#include "fetch_internal.h"

#include "clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine ---- */

static uint64_t seed_of(const fetch_config *config, const fetch_engine *e) {
    return config->seed ? config->seed : (uint64_t)clock_mono_us() ^ ((uint64_t)(uintptr_t)e << 16);
}

fetch_engine *fetch_create(const fetch_config *config) {
    fetch_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->config = *config;
    e->user_agent = strdup(config->user_agent ? config->user_agent : "lastro");
    e->cache = config->cache_bytes ? cache_create(config->cache_bytes, NULL) : NULL;
    e->random = seed_of(config, e);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->load_lock, NULL);
    if (e->user_agent && (e->cache || !config->cache_bytes))
        return e;
    fetch_destroy(e);
    return NULL;
}

void fetch_destroy(fetch_engine *e) {
    if (!e)
        return;
    if (e->handle)
        e->transport->close(e->handle); /* what was let go of ends here at the latest */
    cache_destroy(e->cache);
    pthread_mutex_destroy(&e->load_lock);
    pthread_mutex_destroy(&e->lock);
    free(e->user_agent);
    free(e);
}

/* load_lock is held. */
static bool load_transport(fetch_engine *e, lastro_error *err) {
    const http_transport *t = e->config.transport ? e->config.transport(e->config.transport_arg, err) : NULL;
    if (t && t->version != HTTP_TRANSPORT_VERSION) {
        snprintf(err->text, sizeof err->text, "the transport module is of version %u, this program needs %u",
                 t->version, HTTP_TRANSPORT_VERSION);
        return false;
    }
    e->handle = t ? t->open(e->user_agent) : NULL;
    e->transport = t;
    if (t && !e->handle)
        snprintf(err->text, sizeof err->text, "the transport module could not be started");
    if (!e->handle && !*err->text)
        snprintf(err->text, sizeof err->text, "there is no transport module");
    return e->handle;
}

bool fetch_engine_transport(fetch_engine *e, lastro_error *err) {
    pthread_mutex_lock(&e->load_lock);
    bool there = e->handle || load_transport(e, err);
    pthread_mutex_unlock(&e->load_lock);
    return there;
}

uint32_t fetch_engine_random(fetch_engine *e) {
    pthread_mutex_lock(&e->lock);
    uint64_t z = e->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    pthread_mutex_unlock(&e->lock);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

void fetch_get_stats(fetch_engine *e, fetch_stats *ret) {
    cache_stats c = {.hits = 0};
    if (e->cache)
        cache_get_stats(e->cache, &c);
    pthread_mutex_lock(&e->lock);
    uint64_t joined = e->joined;
    pthread_mutex_unlock(&e->lock);
    *ret = (fetch_stats){.hits = c.hits,
                         .misses = c.misses,
                         .negative_hits = c.negative_hits,
                         .evictions = c.evictions,
                         .bytes = c.bytes,
                         .entries = c.entries,
                         .joined = joined};
}

void fetch_purge(fetch_engine *e) {
    if (e->cache)
        cache_purge(e->cache);
}

/* ---- setting up a run ---- */

static void wake_run(void *arg) {
    fetch_run_state *run = arg;
    pthread_mutex_lock(&run->lock);
    run->signalled = true;
    pthread_cond_signal(&run->wakeup);
    pthread_mutex_unlock(&run->lock);
}

static fetch_budget *budget_of(fetch_run_state *run) {
    if (run->ctx->budget)
        return run->ctx->budget;
    if (!run->own_budget)
        run->own_budget = fetch_budget_create();
    return run->own_budget;
}

static fetch_lane *open_lane(fetch_run_state *run, const lastro_source *source) {
    fetch_budget *budget = budget_of(run);
    fetch_lane *lane = budget ? arena_new(run->ctx->arena, fetch_lane) : NULL;
    if (!lane || !fetch_lane_open(lane, budget, source, run->ctx->part))
        return NULL;
    lane->wake = wake_run;
    lane->arg = run;
    lane->next_of_run = run->lanes;
    run->lanes = lane;
    return lane;
}

fetch_lane *fetch_item_lane(fetch_item *item) {
    const lastro_source *source = item->source->source;
    if (item->lane)
        return item->lane;
    for (item->lane = item->run->lanes; item->lane; item->lane = item->lane->next_of_run)
        if (item->lane->source == source)
            return item->lane;
    return item->lane = open_lane(item->run, source);
}

static const char *name_request(fetch_item *item) {
    arena *a = item->run->ctx->arena;
    const char *base = item->source->base, *canonical = item->source->source->base_url;
    const char *target = item->request.target ? item->request.target : "";
    item->url = arena_printf(a, "%s%s", canonical ? canonical : "", target);
    item->real_url = base ? arena_printf(a, "%s%s", base, target) : item->url;
    char *key = item->real_url ? arena_printf(a, "%s\n%s", item->source->source->name, item->real_url) : NULL;
    if (!item->url || !key) {
        item->status = LASTRO_ENOMEM;
        return "out of memory";
    }
    item->key = (cache_key){.text = key, .len = strlen(key)};
    item->key.hash = cache_hash(key, item->key.len);
    const char *fault = fetch_target_fault(target);
    return fault ? fault : fetch_url_fault(item->real_url);
}

static const char *prepare(fetch_item *item) {
    if (!item->source || item->source->source->local)
        return "the source is not one that is fetched from";
    const char *fault = name_request(item);
    if (!fault && !fetch_limits_of(item->source->source, item->request.class_name, &item->limits))
        fault = "the source has no request class of that name";
    return fault;
}

/* Arrays that a plugin built against another ABI step by the size their elements say. */
static size_t stride_of(uint32_t size, size_t ours) {
    return size ? size : ours;
}

static void read_request(lastro_request *to, const lastro_request *array, size_t index) {
    size_t stride = stride_of(array->size, sizeof *array);
    memcpy(to, (const char *)array + index * stride, stride < sizeof *to ? stride : sizeof *to);
}

static void start_item(fetch_run_state *run, size_t index, const fetch_source *source,
                       const lastro_request *requests) {
    fetch_item *item = &run->items[index];
    item->run = run;
    item->source = source;
    read_request(&item->request, requests, index);
    item->life = (cache_lifetime){item->request.fresh_ms, item->request.negative_ms};
    const char *fault = prepare(item);
    if (fault)
        fetch_item_finish(item, LASTRO_FETCH_UNSUPPORTED, true, fault);
}

/* ---- the loop ---- */

static bool take_event(fetch_item *item) {
    pthread_mutex_lock(&item->run->lock);
    bool event = item->event;
    item->event = false;
    pthread_mutex_unlock(&item->run->lock);
    return event;
}

static void step_all(fetch_run_state *run, int64_t now) {
    pthread_mutex_lock(&run->lock);
    run->signalled = false; /* before the look: what comes during it is seen in the next */
    pthread_mutex_unlock(&run->lock);
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i].state != ITEM_DONE)
            fetch_item_step(&run->items[i], now, take_event(&run->items[i]));
}

static void finish_all(fetch_run_state *run, int32_t outcome, const char *reason) {
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i].state != ITEM_DONE)
            fetch_item_finish(&run->items[i], outcome, true, reason);
}

static void rest_lanes(fetch_run_state *run) {
    for (fetch_lane *lane = run->lanes; lane; lane = lane->next_of_run)
        lane->wanted = false;
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i].state == ITEM_READY && run->items[i].lane)
            run->items[i].lane->wanted = true;
    for (fetch_lane *lane = run->lanes; lane; lane = lane->next_of_run)
        if (!lane->wanted)
            fetch_lane_rest(lane);
}

/* INT64_MAX: nothing is due. */
static int64_t next_due(const fetch_run_state *run) {
    int64_t due = run->ctx->deadline_mono_ms > 0 ? run->ctx->deadline_mono_ms : INT64_MAX;
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i].state == ITEM_WAITING && run->items[i].due_ms < due)
            due = run->items[i].due_ms;
    return due;
}

static void wait_for(fetch_run_state *run, int64_t due_ms) {
    struct timespec until = {.tv_sec = (time_t)(due_ms / 1000), .tv_nsec = (long)(due_ms % 1000) * 1000000};
    pthread_mutex_lock(&run->lock);
    while (!run->signalled)
        if (due_ms == INT64_MAX)
            pthread_cond_wait(&run->wakeup, &run->lock);
        else if (pthread_cond_timedwait(&run->wakeup, &run->lock, &until))
            break;
    pthread_mutex_unlock(&run->lock);
}

static void loop(fetch_run_state *run) {
    const fetch_context *ctx = run->ctx;
    while (run->open) {
        int64_t now = clock_mono_ms();
        if (ctx->cancel && cancel_raised(ctx->cancel))
            finish_all(run, LASTRO_FETCH_CANCELLED, "the call was cancelled");
        else if (ctx->deadline_mono_ms > 0 && now >= ctx->deadline_mono_ms)
            finish_all(run, LASTRO_FETCH_DEADLINE, "the call's time is used up");
        else
            step_all(run, now);
        rest_lanes(run);
        if (run->open)
            wait_for(run, next_due(run));
    }
}

static void run_init(fetch_run_state *run) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&run->wakeup, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&run->lock, NULL);
}

static void carry_out(fetch_run_state *run) {
    cancel_waiter waiter = {.wake = wake_run, .arg = run};
    bool listens = run->ctx->cancel && run->open && cancel_listen(run->ctx->cancel, &waiter);
    loop(run); /* a token that was raised before is seen at its first turn */
    if (listens)
        cancel_forget(run->ctx->cancel, &waiter);
    fetch_budget_destroy(run->own_budget);
}

/* ---- handing back ---- */

/* The answer's bytes for as long as the call lives; our reference goes with them. False: out of memory. */
static bool hand_over_body(fetch_item *item, lastro_text *ret) {
    const fetch_context *ctx = item->run->ctx;
    cache_answer *a = item->answer;
    item->answer = NULL;
    if (ctx->pin) {
        *ret = (lastro_text){a->body, a->body_len};
        ctx->pin(ctx->arg, cache_answer_unref, a);
        return true;
    }
    char *copy = arena_strndup(ctx->arena, a->body, a->body_len);
    *ret = (lastro_text){copy ? copy : "", copy ? a->body_len : 0};
    cache_answer_unref(a);
    return copy;
}

static const char *reason_for_good(fetch_item *item) {
    const char *copy =
        *item->reason ? arena_strndup(item->run->ctx->arena, item->reason, strlen(item->reason)) : "";
    return copy ? copy : "";
}

static uint32_t record(const fetch_item *item, int64_t read_at) {
    const fetch_context *ctx = item->run->ctx;
    if (!ctx->record || !item->source)
        return 0;
    bool usable = item->outcome == LASTRO_FETCH_OK || item->outcome == LASTRO_FETCH_NOT_FOUND;
    bool elsewhere = item->url && item->real_url && strcmp(item->url, item->real_url) != 0;
    fetch_access access = {.source = item->source,
                           .url = item->url ? item->url : "",
                           .read_from = elsewhere && !fetch_url_fault(item->real_url) ? item->real_url : NULL,
                           .retrieved_at = usable ? read_at : 0,
                           .from_cache = item->from_cache,
                           .attempts = item->tally.attempts,
                           .outcome = item->outcome};
    memcpy(access.anomalies, item->tally.anomalies, sizeof access.anomalies);
    return ctx->record(ctx->arg, &access);
}

static lastro_response response_of(fetch_item *item) {
    lastro_response r = {.outcome = item->outcome,
                         .verdict = LASTRO_BODY_RETRY,
                         .body = {"", 0},
                         .url = item->url ? item->url : "",
                         .from_cache = item->from_cache,
                         .attempts = item->tally.attempts,
                         .reason = reason_for_good(item)};
    memcpy(r.anomalies, item->tally.anomalies, sizeof r.anomalies);
    if (item->started_ms)
        r.waited_ms = (uint32_t)(item->ended_ms - item->started_ms);
    if (item->answer) {
        r.verdict = item->answer->verdict;
        r.http_status = item->answer->http_status;
        r.retrieved_at = item->answer->wall_ms;
        if (!hand_over_body(item, &r.body)) {
            item->status = LASTRO_ENOMEM;
            r.outcome = item->outcome = LASTRO_FETCH_UNSUPPORTED;
            r.reason = "the body does not fit in the call's memory";
        }
    }
    r.access = record(item, r.retrieved_at);
    return r;
}

/* Returns the item's status. */
static lastro_status hand_back(fetch_item *item, lastro_response *array, size_t index, size_t stride) {
    lastro_response r = response_of(item);
    r.size = (uint32_t)stride;
    memcpy((char *)array + index * stride, &r, stride < sizeof r ? stride : sizeof r);
    return item->status != LASTRO_OK ? item->status : fetch_status_of(item->outcome);
}

static lastro_status hand_back_nothing(size_t count, lastro_response *array, size_t stride) {
    lastro_response r = {.size = (uint32_t)stride,
                         .outcome = LASTRO_FETCH_UNSUPPORTED,
                         .verdict = LASTRO_BODY_RETRY,
                         .body = {"", 0},
                         .url = "",
                         .reason = "out of memory"};
    for (size_t i = 0; i < count; i++)
        memcpy((char *)array + i * stride, &r, stride < sizeof r ? stride : sizeof r);
    return LASTRO_ENOMEM;
}

lastro_status fetch_run(fetch_engine *e, const fetch_context *ctx, const fetch_source *const *sources,
                        const lastro_request *requests, size_t count, lastro_response *rets) {
    if (!count)
        return LASTRO_OK;
    fetch_run_state run = {.engine = e, .ctx = ctx, .count = count, .open = count};
    size_t stride = stride_of(rets->size, sizeof *rets);
    run.items = calloc(count, sizeof *run.items);
    if (!run.items)
        return hand_back_nothing(count, rets, stride);
    run_init(&run);
    for (size_t i = 0; i < count; i++)
        start_item(&run, i, sources[i], requests);
    carry_out(&run);
    lastro_status status = LASTRO_OK;
    for (size_t i = 0; i < count; i++) {
        lastro_status one = hand_back(&run.items[i], rets, i, stride);
        status = status == LASTRO_OK ? one : status;
    }
    pthread_cond_destroy(&run.wakeup);
    pthread_mutex_destroy(&run.lock);
    free(run.items);
    return status;
}
