/* SPDX-License-Identifier: MIT */
/* sgs.h -- what the parts of this plugin share.
 *
 * Lifetimes of answers in the host's cache (a figure is never older than this when it is served as fresh):
 *   window that ended 10 days ago or more   1 h     the past is revised at most daily
 *   window that comes nearer to today       2 min   a point of today appears within the day
 *   ultimos/N                               1 min
 *   "no value found" and refusals           1 min   a new point is not missed for long
 *   pages and silence for an unknown code   1 min   doubt.h: a wrong code asked twice costs one wait */
#ifndef SGS_SGS_H
#define SGS_SGS_H

#include "catalog.h"
#include "doubt.h"
#include "observations.h"
#include "slices.h"
#include <lastro/abi.h>

#define SGS_SOURCE "sgs"
#define SGS_CATALOG_SOURCE "catalogo"
#define SGS_CLASS_SMALL "small"
#define SGS_CLASS_WINDOW "window"
enum {
    SGS_SMALL_MS = 6000,
    SGS_WINDOW_MS = 30000,
    SGS_FRESH_PAST_MS = 3600000,
    SGS_FRESH_RECENT_MS = 120000,
    SGS_FRESH_LATEST_MS = 60000,
    SGS_NEGATIVE_MS = 60000,
    SGS_SETTLED_DAYS = 10,
    SGS_NOTES_MAX = 16,
    SGS_LATEST_LIMIT = 1000
};

typedef struct {
    sgs_catalog catalog;
    sgs_doubts doubts;
    bool snapshot_when_unreachable; /* manifest: {"snapshot": {"whenUnreachable": true}} */
} sgs_plugin;

typedef struct {
    const char *what; /* begins the error: "Valores", "Últimos valores" */
    int64_t code;
    sgs_window window; /* SGS_NO_DAY: open end */
    uint32_t last;     /* that many newest rows; 0: the window counts */
    const char *field; /* name of the answer's member the rows go to, for field sources; NULL: "dados", and
                        * field sources only where several requests were merged */
} sgs_query;

typedef struct {
    int64_t code;
    const sgs_known *known;     /* NULL: not in the catalogue */
    sgs_pace measured;          /* from the rows read; SGS_PACE_UNKNOWN: too few */
    sgs_rows rows;              /* ascending */
    size_t windows;             /* requests the window was cut into */
    const char *applied_reason; /* an end of the window was chosen here; NULL: as asked */
    sgs_window applied;
    const char *incomplete; /* why rows may be missing, for `aviso`; NULL: complete */
    bool snapshot;
    bool settled;         /* a snapshot that holds no running period */
    sgs_day today, as_of; /* Brasilia; as_of: the day the figures left the source */
    const char *notes[SGS_NOTES_MAX];
    size_t note_count;
} sgs_result;

/* The label a reader sees, and whether it was inferred; NULL: nothing known. */
const char *sgs_result_pace(const sgs_result *r, bool *ret_inferred);
/* Day of the row whose period still runs as of r->as_of (series accumulated in the month); SGS_NO_DAY: none.
 */
sgs_day sgs_result_partial(const sgs_result *r);

/* Adds a sentence for `avisos`; NULL and what does not fit are dropped. */
void sgs_note(sgs_result *r, const char *text);

#endif
