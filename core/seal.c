/* SPDX-License-Identifier: MIT */
#include "seal.h"
#include "sha256.h"

#include <string.h>
#include <sys/random.h>

enum { HASH_BLOCK = 64, HEAD = SEAL_MAC + 8 }; /* mac, expiry, content */

bool seal_init(seal *s) {
    return getrandom(s->key, sizeof s->key, 0) == (ssize_t)sizeof s->key;
}

/* ---- HMAC ---- */

typedef struct {
    sha256 inner;
    unsigned char outer_key[HASH_BLOCK];
} hmac;

static void hmac_begin(hmac *h, const void *key, size_t len) {
    unsigned char k[HASH_BLOCK] = {0}, inner[HASH_BLOCK];
    if (len > HASH_BLOCK) {
        sha256 whole;
        sha256_init(&whole);
        sha256_add(&whole, key, len);
        sha256_end(&whole, k);
    } else {
        memcpy(k, key, len);
    }
    for (int i = 0; i < HASH_BLOCK; i++) {
        inner[i] = k[i] ^ 0x36;
        h->outer_key[i] = k[i] ^ 0x5c;
    }
    sha256_init(&h->inner);
    sha256_add(&h->inner, inner, sizeof inner);
}

static void hmac_end(hmac *h, unsigned char mac[SEAL_MAC]) {
    unsigned char inner[SEAL_MAC];
    sha256_end(&h->inner, inner);
    sha256 outer;
    sha256_init(&outer);
    sha256_add(&outer, h->outer_key, sizeof h->outer_key);
    sha256_add(&outer, inner, sizeof inner);
    sha256_end(&outer, mac);
}

void seal_hmac(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[SEAL_MAC]) {
    hmac h;
    hmac_begin(&h, key, key_len);
    sha256_add(&h.inner, data, len);
    hmac_end(&h, mac);
}

bool seal_equal(const void *a, const void *b, size_t len) {
    const volatile unsigned char *x = a, *y = b;
    unsigned char differs = 0;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned char)(x[i] ^ y[i]);
    return differs == 0;
}

/* ---- base64 ---- */

static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char digit_char(unsigned value, bool standard) {
    return standard && value == 62 ? '+' : standard && value == 63 ? '/' : url_digits[value];
}

static int digit_value(char c, bool standard) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == (standard ? '+' : '-') ? 62 : c == (standard ? '/' : '_') ? 63 : -1;
}

char *base64_encode(arena *a, const void *data, size_t len, bool standard) {
    const unsigned char *p = data;
    char *text = arena_alloc(a, (len + 2) / 3 * 4 + 1), *at = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        unsigned n = (unsigned)p[i] << 16 | (left > 1 ? (unsigned)p[i + 1] << 8 : 0) | (left > 2 ? (unsigned)p[i + 2] : 0);
        size_t digits = left > 2 ? 4 : left + 1;
        for (size_t d = 0; d < digits; d++)
            *at++ = digit_char(n >> (18 - 6 * d) & 63, standard);
        for (size_t d = digits; standard && d < 4; d++)
            *at++ = '=';
    }
    *at = '\0';
    return text;
}

unsigned char *base64_decode(arena *a, const char *text, size_t len, bool standard, size_t *ret_len) {
    if (standard) {
        if (len % 4)
            return NULL;
        for (int i = 0; i < 2 && len && text[len - 1] == '='; i++)
            len--;
    }
    if (len % 4 == 1)
        return NULL;
    unsigned char *data = arena_alloc(a, len / 4 * 3 + 3);
    size_t n = 0;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; data && i < len; i++) {
        int v = digit_value(text[i], standard);
        if (v < 0)
            return NULL;
        bits = bits << 6 | (unsigned)v;
        held += 6;
        if (held >= 8) {
            held -= 8;
            data[n++] = (unsigned char)(bits >> held);
            bits &= (1u << held) - 1;
        }
    }
    if (!data || bits) /* spare bits: two texts would mean the same */
        return NULL;
    data[n] = '\0';
    *ret_len = n;
    return data;
}

/* ---- sealing ---- */

static void put_length(hmac *h, size_t len) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)len >> (56 - 8 * i));
    sha256_add(&h->inner, bytes, sizeof bytes);
}

/* signed: expiry and content as they stand in the token. Lengths keep the parts apart. */
static void sign(const seal *s, const char *purpose, const char *bound, const unsigned char *text, size_t len,
                 unsigned char mac[SEAL_MAC]) {
    hmac h;
    hmac_begin(&h, s->key, sizeof s->key);
    put_length(&h, strlen(purpose));
    sha256_add(&h.inner, purpose, strlen(purpose));
    put_length(&h, strlen(bound));
    sha256_add(&h.inner, bound, strlen(bound));
    sha256_add(&h.inner, text, len);
    hmac_end(&h, mac);
}

char *seal_make(const seal *s, arena *a, const char *purpose, const char *bound, int64_t expires, const void *content,
                size_t len) {
    unsigned char *raw = arena_alloc(a, HEAD + len);
    if (!raw)
        return NULL;
    for (int i = 0; i < 8; i++)
        raw[SEAL_MAC + i] = (unsigned char)((uint64_t)expires >> (56 - 8 * i));
    if (len)
        memcpy(raw + HEAD, content, len);
    sign(s, purpose, bound, raw + SEAL_MAC, len + 8, raw);
    return base64_encode(a, raw, HEAD + len, false);
}

bool seal_open(const seal *s, arena *a, const char *purpose, const char *bound, int64_t now, const char *text,
               size_t text_len, const char **ret_content, size_t *ret_len) {
    size_t len = 0;
    unsigned char *raw = base64_decode(a, text, text_len, false, &len), mac[SEAL_MAC];
    if (!raw || len < HEAD)
        return false;
    sign(s, purpose, bound, raw + SEAL_MAC, len - SEAL_MAC, mac);
    if (!seal_equal(mac, raw, SEAL_MAC))
        return false;
    uint64_t expires = 0;
    for (int i = 0; i < 8; i++)
        expires = expires << 8 | raw[SEAL_MAC + i];
    if (expires && (int64_t)expires < now)
        return false;
    *ret_content = (const char *)raw + HEAD;
    *ret_len = len - HEAD;
    return true;
}
