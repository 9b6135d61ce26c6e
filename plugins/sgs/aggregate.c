/* SPDX-License-Identifier: MIT */
#include "aggregate.h"

#include <stdlib.h>
#include <string.h>

/* No run of days without banking is longer than the five of Carnival; a daily series silent for more than
 * this at an edge of a period does not cover it. */
enum { EDGE_DAYS_DAILY = 6, EDGE_DAYS_WEEKLY = 10 };

static int months_of(sgs_pace p) {
    static const int months[] = {
        [SGS_PACE_MONTHLY] = 1, [SGS_PACE_QUARTERLY] = 3, [SGS_PACE_HALF_YEARLY] = 6, [SGS_PACE_YEARLY] = 12};
    return p >= SGS_PACE_MONTHLY ? months[p] : 0;
}

bool sgs_aggregate_allowed(sgs_pace source, sgs_pace target) {
    return source < SGS_PACE_DAILY || source <= target;
}

sgs_window sgs_period_of(sgs_day d, sgs_pace target) {
    int year, month, day, months = months_of(target);
    sgs_day_split(d, &year, &month, &day);
    int first = (month - 1) / months * months + 1;
    int last = first + months - 1;
    return (sgs_window){sgs_day_of(year, first, 1), sgs_day_of(year, last, sgs_days_in_month(year, last))};
}

static long double number_of(lastro_text text) {
    char copy[SGS_VALUE_SIZE];
    size_t len = text.len < sizeof copy ? text.len : sizeof copy - 1;
    memcpy(copy, text.at, len);
    copy[len] = '\0';
    return strtold(copy, NULL);
}

static void compute(const sgs_rows *rows, sgs_how how, sgs_point *p) {
    sgs_total total = {.exact = true};
    long double factor = 1.0L;
    for (size_t i = 0; i < rows->count; i++) {
        lastro_text value = rows->at[i].value;
        if (!value.at)
            continue;
        if (how == SGS_COMPOUND)
            factor *= 1.0L + number_of(value) / 100.0L;
        else
            sgs_total_add(&total, value.at, value.len);
    }
    bool ok = how == SGS_COMPOUND ? sgs_value_round4((factor - 1.0L) * 100.0L, p->computed)
                                  : sgs_total_round4(&total, how == SGS_MEAN ? p->used : 1, p->computed);
    if (!ok)
        p->computed[0] = '\0';
}

/* The rows of one period, at least one. */
static void fill_value(const sgs_rows *rows, sgs_how how, sgs_point *p) {
    const sgs_row *first = NULL, *last = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->at[i].value.at)
            continue;
        first = first ? first : &rows->at[i];
        last = &rows->at[i];
        p->used++;
    }
    if (!p->used)
        return;
    if (how == SGS_LAST || how == SGS_FIRST)
        p->value = (how == SGS_LAST ? last : first)->value;
    else
        compute(rows, how, p);
}

static bool has_row(const sgs_rows *rows, sgs_day d) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].day == d)
            return true;
    return false;
}

/* What has no value covers nothing. */
static bool is_incomplete(const sgs_rows *rows, const sgs_plan *plan, const sgs_point *p) {
    sgs_window period = p->period;
    if (!p->used || (plan->partial != SGS_NO_DAY && has_row(rows, plan->partial)))
        return true;
    int months = months_of(plan->source);
    if (months) /* a row stands for its whole month, quarter, …: count them */
        return p->used < (size_t)(months_of(plan->target) / months);
    if (period.to > plan->today || (plan->asked.from != SGS_NO_DAY && plan->asked.from > period.from) ||
        (plan->asked.to != SGS_NO_DAY && plan->asked.to < period.to))
        return true;
    size_t first = 0, last = rows->count - 1;
    while (!rows->at[first].value.at)
        first++;
    while (!rows->at[last].value.at)
        last--;
    sgs_day edge = plan->source == SGS_PACE_DAILY ? EDGE_DAYS_DAILY : EDGE_DAYS_WEEKLY;
    return (plan->source == SGS_PACE_DAILY || plan->source == SGS_PACE_WEEKLY) &&
           (rows->at[first].day > period.from + edge || rows->at[last].day < period.to - edge);
}

size_t sgs_aggregate(const sgs_rows *rows, const sgs_plan *plan, sgs_point *ret) {
    size_t count = 0;
    for (size_t i = 0; i < rows->count;) {
        sgs_point *p = &ret[count++];
        memset(p, 0, sizeof *p);
        p->period = sgs_period_of(rows->at[i].day, plan->target);
        size_t end = i;
        while (end < rows->count && rows->at[end].day <= p->period.to)
            end++;
        sgs_rows part = {rows->at + i, end - i};
        fill_value(&part, plan->how, p);
        p->incomplete = is_incomplete(&part, plan, p);
        i = end;
    }
    return count;
}
