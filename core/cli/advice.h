/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice: explain why the user stacks of a report are mostly incomplete or lack names, and how to change that.
 *
 * The advice is one line about the most frequent flaw of the program with most such stacks (core/cli/programs.h). It
 * judges files as the report has just read them. If the reason is unknown, or nothing can be done, try the next flaw
 * that a tenth of the program's flawed stacks have. If there is no advice about this program, try the next program with
 * a tenth of all flawed stacks. If no program is left, print nothing.
 */
#ifndef CORE_CLI_ADVICE_H
#define CORE_CLI_ADVICE_H

#include "core/cli/advised.h"

#include <stdbool.h>
#include <stdio.h>

#define ADVICE_TIMES 20 /* a report needs so many samples, or intervals off the CPU, with a user stack */

/**
 * advice_print() - print a line to @out if more than half of the values with user stacks have flaws, and if at least
 * ADVICE_TIMES samples or intervals have user stacks. Call it after a report, before the next one begins.
 * Return: true if a line was printed.
 */
bool advice_print(FILE *out, const struct advised *a);

#endif
