/* SPDX-License-Identifier: MIT */
/* series.h -- series as the service "series" version 1 gives them, ready for arithmetic. What is returned
 * lives as long as the call. */
#ifndef LASTRO_STATS_SERIES_H
#define LASTRO_STATS_SERIES_H

#include "variation.h"

#include <lastro/lastro.h>

typedef struct series_window {
    int64_t code;
    int64_t last;          /* so many observations, the newest; 0: by dates */
    const char *from, *to; /* as the caller wrote them; NULL: open */
} series_window;

typedef struct series {
    const lastro_value *answer; /* of the service: serie, observacoes, avisos, completo, … */
    const lastro_value *about;  /* its member serie */
    const lastro_value *rows;   /* its member observacoes */
    observation *values;        /* those with a value, oldest first */
    size_t count;
    int32_t *empty_days; /* of rows whose value the source left out, oldest first */
    size_t empty;
} series;

/* What is known of the series without the network. doing: starts the error's text, e.g. "cálculo da
 * variação". */
lastro_status series_describe(lastro_call *call, int64_t code, const char *doing, const lastro_value **ret,
                              lastro_error *err);
lastro_status series_read(lastro_call *call, const series_window *window, const char *doing, series *ret,
                          lastro_error *err);

/* Leaves the newest `last` rows, with and without value. False: there are not so many. */
bool series_keep_last(series *s, size_t last);

/* The published digits and the published date of an observation. */
lastro_text series_digits(const series *s, const observation *o);
lastro_text series_date(const series *s, const observation *o);

/* A member's text, copied; fallback when it has none. */
const char *series_text(lastro_call *call, const lastro_value *object, const char *name,
                        const char *fallback);
bool series_is(const lastro_value *about, const char *name, const char *what);
bool series_in_percent(const lastro_value *about);
/* What the catalogue advises, e.g. " Para o rendimento, … Séries indicadas: 11, 4390." (the codes that its
 * text does not name), with a space before; "" when it advises nothing. */
const char *series_guidance(lastro_call *call, const lastro_value *about);

#endif
