/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <signal.h>

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); /* a reader that left is an error of one write, not the end of the program */
    return cli_main(argc, argv);
}
