/* SPDX-License-Identifier: MIT */
/* content.h -- content items (text, image, audio, resource, resource_link) as a protocol revision knows them: an older
 * client gets a text in the place of what it cannot read, never an item of unknown type and never nothing. */
#ifndef LASTRO_CORE_CONTENT_H
#define LASTRO_CORE_CONTENT_H

#include "call.h"

/* Every kind of item there is can go out as it is. */
bool content_is_plain(const lastro_call *c);
/* One item, an object as a plugin wrote it; len bytes of JSON. */
void content_write(lastro_call *c, json_writer *w, const char *item, size_t len);
/* The messages of a prompt, an array of {role, content} as a plugin wrote it, as the values of an open array. False: they
 * are no such array, which is logged. */
bool content_write_messages(lastro_call *c, json_writer *w, const json_value *messages);

#endif
