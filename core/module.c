/* SPDX-License-Identifier: MIT */
#include "module.h"
#include "fail.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

void *module_entry(const char *exe_dir, const char *name, const char *symbol, lastro_error *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/modules/%s.so", exe_dir, name);
    void *dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!dl) {
        fail(err, LASTRO_EINTERNAL, "the module \"%s\", which speaks HTTP, cannot be loaded: %s", name, dlerror());
        return NULL;
    }
    void *entry = dlsym(dl, symbol);
    if (!entry)
        fail(err, LASTRO_EABI, "%s is no module of this program: it has no %s", path, symbol);
    return entry;
}
