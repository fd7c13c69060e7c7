/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a report, named. */
#ifndef CORE_REPORT_FRAME_H
#define CORE_REPORT_FRAME_H

#include <stdint.h>

/**
 * enum report_frame_kind
 * REPORT_FRAME_JIT:     code made at run time, with the name that its process wrote for it
 * REPORT_FRAME_UNKNOWN: user code without a symbol; a kernel frame without one is REPORT_FRAME_KERNEL
 * REPORT_FRAME_FUNCTION: of an interpreter, which has a name alone
 * REPORT_FRAME_MARKER:  not code: a word of this program, such as [truncated] or the delimiter
 */
enum report_frame_kind {
	REPORT_FRAME_KERNEL,
	REPORT_FRAME_USER,
	REPORT_FRAME_INLINED,
	REPORT_FRAME_JIT,
	REPORT_FRAME_UNKNOWN,
	REPORT_FRAME_FUNCTION,
	REPORT_FRAME_MARKER
};

/**
 * struct report_frame - texts may come from a profiled process: print them with textbuf_name().
 * @address:  as sampled; for callers, the return address
 * @offset:   of @address from the start of the symbol; 0 without one
 * @name:     demangled; NULL: no symbol
 * @module:   as struct symbol has it; NULL: no known mapping
 * @file:     base name of the source file; NULL: not known, or not wanted
 * @build_id: of the module, @build_id_size bytes; NULL: not known
 * @line:     in @file; 0: not known
 */
struct report_frame {
	uint64_t address, offset;
	const char *name, *module, *file;
	const unsigned char *build_id;
	unsigned int build_id_size, line;
	enum report_frame_kind kind;
};

#endif
