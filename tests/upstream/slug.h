/* SPDX-License-Identifier: MIT */
#ifndef BCB_SIM_SLUG_H
#define BCB_SIM_SLUG_H

/* The portal's name of a series' data set: "CODE-name" in lower case without accents or signs,
 * spaces as hyphens, at most 99 characters. A new text. */
char *slug_make(int code, const char *name);

#endif
