/* SPDX-License-Identifier: MIT */
#include "elf_note.h"
#include "fail.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OWN_MACHINE EM_S390
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static bool of_this_machine(const Elf64_Ehdr *e) {
#ifdef OWN_MACHINE
    if (e->e_machine != OWN_MACHINE)
        return false;
#endif
    return e->e_ident[EI_DATA] == OWN_ORDER;
}

static bool inside(uint64_t offset, uint64_t size, size_t len) {
    return offset <= len && size <= len - offset;
}

/* Walks one PT_NOTE segment. */
static bool find_in(const unsigned char *at, size_t len, size_t align, elf_note *ret) {
    Elf64_Nhdr h;
    if (align != 8)
        align = 4;
    while (len >= sizeof h) {
        memcpy(&h, at, sizeof h);
        uint64_t name_room = ((uint64_t)h.n_namesz + 3) & ~3ULL;
        uint64_t desc = (sizeof h + name_room + align - 1) & ~(uint64_t)(align - 1);
        uint64_t next = (desc + h.n_descsz + align - 1) & ~(uint64_t)(align - 1);
        if (desc > len || h.n_descsz > len - desc)
            return false;
        if (h.n_namesz == sizeof LASTRO_NOTE_NAME && h.n_type == LASTRO_NOTE_TYPE && h.n_descsz >= sizeof *ret &&
            memcmp(at + sizeof h, LASTRO_NOTE_NAME, sizeof LASTRO_NOTE_NAME) == 0) {
            memcpy(ret, at + desc, sizeof *ret);
            return true;
        }
        if (next >= len)
            return false;
        at += next;
        len -= (size_t)next;
    }
    return false;
}

lastro_status elf_note_read(const unsigned char *data, size_t len, elf_note *ret, lastro_error *err) {
    Elf64_Ehdr e;
    if (len < sizeof e || memcmp(data, ELFMAG, SELFMAG) != 0)
        return fail(err, LASTRO_EABI, "not an ELF file");
    memcpy(&e, data, sizeof e);
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_type != ET_DYN || e.e_phentsize != sizeof(Elf64_Phdr))
        return fail(err, LASTRO_EABI, "not a 64-bit shared library");
    if (!of_this_machine(&e))
        return fail(err, LASTRO_EABI, "a library of another kind of machine (ELF machine %u)", e.e_machine);
    if (!inside(e.e_phoff, (uint64_t)e.e_phnum * sizeof(Elf64_Phdr), len))
        return fail(err, LASTRO_EABI, "the file is cut: its program headers lie beyond its end");
    for (unsigned i = 0; i < e.e_phnum; i++) { /* what is mapped beyond the end of the file kills whoever reads it */
        Elf64_Phdr p;
        memcpy(&p, data + e.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && !inside(p.p_offset, p.p_filesz, len))
            return fail(err, LASTRO_EABI, "the file is cut: a segment lies beyond its end");
    }
    for (unsigned i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, data + e.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_NOTE && inside(p.p_offset, p.p_filesz, len) &&
            find_in(data + p.p_offset, (size_t)p.p_filesz, (size_t)p.p_align, ret))
            return LASTRO_OK;
    }
    return fail(err, LASTRO_EABI, "no Lastro note: not a Lastro plugin (it must say LASTRO_PLUGIN(descriptor))");
}
