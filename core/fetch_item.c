/* SPDX-License-Identifier: MIT */
/* fetch_item.c -- one request of a run: cache, flight, slot, attempts, waits, outcome.
 *
 *   READY ──(cache)──────────────────────────────▶ DONE
 *     │ ├──(an equal one is in the air)─▶ FOLLOWING ─▶ DONE, or READY when that one gave up for its own
 * reasons └─(slot)─▶ IN_AIR ⇄ WAITING ───────────────▶ DONE
 *
 * A slot is kept through the waits: a source in trouble is not asked other things instead. */
#include "fetch_internal.h"

#include "clock.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 600 };

void fetch_item_log(fetch_item *item, int32_t level, const char *fmt, ...) {
    const fetch_context *ctx = item->run->ctx;
    if (!ctx->log)
        return;
    char text[LOG_MAX];
    const char *target = item->request.target ? item->request.target : "";
    const char *label = item->request.label; /* the query may carry a key; the path and the label do not */
    int n = snprintf(text, sizeof text / 2, "%s: %.*s: ", item->source->source->name,
                     (int)strcspn(label ? "" : target, "?"), target);
    if (label)
        n = snprintf(text, sizeof text / 2, "%s: %s: ", item->source->source->name, label);
    size_t at = n < 0 ? 0 : (size_t)n < sizeof text / 2 ? (size_t)n : sizeof text / 2 - 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + at, sizeof text - at, fmt, ap);
    va_end(ap);
    ctx->log(ctx->arg, level, text);
}

void fetch_item_signal(fetch_item *item) {
    fetch_run_state *run = item->run;
    pthread_mutex_lock(&run->lock);
    item->event = true;
    run->signalled = true;
    pthread_cond_signal(&run->wakeup);
    pthread_mutex_unlock(&run->lock);
}

static void store(fetch_item *item) {
    cache *c = item->run->engine->cache;
    if (c && item->answer && !item->from_cache && cache_keeps(item->answer->verdict, item->life))
        cache_put(c, item->key, item->answer);
}

void fetch_item_finish(fetch_item *item, int32_t outcome, bool own, const char *reason) {
    if (reason != item->reason)
        snprintf(item->reason, sizeof item->reason, "%s", reason);
    if (item->attempt) {
        fetch_attempt_abandon(item);
        if (item->leads)
            fetch_flight_count(item, -1, -1); /* nobody else's answer came out of that attempt */
    }
    store(item); /* before the flight ends: who comes now finds one of them */
    if (item->leads)
        fetch_flight_end(item, outcome, own);
    else if (item->flight)
        fetch_flight_leave(item);
    if (item->has_slot)
        fetch_lane_give(item->lane);
    item->has_slot = false;
    item->outcome = outcome;
    item->state = ITEM_DONE;
    item->ended_ms = clock_mono_ms();
    item->run->open--;
}

static void fail_for_memory(fetch_item *item) {
    item->status = LASTRO_ENOMEM;
    fetch_item_finish(item, LASTRO_FETCH_UNSUPPORTED, true, "out of memory");
}

/* ---- attempts ---- */

static void attempt(fetch_item *item, int64_t now) {
    fetch_engine *e = item->run->engine;
    lastro_error err = {.status = LASTRO_OK};
    if (!fetch_engine_transport(e, &err)) {
        fetch_item_finish(item, LASTRO_FETCH_UNSUPPORTED, true, err.text);
        return;
    }
    int64_t left = item->budget_end_ms - now;
    uint32_t timeout_ms = left < item->limits.attempt_ms ? (uint32_t)left : item->limits.attempt_ms;
    item->tries++;
    item->tally.attempts++;
    fetch_flight_count(item, 1, -1);
    item->state = ITEM_IN_AIR;
    if (!fetch_attempt_start(item, e->transport, e->handle, timeout_ms))
        fail_for_memory(item);
}

/* The body goes into an answer, with the classifier's opinion of it. False: out of memory. */
static bool read_answer(fetch_item *item, fetch_result *r) {
    const lastro_source *source = item->source->source;
    cache_answer *a = cache_answer_take(r->body, r->body_len);
    r->body = NULL;
    if (!a)
        return false;
    a->http_status = r->status;
    a->wall_ms = r->wall_ms;
    a->mono_ms = r->mono_ms;
    memcpy(a->content_type, r->content_type, sizeof a->content_type);
    lastro_attempt view = {.size = sizeof view,
                           .http_status = r->status,
                           .content_type = {a->content_type, strlen(a->content_type)},
                           .body = {a->body, a->body_len},
                           .url = item->url,
                           .class_name = item->limits.name};
    a->verdict = source->classify ? source->classify(item->source->self, &view, a->reason, sizeof a->reason)
                                  : fetch_classify_status(r->status);
    a->reason[sizeof a->reason - 1] = '\0';
    if (!*a->reason && a->verdict != LASTRO_BODY_OK)
        snprintf(a->reason, sizeof a->reason, "HTTP status %u", r->status);
    cache_answer_unref(item->answer);
    item->answer = a;
    return true;
}

/* False: out of memory, and the item is done. */
static bool judge(fetch_item *item, fetch_result *r, fetch_judgement *ret) {
    if (r->end != HTTP_DONE) {
        free(r->body);
        *ret = fetch_judge_end(r->end);
        snprintf(item->reason, sizeof item->reason, "%s", *r->error ? r->error : "no answer");
        return true;
    }
    if (!read_answer(item, r)) {
        fail_for_memory(item);
        return false;
    }
    *ret = fetch_judge_verdict(item->answer->verdict, r->status);
    memcpy(item->reason, item->answer->reason, sizeof item->answer->reason);
    return true;
}

static void give_up(fetch_item *item, const fetch_judgement *j, bool own, const char *why) {
    fetch_item_log(item, LASTRO_LOG_WARNING, "attempt %u of %u failed: %s; no other: %s", item->tries,
                   item->limits.attempts, item->reason, why);
    fetch_item_finish(item, j->outcome, own, item->reason);
}

/* After an attempt that may be repeated: another one later, or none because it would not fit. */
static void again(fetch_item *item, const fetch_judgement *j, int64_t retry_after_ms) {
    fetch_engine *e = item->run->engine;
    int64_t now = clock_mono_ms(), deadline = item->run->ctx->deadline_mono_ms;
    if (item->tries >= item->limits.attempts) {
        give_up(item, j, false, "that was the last");
        return;
    }
    int64_t wait = fetch_wait_ms(&item->limits, item->tries, fetch_engine_random(e), retry_after_ms);
    if (wait >= item->budget_end_ms - now) {
        give_up(item, j, false, "the wait before it does not fit in the request's time");
    } else if (deadline > 0 && wait >= deadline - now) {
        give_up(item, j, true, "the wait before it does not fit in the call's time");
    } else {
        fetch_item_log(item, LASTRO_LOG_INFO, "attempt %u of %u failed: %s; next in %lld ms", item->tries,
                       item->limits.attempts, item->reason, (long long)wait);
        item->due_ms = now + wait;
        item->state = ITEM_WAITING;
    }
}

static void settle(fetch_item *item) {
    fetch_result result;
    fetch_judgement j;
    if (!fetch_attempt_take(item, &result))
        return;
    if (!judge(item, &result, &j))
        return;
    if (j.anomaly >= 0) {
        item->tally.anomalies[j.anomaly]++;
        fetch_flight_count(item, 0, j.anomaly);
    }
    if (!j.final)
        again(item, &j, result.retry_after_ms);
    else
        fetch_item_finish(item, j.outcome, j.outcome == LASTRO_FETCH_CANCELLED, item->reason);
}

/* ---- before the first attempt ---- */

static bool from_cache(fetch_item *item) {
    cache *c = item->run->engine->cache;
    if (!c || (!item->life.fresh_ms && !item->life.negative_ms))
        return false;
    cache_answer *a = cache_get(c, item->key, item->life, !item->missed);
    item->missed = true;
    if (!a)
        return false;
    cache_answer_unref(item->answer);
    item->answer = a;
    item->from_cache = true;
    return true;
}

static void finish_cached(fetch_item *item) {
    fetch_judgement j = fetch_judge_verdict(item->answer->verdict, item->answer->http_status);
    fetch_item_finish(item, j.outcome, false, item->answer->reason);
}

static void lead(fetch_item *item, int64_t now) {
    item->has_slot = true;
    item->tries = 0;
    if (!item->started_ms)
        item->started_ms = now;
    item->budget_end_ms = now + item->limits.budget_ms;
    attempt(item, now);
}

static void enter_air(fetch_item *item, int64_t now) {
    fetch_engine *e = item->run->engine;
    fetch_lane *lane = fetch_item_lane(item);
    if (!lane) {
        fail_for_memory(item);
        return;
    }
    bool slot = fetch_lane_take(lane);
    pthread_mutex_lock(
        &e->lock); /* a flight that ends has filled the cache before it is gone from the table */
    bool cached = from_cache(item);
    fetch_flight_role role = cached ? FLIGHT_NONE : fetch_flight_enter(item, slot);
    pthread_mutex_unlock(&e->lock);
    if (slot && role != FLIGHT_LED)
        fetch_lane_give(lane);
    if (cached) {
        finish_cached(item);
    } else if (role == FLIGHT_LED) {
        lead(item, now);
    } else if (role == FLIGHT_FOLLOWED) {
        item->state = ITEM_FOLLOWING;
        if (!item->started_ms)
            item->started_ms = now;
    } else if (slot) {
        fail_for_memory(item);
    }
}

static void enter(fetch_item *item, int64_t now) {
    item->state = ITEM_READY;
    if (from_cache(item))
        finish_cached(item);
    else if (item->run->ctx->offline)
        fetch_item_finish(item, LASTRO_FETCH_OFFLINE, true,
                          "the network may not be used and the cache has no answer");
    else
        enter_air(item, now);
}

static void follow(fetch_item *item, int64_t now) {
    int32_t outcome;
    bool own;
    if (!fetch_flight_take(item, &outcome, &own))
        return;
    fetch_flight_leave(item);
    if (own)
        enter(item, now);
    else
        fetch_item_finish(item, outcome, false, item->reason);
}

void fetch_item_step(fetch_item *item, int64_t now, bool event) {
    switch (item->state) {
    case ITEM_READY:
        enter(item, now);
        break;
    case ITEM_FOLLOWING:
        if (event)
            follow(item, now);
        break;
    case ITEM_IN_AIR:
        if (event)
            settle(item);
        break;
    case ITEM_WAITING:
        if (now >= item->due_ms)
            attempt(item, now);
        break;
    case ITEM_DONE:
        break;
    }
}
