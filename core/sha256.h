/* SPDX-License-Identifier: MIT */
/* sha256.h -- SHA-256 (FIPS 180-4), for the hashes of plugins and schema digests in the manifest. Own code because the
 * core links no cryptographic library and the start-up may not wait for one; tested with the standard's vectors. */
#ifndef LASTRO_CORE_SHA256_H
#define LASTRO_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} sha256;

void sha256_init(sha256 *h);
void sha256_add(sha256 *h, const void *data, size_t len);
void sha256_end(sha256 *h, unsigned char hash[32]);
void sha256_hex(sha256 *h, char hex[65]); /* ends it: lower case, NUL-terminated */
void sha256_text(const void *data, size_t len, char hex[65]);

#endif
