/* SPDX-License-Identifier: Apache-2.0 */
/* Read the files of --input and --baseline, one after the other: recordings and reports. */
#ifndef CORE_CLI_INPUTS_H
#define CORE_CLI_INPUTS_H

#include "core/cli/reports.h"

/** recording_fn - read the recording that @o->input names into @r. Return: 0; -errno, described. */
typedef int (*recording_fn)(struct reports *r, const struct options *o, struct err *err);

/** inputs_read_one() - read @in, whose path is @path, into @r. Return: 0; -errno, described. */
int inputs_read_one(struct reports *r, struct infile *in, const char *path, recording_fn recording, struct err *err);

/**
 * inputs_read() - read the files that --input names. @more: the report gets more files after these. Return: as
 * inputs_read_one().
 */
int inputs_read(struct reports *r, bool more, recording_fn recording, struct err *err);

#endif
