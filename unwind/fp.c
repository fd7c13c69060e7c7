// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>

struct unwinder {
	char unused; /* frame pointers need neither state nor caches */
};

static struct unwinder *fp_new(void)
{
	return calloc(1, sizeof(struct unwinder));
}

/* x86-64 psABI, section 3.4.1: [rbp] is the caller's rbp, 0 in the outermost frame; [rbp + 8] the return address. */
static void fp_walk(struct unwinder *u, const struct unwind_regs *regs, const struct unwind_memory *memory,
		    const struct unwind_mappings *mappings, struct unwind_result *out)
{
	uint64_t fp = regs->r[UNWIND_FP], frame[2];
	int rc;

	(void)u;
	(void)mappings;
	out->nr = 0;
	out->end = UNWIND_TRUNCATED;
	if (out->nr == out->cap)
		return;
	out->ips[out->nr++] = regs->r[UNWIND_IP];
	out->end = UNWIND_NO_RULES;
	if (!(regs->have & 1U << UNWIND_FP))
		return;
	for (;;) {
		out->end = UNWIND_ROOT;
		if (!fp)
			return;
		rc = fp % sizeof(uint64_t) ? -EFAULT : memory->read(memory->ctx, fp, frame, sizeof(frame));
		out->end = rc == -ENODATA ? UNWIND_TRUNCATED : UNWIND_BAD;
		if (rc)
			return;
		out->end = UNWIND_ROOT;
		if (!frame[1])
			return;
		out->end = UNWIND_TRUNCATED;
		if (out->nr == out->cap)
			return;
		out->ips[out->nr++] = frame[1];
		out->end = UNWIND_BAD;
		if (frame[0] && frame[0] <= fp) /* the stack grows down: a caller's frame is above */
			return;
		fp = frame[0];
	}
}

static void fp_flush(struct unwinder *u)
{
	(void)u;
}

static void fp_free(struct unwinder *u)
{
	free(u);
}

const struct unwinder_ops unwinder_fp = {
	.name = "fp",
	.new = fp_new,
	.walk = fp_walk,
	.flush = fp_flush,
	.free = fp_free,
};
