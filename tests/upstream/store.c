/* SPDX-License-Identifier: MIT */
#include "store.h"

#include "slug.h"
#include "text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void series_add(sim_series *s, sim_day day, sim_day until, const char *value) {
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->obs = sim_grow(s->obs, s->cap, sizeof *s->obs);
    }
    char *copy = value ? sim_copy(value, strlen(value)) : NULL;
    s->obs[s->count++] = (sim_obs){.day = day, .until = until, .value = copy};
}

void series_free(sim_series *s) {
    for (size_t i = 0; i < s->count; i++)
        free(s->obs[i].value);
    free(s->obs);
    *s = (sim_series){0};
}

static int obs_order(const sim_obs *a, const sim_obs *b) {
    if (a->day != b->day)
        return a->day < b->day ? -1 : 1;
    return (a->until > b->until) - (a->until < b->until);
}

/* Merge sort's merge, because the order of arrival decides between two recordings of one row. */
static void obs_sort(sim_obs *obs, size_t count, sim_obs *spare) {
    if (count < 2)
        return;
    size_t half = count / 2, i = 0, j = half, n = 0;
    obs_sort(obs, half, spare);
    obs_sort(obs + half, count - half, spare);
    while (i < half && j < count)
        spare[n++] = obs_order(&obs[i], &obs[j]) <= 0 ? obs[i++] : obs[j++];
    while (i < half)
        spare[n++] = obs[i++];
    memcpy(obs, spare, n * sizeof *obs); /* what is left of the second half is in its place */
}

static void obs_unique(sim_series *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (kept && obs_order(&s->obs[kept - 1], &s->obs[i]) == 0)
            free(s->obs[i].value);
        else
            s->obs[kept++] = s->obs[i];
    }
    s->count = kept;
}

static int by_day(const void *a, const void *b) {
    sim_day x = *(const sim_day *)a, y = *(const sim_day *)b;
    return (x > y) - (x < y);
}

/* The bounds are those that clients of the source use (median of the gaps in days). */
static sim_period period_of_gap(sim_day gap) {
    static const struct {
        sim_day most;
        sim_period period;
    } bounds[] = {{4, PERIOD_DAILY},
                  {10, PERIOD_WEEKLY},
                  {45, PERIOD_MONTHLY},
                  {135, PERIOD_QUARTERLY},
                  {420, PERIOD_YEARLY}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (gap <= bounds[i].most)
            return bounds[i].period;
    return PERIOD_IRREGULAR;
}

static sim_period period_of_hint(char hint) {
    switch (hint) {
    case 'D':
        return PERIOD_DAILY;
    case 'M':
        return PERIOD_MONTHLY;
    case 'T':
        return PERIOD_QUARTERLY;
    case 'A':
        return PERIOD_YEARLY;
    default:
        return PERIOD_UNKNOWN;
    }
}

static sim_period period_infer(const sim_series *s, char hint) {
    if (s->count < 3)
        return period_of_hint(hint);
    size_t gaps = s->count - 1;
    sim_day *gap = sim_alloc(gaps, sizeof *gap);
    for (size_t i = 0; i < gaps; i++)
        gap[i] = s->obs[i + 1].day - s->obs[i].day;
    qsort(gap, gaps, sizeof *gap, by_day);
    sim_day median = gap[gaps / 2];
    free(gap);
    return period_of_gap(median);
}

void series_settle(sim_series *s, char hint) {
    if (s->count) {
        sim_obs *spare = sim_alloc(s->count, sizeof *spare);
        obs_sort(s->obs, s->count, spare);
        free(spare);
        obs_unique(s);
    }
    s->period = period_infer(s, hint);
    size_t weekend = 0;
    for (size_t i = 0; i < s->count; i++)
        weekend += day_is_weekend(s->obs[i].day);
    /* series 1 has one Saturday in 10,458 rows and is a business-day series all the same */
    s->business_days = s->period == PERIOD_DAILY && weekend * 100 < s->count;
}

static int by_code(const void *key, const void *element) {
    int code = *(const int *)key, other = ((const sim_series *)element)->code;
    return (code > other) - (code < other);
}

const sim_series *store_find(const sim_store *store, int code) {
    if (!store->count)
        return NULL;
    return bsearch(&code, store->series, store->count, sizeof *store->series, by_code);
}

static int entry_by_code(const void *key, const void *element) {
    int code = *(const int *)key, other = ((const sim_entry *)element)->code;
    return (code > other) - (code < other);
}

const sim_entry *store_entry(const sim_store *store, int code) {
    if (!store->entries)
        return NULL;
    return bsearch(&code, store->entry, store->entries, sizeof *store->entry, entry_by_code);
}

/* The series of that code while loading, when the array is not yet sorted. */
static sim_series *store_open(sim_store *store, int code) {
    for (size_t i = 0; i < store->count; i++)
        if (store->series[i].code == code)
            return &store->series[i];
    if (store->count == store->cap) {
        store->cap = store->cap ? store->cap * 2 : 64;
        store->series = sim_grow(store->series, store->cap, sizeof *store->series);
    }
    sim_series *s = &store->series[store->count++];
    *s = (sim_series){.code = code};
    return s;
}

static void entry_add(sim_store *store, int code, char *take_slug, char periodicity, sim_day start) {
    if (store->entries == store->entries_cap) {
        store->entries_cap = store->entries_cap ? store->entries_cap * 2 : 256;
        store->entry = sim_grow(store->entry, store->entries_cap, sizeof *store->entry);
    }
    store->entry[store->entries++] =
        (sim_entry){.code = code, .slug = take_slug, .periodicity = periodicity, .start = start};
}

/* These series carry dataFim at the source, but some recordings lost it. It follows from data: on
 * all 268 days of a recorded body of 226 (25/09/2026) it is the same day of the next month, or the
 * first of the one after where there is none. */
static bool has_until(int code) {
    return code == 25 || code == 195 || code == 226;
}

static bool add_row(sim_series *s, const char *data, const char *until, const json_t *value) {
    sim_day day, end = NO_DAY;
    if (!data || !day_parse_br(data, &day) || (until && !day_parse_br(until, &end)))
        return false;
    if (!json_is_string(value) && !json_is_null(value))
        return false; /* a number has lost its characters already */
    if (end == NO_DAY && has_until(s->code))
        end = day_next_period(day);
    series_add(s, day, end, json_string_value(value));
    return true;
}

/* {"data":..,"valor":..,"dataFim":..} of the source, or ["data","valor","dataFim"] of a snapshot */
static bool add_any_row(sim_series *s, const json_t *row) {
    if (json_is_array(row))
        return add_row(s, json_string_value(json_array_get(row, 0)),
                       json_string_value(json_array_get(row, 2)), json_array_get(row, 1));
    return add_row(s, json_string_value(json_object_get(row, "data")),
                   json_string_value(json_object_get(row, "dataFim")), json_object_get(row, "valor"));
}

static void load_series(sim_store *store, const char *folder, const char *name, int code) {
    char *path = path_join(folder, name);
    json_error_t at;
    json_t *root = json_load_file(path, 0, &at);
    json_t *rows = json_is_object(root) ? json_object_get(root, "observations") : root;
    if (!json_is_array(rows))
        fprintf(stderr, "bcb-sim: %s: not a series%s%s\n", path, root ? "" : ": ", root ? "" : at.text);
    sim_series *s = json_is_array(rows) ? store_open(store, code) : NULL;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (!add_any_row(s, row)) {
            fprintf(stderr, "bcb-sim: %s: row %zu is no observation\n", path, i);
            break;
        }
    }
    const char *title = json_string_value(json_object_get(root, "name"));
    if (s && title)
        entry_add(store, code, slug_make(code, title), 0, NO_DAY);
    json_decref(root);
    free(path);
}

/* The code in "433.json" (prefix "") or in "body_433_2026.json" (prefix "body_"); 0: another name.
 * A base file is the code alone, so that 24363_vintage_2023-11.json stays out. */
static int code_in_name(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0 || name[n] < '1' || name[n] > '9')
        return 0;
    char *end;
    long code = strtol(name + n, &end, 10);
    bool whole = n ? *end == '_' || strcmp(end, ".json") == 0 : strcmp(end, ".json") == 0;
    return whole && code < 10000000 ? (int)code : 0;
}

static void load_folder(sim_store *store, const char *folder, const char *prefix, bool only_new) {
    size_t count, known = store->count;
    char **names = folder_list(folder, ".json", &count);
    for (size_t i = 0; i < count; i++) {
        int code = code_in_name(names[i], prefix);
        bool skip = code == 0;
        for (size_t k = 0; only_new && k < known; k++)
            skip = skip || store->series[k].code == code;
        if (!skip)
            load_series(store, folder, names[i], code);
    }
    folder_list_free(names, count);
}

/* Cuts the line at ';' in place; ret holds up to most fields. */
static size_t cut_fields(char *line, char **ret, size_t most) {
    size_t n = 0;
    for (char *save = line; save && n < most;) {
        char *end = strchr(save, ';');
        if (end)
            *end = '\0';
        ret[n++] = save;
        save = end ? end + 1 : NULL;
    }
    return n;
}

/* Calls add for each line of a CSV file after the heading. */
static void each_line(const char *path, void (*add)(sim_store *, char **, size_t), sim_store *store) {
    char *text = file_read(path, NULL);
    char *line = text ? strchr(text, '\n') : NULL;
    while (line && line[1]) {
        char *fields[8], *next = strchr(line + 1, '\n');
        if (next)
            *next = '\0';
        line[1 + strcspn(line + 1, "\r")] = '\0';
        add(store, fields, cut_fields(line + 1, fields, 8));
        line = next;
    }
    free(text);
}

static void add_slug_line(sim_store *store, char **field, size_t count) { /* code;slug;… */
    int code = count >= 2 ? (int)strtol(field[0], NULL, 10) : 0;
    if (code > 0 && *field[1])
        entry_add(store, code, sim_copy(field[1], strlen(field[1])), 0, NO_DAY);
}

static void add_catalog_line(sim_store *store, char **field,
                             size_t count) { /* code;name;unit;periodicity;start */
    int code = count >= 5 ? (int)strtol(field[0], NULL, 10) : 0;
    sim_day start = NO_DAY;
    if (code <= 0 || !*field[1])
        return;
    if (!day_parse_br(field[4], &start))
        start = NO_DAY;
    entry_add(store, code, slug_make(code, field[1]), *field[3], start);
}

static int entry_order(const void *a, const void *b) {
    const sim_entry *x = a, *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

/* One entry a code: the first slug read wins, and what only a later line knows is taken over. */
static void entries_settle(sim_store *store) {
    for (size_t i = 1; i < store->entries; i++) { /* insertion sort: stable, and nearly sorted */
        sim_entry e = store->entry[i];
        size_t j = i;
        for (; j > 0 && entry_order(&store->entry[j - 1], &e) > 0; j--)
            store->entry[j] = store->entry[j - 1];
        store->entry[j] = e;
    }
    size_t kept = 0;
    for (size_t i = 0; i < store->entries; i++) {
        sim_entry *e = &store->entry[i], *last = kept ? &store->entry[kept - 1] : NULL;
        if (!last || last->code != e->code) {
            store->entry[kept++] = *e;
            continue;
        }
        last->periodicity = last->periodicity ? last->periodicity : e->periodicity;
        last->start = last->start != NO_DAY ? last->start : e->start;
        free(e->slug);
    }
    store->entries = kept;
}

static int series_order(const void *a, const void *b) {
    const sim_series *x = a, *y = b;
    return (x->code > y->code) - (x->code < y->code);
}

void store_load(sim_store *store, const char *data) {
    char *sgs = path_join(data, "sgs"), *slugs = path_join(data, "ckan/slugs.csv");
    char *catalog = path_join(data, "ckan/sgs_catalog.csv");
    each_line(slugs, add_slug_line, store);
    each_line(catalog, add_catalog_line, store);
    load_folder(store, sgs, "", false);
    load_folder(store, data, "", true);
    /* the base file comes first and wins; bodies and excerpts only extend it */
    load_folder(store, sgs, "body_", false);
    load_folder(store, sgs, "excerpt_", false);
    free(sgs);
    free(slugs);
    free(catalog);
    entries_settle(store);
    if (store->count)
        qsort(store->series, store->count, sizeof *store->series, series_order);
    for (size_t i = 0; i < store->count; i++) {
        const sim_entry *e = store_entry(store, store->series[i].code);
        series_settle(&store->series[i], e ? e->periodicity : 0);
    }
}

void store_free(sim_store *store) {
    for (size_t i = 0; i < store->count; i++)
        series_free(&store->series[i]);
    for (size_t i = 0; i < store->entries; i++)
        free(store->entry[i].slug);
    free(store->series);
    free(store->entry);
    *store = (sim_store){0};
}
