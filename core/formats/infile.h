/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with a report or a recording, on its way in: which of the known formats it has, and its bytes. Files that were
 * compressed with gzip(1) are read as what is in them. Nothing that is read is believed.
 */
#ifndef CORE_FORMATS_INFILE_H
#define CORE_FORMATS_INFILE_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** enum infile_format - by how a file begins. INFILE_FOLDED: by nothing else. */
enum infile_format { INFILE_RECORDING, INFILE_PPROF, INFILE_JSON, INFILE_PAGE, INFILE_FOLDED };

/** infile_format_name() - for messages: "a perf.data recording", "a pprof profile" ... */
const char *infile_format_name(enum infile_format format);

struct infile;

/**
 * infile_open() - open @path and look how it begins.
 * @path: "-": standard input; borrowed
 * Return: 0 and the owned *@out; -errno, described.
 */
int infile_open(const char *path, struct infile **out, struct err *err);
void infile_close(struct infile *in);

enum infile_format infile_format(const struct infile *in);

/** infile_name() - for messages: its path, fit to print, or "standard input". */
const char *infile_name(const struct infile *in);

/**
 * infile_read() - the next @len bytes.
 * Return: how many were there, fewer than @len only at the end; -errno, described: also where the compressed file is
 * damaged, or ends too early.
 */
ssize_t infile_read(struct infile *in, void *to, size_t len, struct err *err);

/**
 * struct infile_lines - the lines of @in, one after the other. All zeros but @in is valid; see infile_lines_release().
 * @line:   the one at hand, terminated by a zero in place of its end; it may have zeros of its own. Borrowed until the
 *          next one is read
 * @number: of that line, from 1
 */
struct infile_lines {
	struct infile *in;
	char *line;
	size_t len;
	uint64_t number;
	char *bytes; /* room for @cap, of which those from @at to @end were not given out yet */
	size_t cap, at, end;
	bool ended; /* nothing more is in the file */
};

/** infile_line() - the next line. Return: 1; 0: there is none; -errno, described: -E2BIG: it is longer than 8 MiB. */
int infile_line(struct infile_lines *lines, struct err *err);
void infile_lines_release(struct infile_lines *lines);

/**
 * infile_plain_path() - a path by which another reader can open it from its beginning, uncompressed: its own, or of an
 * unnamed copy. Only before the first infile_read(). Borrowed until infile_close().
 * Return: 0; -errno, described.
 */
int infile_plain_path(struct infile *in, const char **path, struct err *err);

#endif
