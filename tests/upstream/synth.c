/* SPDX-License-Identifier: MIT */
#include "synth.h"

#include <stdio.h>

/* splitmix64's finaliser: well mixed, no state to share between threads */
uint64_t synth_mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static sim_day add_months(sim_day day, int months) {
    int y, m, d;
    day_split(day, &y, &m, &d);
    m += months;
    return day_make(y + (m - 1) / 12, (m - 1) % 12 + 1, 1);
}

static sim_day next_day(sim_day day, char periodicity) {
    switch (periodicity) {
    case 'D':
        do
            day++;
        while (day_is_weekend(day));
        return day;
    case 'T':
        return add_months(day, 3);
    case 'S':
        return add_months(day, 6);
    case 'A':
        return add_months(day, 12);
    default:
        return add_months(day, 1);
    }
}

static sim_day first_day(const sim_entry *entry, char periodicity) {
    sim_day start = entry && entry->start != NO_DAY ? entry->start : day_make(2000, 1, 1);
    if (periodicity == 'D')
        return day_is_weekend(start) ? next_day(start, 'D') : start;
    int y, m, d;
    day_split(start, &y, &m, &d);
    return periodicity == 'A' ? day_make(y, 1, 1) : day_make(y, m, 1);
}

void synth_series(sim_series *ret, int code, uint64_t seed, const sim_entry *entry, sim_day today) {
    uint64_t key = synth_mix(seed ^ synth_mix((uint64_t)code));
    char periodicity = entry && entry->periodicity ? entry->periodicity : key % 4 == 0 ? 'D' : 'M';
    int level = 500 + (int)(key % 10007); /* hundredths */
    *ret = (sim_series){.code = code};
    for (sim_day day = first_day(entry, periodicity); day <= today; day = next_day(day, periodicity)) {
        char text[24];
        level += (int)(synth_mix(key ^ (uint64_t)(uint32_t)day) % 101) - 50;
        level = level < 1 ? 1 : level;
        snprintf(text, sizeof text, "%d.%02d", level / 100, level % 100);
        series_add(ret, day, NO_DAY, text);
    }
    series_settle(ret, periodicity);
}
