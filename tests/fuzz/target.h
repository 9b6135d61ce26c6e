/* SPDX-License-Identifier: MIT */
/* target.h -- what the fuzz targets over a whole server share. Included by one file a program. */
#ifndef LASTRO_TESTS_FUZZ_TARGET_H
#define LASTRO_TESTS_FUZZ_TARGET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            __builtin_trap();                                                                                          \
    } while (0)

/* The defects of the test's plugin are logged, thousands a second: libFuzzer keeps its own way out, ours is closed. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static char quiet[] = "-close_fd_mask=2";
    char **args = calloc((size_t)*argc + 2, sizeof *args);
    MUST(args);
    memcpy(args, *argv, (size_t)*argc * sizeof *args);
    args[(*argc)++] = quiet;
    *argv = args;
    return 0;
}

#endif
