/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of a jitdump: the entries of one record. Thread safe. */
#ifndef CORE_SYMBOLS_JITDUMP_LINES_H
#define CORE_SYMBOLS_JITDUMP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct jitdump_line - @file: base name, at most 255 bytes; @line: from 1 on */
struct jitdump_line {
	char file[256];
	unsigned int line;
};

/** struct jitdump_lines - @size bytes of @entries as they are in the file, for the code at [@start, @end). */
struct jitdump_lines {
	const char *entries;
	size_t size;
	uint64_t start, end;
};

/**
 * jitdump_line_of() - the line of @addr: of the entry with the greatest address up to @addr, among those with a line.
 *
 * If one entry is not for this code, or the name of its file is empty or has control characters, no entry is believed:
 * V8 11.3 (node 20) writes names from memory that it has freed.
 *
 * Return: true and *@out; false: unknown.
 */
bool jitdump_line_of(const struct jitdump_lines *lines, uint64_t addr, struct jitdump_line *out);

#endif
