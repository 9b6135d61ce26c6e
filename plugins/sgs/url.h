/* SPDX-License-Identifier: MIT */
/* url.h -- the two addresses of SGS that answer (bcb.md 7.1). Dates go percent-encoded (field case F013). */
#ifndef SGS_URL_H
#define SGS_URL_H

#include "dates.h"

#define SGS_BASE "https://api.bcb.gov.br"
enum { SGS_URL_SIZE = 200, SGS_LATEST_MAX = 20 }; /* ultimos/N with N > 20 answers 400 in every series */

/* Path and query; SGS_NO_DAY leaves that end open. */
void sgs_url_window(char ret[SGS_URL_SIZE], int64_t code, sgs_day from, sgs_day to);
void sgs_url_latest(char ret[SGS_URL_SIZE], int64_t code, unsigned count);

#endif
