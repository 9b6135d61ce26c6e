/* SPDX-License-Identifier: MIT */
/* ecma_regex.h -- ECMA-262 regular expressions (the `u` dialect JSON Schema asks for) on PCRE2, bounded.
 *
 * The pattern is translated where the dialects differ (\d, \s, \v, \cX, \uXXXX, \p{Letter}, [^], ., $) and
 * refused where PCRE2 has syntax that ECMA-262 has not. Plain shapes such as ^\d{4}-\d{2}$ never reach PCRE2.
 * A compiled pattern never changes: any number of threads may search with it at once. */
#ifndef LASTRO_CORE_ECMA_REGEX_H
#define LASTRO_CORE_ECMA_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REGEX_PATTERN_MAX = 16384,      /* bytes of a pattern */
    REGEX_MATCH_DEFAULT = 500000,   /* PCRE2 match limit: backtracking points of one search */
    REGEX_HEAP_KIB_DEFAULT = 16384, /* memory for them */
    REGEX_NESTING = 100             /* parentheses inside one another */
};

typedef struct regex regex;
/* pattern: UTF-8. Limits of 0 take the defaults. NULL: err (may be NULL) says why, in English. */
regex *regex_compile(const char *pattern, size_t len, uint32_t match_limit, uint32_t heap_kib, char *err,
                     size_t err_size);
void regex_free(regex *re); /* accepts NULL */

/* Decided by a loop over the text, without PCRE2. */
bool regex_is_plain(const regex *re);
/* Bytes it takes. */
size_t regex_size(const regex *re);

typedef enum { REGEX_NO = 0, REGEX_YES, REGEX_LIMIT } regex_verdict;
/* Does it match somewhere in text (valid UTF-8)? REGEX_LIMIT: it could not be decided within the limits. */
regex_verdict regex_search(const regex *re, const char *text, size_t len);

#endif
