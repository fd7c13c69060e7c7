// SPDX-License-Identifier: Apache-2.0
#include "core/rows/callchain.h"

#include "compat/perf_deferred.h"
#include "core/host/kernel.h"

#include <linux/perf_event.h>

static bool is_marker(uint64_t ip)
{
	return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

unsigned int callchain_asked(const struct host *host)
{
	unsigned int max = kernel_max_stack(host);

	if (max >= CALLCHAIN_ASKED + 2)
		return CALLCHAIN_ASKED;
	return max > 4 ? max - 2 : 2;
}

void callchain_entry(const uint64_t *ips, uint64_t nr, struct stack *out)
{
	uint32_t i;

	if (nr && is_marker(*ips)) {
		ips++;
		nr--;
	}
	*out = (struct stack){ .frames = ips, .nr = (uint32_t)nr, .state = STACK_TAKEN };
	for (i = 0; i < out->nr; i++)
		if (!ips[i] || is_marker(ips[i]))
			out->nr = i;
}

void callchain_split(const uint64_t *ips, uint64_t nr, struct stack *kernel, struct stack *user)
{
	uint64_t i;

	*kernel = (struct stack){ .state = STACK_NONE };
	*user = (struct stack){ .state = STACK_NONE };
	/* The user's part is the last: a marker's value inside it is a forged return address. */
	for (i = 0; i < nr && user->state == STACK_NONE; i++) {
		if (ips[i] == (uint64_t)PERF_CONTEXT_USER)
			callchain_entry(ips + i, nr - i, user);
		else if (ips[i] == CONTEXT_USER_DEFERRED)
			user->state = STACK_MISSED;
		else if (ips[i] == (uint64_t)PERF_CONTEXT_KERNEL && kernel->state == STACK_NONE)
			callchain_entry(ips + i, nr - i, kernel);
	}
}

uint64_t callchain_cookie(const uint64_t *ips, uint64_t nr)
{
	uint64_t i;

	for (i = 0; i + 1 < nr; i++)
		if (ips[i] == CONTEXT_USER_DEFERRED)
			return ips[i + 1];
	return 0;
}

void callchain_leaf(const uint64_t *ip, unsigned int mode, struct stack *kernel, struct stack *user)
{
	if (mode == PERF_RECORD_MISC_KERNEL)
		callchain_entry(ip, 1, kernel);
	else if (mode == PERF_RECORD_MISC_USER)
		callchain_entry(ip, 1, user);
}

static unsigned int limit_stack(unsigned int room, struct stack *s)
{
	if (s->state != STACK_TAKEN)
		return room;
	if (s->nr > room) {
		s->nr = room;
		s->truncated = true;
	} else if (!s->nr && !room) {
		s->truncated = true; /* the limit left room only for its marker */
	} else if (!s->nr) {
		*s = (struct stack){ .state = STACK_NONE };
	}
	return room - s->nr;
}

void callchain_limit(unsigned int asked, struct stack *kernel, struct stack *user)
{
	limit_stack(limit_stack(asked - 1, kernel), user);
}
