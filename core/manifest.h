/* SPDX-License-Identifier: MIT */
/* manifest.h -- manifest.json: the server's identity, the plugins it may load, and the listing it promises.
 *
 * {"manifest": 1, "name", "title", "version", "description", "publisher" (reverse DNS), "websiteUrl",
 *  "instructions", "principal" (on stdio), "principals": [{"name", "key", "claims"}],
 *  "http": {"listen", "allowedOrigins", "allowedHosts", "open", "sse", "sessions", "sessionMs", "connections", "ioThreads",
 *           "drainMs"},
 *  "limits": {"callMs", "resultBytes", "messageBytes", "cacheBytes", "workers", "pageItems", "taskMs", "waitingCalls"},
 *  "plugins": [{"name", "library", "sha256", "enabled", "isolation" ("none"), "grants", "tools": [enabled ones],
 *               "config"}],
 *  "listing": {"tools", "resources", "resourceTemplates", "prompts"}}
 * Unknown members are errors: a misspelt one must not be lost in silence. Read once; read-only afterwards.
 */
#ifndef LASTRO_CORE_MANIFEST_H
#define LASTRO_CORE_MANIFEST_H

#include "json.h"
#include <lastro/abi.h>

/* What a principal's "key" begins with: the hexadecimal SHA-256 of the secret follows. */
#define MANIFEST_KEY_PREFIX "sha256:"

typedef struct {
    const char *name;
    const char *library;         /* absolute path or bare file name */
    const char *sha256;          /* NULL: not given */
    bool enabled;
    const char *isolation;       /* "none" */
    const json_value *tools;     /* array of enabled tools; NULL: all */
    const json_value *config;    /* object; NULL: none */
    const json_value *grants;
} manifest_plugin;

typedef struct {
    int64_t call_ms;             /* default deadline of a call */
    int64_t result_bytes;        /* of one result, both copies of its content counted */
    int64_t message_bytes;       /* of one message from the client */
    int64_t cache_bytes;
    int64_t workers;             /* threads at the most */
    int64_t page_items;          /* of a list, at the most; 0: it comes whole */
    int64_t waiting_calls;       /* for a worker, at the most; one more is turned away */
    int64_t task_ms;             /* a call that became a task may take so long, answers waited for included */
} manifest_limits;

/* How `lastro serve` serves. */
typedef struct {
    const char *listen;                 /* "127.0.0.1:8717", "unix:/path" */
    const json_value *allowed_origins;  /* texts such as "https://app.example.org"; NULL: local ones when bound locally */
    const json_value *allowed_hosts;    /* texts such as "mcp.example.org"; NULL: any, or local ones when bound locally */
    bool open;                          /* serve beyond this machine without keys */
    bool sse;                           /* also serve the transport of 2024-11-05: /sse and /messages */
    int64_t sessions, session_ms;       /* legacy sessions at once; one that is idle so long ends */
    int64_t connections, io_threads;
    int64_t drain_ms;                   /* running calls may take so long when the server stops */
} manifest_http;

typedef struct manifest {
    arena mem;
    char *path, *dir;            /* absolute */
    const json_value *root;
    const char *name, *title, *version, *description, *publisher, *website, *instructions, *principal;
    const json_value *principals;
    manifest_limits limits;
    manifest_http http;
    manifest_plugin *plugins;
    size_t plugin_count;
    const json_value *listing;   /* NULL: none */
} manifest;

/* NULL with err filled ("FILE:LINE: what is wrong", naming the member) when it cannot be used. */
manifest *manifest_load(const char *path, lastro_error *err);
/* Without a file: the program alone, no plugin. */
manifest *manifest_empty(void);
void manifest_destroy(manifest *m); /* accepts NULL */

/* Sets one member of "http" by a text of the command line or the environment, under the rules of the file: a flag is
 * yes, no, true, false, 1 or 0; a list has commas. LASTRO_EARGS: err says what it must be ("must be …"). */
lastro_status manifest_set_http(manifest *m, const char *member, const char *text, lastro_error *err);

/* Where the manifest is: explicit (may be NULL), else LASTRO_MANIFEST, else beside the executable, else the XDG
 * configuration folder, else /etc/lastro. buf gets the path. False: there is none in those places. */
bool manifest_find(const char *explicit_path, const char *exe_dir, char *buf, size_t size);

#endif
