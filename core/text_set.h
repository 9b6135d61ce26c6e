/* SPDX-License-Identifier: MIT */
/* text_set.h -- the few texts somebody watches, such as URIs. Copies are kept. Its owner guards it. */
#ifndef LASTRO_CORE_TEXT_SET_H
#define LASTRO_CORE_TEXT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text with its hash: made once, looked for in many sets. */
typedef struct {
    const char *at; /* borrowed, save in a set */
    size_t len;
    uint64_t hash;
} text_key;

typedef struct {
    text_key *at; /* in no order */
    size_t count, cap;
    size_t bytes; /* of all texts together */
} text_set;

text_key text_key_of(const char *text, size_t len);
bool text_set_has(const text_set *s, const text_key *k);
/* False: out of memory. One that is there already is not added twice. */
bool text_set_add(text_set *s, const text_key *k);
void text_set_remove(text_set *s, const text_key *k);
void text_set_clear(text_set *s); /* empty again; frees everything */

#endif
