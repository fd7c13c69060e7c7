// SPDX-License-Identifier: Apache-2.0
#include "unwind/return_probes.h"

#include "core/arch/arch.h"

#include <stdbool.h>
#include <string.h>

/* The bytes of the frame at @at in the copy; NULL: the copy does not have it. */
static unsigned char *frame_in(const struct return_probes *p, uint64_t at)
{
	uint64_t from = at - p->sp;

	if (at < p->sp || from > p->size || p->size - from < sizeof(struct arch_frame))
		return NULL;
	return (unsigned char *)p->stack + from;
}

/*
 * Follow the frames, and compare their return addresses with the callchain from the @i-th on. @write: replace them by
 * those of the callchain. Return: how many return addresses are the kernel's code (@p->code) where the callchain has
 * another; 0 also if one is neither that code nor as in the callchain.
 */
static size_t follow(const struct return_probes *p, size_t i, bool write)
{
	struct arch_frame frame;
	unsigned char *bytes;
	size_t nr = 0;
	uint64_t at;

	for (at = p->fp; i < p->nr && (bytes = frame_in(p, at)); at = frame.fp, i++) {
		memcpy(&frame, bytes, sizeof(frame));
		if (frame.ret != p->code && frame.ret != p->ips[i])
			return 0;
		nr += p->ips[i] != frame.ret;
		if (write)
			memcpy(bytes + offsetof(struct arch_frame, ret), &p->ips[i], sizeof(p->ips[i]));
		if (frame.fp <= at)
			break;
	}
	return nr;
}

/*
 * If a sample is at the first instruction of a probed function, the kernel inserts the word at the top of the
 * stack into the callchain, behind the leaf (6.11, x86).
 */
static bool begins_at_top(const struct return_probes *p)
{
	uint64_t top;

	if (p->nr < 2 || p->size < sizeof(top))
		return false;
	memcpy(&top, p->stack, sizeof(top));
	return top == p->ips[1];
}

size_t return_probes_restore(const struct return_probes *p)
{
	if (follow(p, 1, false))
		return follow(p, 1, true);
	return begins_at_top(p) && follow(p, 2, false) ? follow(p, 2, true) : 0;
}
