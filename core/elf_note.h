/* SPDX-License-Identifier: MIT */
/* elf_note.h -- reads a plugin's ABI and descriptor size from its ELF note, before a line of it runs
 * (constructors run inside dlopen). Foreign bytes: every offset is checked. */
#ifndef LASTRO_CORE_ELF_NOTE_H
#define LASTRO_CORE_ELF_NOTE_H

#include <lastro/abi.h>

typedef struct {
    uint32_t abi, size;
} elf_note;

/* data: the whole file. LASTRO_EABI with the reason: no ELF library of this machine, or without our note. */
lastro_status elf_note_read(const unsigned char *data, size_t len, elf_note *ret, lastro_error *err);

#endif
