/* SPDX-License-Identifier: Apache-2.0 */
/* The words that begin errors and warnings, which have colours on a terminal. */
#ifndef CORE_CLI_MESSAGES_H
#define CORE_CLI_MESSAGES_H

#include "core/request/options.h"

#include <stdio.h>

/**
 * messages_color() - of all messages from now on; COLOR_AUTO, which it is before: where @out of the next two is a
 * terminal, TERM is not dumb, and NO_COLOR is unset or empty (no-color.org).
 */
void messages_color(enum color_use use);

/** error_word(), warning_word() - "error: " and "WARNING: ", for a message that is printed to @out. */
const char *error_word(FILE *out);
const char *warning_word(FILE *out);

#endif
