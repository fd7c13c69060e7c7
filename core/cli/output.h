/* SPDX-License-Identifier: Apache-2.0 */
/* The destination of a report: stdout, or a file that appears complete or not at all. */
#ifndef CORE_CLI_OUTPUT_H
#define CORE_CLI_OUTPUT_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdio.h>

/** struct output - write to @stream. All zeros: closed. */
struct output {
	FILE *stream;
	char *buffer;      /* buffer of @stream, unless @stream belongs to the caller */
	const char *asked; /* the name as the user gave it, borrowed; NULL: @stream belongs to the caller */
	char *path;        /* final name, links followed; NULL: written in place */
	char *temp;        /* name of the unfinished file if it needs one, otherwise NULL */
};

/**
 * output_open() - open @path, borrowed until @o is closed; NULL: use @standard (stdout or stderr), which stays open at
 * the end.
 *
 * A regular or new file is written without a name (O_TMPFILE) in its directory, and gets its name in output_commit(): a
 * run that is killed leaves nothing. If the file system has no O_TMPFILE, or there is no /proc, the file has a
 * temporary name, which is random, so that no other user can create it before. Anything else (a device, a FIFO,
 * /dev/stdout) is written in place.
 */
int output_open(struct output *o, const char *path, FILE *standard, struct err *err);

/** output_error() - describe that writing to @o failed with @code, with the name of @o. Return: @code. */
int output_error(const struct output *o, int code, struct err *err);

/**
 * output_commit() - flush and give the file its name. Closes @o.
 *
 * After an error no new file is left, unless the file is complete and only rename(2) to its name failed: then it keeps
 * its temporary name, which is in the message of @err.
 */
int output_commit(struct output *o, struct err *err);

/** output_discard() - close @o without giving the file its name, and leave no new file. @o may be closed or zeroed. */
void output_discard(struct output *o);

#endif
