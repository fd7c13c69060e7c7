// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fake_kernel.h"

#include "core/events/perf_events.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

unsigned int fake_event_fds(const struct events *ev)
{
	return unit_open_fds() - !!ev->online_fd;
}

int fake_refuse(int code)
{
	errno = -code;
	return -1;
}

bool fake_is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

void fake_list_cpus(const char *sys, const char *which, const char *cpus)
{
	char name[64];

	snprintf(name, sizeof(name), "devices/system/cpu/%s", which);
	unit_write(sys, name, cpus, strlen(cpus));
}

int (*fake_pidfd_open)(pid_t pid);
int (*fake_bpf)(int cmd, void *attr);

/* libbpf calls these by number since 1.5, because libc may lack them. */
static long real_call(long nr, va_list *ap)
{
	const char *name;
	int from, to;

	if (nr == SYS_memfd_create) {
		name = va_arg(*ap, const char *);
		return memfd_create(name, va_arg(*ap, unsigned int));
	}
	if (nr != SYS_dup3)
		return fake_refuse(-ENOSYS);
	from = va_arg(*ap, int);
	to = va_arg(*ap, int);
	return dup3(from, to, va_arg(*ap, int));
}

static long event_open(va_list *ap)
{
	const struct perf_event_attr *attr = va_arg(*ap, const struct perf_event_attr *);
	pid_t pid = va_arg(*ap, pid_t);
	int cpu = va_arg(*ap, int);

	ck_assert_int_eq(va_arg(*ap, int), -1); /* no group */
	return fake_event_open(attr, pid, cpu);
}

long syscall(long nr, ...)
{
	va_list ap;
	long rc;
	int cmd;

	va_start(ap, nr);
	if (nr == SYS_pidfd_open && fake_pidfd_open) {
		rc = fake_pidfd_open(va_arg(ap, pid_t));
	} else if (nr == SYS_bpf && fake_bpf) {
		cmd = va_arg(ap, int);
		rc = fake_bpf(cmd, va_arg(ap, void *));
	} else if (nr == SYS_perf_event_open) {
		rc = event_open(&ap);
	} else {
		rc = real_call(nr, &ap);
	}
	va_end(ap);
	return rc;
}

int ioctl(int fd, unsigned long request, ...)
{
	uint64_t *id;
	va_list ap;

	va_start(ap, request);
	id = va_arg(ap, uint64_t *);
	va_end(ap);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	return fake_event_ioctl(fd, request, id);
}
