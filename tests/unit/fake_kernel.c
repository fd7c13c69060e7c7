// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/fake_kernel.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

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

long syscall(long nr, ...)
{
	const struct perf_event_attr *attr;
	int cpu, group, cmd;
	void *bpf_attr;
	va_list ap;
	pid_t pid;

	va_start(ap, nr);
	if (nr == SYS_pidfd_open && fake_pidfd_open) {
		pid = va_arg(ap, pid_t);
		va_end(ap);
		return fake_pidfd_open(pid);
	}
	if (nr == SYS_bpf && fake_bpf) {
		cmd = va_arg(ap, int);
		bpf_attr = va_arg(ap, void *);
		va_end(ap);
		return fake_bpf(cmd, bpf_attr);
	}
	attr = va_arg(ap, const struct perf_event_attr *);
	pid = va_arg(ap, pid_t);
	cpu = va_arg(ap, int);
	group = va_arg(ap, int);
	va_end(ap);
	if (nr != SYS_perf_event_open)
		return fake_refuse(-ENOSYS);
	ck_assert_int_eq(group, -1);
	return fake_event_open(attr, pid, cpu);
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
