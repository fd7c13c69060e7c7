/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice instead of silence: why the user stacks of a report are mostly incomplete or without names, and what to do.
 *
 * One line, about the program with most such stacks: its processes are those that run the same file. What it blames was
 * read just now. Where nothing is known of why, or there is nothing to do, it is about another flaw that a tenth of the
 * program's flawed stacks has, else about the next program that has a tenth of all flawed stacks; of the others nothing
 * is printed.
 */
#ifndef CORE_CLI_ADVICE_H
#define CORE_CLI_ADVICE_H

#include "core/cli/advised.h"

#include <stdbool.h>
#include <stdio.h>

#define ADVICE_TIMES 20 /* samples, or intervals off the CPU, with a user stack that a report has at least */

/**
 * advice_print() - print a line to @out, if more than half of the values of all user stacks are of flawed ones, and if
 * there are ADVICE_TIMES of them. After the report, before the next one begins.
 * Return: was there something to print?
 */
bool advice_print(FILE *out, const struct advised *a);

#endif
