/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame pointer of a sample that does not have it, from the callchain that the kernel has walked by it.
 *
 * Some kernels do not report the frame pointer of a task that is in the kernel, see ARCH_PERF_SAVED. They walk the
 * stack of the same sample by it all the same (perf_callchain_user()): each frame pointer that the kernel has read, and
 * the return address behind it, are in the copy of the stack.
 *
 * Some of these kernels do not save the frame pointer in a system call, and walk by an earlier value of it, see
 * arch_entry_stale(). A recording does not say whether its kernel did so. Then this refuses an outer frame if an inner
 * frame leads to it and belongs to another function than the one whose frame is looked for. (Functions that this one
 * called before have left such frames, too.)
 *
 * The outermost addresses of a callchain may be bogus: if a function has no frame, the kernel takes any value in the
 * register for a frame pointer. This does not look for an address to which no function returns.
 */
#ifndef UNWIND_FRAME_CHAIN_H
#define UNWIND_FRAME_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct frame_chain - the input, from a sample.
 * @ips:     @nr user addresses of its callchain, that of the sample first
 * @stack:   @size bytes, copied from @sp on
 * @whole:   the stack ends with the copy
 * @is_call: NULL: the kernel has used the right frame pointer; else returns true if a function other than the one whose
 *           frame is looked for may return to this address. Called only a few times
 * @is_return: the same for any function, by the call in front of the address
 */
struct frame_chain {
	const uint64_t *ips;
	size_t nr;
	uint64_t sp;
	const void *stack;
	size_t size;
	bool whole;
	void *ctx;
	bool (*is_call)(void *ctx, uint64_t addr);
	bool (*is_return)(void *ctx, uint64_t addr);
};

/** enum frame_chain_found - where the frame is from which the kernel walked. */
enum frame_chain_found {
	FRAME_CHAIN_NONE,   /* nowhere, or not of the innermost function that has one */
	FRAME_CHAIN_FOUND,  /* in the copy */
	FRAME_CHAIN_BEYOND, /* nothing in the copy leads there, and the stack goes on above it */
};

/**
 * frame_chain_find() - the address in the stack from which frame pointers lead through the callchain.
 * @fp: out: set if it is found
 * Return: FRAME_CHAIN_NONE also if the limit of work is reached first. If several addresses fit, the result is the one
 * that leads furthest within the copy, then the lowest: a callchain of limited length fits all frames of a recursion
 * but the last ones.
 */
enum frame_chain_found frame_chain_find(const struct frame_chain *c, uint64_t *fp);

#endif
