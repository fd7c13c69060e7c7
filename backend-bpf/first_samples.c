// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/first_samples.h"

#include "core/tasks/pid_bits.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_PAGES 1 /* of each CPU: room for more than 100 processes that are not read yet */

struct first_samples {
	struct perf_buffer *events;
	struct pid_bits existed;                        /* at first_begin(), and not reported since */
	void (*fn)(void *ctx, pid_t pid, bool existed); /* with @ctx, during first_read() */
	void *ctx;
};

static void take_sample(void *ctx, int cpu, void *data, __u32 size)
{
	struct first_samples *s = ctx;
	__u32 pid;

	(void)cpu;
	if (size < sizeof(pid) || !s->fn)
		return;
	memcpy(&pid, data, sizeof(pid));
	s->fn(s->ctx, (pid_t)pid, pid_bits_clear(&s->existed, (pid_t)pid));
}

int first_new(int first, const struct host *h, struct first_samples **out)
{
	struct first_samples *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	*out = s;
	if (!s)
		return rc;
	rc = pid_bits_init(&s->existed, h);
	if (!rc)
		s->events = perf_buffer__new(first, RING_PAGES, take_sample, NULL, s, NULL);
	if (s->events)
		return 0;
	rc = rc ? rc : -errno;
	*out = NULL;
	first_delete(s);
	return rc;
}

void first_delete(struct first_samples *s)
{
	if (!s)
		return;
	perf_buffer__free(s->events); /* may be NULL */
	pid_bits_release(&s->existed);
	free(s);
}

void first_begin(struct first_samples *s, const struct host *h, const struct filter *filter)
{
	pid_bits_set_existing(&s->existed, filter, h);
}

int first_fd(const struct first_samples *s)
{
	return perf_buffer__epoll_fd(s->events);
}

void first_read(struct first_samples *s, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx)
{
	s->fn = fn;
	s->ctx = ctx;
	perf_buffer__consume(s->events);
	s->fn = NULL;
}
