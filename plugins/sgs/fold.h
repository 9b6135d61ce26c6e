/* SPDX-License-Identifier: MIT */
/* fold.h -- comparing Portuguese words without accents and case. */
#ifndef SGS_FOLD_H
#define SGS_FOLD_H

#include <lastro/abi.h>

/* part occurs in text, both folded; blanks around part do not count; an empty part is in every text. */
bool sgs_fold_contains(lastro_text text, lastro_text part);

#endif
