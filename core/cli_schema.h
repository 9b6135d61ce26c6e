/* SPDX-License-Identifier: MIT */
/* cli_schema.h -- `lastro schema`: checking instances, and running the JSON Schema Test Suite. */
#ifndef LASTRO_CORE_CLI_SCHEMA_H
#define LASTRO_CORE_CLI_SCHEMA_H

#include "schema.h"

#include <stddef.h>
#include <stdio.h>

/* argv[0] is "schema". Returns the exit status: 0 all is well, 1 something is not valid or a test failed, 2
 * the command line, a file or a schema is unusable. */
int cli_schema(int argc, char **argv);

/* Documents for http://localhost:1234/, read from a folder; they live in a. NULL: told on standard error. */
schema_set *schema_suite_remotes(arena *a, const char *folder);

typedef struct {
    schema_draft draft; /* AUTO: the schema's $schema, else the folder's name, else 2020-12 */
    bool assert_format;
    const schema_set *set; /* may be NULL */
    size_t passed, failed; /* counted up */
} schema_suite;

/* Runs a suite's file, or each *.json of a folder (not of its folders). Failing tests are printed on out (may
 * be NULL). False: unreadable, told on standard error. */
bool schema_suite_run(schema_suite *s, const char *path, FILE *out);

#endif
