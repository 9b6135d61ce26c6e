/* SPDX-License-Identifier: MIT */
/* sim.h -- what the parts of the simulator share: a request, a reply, and the world they live in.
 * The world is filled while starting and read-only afterwards, so handlers need no lock. */
#ifndef BCB_SIM_SIM_H
#define BCB_SIM_SIM_H

#include "day.h"
#include "olinda.h"
#include "pages.h"
#include "store.h"
#include "text.h"

#define TYPE_JSON "application/json"
#define TYPE_HTML "text/html; charset=utf-8"

typedef struct sim_request {
    const char *path; /* percent-decoded, without the query */
    /* borrowed; decoded value of a query member, NULL when absent */
    const char *(*arg)(const struct sim_request *req, const char *name);
    void *conn;
    bool empty_value; /* a fault wants the values emptied */
} sim_request;

typedef struct {
    unsigned status;
    const char *type; /* a static text */
    sim_text body;
    long delay_ms;
    bool html_page; /* waits the html delay in force instead of delay_ms */
    bool synthetic;
} sim_reply;

typedef struct {
    sim_clock clock;
    bool seeded;
    uint64_t seed;
    long html_delay_ms;
    long unfiltered_delay_ms;
    long obs_delay_us;  /* time a window takes for each observation */
    long future_days;   /* how far past the clock series 432 is visible; negative: to its end */
    bool exact_windows; /* no observation before a window that starts on a holiday */
    sim_pages pages;
    sim_store store;
    sim_olinda olinda;
    sim_text package_list;
    char *ckan_folder;
} sim_world;

/* Each returns false when the path is not its own. */
bool sgs_handle(const sim_world *w, const sim_request *req, sim_reply *ret);
bool olinda_handle(const sim_world *w, const sim_request *req, sim_reply *ret);
bool ckan_handle(const sim_world *w, const sim_request *req, sim_reply *ret);

/* The code in /dados/serie/bcdata.sgs.CODE/…, or 0 */
int sgs_code_of(const char *path);

void ckan_load(sim_world *w, const char *data);

/* Replies in the sources' shapes */
void reply_text(sim_reply *ret, unsigned status, const char *type, const char *body);
void reply_html_page(const sim_world *w, sim_reply *ret); /* 200, late */

#endif
