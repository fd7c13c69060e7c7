// SPDX-License-Identifier: Apache-2.0
#include "unwind/frame_chain.h"

#include <string.h>

/* Frames that are followed for one sample. Real ones have some copies of a return address, no more. */
#define WORK_MAX 8192

struct copy {
	const char *bytes;
	uint64_t sp;
	size_t size;
	unsigned int work;
};

/* The saved frame pointer and the return address at @at; false: not in the copy. */
static bool read_frame(const struct copy *c, uint64_t at, uint64_t frame[2])
{
	uint64_t from = at - c->sp;

	if (at < c->sp || from > c->size || c->size - from < 2 * sizeof(*frame))
		return false;
	memcpy(frame, c->bytes + from, 2 * sizeof(*frame));
	return true;
}

/* What is behind the copy nobody can tell: it does not speak against @at. */
static bool leads(struct copy *c, uint64_t at, const uint64_t *ips, size_t nr)
{
	uint64_t frame[2];
	size_t i;

	for (i = 1; i < nr && read_frame(c, at, frame); i++) {
		if (frame[1] != ips[i] || ++c->work > WORK_MAX)
			return false;
		if (i + 1 < nr && frame[0] <= at)
			return false;
		at = frame[0];
	}
	return i > 1;
}

bool frame_chain_find(const uint64_t *ips, size_t nr, uint64_t sp, const void *stack, size_t size, uint64_t *fp)
{
	struct copy c = { stack, sp, size, 0 };
	uint64_t at, frame[2];

	if (nr < 2)
		return false;
	for (at = sp; read_frame(&c, at, frame) && c.work <= WORK_MAX; at += sizeof(uint64_t)) {
		if (frame[1] != ips[1] || !leads(&c, at, ips, nr))
			continue;
		*fp = at;
		return true;
	}
	return false;
}
