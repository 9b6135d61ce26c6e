/* SPDX-License-Identifier: MIT */
#include "elf_note.h"
#include "file.h"
#include "unit.h"

#include <elf.h>
#include <lastro/lastro.h>
#include <stdlib.h>
#include <string.h>

static arena mem;

static unsigned char *real_plugin(size_t *ret_len) {
    lastro_error err;
    unsigned char *data = (unsigned char *)file_read(&mem, LASTRO_BINARY_DIR "/template/template.so", 64 << 20, ret_len, &err);
    unit_check(data != NULL, "the template plugin: %s", data ? "" : err.text);
    return data;
}

static void test_elf_note__reads_a_real_plugin(void) {
    size_t len = 0;
    unsigned char *data = real_plugin(&len);
    elf_note note = {0};
    lastro_error err;
    CU_ASSERT_EQUAL(elf_note_read(data, len, &note, &err), LASTRO_OK);
    CU_ASSERT_EQUAL(note.abi, LASTRO_ABI);
    CU_ASSERT_EQUAL(note.size, sizeof(lastro_plugin));
}

/* Each prefix, in memory of its own so that the sanitizer sees a step beyond. */
static void test_elf_note__a_cut_file_is_refused_or_read_and_never_passed(void) {
    size_t len = 0;
    unsigned char *data = real_plugin(&len);
    size_t refused = 0;
    for (size_t cut = 0; cut < len; cut += cut < 8192 ? 1 : 4099) {
        unsigned char *copy = malloc(cut ? cut : 1);
        elf_note note = {0};
        lastro_error err = {0};
        memcpy(copy, data, cut);
        lastro_status s = elf_note_read(copy, cut, &note, &err);
        unit_check(s == LASTRO_OK ? note.abi == LASTRO_ABI : s == LASTRO_EABI && err.text[0], "cut at %zu", cut);
        refused += s != LASTRO_OK;
        free(copy);
    }
    CU_ASSERT(refused > sizeof(Elf64_Ehdr));
}

/* ---- files made by hand: a header, one program header, one segment of notes ---- */

typedef struct {
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    unsigned char notes[512];
    size_t used;
} image;

static image *make_image(uint64_t align) {
    static image i;
    size_t len = 0;
    memset(&i, 0, sizeof i);
    memcpy(&i.head, real_plugin(&len), sizeof i.head); /* of this machine */
    i.head.e_phoff = offsetof(image, segment);
    i.head.e_phnum = 1;
    i.segment = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = offsetof(image, notes), .p_align = align};
    return &i;
}
static void add_note(image *i, const char *name, uint32_t name_size, uint32_t type, const void *desc, uint32_t desc_size) {
    size_t align = i->segment.p_align == 8 ? 8 : 4;
    Elf64_Nhdr h = {name_size, desc_size, type};
    memcpy(i->notes + i->used, &h, sizeof h);
    memcpy(i->notes + i->used + sizeof h, name, name_size);
    size_t at = (i->used + sizeof h + (name_size + 3u) / 4 * 4 + align - 1) / align * align;
    if (desc_size)
        memcpy(i->notes + at, desc, desc_size);
    i->used = (at + desc_size + align - 1) / align * align;
    i->segment.p_filesz = i->used;
}
static const uint32_t ours[] = {1, 72, 0};

static lastro_status read_image(const image *i, elf_note *ret, char text[200]) {
    size_t len = offsetof(image, notes) + i->used;
    unsigned char *copy = malloc(len);
    lastro_error err = {0};
    memcpy(copy, i, len);
    *ret = (elf_note){0};
    lastro_status s = elf_note_read(copy, len, ret, &err);
    snprintf(text, 200, "%.199s", err.text);
    free(copy);
    return s;
}

static void test_elf_note__finds_ours_among_foreign_notes_in_both_alignments(void) {
    static const char gnu[20] = "twenty bytes of desc";
    for (uint64_t align = 1; align <= 8; align *= 2) {
        image *i = make_image(align);
        elf_note note;
        char text[200];
        add_note(i, "GNU", 4, 3, gnu, 20);
        add_note(i, "GNU", 4, 5, gnu, 16);
        add_note(i, "", 0, 1, NULL, 0);
        add_note(i, "Lastro", 7, 2, ours, 8);  /* another type */
        add_note(i, "Lastre", 7, 1, ours, 8);  /* another owner */
        add_note(i, "Lastro", 6, 1, ours, 8);  /* without its NUL */
        add_note(i, "Lastro", 7, 1, ours, 4);  /* too short for ours */
        CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "no Lastro note"));
        add_note(i, "Lastro", 7, 1, ours, 12); /* longer than this host knows */
        CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_OK);
        CU_ASSERT_EQUAL(note.abi, 1);
        CU_ASSERT_EQUAL(note.size, 72);
    }
}

static void test_elf_note__lengths_that_lie_are_refused(void) {
    static const uint32_t sizes[] = {0xffffffffu, 0xfffffffcu, 0x80000000u, 1000, 13};
    elf_note note;
    char text[200];
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int field = 0; field < 2; field++) {
            image *i = make_image(4);
            add_note(i, "Lastro", 7, 1, ours, 8);
            memcpy(i->notes + 4 * field, &sizes[n], 4);
            unit_check(read_image(i, &note, text) == LASTRO_EABI, "size %x in field %d", sizes[n], field);
        }
    image *i = make_image(4);
    add_note(i, "Lastro", 7, 1, ours, 8);
    i->segment.p_filesz++;
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
    i->segment.p_filesz = UINT64_MAX;
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
    i->segment.p_filesz = i->used;
    i->segment.p_offset = UINT64_MAX - 8;
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
    i->segment.p_offset = offsetof(image, notes);
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_OK);
    i->head.e_phnum = 0xffff;
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "cut"));
    i->head.e_phnum = 1;
    i->head.e_phoff = UINT64_MAX;
    CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_EABI);
}

static void test_elf_note__another_kind_of_file_is_refused(void) {
    static const struct {
        size_t at;
        unsigned char value;
    } changes[] = {{EI_MAG0, 'M'},
                   {EI_CLASS, ELFCLASS32},
                   {EI_DATA, ELFDATA2MSB},
                   {offsetof(Elf64_Ehdr, e_type), ET_EXEC},
                   {offsetof(Elf64_Ehdr, e_type), ET_REL},
                   {offsetof(Elf64_Ehdr, e_machine), EM_SPARC},
                   {offsetof(Elf64_Ehdr, e_phentsize), 32}};
    for (size_t n = 0; n < sizeof changes / sizeof *changes; n++) {
        image *i = make_image(4);
        elf_note note;
        char text[200];
        add_note(i, "Lastro", 7, 1, ours, 8);
        CU_ASSERT_EQUAL(read_image(i, &note, text), LASTRO_OK);
        ((unsigned char *)i)[changes[n].at] = changes[n].value;
        unit_check(read_image(i, &note, text) == LASTRO_EABI && text[0], "byte %zu as %u", changes[n].at, changes[n].value);
    }
    lastro_error err;
    elf_note note;
    CU_ASSERT_EQUAL(elf_note_read((const unsigned char *)"#!/bin/sh\n", 10, &note, &err), LASTRO_EABI);
    CU_ASSERT_EQUAL(elf_note_read(NULL, 0, &note, &err), LASTRO_EABI);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_elf_note__reads_a_real_plugin),
        UNIT_TEST(test_elf_note__a_cut_file_is_refused_or_read_and_never_passed),
        UNIT_TEST(test_elf_note__finds_ours_among_foreign_notes_in_both_alignments),
        UNIT_TEST(test_elf_note__lengths_that_lie_are_refused),
        UNIT_TEST(test_elf_note__another_kind_of_file_is_refused),
    };
    arena_init(&mem, 0);
    int failed = UNIT_RUN("elf_note", tests);
    arena_free(&mem);
    return failed;
}
