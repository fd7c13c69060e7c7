/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data of a page, as its script, the writer page.c and the reader read_page.c have it: base64 of what gzip(1) makes
 * of the following. Numbers are unsigned LEB128 (DWARF 5, 7.6), texts are UTF-8 behind their length.
 *
 *  1. PAGE_MAGIC
 *  2. a text, the head, in JSON: "tool", "title", "unit" ("samples" or "us"), "facts" (pairs of texts), "cpus",
 *     "per_second" (how many of the unit a busy CPU makes; 0: not known), "columns" (of values: "seconds", and "number"
 *     if they are intervals), "before" (the column that is compared with; -1: none), "absolute" (compare values, not
 *     shares)
 *  3. how many strings, then these, as texts
 *  4. how many frames, then for each: enum page_kind, the string of its name; of its module, its build id in
 * hexadecimal and its source file one more than the string, or 0 for none; line, or 0; address of the function, or 0
 *  5. how many nodes, then for each, parents before children: how many levels it is higher than below the node before
 *     (0: a child of that one; also of the first); its frame; how many values it has of its own; and for each of these
 * the column, less that of the value before (left out if there is but one column), and the value
 */
#ifndef CORE_FORMATS_PAGE_DATA_H
#define CORE_FORMATS_PAGE_DATA_H

#include "core/report/frame.h"

#define PAGE_MAGIC "fprof\001\n"

/* In the template: what takes the place of title and data. */
#define PAGE_TITLE "@TITLE@"
#define PAGE_DATA  "@DATA@"

/** enum page_kind - enum report_frame_kind, and: PAGE_TASK: a comm; PAGE_OFF_CPU: what is below is time off the CPU */
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
