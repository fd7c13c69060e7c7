/* SPDX-License-Identifier: Apache-2.0 */
/* The files of --input and --baseline, one after the other: recordings, and reports that were written before. */
#ifndef CORE_CLI_INPUTS_H
#define CORE_CLI_INPUTS_H

#include "core/cli/reports.h"

/** recording_fn - read one recording, as the options it is given have it, into @r. Return: 0; -errno, described. */
typedef int (*recording_fn)(struct reports *r, const struct options *o, struct err *err);

/** inputs_read_one() - read @in, which is at @path, into @r. Return: 0; -errno, described. */
int inputs_read_one(struct reports *r, struct infile *in, const char *path, recording_fn recording, struct err *err);

/** inputs_read() - read what the options name with --input. @more: what follows is of the same report. Return: as this
 */
int inputs_read(struct reports *r, bool more, recording_fn recording, struct err *err);

#endif
