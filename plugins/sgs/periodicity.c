/* SPDX-License-Identifier: MIT */
#include "periodicity.h"

#include <string.h>

/* The median gap decides: up to `gap` days. Days per observation: business days are 1.45 calendar days apart.
 */
static const struct pace {
    const char *label;
    unsigned gap;
    unsigned hundredths; /* of a day per observation */
    sgs_day stale;
} paces[] = {
    [SGS_PACE_UNKNOWN] = {NULL, 0, 3050, 800},
    [SGS_PACE_IRREGULAR] = {"Irregular", 0, 3050, 800},
    [SGS_PACE_DAILY] = {"Diária", 4, 145, 15},
    [SGS_PACE_WEEKLY] = {"Semanal", 10, 700, 45},
    [SGS_PACE_MONTHLY] = {"Mensal", 45, 3050, 160},
    [SGS_PACE_QUARTERLY] = {"Trimestral", 135, 9150, 280},
    [SGS_PACE_HALF_YEARLY] = {"Semestral", 230, 18300, 460},
    [SGS_PACE_YEARLY] = {"Anual", 420, 36500, 800},
};
enum { PACES = sizeof paces / sizeof *paces, GAPS = sizeof((sgs_gaps *)0)->by_days / sizeof(uint32_t) };

void sgs_gaps_start(sgs_gaps *g) {
    memset(g, 0, sizeof *g);
    g->last = SGS_NO_DAY;
}

void sgs_gaps_add(sgs_gaps *g, sgs_day d) {
    if (g->last != SGS_NO_DAY && d > g->last) {
        sgs_day gap = d - g->last;
        g->by_days[gap < GAPS ? gap : GAPS - 1]++;
        g->count++;
    }
    if (g->last == SGS_NO_DAY || d > g->last)
        g->dates++;
    g->last = d;
}

static unsigned gap_at(const sgs_gaps *g, uint32_t index) {
    uint32_t seen = 0;
    for (unsigned i = 0; i < GAPS; i++) {
        seen += g->by_days[i];
        if (seen > index)
            return i;
    }
    return GAPS;
}

sgs_pace sgs_gaps_pace(const sgs_gaps *g) {
    if (g->dates < SGS_PACE_MIN_DATES)
        return SGS_PACE_UNKNOWN;
    unsigned twice = gap_at(g, (g->count - 1) / 2) + gap_at(g, g->count / 2);
    for (unsigned p = SGS_PACE_DAILY; p < PACES; p++)
        if (twice <= 2 * paces[p].gap)
            return (sgs_pace)p;
    return SGS_PACE_IRREGULAR;
}

const char *sgs_pace_label(sgs_pace p) {
    return paces[p].label;
}

sgs_pace sgs_pace_named(const char *label, size_t len) {
    for (unsigned p = SGS_PACE_IRREGULAR; label && p < PACES; p++)
        if (strlen(paces[p].label) == len && memcmp(paces[p].label, label, len) == 0)
            return (sgs_pace)p;
    return SGS_PACE_UNKNOWN;
}

sgs_day sgs_pace_span(sgs_pace p, uint32_t observations) {
    return (sgs_day)(((uint64_t)observations * paces[p].hundredths * 16 + 999) / 1000);
}

sgs_day sgs_pace_stale_days(sgs_pace p) {
    return paces[p].stale;
}
