/* SPDX-License-Identifier: MIT */
#include "arena.h"
#include "unit.h"

#include <stdint.h>
#include <string.h>

static void test_arena__gives_aligned_pieces_that_do_not_overlap(void) {
    enum { N = 400 };
    unsigned char *at[N];
    size_t size[N];
    arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < N; i++) {
        size[i] = i * i % 977 + (i % 50 == 49 ? 300000 : 0);
        at[i] = arena_alloc(&a, size[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at[i]);
        unit_check((uintptr_t)at[i] % 16 == 0, "piece %zu at %p", i, (void *)at[i]);
        memset(at[i], (int)(i & 0xff), size[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < size[i]; j++)
            if (at[i][j] != (unsigned char)(i & 0xff)) {
                unit_check(0, "piece %zu was overwritten", i);
                break;
            }
    arena_free(&a);
}

static void test_arena__nothing_is_a_piece_too(void) {
    arena a;
    arena_init(&a, 0);
    CU_ASSERT_PTR_NOT_NULL(arena_alloc(&a, 0)); /* NULL would read as "out of memory" */
    CU_ASSERT_PTR_NOT_NULL(arena_zalloc(&a, 0));
    arena_free(&a);
}

static void test_arena__keeps_its_limit(void) {
    arena a;
    arena_init(&a, 1000);
    CU_ASSERT_PTR_NOT_NULL(arena_alloc(&a, 900));
    CU_ASSERT_PTR_NULL(arena_alloc(&a, 200));
    CU_ASSERT_PTR_NOT_NULL(arena_alloc(&a, 50));
    CU_ASSERT_PTR_NULL(arena_alloc(&a, SIZE_MAX));
    CU_ASSERT_PTR_NULL(arena_alloc(&a, SIZE_MAX - 8));
    CU_ASSERT_PTR_NULL(arena_strndup(&a, "0123456789012345678901234567890123456789012345678901234567890123456789", 70));
    arena_reset(&a);
    CU_ASSERT_PTR_NOT_NULL(arena_alloc(&a, 900));
    arena_free(&a);
    CU_ASSERT_EQUAL(a.limit, 1000);
}

static void test_arena__zeroed_memory_is_zero_also_when_used_again(void) {
    arena a;
    arena_init(&a, 0);
    memset(arena_alloc(&a, 2000), 0xff, 2000);
    arena_reset(&a);
    unsigned char *p = arena_zalloc(&a, 2000);
    size_t dirty = 0;
    for (size_t i = 0; i < 2000; i++)
        dirty += p[i] != 0;
    CU_ASSERT_EQUAL(dirty, 0);
    arena_free(&a);
}

static void test_arena__reset_keeps_a_block_and_counts_from_zero(void) {
    arena a;
    arena_init(&a, 0);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 5000);
    arena_block *head = a.head;
    arena_reset(&a);
    CU_ASSERT_EQUAL(a.used, 0);
    CU_ASSERT_PTR_EQUAL(a.head, head);
    arena_alloc(&a, 100);
    CU_ASSERT_PTR_EQUAL(a.head, head);
    arena_free(&a);
    CU_ASSERT_PTR_NULL(a.head);
    arena_reset(&a); /* of an empty one */
    arena_free(&a);
}

static void test_arena__copies_texts(void) {
    arena a;
    arena_init(&a, 0);
    CU_ASSERT_STRING_EQUAL(arena_strndup(&a, "abcdef", 3), "abc");
    CU_ASSERT_STRING_EQUAL(arena_strndup(&a, NULL, 0), "");
    CU_ASSERT_STRING_EQUAL(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    CU_ASSERT_EQUAL(strlen(arena_printf(&a, "%9000d", 1)), 9000);
    arena_free(&a);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_arena__gives_aligned_pieces_that_do_not_overlap), UNIT_TEST(test_arena__nothing_is_a_piece_too),
        UNIT_TEST(test_arena__keeps_its_limit),
        UNIT_TEST(test_arena__zeroed_memory_is_zero_also_when_used_again),
        UNIT_TEST(test_arena__reset_keeps_a_block_and_counts_from_zero), UNIT_TEST(test_arena__copies_texts),
    };
    return UNIT_RUN("arena", tests);
}
