/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User stacks from registers and memory: the one interface behind which unwinders live.
 *
 * An unwinder gets what a sample holds (the registers, and a reader for the memory the sample has a copy of) and the
 * process's mappings, and gives addresses. It keeps no global state and does no I/O but through the reader, so that a
 * recorded stack is as good as a live process, a test needs no process at all, and another unwinder (table-driven, or
 * inside BPF) can take its place.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "core/mapping.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_MAX_FRAMES 1024

/* Registers by their DWARF numbers (x86-64 psABI, section 3.6.2: 6 is rbp, 7 rsp, 16 the return address, rip). */
#define UNWIND_NR_REGS 17
#define UNWIND_FP      6
#define UNWIND_SP      7
#define UNWIND_IP      16

/** struct unwind_regs - of the interrupted thread; bit N of @have: @r[N] is known. */
struct unwind_regs {
	uint32_t have;
	uint64_t r[UNWIND_NR_REGS];
};

/** struct unwind_memory - the memory of the process as far as it is known. */
struct unwind_memory {
	void *ctx;
	/* Copy @len bytes at @addr to @to. 0; -EFAULT: not known here; -ENODATA: beyond what was copied of the stack.
	 */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);
};

/** struct unwind_mappings - what the process has mapped. */
struct unwind_mappings {
	void *ctx;
	/* The mapping of @addr, borrowed until the unwinder returns; NULL: none is known. */
	const struct mapping *(*find)(void *ctx, uint64_t addr);
};

/** Why a stack ends where it ends. */
enum unwind_end {
	UNWIND_ROOT,      /* the outermost frame was reached */
	UNWIND_TRUNCATED, /* the caller's frame is beyond the copied stack, or there was no room for more addresses */
	UNWIND_NO_RULES,  /* nothing says how to find the caller */
	UNWIND_BAD,       /* memory that cannot be read, or frames that do not advance */
};

/** struct unwind_result - @ips: leaf first; the caller's array of @cap entries; @nr are set. */
struct unwind_result {
	uint64_t *ips;
	size_t cap, nr;
	enum unwind_end end;
};

/** struct unwinder_ops - one way to unwind. One unwinder serves one process; its calls come from one thread. */
struct unwinder_ops {
	const char *name;

	/* State and caches for one process; NULL: no memory. */
	struct unwinder *(*new)(void);

	/* The whole stack of one sample. Always ends within @out->cap frames and bounded work for each. */
	void (*walk)(struct unwinder *u, const struct unwind_regs *regs, const struct unwind_memory *memory,
		     const struct unwind_mappings *mappings, struct unwind_result *out);

	/* The mappings have changed: forget what was cached of them. */
	void (*flush)(struct unwinder *u);

	void (*free)(struct unwinder *u);
};

/** unwinder_fp - follows the frame pointers; what compilers leave them out of is skipped or ends the stack. */
extern const struct unwinder_ops unwinder_fp;

#endif
