/* SPDX-License-Identifier: MIT */
/* variacao.h -- the parts of bcb_variacao: the question and the arithmetic (variacao.c), what has to be said
 * besides the figures (variacao_notices.c), the answer (variacao_answer.c). */
#ifndef LASTRO_STATS_VARIACAO_H
#define LASTRO_STATS_VARIACAO_H

#include "series.h"

enum { PLACES = 4, PLACES_FORMATTED = 2, MAX_NOTICES = 24 };

typedef struct variacao_change {
    bool known; /* false: there is no such figure, and why says the reason */
    const char *why;
    char percent[72], formatted[72];
} variacao_change;

/* One call's work. */
typedef struct variacao_job {
    lastro_call *call;
    int64_t code;
    series s;
    bool chained;
    chain_rule rule;
    chain rows; /* those chained */
    variacao_change result;
    bool assumed;                /* the series is unknown: its being a level is our assumption */
    variacao_change alternative; /* an unknown series that looks like rates: chained */
    bool own_window;             /* the window read is ours, made to hold `periodos`: nobody asked for it */
    const char *notices[MAX_NOTICES];
    size_t notice_count;
} variacao_job;

static const char variacao_doing[] = "cálculo da variação";

__attribute__((format(printf, 2, 3))) void variacao_notice(variacao_job *j, const char *fmt, ...);
/* What the service says of the series and of this reading of it. */
void variacao_pass_notices(variacao_job *j);
/* looks: bits of looks_like_rate */
void variacao_warn_unknown(variacao_job *j, unsigned looks);
void variacao_warn_level(variacao_job *j);
void variacao_warn_chain(variacao_job *j);

lastro_status variacao_write(const variacao_job *j, lastro_writer *out, lastro_error *err);

static inline const char *variacao_plural(size_t n, const char *one, const char *many) {
    return n == 1 ? one : many;
}

#endif
