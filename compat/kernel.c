// SPDX-License-Identifier: Apache-2.0
#include "compat/kernel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

bool kernel_release_bpf_taints(const char *release)
{
	return !strncmp(release, "3.10.0-", 7) && strstr(release, ".el7");
}

bool kernel_bpf_taints(void)
{
	struct utsname u;

	return !uname(&u) && kernel_release_bpf_taints(u.release);
}

/* PROC_PID_INIT_INO of include/linux/proc_ns.h; the link is there since 3.8. */
bool kernel_in_pid_namespace(void)
{
	char name[64];
	ssize_t len = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	if (len < 0)
		return false;
	name[len] = 0;
	return strcmp(name, "pid:[4026531836]") != 0;
}

/* The flags are checked before anything else. */
int kernel_answers_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL) < 0 ? -errno : 0;
}

int kernel_answers_bpf(void)
{
	return syscall(SYS_bpf, INT_MAX, NULL, 0) < 0 ? -errno : 0;
}
