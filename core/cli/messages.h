/* SPDX-License-Identifier: Apache-2.0 */
/* The words at the beginning of errors and warnings, in color on a terminal. */
#ifndef CORE_CLI_MESSAGES_H
#define CORE_CLI_MESSAGES_H

#include "core/cli/command_line.h"

#include <stdio.h>

/**
 * messages_color() - set the use of color for all messages from now on. COLOR_AUTO, the default: use color if @out of
 * the next two functions is a terminal, TERM is set and not dumb, and NO_COLOR is unset or empty (no-color.org).
 */
void messages_color(enum color_use use);

/** error_word(), warning_word() - "error: " and "WARNING: ", for a message that is printed to @out. */
const char *error_word(FILE *out);
const char *warning_word(FILE *out);

#endif
