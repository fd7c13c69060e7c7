// SPDX-License-Identifier: Apache-2.0
#include "unwind/frame_chain.h"

#include "core/arch/arch.h"

#include <string.h>

#define FRAMES_MAX  8192         /* followed for one sample; real stacks have few copies of a return address */
#define CALLS_MAX   16           /* looked up for one sample: each may be a search in a file */
#define STACK_REACH (64UL << 20) /* above the stack pointer: higher addresses are not frames of this stack */

/* Return: false: it is not in the copy. */
static bool read_frame(const struct frame_chain *c, uint64_t at, struct arch_frame *frame)
{
	uint64_t from = at - c->sp;

	if (at < c->sp || from > c->size || c->size - from < sizeof(*frame))
		return false;
	memcpy(frame, (const char *)c->stack + from, sizeof(*frame));
	return true;
}

/*
 * A frame has saved @fp, which does not point to another frame of this stack. Return true if the kernel may have read
 * the @i-th address of the callchain there. The outermost function that has a frame saves the register of a caller that
 * has none, such as __libc_start_main(): the value is small (dynamic glibc 2.36), or points to data (a static program)
 * or text (glibc up to 2.33). The kernel takes this value for a frame pointer as long as it can read memory there: the
 * addresses that it finds are hardly ever behind a call. Nothing is mapped in the first page, nor in the page behind a
 * whole copy.
 */
static bool may_leave(const struct frame_chain *c, uint64_t fp, size_t i, unsigned int *calls)
{
	struct arch_frame frame;

	if (fp < ARCH_PAGE || fp >> ARCH_USER_BITS)
		return false;
	if (read_frame(c, fp, &frame) && frame.ret != c->ips[i])
		return false;
	return ++*calls <= CALLS_MAX && !c->is_return(c->ctx, c->ips[i]);
}

/*
 * Return how many return addresses of the callchain are in the copy from the frame at @at on; 0: a frame has another
 * one. The frames that the copy lacks are above it on the stack, or the frame pointer has left the stack there.
 */
static size_t count_frames(const struct frame_chain *c, uint64_t at, unsigned int *left, unsigned int *calls)
{
	struct arch_frame frame;
	size_t i;

	for (i = 1; i < c->nr && read_frame(c, at, &frame); i++) {
		if (frame.ret != c->ips[i] || !*left)
			return 0;
		--*left;
		if (i + 1 < c->nr && (frame.fp <= at || frame.fp - c->sp > STACK_REACH))
			return may_leave(c, frame.fp, i + 1, calls) ? i : 0;
		at = frame.fp;
	}
	if (i == c->nr || !c->whole)
		return i - 1;
	return i > 1 && at - c->sp >= c->size + ARCH_PAGE && may_leave(c, at, i, calls) ? i - 1 : 0;
}

/* True if a lower frame points to @fp and its return address passes is_call(), or if too many point there to check. */
static bool is_outer(const struct frame_chain *c, uint64_t fp)
{
	unsigned int calls = 0;
	struct arch_frame frame;
	uint64_t at;

	for (at = c->sp; at < fp && read_frame(c, at, &frame); at += sizeof(at))
		if (frame.fp == fp && (++calls > CALLS_MAX || c->is_call(c->ctx, frame.ret)))
			return true;
	return false;
}

enum frame_chain_found frame_chain_find(const struct frame_chain *c, uint64_t *fp)
{
	unsigned int left = FRAMES_MAX, calls = 0;
	struct arch_frame frame;
	uint64_t at, found = 0;
	bool several = false; /* others lead as far as @found, none to the end: one may be of an earlier call */
	size_t most = 0, nr;

	for (at = c->sp; c->nr > 1 && read_frame(c, at, &frame); at += sizeof(at)) {
		nr = frame.ret == c->ips[1] ? count_frames(c, at, &left, &calls) : 0;
		if (!left || calls > CALLS_MAX)
			return FRAME_CHAIN_NONE;
		several = nr > most ? false : several || (nr && nr == most && nr + 1 < c->nr);
		if (nr > most) {
			most = nr;
			found = at;
		}
	}
	if (!most)
		return c->nr > 1 && !c->whole ? FRAME_CHAIN_BEYOND : FRAME_CHAIN_NONE;
	if (several || (c->is_call && is_outer(c, found)))
		return FRAME_CHAIN_NONE;
	*fp = found;
	return FRAME_CHAIN_FOUND;
}
