/* SPDX-License-Identifier: MIT */
/* render.h -- a JSON value for people: members as lines, lists of alike objects as tables. */
#ifndef LASTRO_CORE_RENDER_H
#define LASTRO_CORE_RENDER_H

#include "json.h"
#include <stdio.h>

void render_value(FILE *out, const json_value *v);

#endif
