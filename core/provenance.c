/* SPDX-License-Identifier: MIT */
#include "provenance.h"
#include "clock.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

void prov_init(provenance *p, arena *mem) {
    *p = (provenance){.mem = mem, .next_number = 1};
    p->accesses_end = &p->accesses;
    p->blocks_end = &p->blocks;
    p->marks_end = &p->marks;
}

/* ---- recording ---- */

static const char *keep(provenance *p, const char *text) {
    if (!text)
        return NULL;
    const char *copy = arena_strndup(p->mem, text, strlen(text));
    p->failed = p->failed || !copy;
    return copy;
}

static const char **keep_list(provenance *p, const char *const *list) {
    size_t n = 0;
    if (!list)
        return NULL;
    while (list[n])
        n++;
    const char **copy = arena_array(p->mem, const char *, n + 1);
    p->failed = p->failed || !copy;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = keep(p, list[i]);
    return copy;
}

static prov_access *add_access(provenance *p) {
    prov_access *a = arena_new(p->mem, prov_access);
    if (!a) {
        p->failed = true;
        return NULL;
    }
    a->number = p->next_number++;
    *p->accesses_end = a;
    p->accesses_end = &a->next;
    return a;
}

uint32_t prov_add_fetch(provenance *p, const fetch_access *f) {
    prov_access *a = add_access(p);
    if (!a)
        return 0;
    a->source = f->source;
    a->url = keep(p, f->url);
    a->read_from = keep(p, f->read_from);
    a->retrieved_at = f->retrieved_at;
    a->measured = true;
    a->from_cache = f->from_cache;
    a->usable = f->outcome == LASTRO_FETCH_OK || f->outcome == LASTRO_FETCH_NOT_FOUND;
    a->attempts = f->attempts;
    memcpy(a->anomalies, f->anomalies, sizeof a->anomalies);
    return a->number;
}

uint32_t prov_add_access(provenance *p, const fetch_source *source, const lastro_access *l) {
    prov_access *a = add_access(p);
    if (!a)
        return 0;
    a->source = source;
    a->url = keep(p, l->url);
    a->notice = keep(p, l->notice);
    a->retrieved_at = l->retrieved_at;
    a->usable = true;
    return a->number;
}

static const prov_access *access_by_number(const provenance *p, uint32_t number) {
    for (const prov_access *a = p->accesses; number && a; a = a->next)
        if (a->number == number)
            return a;
    return NULL;
}

static prov_field *keep_fields(provenance *p, const lastro_field_source *const *list) {
    prov_field *first = NULL, **end = &first;
    for (; list && *list; list++) {
        prov_field *f = arena_new(p->mem, prov_field);
        if (!f) {
            p->failed = true;
            break;
        }
        f->names = keep_list(p, (*list)->fields);
        f->access = access_by_number(p, (*list)->access);
        f->url = (*list)->source_url ? keep(p, (*list)->source_url) : f->access ? f->access->url : NULL;
        f->dataset = keep(p, (*list)->dataset_id);
        f->vintage = keep(p, (*list)->data_vintage);
        *end = f;
        end = &f->next;
    }
    return first;
}

static const char *only_url(const provenance *p, const fetch_source *source) {
    for (const prov_access *a = p->accesses; a; a = a->next)
        if (a->source == source && a->usable)
            return a->url;
    return NULL;
}

void prov_add_block(provenance *p, const fetch_source *source, const lastro_block *b) {
    prov_block *k = arena_new(p->mem, prov_block);
    if (!k) {
        p->failed = true;
        return;
    }
    k->source = source;
    k->url = b->source_url ? keep(p, b->source_url) : only_url(p, source);
    k->vintage = keep(p, b->data_vintage);
    k->detail = keep(p, b->detail);
    k->revision = keep(p, b->revision);
    k->revision_note = keep(p, b->revision_note);
    k->notices = keep_list(p, b->notices);
    k->fields = keep_fields(p, b->fields);
    *p->blocks_end = k;
    p->blocks_end = &k->next;
}

void prov_add_mark(provenance *p, const char *engine, const char *note) {
    prov_mark *m = arena_new(p->mem, prov_mark);
    if (!m) {
        p->failed = true;
        return;
    }
    m->engine = keep(p, engine);
    m->note = keep(p, note);
    *p->marks_end = m;
    p->marks_end = &m->next;
}

void prov_absorb(provenance *p, provenance *part) {
    for (prov_access *a = part->accesses; a; a = a->next)
        a->number = p->next_number++;
    if (part->accesses) {
        *p->accesses_end = part->accesses;
        p->accesses_end = part->accesses_end;
    }
    if (part->blocks) {
        *p->blocks_end = part->blocks;
        p->blocks_end = part->blocks_end;
    }
    if (part->marks) {
        *p->marks_end = part->marks;
        p->marks_end = part->marks_end;
    }
    p->failed = p->failed || part->failed;
    prov_init(part, part->mem);
}

/* ---- writing ---- */

static void put(json_writer *w, const char *key, const char *text) {
    json_key(w, key);
    json_write_string(w, text);
}

static void put_instant(json_writer *w, const char *key, int64_t ms, int32_t offset) {
    char buf[40];
    json_key(w, key);
    if (!ms) {
        json_write_null(w);
        return;
    }
    clock_format_iso(ms, offset, buf, sizeof buf);
    json_write_string(w, buf);
}

/* What the accesses to one source say together. */
typedef struct {
    int64_t oldest;
    unsigned requests, attempts, anomalies[LASTRO_ANOMALY_COUNT];
    bool any, all_cached, unstable;
} summary;

static summary summarise(const provenance *p, const fetch_source *source) {
    summary s = {.all_cached = true};
    for (const prov_access *a = p->accesses; a; a = a->next) {
        if (a->source != source)
            continue;
        if (a->usable) {
            s.any = true;
            s.all_cached = s.all_cached && a->from_cache;
            if (a->retrieved_at && (!s.oldest || a->retrieved_at < s.oldest))
                s.oldest = a->retrieved_at;
        }
        if (!a->measured || a->from_cache)
            continue;
        s.requests += a->attempts > 0;
        s.attempts += a->attempts;
        for (int i = 0; i < LASTRO_ANOMALY_COUNT; i++) {
            s.anomalies[i] += a->anomalies[i];
            s.unstable = s.unstable || a->anomalies[i];
        }
    }
    s.unstable = s.unstable || s.attempts > s.requests;
    s.all_cached = s.all_cached && s.any;
    return s;
}

static void write_retrieval(json_writer *w, const summary *s) {
    static const char *const kinds[LASTRO_ANOMALY_COUNT] = {"timeout",  "network",      "http_4xx",
                                                            "http_5xx", "rate_limited", "malformed_body"};
    json_key(w, "retrieval");
    if (!s->requests) {
        json_write_null(w); /* nothing was measured: local data, or all from the cache */
        return;
    }
    json_begin_object(w);
    json_key(w, "requests");
    json_write_int(w, s->requests);
    json_key(w, "attempts");
    json_write_int(w, s->attempts);
    json_key(w, "anomalies");
    json_begin_array(w);
    for (int i = 0; i < LASTRO_ANOMALY_COUNT; i++) {
        if (!s->anomalies[i])
            continue;
        json_begin_object(w);
        put(w, "kind", kinds[i]);
        json_key(w, "count");
        json_write_int(w, s->anomalies[i]);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, "unstable");
    json_write_bool(w, s->unstable);
    json_end_object(w);
}

/* Fills {detail}, {date}, {license}, {url} of the source's citation template. */
static void write_citation(const provenance *p, json_writer *w, const prov_block *b, int64_t when, const char *language) {
    const lastro_source *src = b->source->source;
    char date[40];
    if (when)
        clock_format_day(when, src->utc_offset_min, date, sizeof date);
    else
        text_render(language, "no_date", date, sizeof date, NULL);
    const struct {
        const char *name, *value;
    } fills[] = {{"{detail}", b->detail ? b->detail : ""},
                 {"{date}", date},
                 {"{license}", src->license ? src->license : ""},
                 {"{url}", b->url ? b->url : ""}};
    const char *t = src->citation ? src->citation : src->title;
    size_t room = strlen(t) + 1, at = 0;
    for (const char *brace = t; (brace = strchr(brace, '{')); brace++)
        for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
            if (strncmp(brace, fills[i].name, strlen(fills[i].name)) == 0)
                room += strlen(fills[i].value);
    char *text = arena_alloc(p->mem, room);
    while (text && *t) {
        size_t i = 0;
        while (i < sizeof fills / sizeof *fills && strncmp(t, fills[i].name, strlen(fills[i].name)) != 0)
            i++;
        if (i == sizeof fills / sizeof *fills) {
            text[at++] = *t++;
            continue;
        }
        size_t n = strlen(fills[i].value);
        memcpy(text + at, fills[i].value, n);
        at += n;
        t += strlen(fills[i].name);
    }
    json_key(w, "citation");
    json_write_string_n(w, text ? text : "", text ? at : 0);
}

static void write_fields(json_writer *w, const prov_block *b) {
    if (!b->fields)
        return;
    json_key(w, "field_sources");
    json_begin_array(w);
    for (const prov_field *f = b->fields; f; f = f->next) {
        json_begin_object(w);
        json_key(w, "fields");
        json_begin_array(w);
        for (const char **name = f->names; name && *name; name++)
            json_write_string(w, *name);
        json_end_array(w);
        put(w, "source_url", f->url ? f->url : b->url);
        put(w, "dataset_id", f->dataset);
        put(w, "data_vintage", f->vintage);
        put_instant(w, "retrieved_at", f->access ? f->access->retrieved_at : 0, b->source->source->utc_offset_min);
        json_key(w, "served_from_cache");
        if (f->access)
            json_write_bool(w, f->access->from_cache);
        else
            json_write_null(w);
        json_end_object(w);
    }
    json_end_array(w);
}

static void notice(json_writer *w, bool *open, const char *text) {
    if (!*open) {
        json_key(w, "notices");
        json_begin_array(w);
        *open = true;
    }
    json_write_string(w, text);
}

static bool first_with(const provenance *p, const prov_block *b, const prov_access *upto, const char *text) {
    for (const char **n = b->notices; n && *n; n++)
        if (strcmp(*n, text) == 0)
            return false;
    for (const prov_access *a = p->accesses; a != upto; a = a->next)
        if (a->source == upto->source && a->notice && strcmp(a->notice, text) == 0)
            return false;
    return true;
}

static void write_notices(const provenance *p, json_writer *w, const prov_block *b, const char *language) {
    bool open = false, said_base = false;
    for (const char **n = b->notices; n && *n; n++)
        notice(w, &open, *n);
    for (const prov_access *a = p->accesses; a; a = a->next) {
        if (a->source != b->source)
            continue;
        if (a->notice && first_with(p, b, a, a->notice))
            notice(w, &open, a->notice);
        if (a->read_from && a->usable && !said_base) {
            char buf[600];
            text_render(language, "read_from", buf, sizeof buf,
                        TEXT_PAIRS("base", b->source->base, "canonical", b->source->source->base_url));
            notice(w, &open, buf);
            said_base = true;
        }
    }
    if (open)
        json_end_array(w);
}

static void write_derived(const provenance *p, json_writer *w) {
    if (!p->marks)
        return;
    json_key(w, "derived");
    json_write_bool(w, true);
    size_t room = 1;
    for (const prov_mark *m = p->marks; m; m = m->next)
        room += strlen(m->engine ? m->engine : "") + strlen(m->note ? m->note : "") + 4;
    char *text = arena_alloc(p->mem, room);
    size_t at = 0;
    for (const prov_mark *m = p->marks; text && m; m = m->next)
        at += (size_t)snprintf(text + at, room - at, "%s%s%s%s", at ? " " : "", m->engine ? m->engine : "",
                               m->engine && m->note ? ": " : "", m->note ? m->note : "");
    json_key(w, "derivation_note");
    json_write_string_n(w, text ? text : "", at);
}

static void write_revision(json_writer *w, const prov_block *b) {
    if (!b->revision)
        return;
    json_key(w, "revision");
    json_begin_object(w);
    put(w, "status", b->revision);
    put(w, "note", b->revision_note);
    json_end_object(w);
}

/* The order of the keys is part of the contract. */
static void write_block(const provenance *p, json_writer *w, const prov_block *b, const char *language) {
    const lastro_source *src = b->source->source;
    summary s = summarise(p, b->source);
    json_begin_object(w);
    put(w, "source", src->title);
    put(w, "source_url", b->url);
    put(w, "data_vintage", b->vintage);
    put_instant(w, "retrieved_at", s.oldest, src->utc_offset_min);
    write_retrieval(w, &s);
    write_citation(p, w, b, s.oldest, language);
    put(w, "license", src->license);
    write_fields(w, b);
    write_notices(p, w, b, language);
    write_derived(p, w);
    write_revision(w, b);
    if (s.all_cached) {
        json_key(w, "served_from_cache");
        json_write_bool(w, true);
    }
    json_end_object(w);
}

void prov_write(const provenance *p, json_writer *w, bool list, const char *language) {
    if (!list) {
        if (p->blocks)
            write_block(p, w, p->blocks, language);
        else
            json_write_null(w);
        return;
    }
    json_begin_array(w);
    for (const prov_block *b = p->blocks; b; b = b->next)
        write_block(p, w, b, language);
    json_end_array(w);
}

static bool url_seen(const provenance *p, const prov_block *upto_block, const prov_field *upto_field, const char *url) {
    for (const prov_block *b = p->blocks; b; b = b->next) {
        if (b == upto_block && !upto_field)
            return false;
        if (b->url && strcmp(b->url, url) == 0)
            return true;
        for (const prov_field *f = b->fields; f; f = f->next) {
            if (b == upto_block && f == upto_field)
                return false;
            if (f->url && strcmp(f->url, url) == 0)
                return true;
        }
    }
    return false;
}

void prov_write_attribution(const provenance *p, json_writer *w) {
    json_begin_array(w);
    for (const prov_block *b = p->blocks; b; b = b->next) {
        if (b->url && !url_seen(p, b, NULL, b->url))
            json_write_string(w, b->url);
        for (const prov_field *f = b->fields; f; f = f->next)
            if (f->url && !url_seen(p, b, f, f->url))
                json_write_string(w, f->url);
    }
    json_end_array(w);
}
