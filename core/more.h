/* SPDX-License-Identifier: MIT */
/* more.h -- what a plugin may say of what it offers beyond names and texts: annotations, icons, size, _meta. Its forms are
 * data, schemas/listing/KIND.json. Any thread. */
#ifndef LASTRO_CORE_MORE_H
#define LASTRO_CORE_MORE_H

#include "call.h"

typedef enum { MORE_RESOURCE, MORE_TEMPLATE, MORE_PROMPT, MORE_TOOL, MORE_ICONS, MORE_KINDS } more_kind;

/* A tool's contract says nothing that cannot be published; its schemas are looked at elsewhere. */
lastro_status more_check_tool(const char *name, const json_value *contract, lastro_error *err);
/* name: whose it is, for the text of err. Reads it from its JSON text into a (NULL: nothing, *ret is NULL), and checks it. */
lastro_status more_read(more_kind kind, const char *name, const char *text, arena *a, const json_value **ret, lastro_error *err);
/* Its members, those that the revision knows. An object is open; v may be NULL. */
void more_write(const json_value *v, json_writer *w, revision rev);

#endif
