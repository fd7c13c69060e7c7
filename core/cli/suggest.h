/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line that is refused may have meant. */
#ifndef CORE_CLI_SUGGEST_H
#define CORE_CLI_SUGGEST_H

#include "core/cli/options_table.h"

/** suggest_long() - the long option of @t that is most like the @len bytes of @word, without dashes; NULL: none is. */
const char *suggest_long(const struct opt_table *t, const char *word, size_t len);

/**
 * suggest_command() - the command line @argv, with the "--" that is missing before its word @at.
 * @out: out: at most @size - 1 bytes; "..." stands for words that a shell would expand, for those behind such an
 *       argument of the command, and for those for which there is no room
 * Return: false: that word is no program.
 */
bool suggest_command(enum tool tool, char *const *argv, int at, char *out, size_t size);

/** suggest_comm() - is @word no list of ids, but perhaps the name of a thread, which --comm takes? */
bool suggest_comm(const char *word);

#endif
