/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a report, named. */
#ifndef CORE_REPORT_FRAME_H
#define CORE_REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct textbuf;

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
 * @file_address: the same in the file that is mapped there, as the file has it; 0: not known
 * @offset:   as struct symbol has it, as what follows
 * @function: where there is no @name; meaningless without @has_function
 * @name:     demangled; NULL: no symbol
 * @module:   NULL: no known mapping
 * @file:     base name of the source file; NULL: not known, or not wanted
 * @build_id: of the module, @build_id_size bytes; NULL: not known
 * @line:     in @file; 0: not known
 */
struct report_frame {
	uint64_t address, file_address, offset, function;
	const char *name, *module, *file;
	const unsigned char *build_id;
	unsigned int build_id_size, line;
	enum report_frame_kind kind;
	bool has_function, anonymous;
};

/** report_frame_address() - as forms write it: the file's own, which is the same in every process; else as sampled. */
static inline uint64_t report_frame_address(const struct report_frame *frame)
{
	return frame->file_address ? frame->file_address : frame->address;
}

/**
 * report_frame_start() - where its function begins, as report_frame_address() has it; 0: not known, or not the same in
 * every process.
 */
static inline uint64_t report_frame_start(const struct report_frame *frame)
{
	if (frame->kind == REPORT_FRAME_KERNEL)
		return frame->name ? frame->address - frame->offset : 0;
	if (!frame->file_address || frame->kind == REPORT_FRAME_INLINED)
		return 0;
	return frame->name ? frame->file_address - frame->offset : frame->has_function ? frame->function : 0;
}

/** report_frame_unnamed() - does @frame, which has no symbol, have the name of its module, "[file]"? */
bool report_frame_unnamed(const struct report_frame *frame);

/**
 * report_frame_name() - append the name of @frame, safe to print. Without a symbol: "[file+0xfunction]", or "[file]"
 * where no function is known, or "[unknown]" where no file is.
 * @semicolon: see textbuf_name()
 */
void report_frame_name(struct textbuf *b, const struct report_frame *frame, char semicolon);

/** report_frame_build_id() - append the build id of @frame in lower-case hex; nothing where it is not known. */
void report_frame_build_id(struct textbuf *b, const struct report_frame *frame);

/** report_frame_module() - append the module of @frame, which is known, as "[module]". */
void report_frame_module(struct textbuf *b, const struct report_frame *frame, char semicolon);

#endif
