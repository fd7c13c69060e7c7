// SPDX-License-Identifier: Apache-2.0
/* Differences between kernels in perf_event_open(2). Versions: the history of include/uapi/linux/perf_event.h. */
#include "compat/perf_open.h"

#include "core/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void drop_lost_count(struct perf_event_attr *a)
{
	a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
}

static void drop_ksymbol(struct perf_event_attr *a)
{
	a->ksymbol = 0; /* /proc/kallsyms shows BPF programs that are loaded when it is read */
}

static void drop_namespaces(struct perf_event_attr *a)
{
	a->namespaces = 0; /* /proc shows them, with delay */
}

static void drop_max_stack(struct perf_event_attr *a)
{
	a->sample_max_stack = 0;
}

static void drop_context_switch(struct perf_event_attr *a)
{
	a->context_switch = 0; /* the tracepoint shows which thread comes next; a run that cannot use it fails */
}

static void drop_clockid(struct perf_event_attr *a)
{
	a->use_clockid = 0;
	a->clockid = 0;
}

static void drop_mmap2(struct perf_event_attr *a)
{
	a->mmap2 = 0; /* plain MMAP records come instead */
}

static void drop_comm_exec(struct perf_event_attr *a)
{
	a->comm_exec = 0;
}

/*
 * For an unknown bit the kernel returns EINVAL, without saying which bit: drop one after the other, the newest first,
 * so that only features newer than the kernel are lost. Tests check the order; a feature's place is the version that
 * brought it.
 */
static void (*const optional[])(struct perf_event_attr *) = {
	drop_lost_count,     /* 6.0 */
	drop_ksymbol,        /* 5.1 */
	drop_namespaces,     /* 4.12 */
	drop_max_stack,      /* 4.8 */
	drop_context_switch, /* 4.3 */
	drop_clockid,        /* 4.1 */
	drop_mmap2,          /* 3.16, in 3.12 for a while */
	drop_comm_exec,      /* 3.16 */
};

static int call(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags);

	return fd < 0 ? -errno : fd;
}

/* A kernel with a smaller struct perf_event_attr returns E2BIG and its own size if a missing field is not 0. */
static int call_sized(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	int fd = call(attr, pid, cpu, flags);

	if (fd != -E2BIG || attr->size >= sizeof(*attr) || attr->size < PERF_ATTR_SIZE_VER0)
		return fd;
	memset((char *)attr + attr->size, 0, sizeof(*attr) - attr->size);
	return call(attr, pid, cpu, flags);
}

static int call_cloexec(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct perf_event_attr whole = *attr;
	int fd = call_sized(attr, pid, cpu, PERF_FLAG_FD_CLOEXEC);

	if (fd != -EINVAL)
		return fd;
	*attr = whole;
	fd = call_sized(attr, pid, cpu, 0); /* the flag exists since 3.14 */
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct perf_event_attr fewer = *attr, tried = *attr;
	int fd = call_cloexec(&tried, pid, cpu);
	size_t i;

	/* The kernel checks attributes first: any other error than EINVAL means that it knows them all. */
	for (i = 0; i < ARRAY_SIZE(optional) && fd == -EINVAL; i++) {
		optional[i](&fewer);
		tried = fewer;
		fd = call_cloexec(&tried, pid, cpu);
	}
	if (fd >= 0)
		*attr = tried;
	return fd;
}
