/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User stacks from registers and memory: the one interface behind which unwinding lives.
 *
 * The unwinder gets what a sample holds (the registers, and a reader for the memory the sample has a copy of) and the
 * process's mappings, and gives addresses. It keeps no global state and does no I/O but through readers, so that a
 * recorded stack is as good as a live process, a test needs no process at all, and another unwinder (inside BPF) can
 * take its place.
 *
 * A frame is left by the call frame information of its file. Code without such rules is left by its bytes, if they are
 * those of a signal trampoline or a PLT entry, else by the frame pointer; behind it, rules are used again.
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

/** struct unwind_memory - the memory of the process as far as it is known. */
struct unwind_memory {
	void *ctx;
	/* Copy @len bytes at @addr to @to. 0; -EFAULT: not known here; -ENODATA: beyond what was copied of the stack.
	 */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);
};

/**
 * struct unwind_copy - what was copied of a stack: @size bytes from address @at, the stack pointer, on. Borrowed.
 * @end: the stack reaches to this address at most. Memory between the end of the copy and @end may belong to the stack:
 *       to read it gives -ENODATA
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
		/* Nearly all ask for a word, which is no call. */
		if (len == sizeof(uint64_t))
			memcpy(to, (const char *)c->bytes + at, sizeof(uint64_t));
		else
			memcpy(to, (const char *)c->bytes + at, len);
		return 0;
	}
	return addr < c->end ? -ENODATA : -EFAULT;
}

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
	UNWIND_BAD,       /* memory that cannot be read, rules that are damaged, or frames that do not advance */
	UNWIND_NR_ENDS,
};

/* Set in an address behind the first that is no return address, because a signal has interrupted the function there. */
#define UNWIND_EXACT (1ULL << 62)

_Static_assert(UNWIND_EXACT >> ARCH_USER_BITS, "no process has memory there");

/*
 * How a frame was left: bits. 0: by the rules of its file. The two unwinders may differ in all other ways
 * (doc/unwinding.md).
 */
#define UNWIND_LEFT_NO_RULES  1u  /* there are none for its code */
#define UNWIND_LEFT_SIGNAL    2u  /* by its bytes it is within a signal trampoline, behind its first instruction */
#define UNWIND_LEFT_ENTRY     4u  /* by its bytes it is the entry of a PLT, or of a function like _init */
#define UNWIND_LEFT_POPPED    8u  /* by a register that is taken to have been popped, see doc/unwinding.md */
#define UNWIND_LEFT_NOT_ABOVE 16u /* it was not: its caller's frame would not be above it */
#define UNWIND_LEFT_GUESSED   32u /* by a stack pointer that is known because a frame without rules was left before */
#define UNWIND_LEFT_MADE      64u /* by rules of code that is in no file: see rules_of_code() */

/**
 * enum unwind_chain - does the chain of frames, which is walked without rules, lead to the same callers, and will it do
 * so for whatever stack has these addresses?
 * UNWIND_CHAIN_WHOLE: each frame was left by the frame pointer, as its rules say or because it has none
 * UNWIND_CHAIN_BEHIND_LEAF: the leaf has no frame: its return address, which the chain does not have, is where the
 * stack pointer points to, and the frame pointer is that of its caller; so is each other frame
 */
enum unwind_chain { UNWIND_CHAIN_NONE, UNWIND_CHAIN_WHOLE, UNWIND_CHAIN_BEHIND_LEAF };

/**
 * struct unwind_result - @ips: leaf first; the caller's array of @cap entries; @nr are set.
 * @left: the caller's array of @cap entries, for how each frame was left, or why not; may be NULL
 * @missing: with UNWIND_TRUNCATED: the address that the copy did not reach; 0: there was no room for more addresses
 * @root:    with UNWIND_ROOT: the stack pointer of the last frame, if its rules say that it has no caller; else 0
 * @unknown: the last frame could not be left because the value of a register is not known
 * @sp:      the stack pointer of the last frame
 * @by_fp:   with @unknown: it is the frame pointer, which was never known, and leads to the return address
 * @chain:   of all frames but the last
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

/** struct unwind_files - where the rules of mapped files come from. */
struct unwind_files {
	void *ctx;
	/* The rules of the file that @m maps, borrowed until the next call; NULL: there are none. */
	struct rules *(*find)(void *ctx, const struct mapping *m);
};

/**
 * unwind_walk() - the whole stack of one sample. At most UNWIND_MAX_FRAMES and @out->cap frames, bounded work for each.
 * @files: the rules, shared by all processes
 */
void unwind_walk(const struct unwind_regs *regs, const struct unwind_memory *memory,
		 const struct unwind_mappings *mappings, const struct unwind_files *files, struct unwind_result *out);

/**
 * unwind_chained() - do the rules alone say that a walk of the chain of frames is right from here on?
 * @ips: the last @nr addresses of a stack, outermost last, none of them its leaf: each but the last must be one that
 * its function leaves by the frame pointer, the last one of a function that has no caller
 */
bool unwind_chained(const struct unwind_mappings *mappings, const struct unwind_files *files, const uint64_t *ips,
		    size_t nr);

/**
 * unwind_function() - where the function begins that @ip is in, as the rules of its file have it.
 * Return: true and *@start, an address of the process; false: there are no rules for @ip.
 */
bool unwind_function(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *start);

/**
 * unwind_called() - is @ip, to which a function returns, behind a call?
 * Return: 1 and *@target, the address that a direct call names, or 0; 0: it is not, or is not mapped; -ENOENT: its code
 * is in no file that can be read.
 */
int unwind_called(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		  uint64_t *target);

/**
 * unwind_frame_size() - how far is the stack pointer of the function that begins at @start below its frame pointer when
 * it calls another one, as far as its first instructions tell?
 * Return: as arch_prologue_decode().
 */
int unwind_frame_size(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t start,
		       uint64_t *size);

/**
 * unwind_keeps_fp() - does the frame pointer lead from the frame at @ip to that of its caller? By the rules; code
 * without any is taken to keep it, as in unwind_walk(). False: also if @ip is not mapped, or when *@work, to which is
 * added what the rules took, exceeds the limit for a stack.
 */
bool unwind_keeps_fp(const struct unwind_mappings *mappings, const struct unwind_files *files, uint64_t ip,
		     uint64_t *work);

#endif
