/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a report, with its name. */
#ifndef CORE_REPORT_FRAME_H
#define CORE_REPORT_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct textbuf;

/**
 * enum report_frame_kind
 * REPORT_FRAME_JIT:     code made at run time, with a name from a file that its process wrote
 * REPORT_FRAME_UNKNOWN: user code without a symbol; a kernel frame without one is REPORT_FRAME_KERNEL
 * REPORT_FRAME_FUNCTION: a function of an interpreter, which has only a name
 * REPORT_FRAME_MARKER:  no code: a word that this program puts into stacks, such as [truncated] or the delimiter
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
 * @file_address: the address within the mapped file; 0: not known
 * @offset:   as in struct symbol; so is @anonymous
 * @function: without @name, the address within the file at which its function begins; valid only if @has_function
 * @name:     demangled; NULL: no symbol
 * @module:   NULL: no known mapping
 * @file:     base name of the source file; NULL: not known, or not requested
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

/**
 * report_frame_address() - the address that json and pprof print: that in the file, which is the same in every process.
 * If it is not known, the sampled address. The text form always prints the sampled address.
 */
static inline uint64_t report_frame_address(const struct report_frame *frame)
{
	return frame->file_address ? frame->file_address : frame->address;
}

/**
 * report_frame_start() - where the function of @frame begins: an address of the kernel, or one within the file; 0: not
 * known, or not the same in every process.
 */
static inline uint64_t report_frame_start(const struct report_frame *frame)
{
	if (frame->kind == REPORT_FRAME_KERNEL)
		return frame->name ? frame->address - frame->offset : 0;
	if (!frame->file_address || frame->kind == REPORT_FRAME_INLINED)
		return 0;
	return frame->name ? frame->file_address - frame->offset : frame->has_function ? frame->function : 0;
}

/** report_frame_unnamed() - true if @frame has no symbol and is printed as "[file]" or "[file+0xfunction]". */
bool report_frame_unnamed(const struct report_frame *frame);

/**
 * report_frame_name() - append the name of @frame, safe to print. Without a symbol: "[file+0xfunction]"; "[file]" if no
 * function is known; "[unknown]" if no file is known, or for memory without a file.
 * @semicolon: see textbuf_name()
 */
void report_frame_name(struct textbuf *b, const struct report_frame *frame, char semicolon);

/** report_frame_build_id() - append the build id of @frame in lower-case hex, if it is known. */
void report_frame_build_id(struct textbuf *b, const struct report_frame *frame);

/** report_frame_module() - append the module of @frame, which must be known, as "[module]". */
void report_frame_module(struct textbuf *b, const struct report_frame *frame, char semicolon);

#endif
