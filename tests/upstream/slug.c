/* SPDX-License-Identifier: MIT */
#include "slug.h"

#include "text.h"

#include <string.h>

enum { SLUG_MOST = 99 };

/* U+00C0..U+00FF, that is UTF-8 C3 80..C3 BF, without its accent; '.' where nothing stays */
static const char latin1[] = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y";

static char fold(const unsigned char **at) {
    unsigned char c = *(*at)++;
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')
        return (char)c;
    if (c == ' ')
        return '-';
    if (c == 0xC3 && (**at & 0xC0) == 0x80) {
        char plain = latin1[*(*at)++ & 0x3F];
        return plain == '.' ? '\0' : plain;
    }
    return '\0';
}

char *slug_make(int code, const char *name) {
    sim_text t = {0};
    text_addf(&t, "%d-", code);
    for (const unsigned char *at = (const unsigned char *)name; *at && t.len < SLUG_MOST;) {
        char c = fold(&at);
        if (c)
            text_add(&t, &c, 1);
    }
    return t.at;
}
