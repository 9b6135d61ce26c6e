/* SPDX-License-Identifier: MIT */
/* provenance.h -- what one call read, from where and when, and the blocks its answer carries.
 * The host records; a plugin only says which fields, which vintage and which address reproduces the query.
 * One thread at a time per provenance (parts of a call have their own and are merged in order). */
#ifndef LASTRO_CORE_PROVENANCE_H
#define LASTRO_CORE_PROVENANCE_H

#include "fetch.h"
#include "json.h"

typedef struct prov_access {
    struct prov_access *next;
    const fetch_source *source;
    const char *url, *read_from, *notice;
    int64_t retrieved_at;      /* 0: unknown, or nothing usable was read */
    bool measured;             /* went through fetch */
    bool from_cache, usable;
    uint32_t attempts, anomalies[LASTRO_ANOMALY_COUNT], number;
} prov_access;

typedef struct prov_field {
    struct prov_field *next;
    const char **names;        /* ends with NULL */
    const char *url, *dataset, *vintage;
    const prov_access *access; /* NULL: none was made in this call */
} prov_field;

typedef struct prov_block {
    struct prov_block *next;
    const fetch_source *source;
    const char *url, *vintage, *detail, *revision, *revision_note;
    const char **notices;      /* ends with NULL; NULL: none */
    prov_field *fields;
} prov_block;

typedef struct prov_mark {
    struct prov_mark *next;
    const char *engine, *note;
} prov_mark;

typedef struct {
    arena *mem;                /* borrowed: of the call */
    prov_access *accesses, **accesses_end;
    prov_block *blocks, **blocks_end;
    prov_mark *marks, **marks_end;
    uint32_t next_number;
    bool failed;               /* memory was out: the answer may not go out */
} provenance;

void prov_init(provenance *p, arena *mem);
uint32_t prov_add_fetch(provenance *p, const fetch_access *a);
uint32_t prov_add_access(provenance *p, const fetch_source *source, const lastro_access *a);
void prov_add_block(provenance *p, const fetch_source *source, const lastro_block *b);
void prov_add_mark(provenance *p, const char *engine, const char *note);
/* Takes over what a part of the call recorded; the part's memory must live as long as p's. */
void prov_absorb(provenance *p, provenance *part);

/* Writes the value of `provenance`: one block object (several blocks of an answer declared to have one: the first,
 * the others as its field sources are the plugin's business), or an array of blocks. */
void prov_write(const provenance *p, json_writer *w, bool list, const char *language);
/* The value of `attribution`: the distinct addresses in order. */
void prov_write_attribution(const provenance *p, json_writer *w);

#endif
