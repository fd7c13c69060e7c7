/* SPDX-License-Identifier: Apache-2.0 */
/* Guess what the user meant by an invalid command line. */
#ifndef CORE_CLI_SUGGEST_H
#define CORE_CLI_SUGGEST_H

#include "core/cli/options_table.h"

/**
 * suggest_long() - the long option of @t that is most similar to the first @len bytes of @word, both without dashes;
 * NULL: none is similar.
 */
const char *suggest_long(const struct opt_table *t, const char *word, size_t len);

/**
 * suggest_command() - the command line @argv, with the missing "--" before its word @at.
 * @out: out: at most @size - 1 bytes; "..." stands for a word that a shell would change, or that does not fit. If that
 * is word @at or a later one, or if nothing more would fit, @out ends with this "...", which stands for the rest.
 * Return: false: word @at is not a program.
 */
bool suggest_command(enum tool tool, char *const *argv, int at, char *out, size_t size);

/** suggest_comm() - true if @word is not a list of ids, but may be the name of a thread, for --comm. */
bool suggest_comm(const char *word);

#endif
