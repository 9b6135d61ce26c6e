/* SPDX-License-Identifier: MIT */
/* text.h -- growing text, JSON strings, whole files.
 * Running out of memory ends the program: it is a test double, nothing waits for its mercy. */
#ifndef BCB_SIM_TEXT_H
#define BCB_SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *at; /* always ends with a NUL once something was added */
    size_t len, cap;
} sim_text;

/* A borrowed piece of somebody else's text. */
typedef struct {
    const char *at;
    size_t len;
} sim_slice;

void *sim_alloc(size_t count, size_t size); /* zeroed */
void *sim_grow(void *old, size_t count, size_t size);
char *sim_copy(const char *text, size_t len);

void text_add(sim_text *t, const char *at, size_t len);
void text_adds(sim_text *t, const char *s);
__attribute__((format(printf, 2, 3))) void text_addf(sim_text *t, const char *fmt, ...);
/* As a JSON string with its quotes. Bytes from 0x80 are kept: the text must be UTF-8. */
void text_add_json(sim_text *t, const char *s);
void text_free(sim_text *t);

bool slice_is(sim_slice s, const char *text);

/* A new text with a NUL after it, or NULL when the file cannot be read. */
char *file_read(const char *path, size_t *ret_len);
/* The names in a folder that end with suffix, sorted; count 0 when there is no such folder. */
char **folder_list(const char *folder, const char *suffix, size_t *ret_count);
void folder_list_free(char **names, size_t count);
/* "folder/name" as a new text */
char *path_join(const char *folder, const char *name);

#endif
