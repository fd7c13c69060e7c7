/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read a file with a report or a recording: find its format, and read its bytes. Files compressed with gzip(1) are
 * decompressed. No content is trusted.
 */
#ifndef CORE_FORMATS_INFILE_H
#define CORE_FORMATS_INFILE_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** enum infile_format - recognized by the beginning of the file. INFILE_FOLDED: everything else. */
enum infile_format { INFILE_RECORDING, INFILE_PPROF, INFILE_JSON, INFILE_PAGE, INFILE_FOLDED };

/** infile_format_name() - for messages: "a perf.data recording", "a pprof profile" ... */
const char *infile_format_name(enum infile_format format);

struct infile;

/**
 * infile_open() - open @path and look at its beginning.
 * @path: "-": standard input
 * Return: 0 and the owned *@out; -errno, described.
 */
int infile_open(const char *path, struct infile **out, struct err *err);
void infile_close(struct infile *in);

enum infile_format infile_format(const struct infile *in);

/** infile_name() - its name for messages: its path, safe to print, or "standard input". */
const char *infile_name(const struct infile *in);

/**
 * infile_read() - read the next @len bytes.
 * Return: how many were read, fewer than @len only at the end; -errno, described: also if the compressed file is
 * damaged, or ends too early.
 */
ssize_t infile_read(struct infile *in, void *to, size_t len, struct err *err);

/**
 * struct infile_lines - the lines of @in, one after the other. Set @in, and leave all else zero; see
 * infile_lines_release().
 * @line:   the current one, its end replaced by a zero; it may have zeros inside. Borrowed until the next one is read
 * @number: number of that line, from 1
 */
struct infile_lines {
	struct infile *in;
	char *line;
	size_t len;
	uint64_t number;
	char *bytes; /* room for @cap; the bytes from @at to @end were not returned yet */
	size_t cap, at, end;
	bool ended; /* the file has ended */
};

/**
 * infile_line() - read the next line. Return: 1; 0: there is none; -errno, described: -E2BIG: it is longer than 8 MiB.
 */
int infile_line(struct infile_lines *lines, struct err *err);
void infile_lines_release(struct infile_lines *lines);

/**
 * infile_copy() - let another reader read the file from its beginning, uncompressed. If bytes have been read already,
 * copy it to memory. Call this before the first infile_read().
 * @path: out: where to read the copy, borrowed until infile_close(); NULL: the reader can open the file itself, or read
 *        standard input
 * Return: 0; -errno, described.
 */
int infile_copy(struct infile *in, const char **path, struct err *err);

#endif
