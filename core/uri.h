/* SPDX-License-Identifier: MIT */
/* uri.h -- RFC 3986: the parts of a reference, resolving one against a base, and whether one is well formed.
 */
#ifndef LASTRO_CORE_URI_H
#define LASTRO_CORE_URI_H

#include "arena.h"
#include "json.h"

/* Parts are borrowed from the text; .at is NULL for a part that is absent ("" is present and empty). */
typedef struct {
    json_text scheme, authority, path, query, fragment;
} uri_parts;

/* Splits by the grammar's delimiters only; every text has a reading. path.at is never NULL. */
uri_parts uri_split(const char *text, size_t len);

/* ref resolved against base (RFC 3986, 5.2), fragment kept, NUL-terminated in a; a base without scheme is
 * taken as it is. NULL: arena spent. */
char *uri_resolve(arena *a, const char *base, const char *ref, size_t len);

/* Percent escapes decoded into a, NUL-terminated, *ret_len bytes; NULL: a broken escape, or arena spent. */
char *uri_decode(arena *a, const char *text, size_t len, size_t *ret_len);

enum { URI_ABSOLUTE = 0, URI_REFERENCE = 1, URI_IRI = 2 };
/* Characters, escapes, scheme, port and IP literal are well formed. flags: URI_REFERENCE accepts relative
 * ones, URI_IRI accepts letters beyond ASCII. */
bool uri_valid(const char *text, size_t len, unsigned flags);

/* dotted quad; RFC 4291 text form */
bool uri_valid_ipv4(const char *text, size_t len);
bool uri_valid_ipv6(const char *text, size_t len);

#endif
