/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <string.h>

enum { FOLD_SIZE = 256 };

/* U+00C0 to U+00FF, the second byte of their UTF-8 form less 0x80; '?' stands for what is no plain letter. */
static const char latin[] = "aaaaaaaceeeeiiii?nooooo?ouuuuy??aaaaaaaceeeeiiii?nooooo?ouuuuy?y";

/* Cuts at FOLD_SIZE; longer texts do not occur in categories, and a longer part cannot match. */
static size_t fold(lastro_text text, char ret[FOLD_SIZE]) {
    size_t n = 0;
    for (size_t i = 0; i < text.len && n < FOLD_SIZE; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == 0xC3 && i + 1 < text.len && ((unsigned char)text.at[i + 1] & 0xC0) == 0x80)
            ret[n++] = latin[(unsigned char)text.at[++i] & 0x3F];
        else
            ret[n++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    return n;
}

bool sgs_fold_contains(lastro_text text, lastro_text part) {
    char whole[FOLD_SIZE], wanted[FOLD_SIZE];
    while (part.len && part.at[0] == ' ')
        part.at++, part.len--;
    while (part.len && part.at[part.len - 1] == ' ')
        part.len--;
    if (part.len >= FOLD_SIZE)
        return false;
    size_t n = fold(text, whole), m = fold(part, wanted);
    return m == 0 || memmem(whole, n, wanted, m) != NULL;
}
