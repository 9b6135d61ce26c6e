/* SPDX-License-Identifier: MIT */
/* file.h -- whole files in and out. */
#ifndef LASTRO_CORE_FILE_H
#define LASTRO_CORE_FILE_H

#include "arena.h"
#include <lastro/abi.h>

/* The file's bytes with a NUL after them (so json_read can have them), from a. NULL with err filled. */
char *file_read(arena *a, const char *path, size_t max, size_t *ret_len, lastro_error *err);
/* Writes beside path and renames over it: a reader sees the old file or the new one. */
lastro_status file_replace(const char *path, const char *data, size_t len, lastro_error *err);
/* The folder of the running program, without a final slash. */
bool file_exe_dir(char *buf, size_t size);

#endif
