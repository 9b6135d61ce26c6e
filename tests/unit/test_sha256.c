/* SPDX-License-Identifier: MIT */
/* Vectors of FIPS 180-4's examples and of the NIST byte-oriented test files. */
#include "sha256.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *hex;
} vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void test_sha256__gives_the_standard_s_digests(void) {
    char hex[65];
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        sha256_text(vectors[i].text, strlen(vectors[i].text), hex);
        unit_check(strcmp(hex, vectors[i].hex) == 0, "\"%s\": %s", vectors[i].text, hex);
    }
}

static void test_sha256__a_million_a_in_pieces(void) {
    static char piece[1000];
    char hex[65];
    sha256 h;
    memset(piece, 'a', sizeof piece);
    sha256_init(&h);
    for (int i = 0; i < 1000; i++)
        sha256_add(&h, piece, sizeof piece);
    sha256_hex(&h, hex);
    CU_ASSERT_STRING_EQUAL(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Each length around the block border, whole and cut in two at each place. */
static void test_sha256__the_pieces_make_no_difference(void) {
    unsigned char data[200];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 37 + 11);
    for (size_t len = 0; len <= sizeof data; len++) {
        char whole[65], cut[65];
        sha256_text(data, len, whole);
        for (size_t at = 0; at <= len; at++) {
            sha256 h;
            sha256_init(&h);
            sha256_add(&h, data, at);
            sha256_add(&h, data + at, len - at);
            sha256_hex(&h, cut);
            unit_check(strcmp(whole, cut) == 0, "%zu bytes cut at %zu", len, at);
        }
    }
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_sha256__gives_the_standard_s_digests),
        UNIT_TEST(test_sha256__a_million_a_in_pieces),
        UNIT_TEST(test_sha256__the_pieces_make_no_difference),
    };
    return UNIT_RUN("sha256", tests);
}
