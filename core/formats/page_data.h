/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a page, shared by its script, the writer page.c and the reader read_page.c: the following, compressed as
 * by gzip(1), in base64. Numbers are unsigned LEB128 (DWARF 5, 7.6), texts are a length and UTF-8. Fields are
 * written in columns because these compress better, and because the script decodes them in short loops.
 *
 *  1. PAGE_MAGIC
 *  2. a text, the head, in JSON: "tool", "title", "unit" ("samples" or "us"), "facts" (pairs of texts), "cpus",
 *     "per_second" (value that a busy CPU adds in a second; 0: not known), "columns" (an object for each column
 *     of values, with "seconds", and "number" if it is an interval), "before" (the column to compare with; -1:
 *     none), "absolute" (compare values, not shares)
 *  3. a text: all strings, each followed by a newline, which no string contains
 *  4. the number of frames, then columns with a number for each of them: enum page_kind; line, or 0; then five
 *     columns of strings, each as the number of the string plus one, or 0 for none: name, module, build id in
 *     hexadecimal, source file, address of the function as "0x..."
 *  5. for each frame the number of different frames that follow it in stacks, then how many different frames begin
 *     stacks
 *  6. the number of nodes: frames of stacks, without those that a stack shares with the stack before it; then the
 *     stacks, in blocks, sorted so that stacks with the same first frames follow one another. A block has the number
 *     of its stacks (0: no block follows), of its values, of its nodes, and of those nodes that are marked 0 below;
 *     then these columns:
 *     - for each stack, the number of frames at the end of the stack before it that this stack does not have
 *     - for each stack, the number of frames that it has instead, at least 1
 *     - for each stack, the number of its values
 *     - for each value, its column minus that of the value before it in the stack
 *     - for each value, the value
 *     - for each frame that a stack has instead, root first: its number among the followers of the frame before it.
 *       The followers of a frame are numbered from 1, in the order in which they first appear behind it. When a
 *       follower appears for the first time, 0 is written instead, and the next column has the frame. Functions call
 *       few others, and small numbers compress well.
 *     - the numbers of the new frames, not as LEB128: the lowest byte of all, then the next byte of all, and so on, as
 *       many bytes as the largest number of a frame needs
 */
#ifndef CORE_FORMATS_PAGE_DATA_H
#define CORE_FORMATS_PAGE_DATA_H

#include "core/report/frame.h"

#include <stddef.h>
#include <stdint.h>

#define PAGE_MAGIC "fprof\002\n"

#define PAGE_TIME "%Y-%m-%d %H:%M:%S UTC" /* the fact "Time", as for strftime(3) */

/* Placeholders for title and data in the template. */
#define PAGE_TITLE "@TITLE@"
#define PAGE_DATA  "@DATA@"

/**
 * enum page_kind - enum report_frame_kind, and: PAGE_TASK: a comm; PAGE_OFF_CPU: the nodes below are time off the CPU
 */
enum page_kind {
	PAGE_KERNEL,
	PAGE_USER,
	PAGE_INLINED,
	PAGE_JIT,
	PAGE_UNKNOWN,
	PAGE_FUNCTION,
	PAGE_MARKER,
	PAGE_TASK,
	PAGE_OFF_CPU,
	PAGE_KINDS,
};

_Static_assert(PAGE_KERNEL == (int)REPORT_FRAME_KERNEL && PAGE_MARKER == (int)REPORT_FRAME_MARKER,
	       "the first ones are numbered alike");

#define PAGE_NUMBER_MAX 10 /* bytes of a number */

/** page_number() - encode @n. Return: the number of bytes. */
static inline size_t page_number(uint64_t n, char out[PAGE_NUMBER_MAX])
{
	size_t len = 0;

	for (; n > 127; n >>= 7)
		out[len++] = (char)(n | 128);
	out[len++] = (char)n;
	return len;
}

#define PAGE_FRAME_COLUMNS 7

#define PAGE_PLANES 4 /* bytes of the largest number of a frame */

/** page_planes() - how many bytes the numbers of @nr_frames frames need. */
static inline size_t page_planes(size_t nr_frames)
{
	size_t planes = 0;

	for (; planes < PAGE_PLANES && nr_frames > (size_t)1 << 8 * planes;)
		planes++;
	return planes;
}

static inline enum page_kind page_kind_of(enum report_frame_kind kind)
{
	return (enum page_kind)kind;
}

#endif
