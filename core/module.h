/* SPDX-License-Identifier: MIT */
/* module.h -- host modules: shared libraries of ours in modules/ beside the program, opened when first needed. */
#ifndef LASTRO_CORE_MODULE_H
#define LASTRO_CORE_MODULE_H

#include <lastro/abi.h>

/* The address of the entry symbol of modules/NAME.so beside exe_dir, for the caller to make a function of; NULL with err
 * filled: it cannot be opened, or has no such symbol. Never closed. Any thread. */
void *module_entry(const char *exe_dir, const char *name, const char *symbol, lastro_error *err);

#endif
