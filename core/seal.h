/* SPDX-License-Identifier: MIT */
/* seal.h -- texts that a client keeps for us and cannot change: cursors, session ids, the state of a call that waits for
 * an answer. HMAC-SHA-256 (RFC 2104) over purpose, what it is bound to, expiry and content; base64url without padding.
 * They are signed, not secret. Own code because the core links no cryptographic library; RFC 4231 vectors are tests. */
#ifndef LASTRO_CORE_SEAL_H
#define LASTRO_CORE_SEAL_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEAL_KEY = 32, SEAL_MAC = 32 };
typedef struct {
    unsigned char key[SEAL_KEY];
} seal;

/* A key of this process alone, from the kernel. False: it gives none. */
bool seal_init(seal *s);
void seal_hmac(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[SEAL_MAC]);

/* The sealed text, in a's memory; NULL: out of memory. purpose: "cursor", "state" …, so that none serves as another.
 * bound: what it is valid for, such as the principal and the request (any text; not part of the result).
 * expires: wall clock ms, 0 for never. */
char *seal_make(const seal *s, arena *a, const char *purpose, const char *bound, int64_t expires, const void *content,
                size_t len);
/* True: text was made by seal_make with these, unchanged to the last character, and has not expired at now. Content in
 * a's memory, NUL-terminated. */
bool seal_open(const seal *s, arena *a, const char *purpose, const char *bound, int64_t now, const char *text,
               size_t text_len, const char **ret_content, size_t *ret_len);

/* Base64url without padding; of standard base64 with padding the same with standard = true. Decoding is strict: no other
 * character, no spare bits, right padding. NULL: it is none, or out of memory. Results are NUL-terminated. */
char *base64_encode(arena *a, const void *data, size_t len, bool standard);
unsigned char *base64_decode(arena *a, const char *text, size_t len, bool standard, size_t *ret_len);
/* Equal, in a time that tells nothing of where they differ. */
bool seal_equal(const void *a, const void *b, size_t len);

#endif
