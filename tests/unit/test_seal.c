/* SPDX-License-Identifier: MIT */
#include "seal.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static arena mem;

static void hex_of(const unsigned char *bytes, size_t len, char *hex) {
    for (size_t i = 0; i < len; i++)
        sprintf(hex + 2 * i, "%02x", bytes[i]);
}

/* RFC 4231, test cases 1, 2, 6 (a key longer than the block) */
static void vectors(void) {
    unsigned char key[131], mac[SEAL_MAC];
    char hex[65];
    memset(key, 0x0b, 20);
    seal_hmac(key, 20, "Hi There", 8, mac);
    hex_of(mac, sizeof mac, hex);
    CU_ASSERT_STRING_EQUAL(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    seal_hmac("Jefe", 4, "what do ya want for nothing?", 28, mac);
    hex_of(mac, sizeof mac, hex);
    CU_ASSERT_STRING_EQUAL(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    seal_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54, mac);
    hex_of(mac, sizeof mac, hex);
    CU_ASSERT_STRING_EQUAL(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* RFC 4648, section 10, and what strictness refuses */
static void base64(void) {
    static const char *const pairs[][2] = {{"", ""},         {"f", "Zg=="},         {"fo", "Zm8="},
                                           {"foo", "Zm9v"},  {"foob", "Zm9vYg=="},  {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    size_t len = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CU_ASSERT_STRING_EQUAL(base64_encode(&mem, pairs[i][0], strlen(pairs[i][0]), true), pairs[i][1]);
        unsigned char *back = base64_decode(&mem, pairs[i][1], strlen(pairs[i][1]), true, &len);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        CU_ASSERT_EQUAL(len, strlen(pairs[i][0]));
        CU_ASSERT_STRING_EQUAL((char *)back, pairs[i][0]);
    }
    CU_ASSERT_STRING_EQUAL(base64_encode(&mem, "\xfb\xff", 2, false), "-_8");
    CU_ASSERT_STRING_EQUAL(base64_encode(&mem, "\xfb\xff", 2, true), "+/8=");
    static const char *const bad[] = {"Zg", "Zg=", "Zg===", "Zh==", "Z", "Z===", "Zm9v=", "Zm!v", "Zm9vZg==Zg==", "====", " Zm9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_PTR_NULL(base64_decode(&mem, bad[i], strlen(bad[i]), true, &len));
    CU_ASSERT_PTR_NULL(base64_decode(&mem, "Zg==", 4, false, &len));
    CU_ASSERT_PTR_NULL(base64_decode(&mem, "+/8", 3, false, &len));
}

static bool opens(const seal *s, const char *purpose, const char *bound, int64_t now, const char *text) {
    const char *content;
    size_t len;
    return seal_open(s, &mem, purpose, bound, now, text, strlen(text), &content, &len);
}

static void sealing(void) {
    seal s, other;
    const char *content = NULL;
    size_t len = 0;
    CU_ASSERT_TRUE(seal_init(&s) && seal_init(&other));
    char *text = seal_make(&s, &mem, "cursor", "ana", 1000, "a\0b", 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_TRUE(seal_open(&s, &mem, "cursor", "ana", 1000, text, strlen(text), &content, &len));
    CU_ASSERT_EQUAL(len, 3);
    CU_ASSERT_EQUAL(memcmp(content, "a\0b", 4), 0);
    CU_ASSERT_FALSE(opens(&s, "cursor", "ana", 1001, text));
    CU_ASSERT_FALSE(opens(&s, "state", "ana", 0, text));
    CU_ASSERT_FALSE(opens(&s, "cursor", "eva", 0, text));
    CU_ASSERT_FALSE(opens(&s, "curso", "rana", 0, text));
    CU_ASSERT_FALSE(opens(&other, "cursor", "ana", 0, text));
    CU_ASSERT_FALSE(opens(&s, "cursor", "ana", 0, ""));
    CU_ASSERT_FALSE(opens(&s, "cursor", "ana", 0, "AAAA"));
    char *forever = seal_make(&s, &mem, "cursor", "", 0, "", 0);
    CU_ASSERT_TRUE(opens(&s, "cursor", "", INT64_MAX, forever));
}

static void every_change_is_noticed(void) {
    seal s;
    CU_ASSERT_TRUE(seal_init(&s));
    char *text = seal_make(&s, &mem, "state", "x", 0, "content", 7);
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        for (const char *c = "AB-_z9=+ "; *c; c++) {
            if (text[i] == *c)
                continue;
            char was = text[i];
            text[i] = *c;
            CU_ASSERT_FALSE(opens(&s, "state", "x", 0, text));
            text[i] = was;
        }
    static const char *const tails[] = {"A", "=", "-TAMPERED", " ", "AAAA"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        CU_ASSERT_FALSE(opens(&s, "state", "x", 0, arena_printf(&mem, "%s%s", text, tails[i])));
    CU_ASSERT_TRUE(opens(&s, "state", "x", 0, text));
}

int main(void) {
    static const unit_test tests[] = {
        {"HMAC vectors", vectors},
        {"base64, both kinds, strict", base64},
        {"a seal opens for what it was made for", sealing},
        {"every change is noticed", every_change_is_noticed},
    };
    arena_init(&mem, 0);
    int status = unit_run("seal", tests, sizeof tests / sizeof *tests);
    arena_free(&mem);
    return status;
}
