/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User stacks from registers and memory: the interface of all unwinding.
 *
 * The unwinder gets the data of a sample (the registers, and a reader for the memory that the sample has a copy of) and
 * the process's mappings, and returns addresses. It keeps no global state and does no I/O except through readers. So a
 * recorded stack is as good as a live process, a test needs no process at all, and another unwinder (inside BPF) can
 * replace it.
 *
 * The unwinder finds the caller of a frame by the call frame information of the frame's file. For code without such
 * rules it uses the bytes of the code if arch_codes has them (signal trampolines, PLT entries, _init and others), else
 * the frame pointer. For the next frame it tries rules again.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "core/arch/arch.h"
#include "core/tasks/mapping.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UNWIND_MAX_FRAMES 1024

/** struct unwind_regs - of the interrupted thread, by DWARF numbers; bit N of @have: @r[N] is known. */
struct unwind_regs {
	arch_regs have;
	uint64_t r[ARCH_NR_REGS];
};

/** struct unwind_memory - reads the memory of the process, as far as it is known. */
struct unwind_memory {
	void *ctx;
	/*
	 * Copy @len bytes at @addr to @to. Return: 0; -EFAULT: they are not known; -ENODATA: they are beyond the copy
	 * of the stack.
	 */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);
};

/**
 * struct unwind_copy - the copy of a stack: @size bytes from address @at, the stack pointer, on. Borrowed.
 * @end: the stack reaches to this address at most. Memory between the end of the copy and @end may belong to the stack:
 *       reading it gives -ENODATA
 */
struct unwind_copy {
	const void *bytes;
	uint64_t at, size, end;
};

/** unwind_copy_read() - see unwind_memory.read. */
static inline int unwind_copy_read(const struct unwind_copy *c, uint64_t addr, void *to, size_t len)
{
	uint64_t at = addr - c->at;

	if (addr < c->at)
		return -EFAULT;
	if (at <= c->size && len <= c->size - at) {
		/* Nearly all reads are of one word: avoid a call for that. */
		if (len == sizeof(uint64_t))
			memcpy(to, (const char *)c->bytes + at, sizeof(uint64_t));
		else
			memcpy(to, (const char *)c->bytes + at, len);
		return 0;
	}
	return addr < c->end ? -ENODATA : -EFAULT;
}

/** struct unwind_mappings - the mappings of the process. */
struct unwind_mappings {
	void *ctx;
	/* The mapping of @addr, borrowed until the unwinder returns; NULL: none is known. */
	const struct mapping *(*find)(void *ctx, uint64_t addr);
};

/** Why a stack ends where it ends. */
enum unwind_end {
	UNWIND_ROOT,      /* the outermost frame was reached */
	UNWIND_TRUNCATED, /* the caller's frame is beyond the copied stack, or there was no room for more addresses */
	UNWIND_NO_RULES,  /* no rules, and no other way to find the caller */
	UNWIND_BAD,       /* no mapping, unknown memory or register, bad or costly rules, frames that do not advance */
	UNWIND_NR_ENDS,
};

/* Set in an address other than the leaf's if a signal interrupted the function there: it is no return address. */
#define UNWIND_EXACT (1ULL << 62)

_Static_assert(UNWIND_EXACT >> ARCH_USER_BITS, "no process has memory there");

/*
 * How a frame was left: bits. 0: by the rules of its file. If any bit is set, libunwind may find another caller
 * (doc/unwinding.md).
 */
#define UNWIND_LEFT_NO_RULES  1u  /* there are none for its code */
#define UNWIND_LEFT_SIGNAL    2u  /* by its bytes it is within a signal trampoline, behind its first instruction */
#define UNWIND_LEFT_ENTRY     4u  /* by its bytes it is in a PLT, a function like _init, or clone()'s system call */
#define UNWIND_LEFT_POPPED    8u  /* by a register that we assume to have been popped, see doc/unwinding.md */
#define UNWIND_LEFT_NOT_ABOVE 16u /* the frame was not left: its caller's frame would not be above it */
#define UNWIND_LEFT_GUESSED   32u /* the stack pointer may be wrong: an earlier frame was left by its frame pointer */
#define UNWIND_LEFT_MADE      64u /* by rules of code that is in no file: see rules_of_code() */

/**
 * enum unwind_chain - whether a walk of frame pointers without rules gives the same callers, and will give them for
 * every stack with these addresses.
 * UNWIND_CHAIN_WHOLE: each frame was left by the frame pointer, because its rules say so or because it has no rules
 * UNWIND_CHAIN_BEHIND_LEAF: the leaf has no frame. The walk of frame pointers misses the leaf's return address, which
 * is on top of the stack, because the frame pointer is that of the leaf's caller. Each other frame is as above
 */
enum unwind_chain { UNWIND_CHAIN_NONE, UNWIND_CHAIN_WHOLE, UNWIND_CHAIN_BEHIND_LEAF };

/**
 * struct unwind_result - the stack, and how the walk ended. Set @ips, @left and @cap before.
 * @ips: leaf first; a borrowed array of @cap entries; @nr are set
 * @left: a borrowed array of @cap entries: how each frame was left, or why it was not; may be NULL
 * @missing: with UNWIND_TRUNCATED: an address beyond the copy that was needed; 0: there was no room for more addresses
 * @root:    with UNWIND_ROOT: the stack pointer of the last frame, if by its rules it has no caller; else 0
 * @unknown: the last frame could not be left because the value of a register is not known
 * @sp:      the stack pointer of the last frame; 0: there was no room for more addresses, or no registers to begin with
 * @by_fp:   with @unknown: that register is the frame pointer, which no frame has changed. If its value in the leaf
 *           becomes known, the last frame's return address can be found
 * @chain:   see enum unwind_chain: about all frames that were left
 */
struct unwind_result {
	uint64_t *ips;
	uint8_t *left;
	size_t cap, nr;
	enum unwind_end end;
	uint64_t missing, root, sp;
	bool unknown, by_fp;
	enum unwind_chain chain;
};

struct rules; /* see rules.h */

/** struct unwind_files - finds the rules of mapped files. */
struct unwind_files {
	void *ctx;
	/* The rules of the file that @m maps, borrowed until the next call; NULL: there are none. */
	struct rules *(*find)(void *ctx, const struct mapping *m);
};

/**
 * unwind_walk() - the whole stack of one sample. At most UNWIND_MAX_FRAMES and @out->cap frames, and limited work.
 * @files: the rules, shared by all processes
 */
void unwind_walk(const struct unwind_regs *regs, const struct unwind_memory *memory,
		 const struct unwind_mappings *mappings, const struct unwind_files *files, struct unwind_result *out);

/**
 * unwind_chained() - true if by the rules, each of these functions but the last is left by the frame pointer, and the
 * last has no caller. This proves that a walk of frame pointers is right from here on.
 * @ips: the last @nr addresses of a stack, outermost last, without its leaf
 */
bool unwind_chained(const struct unwind_mappings *mappings, const struct unwind_files *files, const uint64_t *ips,
		    size_t nr);

/**
 * unwind_function() - the beginning of the function that @ip is in, by the rules of its file.
 * Return: true and *@start, an address of the process; false: there are no rules for @ip.
 */
bool unwind_function(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *start);

/**
 * unwind_called() - find the call before the return address @ip.
 * @target: out: the function that it calls; 0: the call is indirect
 * Return: 1: there is one; 0: there is none, or @ip is not mapped; -ENOENT: its code is in no file that can be read.
 */
int unwind_called(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		  uint64_t *target);

/**
 * unwind_frame_size() - read from the first instructions of the function at @start how far its stack pointer is below
 * its frame pointer when it calls another function.
 * Return: as arch_prologue_decode().
 */
int unwind_frame_size(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t start,
		      uint64_t *size);

/**
 * unwind_keeps_fp() - true if the frame pointer leads from the frame at @ip to that of its caller. By the rules; code
 * without rules is assumed to keep it, as in unwind_walk(). False also if @ip is not mapped, or if *@work, to which the
 * cost of the rules is added, exceeds the limit for a stack.
 */
bool unwind_keeps_fp(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *work);

#endif
