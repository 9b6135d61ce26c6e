/* SPDX-License-Identifier: MIT */
/* web_keys.h -- static bearer keys: the manifest's "principals" with "key": "sha256:HEX" of the secret. Read-only after
 * creation: any thread. */
#ifndef LASTRO_CORE_WEB_KEYS_H
#define LASTRO_CORE_WEB_KEYS_H

#include "manifest.h"

typedef struct web_keys web_keys;

/* NULL with err->status LASTRO_OK: the manifest has no key; with another status: a key is malformed or memory is out. */
web_keys *web_keys_create(const manifest *m, lastro_error *err);
void web_keys_destroy(web_keys *k); /* accepts NULL */
/* The principal whose key the Authorization header ("Bearer …"; may be NULL) brings; NULL: none. Takes the same time
 * whichever key it is. */
const char *web_keys_principal(const web_keys *k, const char *authorization);

#endif
