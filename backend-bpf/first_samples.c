// SPDX-License-Identifier: Apache-2.0
#include "backend-bpf/first_samples.h"

#include "core/tasks/filter.h"
#include "core/tasks/proc.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_PAGES 1 /* for some 100 processes before any is read */

struct first_samples {
	struct perf_buffer *events;
	int unseen;
	void (*fn)(void *ctx, pid_t pid); /* with @ctx, during first_read() */
	void *ctx;
};

static void take(void *ctx, int cpu, void *data, __u32 size)
{
	const struct first_samples *s = ctx;
	__u32 pid;

	(void)cpu;
	if (size < sizeof(pid) || !s->fn)
		return;
	memcpy(&pid, data, sizeof(pid));
	s->fn(s->ctx, (pid_t)pid);
}

int first_new(int first, int unseen, struct first_samples **out)
{
	struct first_samples *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	*out = s;
	if (!s)
		return rc;
	s->unseen = unseen;
	s->events = perf_buffer__new(first, RING_PAGES, take, NULL, s, NULL);
	if (s->events)
		return 0;
	rc = -errno;
	*out = NULL;
	free(s);
	return rc;
}

void first_delete(struct first_samples *s)
{
	if (!s)
		return;
	perf_buffer__free(s->events);
	free(s);
}

/* A word of `unseen` that is being filled. /proc lists processes by their ids, so each word comes once. */
struct filling {
	int fd;
	__u32 word;
	__u64 bits;
};

static void write_word(const struct filling *f)
{
	if (f->bits)
		bpf_map_update_elem(f->fd, &f->word, &f->bits, BPF_ANY);
}

static int add_pid(void *ctx, pid_t pid)
{
	struct filling *f = ctx;
	__u32 word = proc_word(pid);

	if (word != f->word) {
		write_word(f);
		*f = (struct filling){ f->fd, word, 0 };
	}
	f->bits |= proc_bit(pid);
	return 0;
}

void first_begin(struct first_samples *s, const struct host *h, const struct filter *filter)
{
	struct filling f = { s->unseen, 0, 0 };

	filter_pids(filter, h, add_pid, &f);
	write_word(&f);
}

int first_fd(const struct first_samples *s)
{
	return perf_buffer__epoll_fd(s->events);
}

void first_read(struct first_samples *s, void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	s->fn = fn;
	s->ctx = ctx;
	perf_buffer__consume(s->events);
	s->fn = NULL;
}
