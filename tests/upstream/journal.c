/* SPDX-License-Identifier: MIT */
#include "journal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ENTRIES_MOST = 200000 }; /* later requests are counted, not listed */

typedef struct {
    char *path, *query;
    unsigned status; /* 0: not answered (yet) */
    int64_t ms;
} entry;

struct sim_journal {
    pthread_mutex_t lock;
    entry *list;
    size_t count, cap;
    uint64_t total, generation;
    long in_flight, max_in_flight;
    struct timespec start;
};

sim_journal *journal_create(void) {
    sim_journal *j = sim_alloc(1, sizeof *j);
    pthread_mutex_init(&j->lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &j->start);
    return j;
}

static void entries_free(sim_journal *j) {
    for (size_t i = 0; i < j->count; i++) {
        free(j->list[i].path);
        free(j->list[i].query);
    }
    free(j->list);
    j->list = NULL;
    j->count = j->cap = 0;
}

void journal_destroy(sim_journal *j) {
    if (!j)
        return;
    entries_free(j);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static int64_t ms_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((int64_t)now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

sim_ticket journal_begin(sim_journal *j, const char *path, const char *query) {
    pthread_mutex_lock(&j->lock);
    sim_ticket ticket = {.generation = j->generation, .index = j->count};
    j->total++;
    if (++j->in_flight > j->max_in_flight)
        j->max_in_flight = j->in_flight;
    if (j->count < ENTRIES_MOST) {
        if (j->count == j->cap) {
            j->cap = j->cap ? j->cap * 2 : 64;
            j->list = sim_grow(j->list, j->cap, sizeof *j->list);
        }
        j->list[j->count++] = (entry){.path = sim_copy(path, strlen(path)),
                                      .query = sim_copy(query, strlen(query)),
                                      .ms = ms_since(&j->start)};
    }
    pthread_mutex_unlock(&j->lock);
    return ticket;
}

void journal_status(sim_journal *j, sim_ticket ticket, unsigned status) {
    pthread_mutex_lock(&j->lock);
    if (ticket.generation == j->generation && ticket.index < j->count)
        j->list[ticket.index].status = status;
    pthread_mutex_unlock(&j->lock);
}

void journal_end(sim_journal *j) {
    pthread_mutex_lock(&j->lock);
    j->in_flight--;
    pthread_mutex_unlock(&j->lock);
}

void journal_reset(sim_journal *j) {
    pthread_mutex_lock(&j->lock);
    entries_free(j);
    j->total = 0;
    j->generation++;
    j->max_in_flight = j->in_flight;
    pthread_mutex_unlock(&j->lock);
}

static int by_path(const void *a, const void *b) {
    return strcmp((*(entry *const *)a)->path, (*(entry *const *)b)->path);
}

/* What a client sent may be any bytes; the journal must stay JSON. */
static void add_raw(sim_text *t, const char *s) {
    text_add(t, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            text_addf(t, "\\u%04x", c);
        else
            text_add(t, s, 1);
    }
    text_add(t, "\"", 1);
}

static void print_counts(const sim_journal *j, sim_text *t) {
    entry **sorted = sim_alloc(j->count, sizeof *sorted);
    for (size_t i = 0; i < j->count; i++)
        sorted[i] = &j->list[i];
    qsort(sorted, j->count, sizeof *sorted, by_path);
    for (size_t i = 0, next; i < j->count; i = next) {
        for (next = i; next < j->count && strcmp(sorted[next]->path, sorted[i]->path) == 0; next++)
            ;
        text_adds(t, i ? "," : "");
        add_raw(t, sorted[i]->path);
        text_addf(t, ":%zu", next - i);
    }
    free(sorted);
}

void journal_print(sim_journal *j, sim_text *ret) {
    pthread_mutex_lock(&j->lock);
    text_addf(ret, "{\"total\":%llu,\"by_path\":{", (unsigned long long)j->total);
    print_counts(j, ret);
    text_adds(ret, "},\"log\":[");
    for (size_t i = 0; i < j->count; i++) {
        const entry *e = &j->list[i];
        text_addf(ret, "%s{\"n\":%zu,\"path\":", i ? "," : "", i + 1);
        add_raw(ret, e->path);
        text_adds(ret, ",\"query\":");
        add_raw(ret, e->query);
        text_addf(ret, ",\"status\":%u,\"ms_since_start\":%lld}", e->status, (long long)e->ms);
    }
    text_addf(ret, "],\"in_flight\":%ld,\"max_in_flight\":%ld}", j->in_flight, j->max_in_flight);
    pthread_mutex_unlock(&j->lock);
}
