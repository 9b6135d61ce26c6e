/* SPDX-License-Identifier: MIT */
/* loader.h -- from the manifest to a registry: finds, checks, opens and initialises the plugins.
 * A plugin that fails leaves nothing behind but its reason; the others still serve. */
#ifndef LASTRO_CORE_LOADER_H
#define LASTRO_CORE_LOADER_H

#include "registry.h"

typedef struct {
    const char *exe_dir;
    const char *const *overrides;   /* "NAME=URL", ends with NULL; NULL: none */
    const lastro_host *host;
} loader_options;

/* Loads all enabled plugins of m. NULL only when memory is out. m must outlive it. */
registry *loader_load(const manifest *m, const loader_options *opts, lastro_error *err);
/* Shuts the plugins down and frees all. No call is running. The libraries stay mapped. */
void loader_unload(registry *reg); /* accepts NULL */

/* Where the library of an entry is: absolute as it is, a bare name in EXE_DIR/plugins, then beside the manifest. */
lastro_status loader_find(const manifest *m, const char *exe_dir, const char *library, char *buf, size_t size,
                          lastro_error *err);

/* ---- for host.c: what the registrar given to init is ---- */
struct lastro_registrar {
    registry *reg;
    plugin *owner;
};

#endif
