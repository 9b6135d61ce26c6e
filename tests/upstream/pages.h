/* SPDX-License-Identifier: MIT */
/* pages.h -- the error bodies: recorded ones where the data folder has them, else short ones of
 * the same shape. */
#ifndef BCB_SIM_PAGES_H
#define BCB_SIM_PAGES_H

#include "day.h"
#include "text.h"

typedef struct {
    char *html;                /* 200 text/html: "Requisição inválida!" */
    char *sgs_not_found;       /* 404: window without data */
    char *sgs_bad_date;        /* 400 */
    char *sgs_window;          /* 406, of the code and day it was recorded with */
    char *olinda_bad_property; /* 400, in a comment */
} sim_pages;

void pages_load(sim_pages *pages, const char *data);
void pages_free(sim_pages *pages);
/* The recorded 406 body with this code and these days in its examples. */
void pages_add_window(const sim_pages *pages, sim_text *t, int code, sim_day today);
/* The recorded 400 body with this property and type. */
void pages_add_bad_property(const sim_pages *pages, sim_text *t, const char *property, const char *type);

#endif
