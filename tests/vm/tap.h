/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a guest: TAP on stdout, each line complete and at once. */
#ifndef TESTS_VM_TAP_H
#define TESTS_VM_TAP_H

#include <stdbool.h>
#include <stdio.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/** tap_ok() - one check; @format is its name. Return: @ok. */
bool tap_ok(bool ok, const char *format, ...) PRINTF(2, 3);
void tap_skip(const char *name, const char *why);
/** tap_line() - print a line that is not a check: "# " and @format. */
void tap_line(const char *format, ...) PRINTF(1, 2);
/** tap_text() - print the first lines of @text as diagnostics, with a name. */
void tap_text(const char *name, const char *text);
/** tap_end() - print the plan. Return: exit status of the program. */
int tap_end(void);

#endif
