/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the frame pointer that a sample lacks: the kernel has used it to walk the callchain of the same sample.
 *
 * Some kernels do not report the frame pointer of a task that is in the kernel, see ARCH_PERF_SAVED. They walk the
 * stack of the same sample by it all the same (perf_callchain_user()): each frame pointer that the kernel has read, and
 * the return address behind it, are in the copy of the stack.
 *
 * Some of these kernels do not save the frame pointer in a system call, and walk by an earlier value of it, see
 * arch_entry_stale(). A recording does not say whether its kernel did so. So the frame that was found may belong to an
 * outer function. With @is_call we refuse it if the copy has a lower frame that points to it, and if a function other
 * than the innermost one may return to the address in that lower frame: then the kernel may have skipped the lower
 * frame. (Lower frames may also be left over from functions that the innermost one called earlier.)
 *
 * The outermost addresses of a callchain may be bogus: if a function has no frame, the kernel takes any value in the
 * register for a frame pointer. So the search ends at an address of the callchain that is not behind a call.
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
 * @is_call: true if a function other than the innermost one may return to this address. Called only a few times. NULL:
 *           the kernel has used the right frame pointer
 * @is_return: true if there is a call in front of this address
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
	FRAME_CHAIN_NONE,   /* not found, or it may be the frame of an outer function */
	FRAME_CHAIN_FOUND,  /* in the copy */
	FRAME_CHAIN_BEYOND, /* no frame in the copy fits the callchain, and the stack goes on above the copy */
};

/**
 * frame_chain_find() - the address in the stack from which frame pointers lead through the callchain.
 * @fp: out: set if it is found
 * Return: FRAME_CHAIN_NONE also if the limit of work is reached first. If several addresses fit, the one that leads
 * furthest wins. If several lead equally far, and through the whole callchain, the lowest wins: in a deep recursion, a
 * callchain that was cut fits at many frames, and the kernel began at the innermost one. If they lead equally far, but
 * not to its end: FRAME_CHAIN_NONE, because one of them may be left over from an earlier call.
 */
enum frame_chain_found frame_chain_find(const struct frame_chain *c, uint64_t *fp);

#endif
