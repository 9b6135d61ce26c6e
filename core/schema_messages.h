/* SPDX-License-Identifier: MIT */
/* schema_messages.h -- sentences for failures, in the language of a table (schemas/messages/LANG.json: data).
 */
#ifndef LASTRO_CORE_SCHEMA_MESSAGES_H
#define LASTRO_CORE_SCHEMA_MESSAGES_H

#include "schema.h"

typedef struct schema_messages schema_messages;

/* A table from the text of its file, which is copied. Every key must be there and every placeholder known.
 * NULL: err (may be NULL) says what is wrong, in English. Never changes afterwards: any thread may render. */
schema_messages *schema_messages_load(const char *json, size_t len, char *err, size_t err_size);
void schema_messages_free(schema_messages *m); /* accepts NULL */

/* The built-in table's text for a language tag ("pt-BR", "pt", "en-US"); NULL: there is none. */
const char *schema_messages_text(const char *language, size_t *ret_len);
/* That table loaded, the English one when there is none for language (may be NULL). NULL: out of memory. */
schema_messages *schema_messages_builtin(const char *language);

/* Writes the sentence as snprintf does: at most size bytes with the NUL, returns the length of the whole.
 * What it quotes is cut (values to SCHEMA_EXCERPT characters), control characters in it are escaped. */
size_t schema_message_render(const schema_messages *m, const schema_failure *f, char *buf, size_t size);
enum { SCHEMA_EXCERPT = 60, SCHEMA_CHOICES_SHOWN = 20 };

#endif
