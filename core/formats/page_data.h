/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a page, shared by its script, the writer page.c and the reader read_page.c: the following, compressed as
 * by gzip(1), in base64. Numbers are unsigned LEB128 (DWARF 5, 7.6), texts are a length and UTF-8.
 *
 *  1. PAGE_MAGIC
 *  2. a text, the head, in JSON: "tool", "title", "unit" ("samples" or "us"), "facts" (pairs of texts), "cpus",
 *     "per_second" (value that a busy CPU adds in a second; 0: not known), "columns" (of values: "seconds", and
 *     "number" if they are intervals), "before" (the column to compare with; -1: none), "absolute" (compare values, not
 *     shares)
 *  3. the number of strings, then these, as texts
 *  4. the number of frames, then for each: enum page_kind; the string of its name; for its module, its build id in
 *     hexadecimal and its source file the string's number plus one, or 0 for none; line, or 0; address of the function,
 *     or 0
 *  5. the number of nodes, then for each, parents before children: how many levels it is above a child of the node
 *     before it (0: it is that child; also for the first node); its frame; the number of its own values; and for each
 * of these the column minus that of the value before (left out if there is only one column), and the value
 */
#ifndef CORE_FORMATS_PAGE_DATA_H
#define CORE_FORMATS_PAGE_DATA_H

#include "core/report/frame.h"

#define PAGE_MAGIC "fprof\001\n"

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

static inline enum page_kind page_kind_of(enum report_frame_kind kind)
{
	return (enum page_kind)kind;
}

#endif
