/* SPDX-License-Identifier: MIT */
/* cli.h -- the program's commands. Each gets argv from its own name on and returns the exit status:
 * 0 done, 1 the answer is an error or a check failed, 2 the command line or the set-up is unusable. */
#ifndef LASTRO_CORE_CLI_H
#define LASTRO_CORE_CLI_H

#include "server.h"

#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

int cli_main(int argc, char **argv);

int cli_stdio(const server_options *opts, int argc, char **argv);
int cli_serve(const server_options *opts, int argc, char **argv);
int cli_call(const server_options *opts, int argc, char **argv);
int cli_list(const server_options *opts, int argc, char **argv);
int cli_run(const server_options *opts, int argc, char **argv);
int cli_manifest(const server_options *opts, int argc, char **argv);
/* lastro manifest key NAME; argv begins with "key". */
int cli_manifest_key(int argc, char **argv);

/* Where a command's answer goes: standard output, which plugins that print to descriptor 1 cannot reach. */
FILE *cli_out(void);
/* The command's status, or CLI_FAILED when its answer could not be written whole. */
int cli_end(int status);

/* One line on standard error. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *fmt, ...);
/* A server for a command that is no server, or NULL with the reason told. */
server *cli_open(const server_options *opts);
/* A call outside any transport. NULL: out of memory. */
lastro_call *cli_begin_call(server *s);

#endif
