/* SPDX-License-Identifier: MIT */
#include "loader.h"
#include "elf_note.h"
#include "fail.h"
#include "log.h"
#include "sha256.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where a library is, and whether it may be trusted ---- */

lastro_status loader_find(const manifest *m, const char *exe_dir, const char *library, char *buf, size_t size,
                          lastro_error *err) {
    if (library[0] == '/') {
        snprintf(buf, size, "%s", library);
        if (access(buf, F_OK) != 0)
            return fail(err, LASTRO_EARGS, "library %s: %s", buf, strerror(errno));
        return LASTRO_OK;
    }
    if (!*library || strchr(library, '/'))
        return fail(err, LASTRO_EDENIED, "library \"%s\": give an absolute path or a bare file name", library);
    snprintf(buf, size, "%s/plugins/%s", exe_dir, library);
    if (access(buf, F_OK) == 0)
        return LASTRO_OK;
    snprintf(buf, size, "%s/%s", m->dir, library);
    if (access(buf, F_OK) == 0)
        return LASTRO_OK;
    return fail(err, LASTRO_EARGS, "library \"%s\" is neither in %s/plugins nor in %s", library, exe_dir, m->dir);
}

static bool owner_trusted(const struct stat *st) {
    struct stat exe;
    return st->st_uid == 0 || st->st_uid == geteuid() || (stat("/proc/self/exe", &exe) == 0 && st->st_uid == exe.st_uid);
}

/* Whoever may write the file or its folder decides what code runs here. */
static lastro_status check_folder(const char *path, lastro_error *err) {
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s", path);
    *strrchr(dir, '/') = '\0';
    struct stat st;
    if (stat(*dir ? dir : "/", &st) != 0)
        return fail(err, LASTRO_EDENIED, "folder %s: %s", dir, strerror(errno));
    if (st.st_mode & S_IWOTH)
        return fail(err, LASTRO_EDENIED, "folder %s is writable by everyone (mode %04o): chmod o-w it", dir,
                    st.st_mode & 07777);
    if (!owner_trusted(&st))
        return fail(err, LASTRO_EDENIED, "folder %s belongs to another user (uid %u)", dir, st.st_uid);
    return LASTRO_OK;
}

static lastro_status check_file(int fd, const char *path, struct stat *st, lastro_error *err) {
    if (fstat(fd, st) != 0)
        return fail(err, LASTRO_EDENIED, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st->st_mode))
        return fail(err, LASTRO_EDENIED, "%s is not a regular file", path);
    if (st->st_mode & S_IWOTH)
        return fail(err, LASTRO_EDENIED, "%s is writable by everyone (mode %04o): chmod o-w it", path, st->st_mode & 07777);
    if (!owner_trusted(st))
        return fail(err, LASTRO_EDENIED, "%s belongs to another user (uid %u)", path, st->st_uid);
    return LASTRO_OK;
}

static lastro_status check_versions(uint32_t abi, uint32_t size, const char *where, lastro_error *err) {
    if (abi < 1 || abi > LASTRO_ABI)
        return fail(err, LASTRO_EABI, "%s says ABI %u; this host serves ABI 1 to %u", where, abi, LASTRO_ABI);
    if (size < LASTRO_PLUGIN_MIN_SIZE_1)
        return fail(err, LASTRO_EABI, "%s says a descriptor of %u bytes; ABI %u has at least %u", where, size, abi,
                    LASTRO_PLUGIN_MIN_SIZE_1);
    return LASTRO_OK;
}

/* Hash and note are read from the very bytes that will be mapped. */
static lastro_status check_bytes(const plugin *p, size_t size, lastro_error *err) {
    void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, p->fd, 0) : MAP_FAILED;
    if (data == MAP_FAILED)
        return fail(err, LASTRO_EABI, "%s cannot be read", p->path);
    lastro_status s = LASTRO_OK;
    char hex[65];
    if (p->entry->sha256) {
        sha256_text(data, size, hex);
        if (strcmp(hex, p->entry->sha256) != 0)
            s = fail(err, LASTRO_EDENIED, "%s has SHA-256 %s, the manifest says %s", p->path, hex, p->entry->sha256);
    }
    elf_note note;
    lastro_error why;
    if (!s && elf_note_read(data, size, &note, &why) != LASTRO_OK)
        s = fail(err, LASTRO_EABI, "%s: %s", p->path, why.text);
    munmap(data, size);
    return s ? s : check_versions(note.abi, note.size, "its ELF note", err);
}

/* Opens once, checks what is open, and lets dlopen map exactly that: nothing can be swapped in between. The
 * descriptor stays open because glibc recognises a library by the name it was opened under, and this is its name. */
static lastro_status open_checked(plugin *p, lastro_error *err) {
    char real[PATH_MAX];
    if (!realpath(p->path, real))
        return fail(err, LASTRO_EDENIED, "%s: %s", p->path, strerror(errno));
    lastro_status s = check_folder(real, err);
    if (s)
        return s;
    p->fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (p->fd < 0)
        return fail(err, LASTRO_EDENIED, "%s: %s", real, strerror(errno));
    struct stat st;
    s = check_file(p->fd, real, &st, err);
    return s ? s : check_bytes(p, (size_t)st.st_size, err);
}

static void *open_library(const plugin *p) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", p->fd);
    if (access(name, F_OK) != 0)
        return dlopen(p->path, RTLD_NOW | RTLD_LOCAL); /* no /proc here */
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static lastro_status check_descriptor(const plugin *p, const lastro_plugin *d, lastro_error *err) {
    if (!d)
        return fail(err, LASTRO_EABI, LASTRO_ENTRY_SYMBOL " returned nothing");
    if (d->magic != LASTRO_MAGIC)
        return fail(err, LASTRO_EABI, "its descriptor begins with %08x instead of the magic %08x", d->magic, LASTRO_MAGIC);
    lastro_status s = check_versions(d->abi, d->size, "its descriptor", err);
    if (s)
        return s;
    if (!d->name || strcmp(d->name, p->entry->name) != 0)
        return fail(err, LASTRO_EABI, "the library is plugin \"%s\", the manifest calls it \"%s\"", d->name ? d->name : "?",
                    p->entry->name);
    if (!d->init)
        return fail(err, LASTRO_EABI, "its descriptor has no init");
    return LASTRO_OK;
}

static lastro_status map_plugin(plugin *p, const manifest *m, const char *exe_dir, lastro_error *err) {
    char path[PATH_MAX];
    if (strcmp(p->entry->isolation, "none") != 0)
        return fail(err, LASTRO_EDENIED, "isolation \"%s\" is not available in this version: only \"none\" is",
                    p->entry->isolation);
    lastro_status s = loader_find(m, exe_dir, p->entry->library, path, sizeof path, err);
    if (s)
        return s;
    p->path = arena_strndup(&p->mem, path, strlen(path));
    if (!p->path)
        return fail(err, LASTRO_ENOMEM, "out of memory");
    s = open_checked(p, err);
    if (s)
        return s;
    p->dl = open_library(p);
    if (!p->dl)
        return fail(err, LASTRO_EABI, "it cannot be opened: %s", dlerror());
    lastro_plugin_entry_fn entry;
    *(void **)&entry = dlsym(p->dl, LASTRO_ENTRY_SYMBOL);
    if (!entry)
        return fail(err, LASTRO_EABI, "it does not export " LASTRO_ENTRY_SYMBOL);
    const lastro_plugin *d = entry();
    s = check_descriptor(p, d, err);
    if (!s)
        p->desc = d;
    return s;
}

/* ---- initialising, in the order the needed services allow ---- */

static bool service_active(const registry *reg, const char *name, uint32_t version) {
    for (size_t i = 0; i < reg->plugin_count; i++) {
        const plugin *p = &reg->plugins[i];
        for (size_t j = 0; p->active && j < p->offer.services.count; j++) {
            const lastro_service *s = p->offer.services.at[j].def;
            if (strcmp(s->name, name) == 0 && s->version == version)
                return true;
        }
    }
    return false;
}

static const lastro_need *missing_need(const registry *reg, const plugin *p) {
    for (const lastro_need *n = p->desc->needs; n && n->service; n++)
        if (!service_active(reg, n->service, n->version))
            return n;
    return NULL;
}

static void forget(plugin *p, const char *why) {
    registry_clear_offer(&p->offer);
    p->active = false;
    snprintf(p->reason, sizeof p->reason, "%.*s", (int)sizeof p->reason - 1, why);
    log_error("plugin \"%s\" is not loaded: %s", p->entry->name, why);
}

static void initialise(registry *reg, plugin *p, const lastro_host *host) {
    lastro_registrar r = {.reg = reg, .owner = p};
    lastro_error err = {0};
    lastro_status s = p->desc->init(host, &r, &p->self, &err);
    if (s != LASTRO_OK) {
        char why[sizeof err.text + 80];
        snprintf(why, sizeof why, "its init failed (%s): %s", status_describe((int32_t)s)->name,
                 err.text[0] ? err.text : "it gave no reason");
        p->self = NULL;
        forget(p, why);
        return;
    }
    p->active = true;
    for (json_iter it = json_iterate(p->entry->tools); json_next(&it);) {
        bool known = false;
        for (size_t i = 0; i < p->offer.tools.count; i++)
            known = known || json_text_is(it.value, p->offer.tools.at[i].name);
        if (!known)
            log_warning("plugin \"%s\": the manifest enables the tool \"%s\", which it does not have", p->entry->name,
                        json_str(it.value));
    }
    log_info("plugin \"%s\" %s loaded, tools: %zu", p->entry->name, p->desc->version ? p->desc->version : "?",
             p->offer.tools.count);
}

/* As long as one more plugin finds what it needs, there may be another. */
static void initialise_all(registry *reg, const lastro_host *host) {
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < reg->plugin_count; i++) {
            plugin *p = &reg->plugins[i];
            if (!p->desc || p->active || p->reason[0] || missing_need(reg, p))
                continue;
            initialise(reg, p, host);
            progress = true;
        }
    }
    for (size_t i = 0; i < reg->plugin_count; i++) {
        plugin *p = &reg->plugins[i];
        if (!p->desc || p->active || p->reason[0])
            continue;
        const lastro_need *n = missing_need(reg, p);
        char why[300];
        snprintf(why, sizeof why, "it needs the service \"%s\" version %u, which no loaded plugin provides", n->service,
                 n->version);
        forget(p, why);
    }
}

registry *loader_load(const manifest *m, const loader_options *opts, lastro_error *err) {
    registry *reg = calloc(1, sizeof *reg);
    if (reg)
        reg->plugins = calloc(m->plugin_count + 1, sizeof *reg->plugins);
    if (!reg || !reg->plugins) {
        free(reg);
        fail(err, LASTRO_ENOMEM, "out of memory");
        return NULL;
    }
    reg->manifest = m;
    reg->overrides = opts->overrides;
    reg->plugin_count = m->plugin_count;
    for (size_t i = 0; i < m->plugin_count; i++) {
        plugin *p = &reg->plugins[i];
        lastro_error why = {0};
        p->entry = &m->plugins[i];
        p->fd = -1;
        arena_init(&p->mem, 0);
        if (!p->entry->enabled)
            snprintf(p->reason, sizeof p->reason, "disabled in the manifest");
        else if (map_plugin(p, m, opts->exe_dir, &why) != LASTRO_OK)
            forget(p, why.text);
    }
    initialise_all(reg, opts->host);
    if (registry_seal(reg, err) != LASTRO_OK) {
        loader_unload(reg);
        return NULL;
    }
    return reg;
}

void loader_unload(registry *reg) {
    if (!reg)
        return;
    for (size_t i = reg->plugin_count; i-- > 0;) { /* users of a service before its provider, as a rule */
        plugin *p = &reg->plugins[i];
        if (p->active && p->desc->size >= offsetof(lastro_plugin, shutdown) + sizeof(void *) && p->desc->shutdown)
            p->desc->shutdown(p->self);
        registry_clear_offer(&p->offer);
        arena_free(&p->mem);
        /* dl and fd stay: a thread of the plugin may still be in its code */
    }
    offer *all = &reg->all;
    void *arrays[] = {all->tools.at,   all->resources.at, all->templates.at, all->prompts.at,     all->sources.at,
                      all->services.at, all->commands.at,  all->instructions.at, reg->tool_index, reg->plugins};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(reg);
}
