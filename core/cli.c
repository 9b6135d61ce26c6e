/* SPDX-License-Identifier: MIT */
/* cli.c -- options, and which command they belong to. */
#include "cli.h"
#include "cli_schema.h"
#include "clock.h"
#include "log.h"
#include "signals.h"
#include "transport_stdio.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: lastro [OPTION…] [COMMAND …]        without a command: stdio\n"
    "\n"
    "  stdio                              MCP on standard input and output\n"
    "  serve [--listen ADDR:PORT|unix:PATH] …   MCP over HTTP at /mcp (127.0.0.1:8717)\n"
    "  call TOOL [KEY=VALUE…] [--args JSON] [--json]   one call from the shell\n"
    "  list [tools|resources|prompts|plugins] [--json] what is served\n"
    "  run PLUGIN COMMAND …               a command that a plugin brings\n"
    "  manifest check|update|hash         the manifest against the live server\n"
    "  manifest key NAME                  makes a key for a client over HTTP\n"
    "  schema check|test …                JSON Schema: validate, or run a test suite\n"
    "\n"
    "options, before or after the command\n"
    "  --manifest FILE      instead of LASTRO_MANIFEST, or manifest.json beside the program, in\n"
    "                       $XDG_CONFIG_HOME/lastro (~/.config/lastro) or in /etc/lastro\n"
    "  --offline            no network: snapshot and cache only (also LASTRO_OFFLINE=1)\n"
    "  --source NAME=URL    read a source from another base (also LASTRO_SOURCE_NAME=URL)\n"
    "  --version, --help    (--help after a command: about that command)\n"
    "\n"
    "environment: LASTRO_LOG=debug|info|notice|warning|error, LASTRO_PRINCIPAL, LASTRO_CLOCK\n"
    "exit status: 0 done; 1 the answer is an error, or a check failed; 2 unusable command line or set-up\n";

static int run_schema(const server_options *opts, int argc, char **argv) {
    (void)opts;
    return cli_schema(argc, argv);
}

static const struct {
    const char *name;
    int (*run)(const server_options *opts, int argc, char **argv);
} commands[] = {
    {"stdio", cli_stdio}, {"serve", cli_serve},       {"call", cli_call},     {"list", cli_list},
    {"run", cli_run},     {"manifest", cli_manifest}, {"schema", run_schema},
};

void cli_error(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("lastro: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

static FILE *out;

FILE *cli_out(void) {
    return out ? out : stdout;
}

int cli_end(int status) {
    if (fflush(cli_out()) == 0 && !ferror(cli_out()))
        return status;
    cli_error("the answer could not be written: %s", strerror(errno));
    return status ? status : CLI_FAILED;
}

server *cli_open(const server_options *opts) {
    lastro_error err = {0};
    int fd = stdio_claim_output();
    if (!out && fd >= 0)
        out = fdopen(fd, "w");
    if (!out) {
        cli_error("standard output is closed");
        return NULL;
    }
    server *s = server_create(opts, &err);
    if (s)
        s->shell_out = out;
    else
        cli_error("%s", err.text);
    return s;
}

lastro_call *cli_begin_call(server *s) {
    lastro_call *c = call_get(s);
    if (!c) {
        cli_error("out of memory");
        return NULL;
    }
    c->era = LASTRO_ERA_SHELL;
    server_principal(s, NULL, &c->principal);
    return c;
}

static bool bad_source(const char *value) {
    const char *eq = strchr(value, '='),
               *fault = eq && eq != value ? fetch_url_fault(eq + 1) : "it has no NAME=";
    if (!fault)
        return false;
    cli_error("--source wants NAME=URL; it cannot take what it got: %s",
              fault); /* not quoted: it may hold a password */
    return true;
}

/* Takes the program's own options out of argv, wherever they stand up to "--"; what is left is the command's.
 * -1: go on; else the exit status. */
static int take_options(server_options *o, int *argc, char **argv, bool *version, bool *help) {
    int left = 1;
    bool mine = true;
    for (int i = 1; i < *argc; i++) {
        char *a = argv[i];
        bool manifest_opt = strcmp(a, "--manifest") == 0, source_opt = strcmp(a, "--source") == 0;
        if (mine && strcmp(a, "--") == 0)
            mine = false;
        if (mine && (manifest_opt || source_opt)) {
            if (++i >= *argc) {
                cli_error("%s needs a value", a);
                return CLI_USAGE;
            }
            if (manifest_opt)
                o->manifest_path = argv[i];
            else if (bad_source(argv[i]))
                return CLI_USAGE;
            else if (o->override_count + 1 < sizeof o->overrides / sizeof *o->overrides)
                o->overrides[o->override_count++] = argv[i];
        } else if (mine && strcmp(a, "--offline") == 0) {
            o->offline = true;
        } else if (mine && left == 1 && strcmp(a, "--version") == 0) {
            *version = true;
        } else if (mine && left == 1 && (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0)) {
            *help = true;
        } else {
            argv[left++] = a;
        }
    }
    argv[ *argc = left] = NULL;
    return -1;
}

int cli_main(int argc, char **argv) {
    server_options opts = {0};
    bool version = false, help = false;
    log_init();
    if (!clock_init()) {
        cli_error("LASTRO_CLOCK is \"%s\"; it must look like 2026-08-21T10:00:00-03:00",
                  getenv("LASTRO_CLOCK"));
        return CLI_USAGE;
    }
    const char *offline = getenv("LASTRO_OFFLINE");
    opts.offline = offline && *offline && strcmp(offline, "0") != 0;
    int status = take_options(&opts, &argc, argv, &version, &help);
    if (status >= 0)
        return status;
    if (version || help) {
        fputs(version ? "lastro " LASTRO_VERSION "\n" : usage, stdout);
        return cli_end(CLI_OK);
    }
    if (argc < 2)
        return cli_stdio(&opts, argc, argv);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            return cli_end(commands[i].run(&opts, argc - 1, argv + 1));
    cli_error("there is no %s \"%s\"; lastro --help lists them", argv[1][0] == '-' ? "option" : "command",
              argv[1]);
    return CLI_USAGE;
}

int cli_stdio(const server_options *opts, int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs("usage: lastro [stdio]\n  MCP, one JSON-RPC message a line; logs go to standard error.\n",
              stdout);
        return CLI_OK;
    }
    if (argc > 1) {
        cli_error("stdio takes no argument \"%s\"", argv[1]);
        return CLI_USAGE;
    }
    lastro_error err = {0};
    if (stdio_claim_output() < 0) {
        cli_error("standard output is closed");
        return CLI_USAGE;
    }
    signals_block_ending();
    server_options serve = *opts;
    serve.serve_anyway = true;
    server *s = server_create(&serve, &err);
    if (!s) {
        cli_error("%s", err.text);
        return CLI_USAGE;
    }
    int status = stdio_serve(s);
    server_destroy(s);
    return status;
}
