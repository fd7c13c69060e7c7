/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a jitdump file: see tools/perf/Documentation/jitdump-specification.txt of the kernel. All numbers are
 * in the byte order of the process that wrote the file.
 */
#ifndef CORE_SYMBOLS_JITDUMP_FORMAT_H
#define CORE_SYMBOLS_JITDUMP_FORMAT_H

#include <stdint.h>

#define JITDUMP_MAGIC 0x4a695444
#define JITDUMP_V8    0xdeadbeef /* in @reserved: V8 wrote it */

enum jitdump_record {
	JITDUMP_LOAD,
	JITDUMP_MOVE,
	JITDUMP_DEBUG_INFO, /* of the load that follows */
	JITDUMP_CLOSE,
	JITDUMP_UNWINDING_INFO, /* of the load that follows */
};

struct jitdump_header {
	uint32_t magic, version, size, machine, reserved, pid;
	uint64_t time, flags;
};

/* The head of each record; @size is that of the whole record. */
struct jitdump_prefix {
	uint32_t id, size;
	uint64_t time;
};

/* The name follows, with a zero at its end, and then the code. */
struct jitdump_load {
	struct jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};

struct jitdump_move {
	struct jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, size, index;
};

/* The entries follow. */
struct jitdump_debug_info {
	struct jitdump_prefix prefix;
	uint64_t addr, nr;
};

/* The name of the source file follows, with a zero at its end. */
struct jitdump_debug_entry {
	uint64_t addr;
	uint32_t line, column;
};

/* @size bytes follow: data in the format of .eh_frame; the last @hdr_size of them in that of .eh_frame_hdr. */
struct jitdump_unwinding_info {
	struct jitdump_prefix prefix;
	uint64_t size, hdr_size, mapped;
};

#endif
