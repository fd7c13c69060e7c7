/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of main() that profile and offcputime share, from the command line to the exit status: parse, count, name,
 * report.
 */
#ifndef CORE_CLI_RUN_H
#define CORE_CLI_RUN_H

#include "core/cli/command_line.h"

/** run_main() - main() of @tool. Return: the exit status, see profile(8). */
int run_main(enum tool tool, int argc, char **argv);

#endif
