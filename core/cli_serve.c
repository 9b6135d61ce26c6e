/* SPDX-License-Identifier: MIT */
/* cli_serve.c -- lastro serve: which settings hold, and whether serving by them is allowed. */
#include "cli.h"
#include "web_host.h"
#include "web_keys.h"
#include "web_serve.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option, *value, *env, *member, *help; /* value NULL: a flag; member: of the manifest's "http" */
} settings[] = {
    {"--listen", "ADDRESS", "LASTRO_LISTEN", "listen", "127.0.0.1:8717 unless told; port 0: any; [::1]:8717; unix:/path"},
    {"--open", NULL, "LASTRO_OPEN", "open", "serve other machines although no key is asked for"},
    {"--sse", NULL, "LASTRO_SSE", "sse", "also the transport of 2024-11-05: GET /sse, POST /messages"},
    {"--allowed-origins", "LIST", "LASTRO_ALLOWED_ORIGINS", "allowedOrigins", "web pages that may ask: https://app.example.org,…"},
    {"--allowed-hosts", "LIST", "LASTRO_ALLOWED_HOSTS", "allowedHosts", "names it may be called by: mcp.example.org,…"},
    {"--sessions", "N", "LASTRO_SESSIONS", "sessions", "sessions of clients before 2026-07-28, at once (10000)"},
    {"--session-ms", "N", "LASTRO_SESSION_MS", "sessionMs", "a session idle so long ends (3600000)"},
    {"--connections", "N", "LASTRO_CONNECTIONS", "connections", "clients at once (20000)"},
    {"--io-threads", "N", "LASTRO_IO_THREADS", "ioThreads", "threads that read and write; else one a core, at most 8"},
    {"--drain-ms", "N", "LASTRO_DRAIN_MS", "drainMs", "what runs at SIGTERM may take so long (5000)"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void print_usage(FILE *to) {
    fputs("usage: lastro serve [OPTION…]\n"
          "  MCP over HTTP at /mcp, for clients of every revision; /health and /ready tell how it is. Each setting is an\n"
          "  option, else a variable of the environment, else a member of \"http\" in the manifest:\n\n", to);
    for (int i = 0; i < SETTINGS; i++) {
        char option[40];
        snprintf(option, sizeof option, "%s%s%s", settings[i].option, settings[i].value ? " " : "",
                 settings[i].value ? settings[i].value : "");
        fprintf(to, "  %-23s %-23s http.%s\n  %23s %s\n", option, settings[i].env, settings[i].member, "", settings[i].help);
    }
    fputs("\n  A socket of the service manager (LISTEN_FDS) is used when --listen is not given.\n"
          "  Keys: lastro manifest key NAME. SIGTERM or SIGINT stops the server in order, a second one at once.\n"
          "exit status: 0 stopped by a signal; 1 stopped by a second one; 2 it cannot serve so\n", to);
}

/* ---- what was asked for ---- */

typedef struct {
    const char *values[SETTINGS]; /* of the command line; NULL: not there */
} request;

/* The value of "--NAME VALUE", "--NAME=VALUE" or a flag; *at steps over what was used. NULL: told. */
static const char *value_of(int i, int argc, char **argv, int *at) {
    const char *equals = strchr(argv[*at], '=');
    if (equals)
        return equals + 1;
    if (!settings[i].value)
        return "yes";
    if (++*at < argc)
        return argv[*at];
    cli_error("%s needs a value: %s", settings[i].option, settings[i].help);
    return NULL;
}

static int setting_of(const char *arg) {
    size_t len = strcspn(arg, "=");
    for (int i = 0; i < SETTINGS; i++)
        if (strlen(settings[i].option) == len && strncmp(settings[i].option, arg, len) == 0)
            return i;
    return -1;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, request *r) {
    for (int at = 1; at < argc; at++) {
        int i = setting_of(argv[at]);
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            print_usage(stdout);
            return CLI_OK;
        }
        if (i < 0) {
            cli_error("serve takes no \"%s\"; lastro serve --help lists what it takes", argv[at]);
            return CLI_USAGE;
        }
        if (!(r->values[i] = value_of(i, argc, argv, &at)))
            return CLI_USAGE;
    }
    return -1;
}

/* Option, else environment, else what the manifest says already. */
static bool apply(const request *r, manifest *m) {
    for (int i = 0; i < SETTINGS; i++) {
        const char *env = getenv(settings[i].env), *text = r->values[i] ? r->values[i] : env && *env ? env : NULL;
        lastro_error err = {0};
        if (!text || manifest_set_http(m, settings[i].member, text, &err) == LASTRO_OK)
            continue;
        cli_error("%s %s", r->values[i] ? settings[i].option : settings[i].env, err.text);
        return false;
    }
    return true;
}

/* ---- whether that is allowed ---- */

/* Whoever reaches the address may call every tool, when no key is asked for. */
static bool allowed(const server *s, const char *listen, bool keys) {
    switch (web_serve_reach(listen)) {
    case WEB_UNREADABLE:
        if (listen)
            cli_error("\"%.100s\" is no address to listen at: use a numeric address and a port (127.0.0.1:8717, [::1]:8717, "
                      "0.0.0.0:8717; port 0 takes any that is free) or unix:/path", listen);
        else
            cli_error("the descriptor that the service manager passed (LISTEN_FDS) is no listening socket");
        return false;
    case WEB_BEYOND:
        if (keys || s->manifest->http.open)
            return true;
        cli_error("%s is reachable from other machines and no key is asked for, so anyone there could call every tool. Make a "
                  "key (lastro manifest key NAME) and put its entry into \"principals\" of the manifest, listen at 127.0.0.1 or "
                  "unix:/path, or say --open if all who reach it may use it", listen ? listen : "the inherited socket");
        return false;
    default:
        return true;
    }
}

static int serve(server *s, const request *r) {
    lastro_error err = {0};
    if (!apply(r, s->manifest))
        return CLI_USAGE;
    const char *listen = !r->values[0] && web_serve_inherits() ? NULL : s->manifest->http.listen;
    web_keys *keys = web_keys_create(s->manifest, &err);
    bool keyed = keys != NULL;
    web_keys_destroy(keys);
    if (!err.status)
        web_names_check(s->manifest, &err);
    if (err.status)
        cli_error("%s", err.text);
    if (err.status || !allowed(s, listen, keyed))
        return CLI_USAGE;
    const web_front *front = web_serve_load(s, &err);
    if (front && web_serve(s, front, listen, &err) == LASTRO_OK)
        return CLI_OK;
    cli_error("%s", err.text);
    return CLI_USAGE;
}

int cli_serve(const server_options *opts, int argc, char **argv) {
    request r = {0};
    int status = parse(argc, argv, &r);
    if (status >= 0)
        return status;
    web_serve_prepare();
    lastro_error err = {0};
    server *s = server_create(opts, &err);
    if (!s) {
        cli_error("%s", err.text);
        return CLI_USAGE;
    }
    status = serve(s, &r);
    server_destroy(s);
    return status;
}
