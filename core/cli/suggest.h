/* SPDX-License-Identifier: Apache-2.0 */
/* Guess what the user meant by an invalid command line. */
#ifndef CORE_CLI_SUGGEST_H
#define CORE_CLI_SUGGEST_H

#include "core/cli/options_table.h"

/**
 * suggest_long() - the long option of @t most similar to the @len bytes of @word, without dashes; NULL: none is
 * similar.
 */
const char *suggest_long(const struct opt_table *t, const char *word, size_t len);

/**
 * suggest_command() - the command line @argv, with the missing "--" before its word @at.
 * @out: out: at most @size - 1 bytes; "..." stands for words that a shell would expand, for all later words of such a
 * command, and for words that do not fit
 * Return: false: that word is not a program.
 */
bool suggest_command(enum tool tool, char *const *argv, int at, char *out, size_t size);

/** suggest_comm() - true if @word is not a list of ids, but may be the name of a thread, for --comm. */
bool suggest_comm(const char *word);

#endif
