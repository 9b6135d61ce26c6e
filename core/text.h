/* SPDX-License-Identifier: MIT */
/* text.h -- the host's own sentences, by language: data in schemas/messages/host-LANG.json, never in code.
 * Any thread. */
#ifndef LASTRO_CORE_TEXT_H
#define LASTRO_CORE_TEXT_H

#include "schema_messages.h"

#include <stddef.h>

/* The sentence for key in language ("pt-BR"; an unknown language falls back to its first part, then to English).
 * Placeholders like {tool} are replaced from pairs: name, value, name, value, …, NULL. */
void text_render(const char *language, const char *key, char *buf, size_t size, const char *const *pairs);
/* Drops the bytes that are no UTF-8, such as those of a character that was cut. */
void text_tidy(char *text);
#define TEXT_PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The validator's sentences in that language; loaded once, never freed. NULL only when memory is out. */
const schema_messages *text_messages(const char *language);

#endif
