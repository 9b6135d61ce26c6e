/* SPDX-License-Identifier: MIT */
#include "web_keys.h"
#include "fail.h"
#include "seal.h"
#include "sha256.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HASH = 32 };

typedef struct {
    unsigned char hash[HASH]; /* of the secret: whoever reads our memory or the manifest cannot use it */
    const char *principal;    /* the manifest's */
} held_key;

struct web_keys {
    size_t count;
    held_key at[];
};

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(const char *text, unsigned char hash[HASH]) {
    size_t prefix = sizeof MANIFEST_KEY_PREFIX - 1;
    if (strncmp(text, MANIFEST_KEY_PREFIX, prefix) != 0 || strlen(text) != prefix + 2 * HASH)
        return false;
    for (size_t i = 0; i < HASH; i++) {
        int high = hex_digit(text[prefix + 2 * i]), low = hex_digit(text[prefix + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        hash[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

web_keys *web_keys_create(const manifest *m, lastro_error *err) {
    web_keys *k = calloc(1, sizeof *k + json_count(m->principals) * sizeof(held_key));
    *err = (lastro_error){0};
    if (!k) {
        fail(err, LASTRO_ENOMEM, "out of memory");
        return NULL;
    }
    for (json_iter it = json_iterate(m->principals); json_next(&it);) {
        const json_value *key = json_member(it.value, "key");
        const char *name = json_str(json_member(it.value, "name"));
        if (!key)
            continue; /* one that only the standard streams know */
        held_key *h = &k->at[k->count++];
        h->principal = name;
        if (name && json_str(key) && read_hash(json_str(key), h->hash))
            continue;
        fail(err, LASTRO_EARGS, "principal \"%.128s\": \"key\" is no \"sha256:\" with 64 hexadecimal digits", name ? name : "?");
        break;
    }
    if (err->status || !k->count) {
        free(k);
        return NULL;
    }
    return k;
}

void web_keys_destroy(web_keys *k) {
    free(k);
}

/* What stands after "Bearer "; NULL: it is another scheme, or nothing. */
static const char *bearer(const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *secret = authorization + sizeof scheme - 1;
    secret += strspn(secret, " ");
    return *secret ? secret : NULL;
}

const char *web_keys_principal(const web_keys *k, const char *authorization) {
    const char *secret = bearer(authorization), *found = NULL;
    unsigned char hash[HASH];
    sha256 h;
    if (!secret)
        return NULL;
    sha256_init(&h);
    sha256_add(&h, secret, strlen(secret));
    sha256_end(&h, hash);
    for (size_t i = 0; i < k->count; i++) /* all of them: the time tells neither which key it is nor how much of it fits */
        if (seal_equal(k->at[i].hash, hash, HASH))
            found = k->at[i].principal;
    return found;
}
