/* SPDX-License-Identifier: MIT */
#include "url.h"

#include <inttypes.h>
#include <stdio.h>

static size_t add_date(char *at, size_t room, const char *name, sgs_day d) {
    int year, month, day;
    if (d == SGS_NO_DAY)
        return 0;
    sgs_day_split(d, &year, &month, &day);
    int n = snprintf(at, room, "&%s=%02d%%2F%02d%%2F%04d", name, day, month, year);
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

void sgs_url_window(char ret[SGS_URL_SIZE], int64_t code, sgs_day from, sgs_day to) {
    int n = snprintf(ret, SGS_URL_SIZE, "/dados/serie/bcdata.sgs.%" PRId64 "/dados?formato=json", code);
    size_t len = (size_t)n;
    len += add_date(ret + len, SGS_URL_SIZE - len, "dataInicial", from);
    add_date(ret + len, SGS_URL_SIZE - len, "dataFinal", to);
}

void sgs_url_latest(char ret[SGS_URL_SIZE], int64_t code, unsigned count) {
    snprintf(ret, SGS_URL_SIZE, "/dados/serie/bcdata.sgs.%" PRId64 "/dados/ultimos/%u?formato=json", code,
             count);
}
