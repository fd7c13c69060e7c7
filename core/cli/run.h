/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command from its first line to its exit status: parse, count, name, report. What profile and offcputime have in
 * common.
 */
#ifndef CORE_CLI_RUN_H
#define CORE_CLI_RUN_H

#include "core/request/options.h"

#include <stdio.h>

/**
 * run_main() - what main() of a command does.
 * @action: write to @out what is asked for by an option that is only about the program itself, and is neither --help
 *          nor --version
 * Return: the exit status, see profile(8).
 */
int run_main(enum tool tool, void (*action)(FILE *out, const struct options *o), int argc, char **argv);

#endif
