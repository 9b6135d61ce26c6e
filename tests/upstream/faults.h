/* SPDX-License-Identifier: MIT */
/* faults.h -- scripted misbehaviour. README.md describes the JSON form. One set of rules is in use
 * at a time; it may be replaced while requests run. */
#ifndef BCB_SIM_FAULTS_H
#define BCB_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FAULT_ABSENT = -1 };

/* What one request gets. Texts are new ones: fault_free. */
typedef struct {
    bool html, drop, empty_value, gzip;
    long status;                                        /* or FAULT_ABSENT, as the next three */
    long delay_ms;                                      /* replaces the delay of html, adds to others */
    long slow;                                          /* bytes a second */
    long cut;                                           /* bytes of the body before the connection closes */
    char *retry_after, *body, *content_type, *redirect; /* or NULL */
} sim_fault;

typedef struct sim_faults sim_faults;

sim_faults *faults_create(void);
void faults_destroy(sim_faults *f);
/* Replaces the rules and starts counting anew. On false nothing changed and error says why. */
bool faults_load(sim_faults *f, const char *json, char *error, size_t room);
/* Counts the request in each rule that matches it and merges the effects of those that strike:
 * of two that set the same member the earlier rule wins. */
void faults_apply(sim_faults *f, const char *path, const char *query, sim_fault *ret);
/* The html_delay_ms of the loaded rules, or FAULT_ABSENT. */
long faults_html_delay(sim_faults *f);
void fault_free(sim_fault *fault);

#endif
