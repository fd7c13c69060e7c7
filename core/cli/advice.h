/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice: explain why the user stacks of a report are mostly incomplete or lack names, and how to change that.
 *
 * One line, about the program with most such stacks; processes that run the same file are one program. Files that it
 * blames were read just now. If the reason is unknown, or nothing can be done, the advice is about another flaw in a
 * tenth of the program's flawed stacks, otherwise about the next program with a tenth of all flawed stacks. If there is
 * none, nothing is printed.
 */
#ifndef CORE_CLI_ADVICE_H
#define CORE_CLI_ADVICE_H

#include "core/cli/advised.h"

#include <stdbool.h>
#include <stdio.h>

#define ADVICE_TIMES 20 /* a report needs so many samples, or intervals off the CPU, with a user stack */

/**
 * advice_print() - print a line to @out if more than half of the values with user stacks have flaws, and if there are
 * ADVICE_TIMES of them. Call it after a report, before the next one begins.
 * Return: true if a line was printed.
 */
bool advice_print(FILE *out, const struct advised *a);

#endif
