/* SPDX-License-Identifier: MIT */
/* sgs.c -- the time series service, with its measured habits. Each has the day it was seen. */
#include "sim.h"
#include "synth.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_MOST = 20, WINDOW_YEARS = 10, CODE_SELIC_TARGET = 432 };

static const char prefix[] = "/dados/serie/bcdata.sgs.";

/* 12/08/2026: 22 of 169 measured series come newest first from ultimos/N, and only there. */
static const int newest_first[] = {4513, 4503, 4505,  4536,  4537,  5364,  5793, 1178, 4189, 4390, 4389,
                                   4391, 4392, 25497, 27788, 27791, 27815, 195,  7165, 7166, 7167, 29034};

/* Monthly figures come out after their month (433 read on 31/08/2026 ended at 01/07/2026), but
 * these are known on its first day or grow while it runs. */
static const int current_month[] = {4390, 4391, 4189, 4392, 196, 256, 7811, 7812, 7828};

static bool listed(int code, const int *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == code)
            return true;
    return false;
}
#define LISTED(code, list) listed(code, list, sizeof(list) / sizeof *(list))

typedef struct {
    const sim_world *w;
    const sim_request *req;
    sim_reply *ret;
    const sim_series *s;
    sim_day today;
} sgs_call;

/* The range of s->obs that a reply may show: a piece of one array. */
typedef struct {
    size_t from, to; /* to: one past the last */
} obs_range;

static sim_day visible_until(const sgs_call *c) {
    if (c->s->code == CODE_SELIC_TARGET) /* 31/08/2026: has days to come, up to the next meeting */
        return c->w->future_days < 0 ? INT32_MAX : c->today + (sim_day)c->w->future_days;
    if (c->s->period == PERIOD_MONTHLY && !LISTED(c->s->code, current_month)) {
        int y, m, d;
        day_split(c->today, &y, &m, &d);
        return c->today - d;
    }
    return c->today;
}

/* The first observation on or after that day. */
static size_t obs_from(const sim_series *s, sim_day day) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->obs[middle].day < day)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t obs_after(const sim_series *s, sim_day day) {
    return day == INT32_MAX ? s->count : obs_from(s, day + 1);
}

static void add_obs_json(sim_text *t, const sim_obs *o, bool empty) {
    char day[11];
    day_print_br(o->day, day);
    text_addf(t, "{\"data\":\"%s\"", day);
    if (o->until != NO_DAY) {
        day_print_br(o->until, day);
        text_addf(t, ",\"dataFim\":\"%s\"", day);
    }
    text_adds(t, ",\"valor\":");
    if (empty)
        text_adds(t, "\"\"");
    else if (o->value)
        text_add_json(t, o->value);
    else
        text_adds(t, "null");
    text_adds(t, "}");
}

/* formato=csv: every field quoted, decimal comma, CRLF, no BOM (recorded 24/07/2026) */
static void add_obs_csv(sim_text *t, const sim_obs *o, bool empty) {
    char day[11];
    day_print_br(o->day, day);
    text_addf(t, "\"%s\";\"", day);
    if (o->until != NO_DAY) {
        day_print_br(o->until, day);
        text_addf(t, "%s\";\"", day);
    }
    for (const char *v = o->value && !empty ? o->value : ""; *v; v++)
        text_add(t, *v == '.' ? "," : v, 1);
    text_adds(t, "\"\r\n");
}

static void reply_range(const sgs_call *c, obs_range r, bool backwards) {
    const char *format = c->req->arg(c->req, "formato");
    bool csv = format && strcmp(format, "csv") == 0, empty = c->req->empty_value;
    sim_text *t = &c->ret->body;
    if (csv)
        text_adds(t, c->s->count && c->s->obs[0].until != NO_DAY ? "\"data\";\"datafim\";\"valor\"\r\n"
                                                                 : "\"data\";\"valor\"\r\n");
    else
        text_adds(t, "[");
    for (size_t n = r.to - r.from, i = 0; i < n; i++) {
        const sim_obs *o = &c->s->obs[backwards ? r.to - 1 - i : r.from + i];
        if (csv)
            add_obs_csv(t, o, empty);
        else {
            text_adds(t, i ? "," : "");
            add_obs_json(t, o, empty);
        }
    }
    if (!csv)
        text_adds(t, "]");
    c->ret->status = 200;
    c->ret->type = csv ? "text/csv" : TYPE_JSON;
}

static void reply_not_found(const sgs_call *c) {
    reply_text(c->ret, 404, TYPE_JSON, c->w->pages.sgs_not_found);
}

/* A window that begins on a day without business also brings the observation before it (series 12
 * on 01/05/2018, rafpyprog/pySGS#42; 755 rows measured for series 1 from 01/01/2019 in 2026 speak
 * against it, hence the option). A weekday past the last figure is not such a day: it is only
 * not published yet. */
static bool starts_without_business(const sgs_call *c, sim_day from, size_t end) {
    const sim_series *s = c->s;
    size_t at = obs_from(s, from);
    if (c->w->exact_windows || !s->business_days || at == 0 || end == 0)
        return false;
    return at < end ? s->obs[at].day != from : day_is_weekend(from);
}

/* 11/08/2026: 4 to 8 ms an observation, and the page instead once that passes half a minute. */
static void take_time(const sgs_call *c, size_t rows) {
    long ms = c->w->obs_delay_us / 1000 * (long)rows + c->w->obs_delay_us % 1000 * (long)rows / 1000;
    if (ms < c->w->html_delay_ms || c->w->obs_delay_us == 0) {
        c->ret->delay_ms = ms;
        return;
    }
    text_free(&c->ret->body);
    reply_html_page(c->w, c->ret);
}

typedef struct {
    bool has_from, has_to;
    sim_day from, to;
} window;

/* The source names the side that is wrong; only the text for dataInicial is recorded. */
static bool window_parse(const sgs_call *c, window *ret) {
    const char *from = c->req->arg(c->req, "dataInicial"), *to = c->req->arg(c->req, "dataFinal");
    *ret = (window){.has_from = from && *from, .has_to = to && *to};
    if (ret->has_from && !day_parse_br(from, &ret->from)) {
        reply_text(c->ret, 400, TYPE_JSON, c->w->pages.sgs_bad_date);
        return false;
    }
    if (!ret->has_to || day_parse_br(to, &ret->to))
        return true;
    const char *initial = strstr(c->w->pages.sgs_bad_date, "initial");
    if (initial) {
        text_add(&c->ret->body, c->w->pages.sgs_bad_date, (size_t)(initial - c->w->pages.sgs_bad_date));
        text_addf(&c->ret->body, "final%s", initial + strlen("initial"));
        c->ret->status = 400;
        c->ret->type = TYPE_JSON;
    } else
        reply_text(c->ret, 400, TYPE_JSON, c->w->pages.sgs_bad_date);
    return false;
}

/* 11 and 31/08/2026: ten years exact to the day and inclusive, for daily series only. Without an
 * end it is today that counts; without a beginning it is always refused. */
static bool window_too_wide(const sgs_call *c, const window *x) {
    if (c->s->period != PERIOD_DAILY)
        return false;
    sim_day end = x->has_to ? x->to : c->today;
    return !x->has_from || end > day_add_years(x->from, WINDOW_YEARS);
}

static void serve_window(const sgs_call *c, const window *x) {
    if (window_too_wide(c, x)) {
        pages_add_window(&c->w->pages, &c->ret->body, c->s->code, c->today);
        c->ret->status = 406;
        c->ret->type = TYPE_JSON;
        return;
    }
    size_t end = obs_after(c->s, visible_until(c));
    obs_range r = {.from = x->has_from ? obs_from(c->s, x->from) : 0,
                   .to = x->has_to ? obs_after(c->s, x->to) : end};
    r.to = r.to < end ? r.to : end;
    if (x->has_from && (!x->has_to || x->to >= x->from) && starts_without_business(c, x->from, end))
        r.from = (r.from < end ? r.from : end) - 1; /* at least one row: r.to is past it */
    if (r.from >= r.to) {
        reply_not_found(c);
        return;
    }
    reply_range(c, r, false);
    take_time(c, r.to - r.from);
}

static void serve_last(const sgs_call *c, size_t count) {
    size_t end = obs_after(c->s, visible_until(c));
    if (end == 0)
        reply_not_found(c);
    else
        reply_range(c, (obs_range){.from = end > count ? end - count : 0, .to = end},
                    LISTED(c->s->code, newest_first));
}

/* What stands behind /dados: nothing, or /ultimos/N. */
typedef enum { ASKS_NOTHING_KNOWN, ASKS_WINDOW, ASKS_LAST } asked;

static asked path_parse(const char *rest, unsigned long *ret_count) {
    static const char last[] = "/dados/ultimos/";
    if (strcmp(rest, "/dados") == 0 || strcmp(rest, "/dados/") == 0)
        return ASKS_WINDOW;
    if (strncmp(rest, last, sizeof last - 1) != 0)
        return ASKS_NOTHING_KNOWN;
    const char *digits = rest + sizeof last - 1;
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 9 || digits[n + (digits[n] == '/')])
        return ASKS_NOTHING_KNOWN;
    *ret_count = strtoul(digits, NULL, 10);
    return ASKS_LAST;
}

int sgs_code_of(const char *path) {
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return 0;
    const char *digits = path + sizeof prefix - 1;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && n < 9 ? (int)strtol(digits, NULL, 10) : 0;
}

static void serve_series(sgs_call *c, asked what, size_t count) {
    window x;
    if (what == ASKS_WINDOW && !window_parse(c, &x))
        return;
    sim_series invented = {0};
    int code = sgs_code_of(c->req->path);
    c->s = store_find(&c->w->store, code);
    if (!c->s && c->w->seeded && code > 0 && code < SYNTH_CODE_END) {
        synth_series(&invented, code, c->w->seed, store_entry(&c->w->store, code), c->today);
        c->s = &invented;
        c->ret->synthetic = true;
    }
    if (!c->s)
        reply_html_page(c->w, c->ret);
    else if (what == ASKS_WINDOW)
        serve_window(c, &x);
    else
        serve_last(c, count);
    series_free(&invented);
}

bool sgs_handle(const sim_world *w, const sim_request *req, sim_reply *ret) {
    if (strncmp(req->path, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *rest = strchr(req->path + sizeof prefix - 1, '/');
    unsigned long count = 0;
    asked what = rest ? path_parse(rest, &count) : ASKS_NOTHING_KNOWN;
    sgs_call c = {.w = w, .req = req, .ret = ret, .today = clock_today(&w->clock)};
    if (what == ASKS_NOTHING_KNOWN) /* /metadados among them, measured 11/08/2026 */
        reply_text(ret, 404, "text/plain", "endpoint not found!");
    else if (what == ASKS_LAST && (count == 0 || count > LAST_MOST))
        /* 11 and 31/08/2026: 400 whatever the periodicity; the body was not recorded, this is the
         * shape of the others */
        reply_text(ret, 400, TYPE_JSON,
                   "{\"erro\":{\"statusCode\":400,\"detail\":\"br.gov.bcb.pec.sgs.comum.excecoes."
                   "SGSNegocioException: Invalid number of values\"}}");
    else
        serve_series(&c, what, count);
    return true;
}
