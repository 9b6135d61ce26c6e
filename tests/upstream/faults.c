/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include "sim.h"
#include "synth.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CODES_MOST = 64 };

typedef struct {
    char *path_prefix, *path_contains, *query_contains; /* or NULL */
    int code[CODES_MOST];
    size_t codes;
} rule_match;

typedef struct {
    long first, every, for_ms, after; /* or FAULT_ABSENT; after: 0 */
    double rate;                      /* negative: absent */
    uint64_t seed;
} rule_when;

typedef struct {
    rule_match match;
    rule_when when;
    sim_fault effect;
    uint64_t seen; /* matching requests so far */
} rule;

typedef struct {
    rule *list;
    size_t count;
    long html_delay_ms;
    int64_t loaded_ms;
} rule_set;

struct sim_faults {
    pthread_mutex_t lock;
    rule_set rules;
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *copy_or_null(const char *s) {
    return s ? sim_copy(s, strlen(s)) : NULL;
}

void fault_free(sim_fault *fault) {
    free(fault->retry_after);
    free(fault->body);
    free(fault->content_type);
    free(fault->redirect);
    *fault = (sim_fault){0};
}

static void rules_free(rule_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        free(set->list[i].match.path_prefix);
        free(set->list[i].match.path_contains);
        free(set->list[i].match.query_contains);
        fault_free(&set->list[i].effect);
    }
    free(set->list);
    *set = (rule_set){.html_delay_ms = FAULT_ABSENT};
}

/* ---- reading ---- */

static bool parse_codes(json_t *code, rule_match *ret) {
    json_t *one = json_is_array(code) ? NULL : code;
    size_t count = one ? 1 : json_array_size(code);
    for (size_t i = 0; i < count && i < CODES_MOST; i++) {
        json_t *n = one ? one : json_array_get(code, i);
        if (!json_is_integer(n))
            return false;
        ret->code[ret->codes++] = (int)json_integer_value(n);
    }
    return count <= CODES_MOST;
}

static bool parse_match(json_t *match, rule_match *ret, json_error_t *at) {
    const char *begins = NULL, *contains = NULL, *query = NULL;
    json_t *code = NULL;
    if (json_unpack_ex(match, at, JSON_STRICT, "{s?s, s?s, s?s, s?o}", "path_prefix", &begins,
                       "path_contains", &contains, "query_contains", &query, "code", &code) < 0)
        return false;
    if (code && !parse_codes(code, ret)) {
        snprintf(at->text, sizeof at->text, "code is an integer or up to %d of them", CODES_MOST);
        return false;
    }
    ret->path_prefix = copy_or_null(begins);
    ret->path_contains = copy_or_null(contains);
    ret->query_contains = copy_or_null(query);
    return true;
}

static bool parse_when(json_t *schedule, rule_when *ret, json_error_t *at) {
    json_int_t first = -1, every = -1, for_ms = -1, after = 0, seed = 1;
    double rate = -1;
    int always = 0;
    if (schedule && json_unpack_ex(schedule, at, JSON_STRICT, "{s?I, s?I, s?I, s?I, s?I, s?F, s?b}", "first",
                                   &first, "every", &every, "for_ms", &for_ms, "after", &after, "seed", &seed,
                                   "rate", &rate, "always", &always) < 0)
        return false;
    if (every == 0) {
        snprintf(at->text, sizeof at->text, "every is 1 or more");
        return false;
    }
    *ret = (rule_when){(long)first, (long)every, (long)for_ms, (long)after, rate, (uint64_t)seed};
    return true;
}

static bool parse_retry_after(json_t *value, sim_fault *ret) {
    char digits[24];
    if (json_is_integer(value)) {
        snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(value));
        ret->retry_after = copy_or_null(digits);
    } else
        ret->retry_after = copy_or_null(json_string_value(value)); /* an HTTP date */
    return ret->retry_after != NULL;
}

static bool parse_effect(json_t *effect, sim_fault *ret, json_error_t *at) {
    int html = 0, drop = 0, empty = 0, gzip = 0;
    json_int_t status = -1, delay = -1, slow = -1, cut = -1;
    const char *body = NULL, *type = NULL, *redirect = NULL;
    json_t *retry = NULL;
    if (json_unpack_ex(effect, at, JSON_STRICT,
                       "{s?b, s?b, s?b, s?b, s?I, s?I, s?I, s?I, s?s, s?s, s?s, s?o}", "html", &html, "drop",
                       &drop, "empty_value", &empty, "gzip", &gzip, "status", &status, "delay_ms", &delay,
                       "slow", &slow, "cut", &cut, "body", &body, "content_type", &type, "redirect",
                       &redirect, "retry_after", &retry) < 0)
        return false;
    if (status != -1 && (status < 200 || status > 599)) {
        snprintf(at->text, sizeof at->text, "status is 200 to 599");
        return false;
    }
    ret->html = html, ret->drop = drop, ret->empty_value = empty, ret->gzip = gzip;
    ret->status = (long)status, ret->delay_ms = (long)delay, ret->slow = slow == 0 ? 1 : (long)slow;
    ret->cut = (long)cut;
    if (retry && !parse_retry_after(retry, ret)) {
        snprintf(at->text, sizeof at->text, "retry_after is a number of seconds or a date as text");
        return false;
    }
    ret->body = copy_or_null(body);
    ret->content_type = copy_or_null(type);
    ret->redirect = copy_or_null(redirect);
    return true;
}

static bool parse_rule(json_t *json, rule *ret, json_error_t *at) {
    json_t *match = NULL, *schedule = NULL, *effect = NULL;
    *ret = (rule){0};
    return json_unpack_ex(json, at, JSON_STRICT, "{s?o, s?o, s:o}", "match", &match, "schedule", &schedule,
                          "effect", &effect) == 0 &&
           (!match || parse_match(match, &ret->match, at)) && parse_when(schedule, &ret->when, at) &&
           parse_effect(effect, &ret->effect, at);
}

static bool parse_rules(json_t *root, rule_set *ret, char *error, size_t room) {
    json_t *rules = json_is_array(root) ? root : NULL;
    json_int_t html_delay = FAULT_ABSENT;
    json_error_t at;
    if (!rules && json_unpack_ex(root, &at, JSON_STRICT, "{s?I, s?o}", "html_delay_ms", &html_delay, "rules",
                                 &rules) < 0) {
        snprintf(error, room, "%s", at.text);
        return false;
    }
    if (rules && !json_is_array(rules)) {
        snprintf(error, room, "rules is a list");
        return false;
    }
    ret->html_delay_ms = (long)html_delay;
    ret->list = sim_alloc(json_array_size(rules), sizeof *ret->list);
    size_t i;
    json_t *json;
    json_array_foreach(rules, i, json) {
        ret->count++; /* so that a half-read rule is freed too */
        if (!parse_rule(json, &ret->list[i], &at)) {
            snprintf(error, room, "rule %zu: %s", i, at.text);
            return false;
        }
    }
    return true;
}

bool faults_load(sim_faults *f, const char *json, char *error, size_t room) {
    rule_set set = {.html_delay_ms = FAULT_ABSENT, .loaded_ms = now_ms()};
    json_error_t at;
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &at);
    if (!root)
        snprintf(error, room, "line %d: %s", at.line, at.text);
    bool good = root && parse_rules(root, &set, error, room);
    json_decref(root);
    if (good) {
        pthread_mutex_lock(&f->lock);
        rule_set old = f->rules;
        f->rules = set;
        pthread_mutex_unlock(&f->lock);
        set = old;
    }
    rules_free(&set);
    return good;
}

/* ---- striking ---- */

static bool matches(const rule_match *m, const char *path, const char *query) {
    if ((m->path_prefix && strncmp(path, m->path_prefix, strlen(m->path_prefix)) != 0) ||
        (m->path_contains && !strstr(path, m->path_contains)) ||
        (m->query_contains && !strstr(query, m->query_contains)))
        return false;
    int code = m->codes ? sgs_code_of(path) : 0;
    for (size_t i = 0; i < m->codes; i++)
        if (m->code[i] == code)
            return true;
    return m->codes == 0;
}

/* All conditions that are set must hold. The choice by rate depends on the rule's own count, not on
 * timing: the same requests meet the same faults. */
static bool strikes(const rule_when *when, uint64_t seen, int64_t age_ms) {
    if (seen <= (uint64_t)when->after)
        return false;
    uint64_t n = seen - (uint64_t)when->after;
    if ((when->first >= 0 && n > (uint64_t)when->first) ||
        (when->every > 0 && n % (uint64_t)when->every != 0) || (when->for_ms >= 0 && age_ms > when->for_ms))
        return false;
    double dice = (double)(synth_mix(when->seed ^ synth_mix(seen)) >> 11) / 9007199254740992.0; /* 2^53 */
    return when->rate < 0 || dice < when->rate;
}

static void merge_long(long *into, long from) {
    if (*into == FAULT_ABSENT)
        *into = from;
}

static void merge_text(char **into, const char *from) {
    if (!*into)
        *into = copy_or_null(from);
}

static void merge(sim_fault *into, const sim_fault *from) {
    into->html = into->html || from->html;
    into->drop = into->drop || from->drop;
    into->empty_value = into->empty_value || from->empty_value;
    into->gzip = into->gzip || from->gzip;
    merge_long(&into->status, from->status);
    merge_long(&into->delay_ms, from->delay_ms);
    merge_long(&into->slow, from->slow);
    merge_long(&into->cut, from->cut);
    merge_text(&into->retry_after, from->retry_after);
    merge_text(&into->body, from->body);
    merge_text(&into->content_type, from->content_type);
    merge_text(&into->redirect, from->redirect);
}

void faults_apply(sim_faults *f, const char *path, const char *query, sim_fault *ret) {
    *ret = (sim_fault){
        .status = FAULT_ABSENT, .delay_ms = FAULT_ABSENT, .slow = FAULT_ABSENT, .cut = FAULT_ABSENT};
    pthread_mutex_lock(&f->lock);
    int64_t age_ms = now_ms() - f->rules.loaded_ms;
    for (size_t i = 0; i < f->rules.count; i++) {
        rule *r = &f->rules.list[i];
        if (matches(&r->match, path, query) && strikes(&r->when, ++r->seen, age_ms))
            merge(ret, &r->effect);
    }
    pthread_mutex_unlock(&f->lock);
}

long faults_html_delay(sim_faults *f) {
    pthread_mutex_lock(&f->lock);
    long ms = f->rules.html_delay_ms;
    pthread_mutex_unlock(&f->lock);
    return ms;
}

sim_faults *faults_create(void) {
    sim_faults *f = sim_alloc(1, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    f->rules.html_delay_ms = FAULT_ABSENT;
    return f;
}

void faults_destroy(sim_faults *f) {
    if (!f)
        return;
    rules_free(&f->rules);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
