/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report goes: stdout, or a file that is there whole or not at all. */
#ifndef CORE_CLI_OUTPUT_H
#define CORE_CLI_OUTPUT_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdio.h>

/** struct output - @stream is where to write. All zeros: closed. */
struct output {
	FILE *stream;
	char *buffer;      /* of @stream, if that is not the caller's */
	const char *asked; /* the name that it was opened with, borrowed; NULL: @stream is the caller's */
	char *path;        /* final name, links followed; NULL: written in place */
	char *temp;        /* name of the unfinished file where it must have one, else NULL */
};

/**
 * output_open() - @path, borrowed until it is closed; NULL: @standard, stdout or stderr, which stays open in the end.
 *
 * A regular file, or a new one, is written without a name (O_TMPFILE) in its folder and takes its name in
 * output_commit(): a run that is killed leaves nothing. File systems that cannot do that get a temporary name, which is
 * random, so that nobody else can take it before. Anything else (a device, a FIFO, /dev/stdout) is written in place.
 */
int output_open(struct output *o, const char *path, FILE *standard, struct err *err);

/** output_error() - describe that writing to @o, by its name, failed with @code, which is returned. */
int output_error(const struct output *o, int code, struct err *err);

/**
 * output_commit() - flush and give the file its name. Closes @o.
 *
 * After an error nothing is left of it, unless it is whole and only cannot have its name: then it keeps a temporary one,
 * which @err names.
 */
int output_commit(struct output *o, struct err *err);

/** output_discard() - forget it; nothing is left. A closed or zeroed @o is fine. */
void output_discard(struct output *o);

#endif
