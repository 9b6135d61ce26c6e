/* SPDX-License-Identifier: MIT */
/* Any bytes as a plugin's file: read within their end, and refused with a reason. Small files are rare among random ones
 * that pass the header, so the input is also tried behind a good header and program header. */
#include "elf_note.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const unsigned char *data, size_t size) {
    elf_note note = {0};
    lastro_error err = {0};
    lastro_status s = elf_note_read(data, size, &note, &err);
    if (s != LASTRO_OK && (s != LASTRO_EABI || !err.text[0]))
        __builtin_trap();
}

static void check_as_notes(const uint8_t *data, size_t size) {
    static const unsigned aligns[] = {0, 4, 8};
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segment;
    } front = {0};
    size_t whole = sizeof front + size;
    unsigned char *file = malloc(whole); /* its own memory, so that a step beyond is seen */
    if (!file)
        return;
    memcpy(front.head.e_ident, ELFMAG, SELFMAG);
    front.head.e_ident[EI_CLASS] = ELFCLASS64;
    front.head.e_ident[EI_DATA] = ELFDATA2LSB;
    front.head.e_type = ET_DYN;
    front.head.e_machine = EM_X86_64;
    front.head.e_phoff = sizeof front.head;
    front.head.e_phentsize = sizeof(Elf64_Phdr);
    front.head.e_phnum = 1;
    front.segment = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = sizeof front, .p_filesz = size};
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        front.segment.p_align = aligns[i];
        memcpy(file, &front, sizeof front);
        if (size)
            memcpy(file + sizeof front, data, size);
        check(file, whole);
    }
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    check_as_notes(data, size);
    return 0;
}
