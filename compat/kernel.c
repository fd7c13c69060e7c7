// SPDX-License-Identifier: Apache-2.0
#include "compat/kernel.h"

#include "compat/capability.h"
#include "core/host.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PID_INIT_INO 0xEFFFFFFCU /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define MINOR_BITS   20          /* MINORBITS, include/linux/kdev_t.h */

#define MAX_STACK 127 /* PERF_MAX_STACK_DEPTH, include/uapi/linux/perf_event.h */

bool kernel_release_bpf_taints(const char *release)
{
	return !strncmp(release, "3.10.0-", 7) && strstr(release, ".el7");
}

/* @is_so: of a release. Of this kernel? */
static bool this_kernel(bool (*is_so)(const char *release))
{
	struct utsname u;

	return !uname(&u) && is_so(u.release);
}

bool kernel_bpf_taints(void)
{
	return this_kernel(kernel_release_bpf_taints);
}

bool kernel_release_registers_may_be_stale(const char *release)
{
	return !strncmp(release, "3.", 2);
}

bool kernel_registers_may_be_stale(void)
{
	return this_kernel(kernel_release_registers_may_be_stale);
}

bool kernel_release_locks_maps(const char *release)
{
	unsigned long major, minor;
	char *end;

	if (*release < '0' || *release > '9')
		return false;
	major = strtoul(release, &end, 10);
	if (*end != '.' || end[1] < '0' || end[1] > '9')
		return false;
	minor = strtoul(end + 1, NULL, 10);
	return major < 5 || (major == 5 && minor < 11);
}

bool kernel_locks_maps(const struct host *host)
{
	char text[64];

	return host_read(host->proc, "sys/kernel/osrelease", text, sizeof(text)) > 0 && kernel_release_locks_maps(text);
}

bool kernel_has_perfmon(const struct host *host)
{
	long long last;

	return host_setting(host, "kernel/cap_last_cap", &last) || last >= CAP_BPF;
}

unsigned int kernel_max_stack(const struct host *host)
{
	long long max;

	if (host_setting(host, "kernel/perf_event_max_stack", &max))
		return MAX_STACK;
	return max < 0 ? 0 : max > INT_MAX ? INT_MAX : (unsigned int)max;
}

/* Since 6.11; 5 is PIDFD_GET_PID_NAMESPACE, include/uapi/linux/pidfd.h. */
static int stat_own_namespace(struct stat *st)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0), ns = self < 0 ? -1 : ioctl(self, _IO(0xff, 5), 0);
	int rc = ns < 0 ? -1 : fstat(ns, st);

	if (ns >= 0)
		close(ns);
	if (self >= 0)
		close(self);
	return rc;
}

bool kernel_pid_namespace(struct kernel_pidns *out)
{
	struct stat st;

	/* There since 3.8, and of this process whatever namespace /proc is of. */
	if ((stat("/proc/self/ns/pid", &st) && stat_own_namespace(&st)) || st.st_ino == PID_INIT_INO)
		return false;
	if (out)
		*out = (struct kernel_pidns){ major(st.st_dev) << MINOR_BITS | minor(st.st_dev), (uint32_t)st.st_ino };
	return true;
}

/* The numbers behind "NSpid:" in a status file (since 4.1): from the namespace of that /proc to the task's own. */
static size_t count_levels(FILE *status)
{
	static const char name[] = "NSpid:", blanks[] = " \t\n";
	const char *p;
	char line[1024];
	size_t nr = 0;

	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, name, sizeof(name) - 1))
			continue;
		p = line + sizeof(name) - 1;
		for (p += strspn(p, blanks); *p; p += strspn(p, blanks)) {
			p += strcspn(p, blanks);
			nr++;
		}
		break;
	}
	return nr;
}

/* The name of the link is its own number there; in a namespace within that, it may be the same by chance. */
bool kernel_proc_is_foreign(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);
	bool foreign;
	FILE *f;

	if (len < 0) /* of a namespace without this process, or there is none */
		return !access("/proc/version", F_OK);
	name[len] = 0;
	if (strtol(name, NULL, 10) != getpid())
		return true;
	f = fopen("/proc/self/status", "re");
	if (!f)
		return false;
	foreign = count_levels(f) > 1;
	fclose(f);
	return foreign;
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
