// SPDX-License-Identifier: Apache-2.0
#include "core/host/kernel.h"

#include "core/host/capability.h"
#include "core/host/host.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_STACK 127 /* PERF_MAX_STACK_DEPTH, include/uapi/linux/perf_event.h */

bool kernel_release_bpf_taints(const char *release)
{
	return !strncmp(release, "3.10.0-", 7) && strstr(release, ".el7");
}

/* Apply @is_so, a test of a uname release, to the release of this kernel. */
static bool this_kernel(bool (*is_so)(const char *release))
{
	struct utsname u;

	return !uname(&u) && is_so(u.release);
}

/* False if @release does not begin with two numbers, as in "5.10.0-28-amd64": then the version is unknown. */
static bool is_before(const char *release, unsigned long major, unsigned long minor)
{
	unsigned long has_major, has_minor;
	char *end;

	if (*release < '0' || *release > '9')
		return false;
	has_major = strtoul(release, &end, 10);
	if (*end != '.' || end[1] < '0' || end[1] > '9')
		return false;
	has_minor = strtoul(end + 1, NULL, 10);
	return has_major < major || (has_major == major && has_minor < minor);
}

static bool ends(const char *line, const char *end)
{
	size_t len = strlen(line), end_len = strlen(end);

	return len >= end_len && !strcmp(line + len - end_len, end);
}

/*
 * True if the kernel has bpf(2): the setting of the call exists, or /proc/kallsyms lists its function. Do not make the
 * call to find out, because the call may taint the kernel. Also true if /proc/kallsyms cannot be read.
 */
static bool has_bpf(const struct host *host)
{
	char path[PATH_MAX], line[512];
	long long setting;
	bool found = false;
	FILE *f = NULL;

	if (!host_setting(host, "kernel/unprivileged_bpf_disabled", &setting))
		return true;
	if (snprintf(path, sizeof(path), "%s/kallsyms", host->proc) < (int)sizeof(path))
		f = fopen(path, "re");
	if (!f)
		return true;
	while (!found && fgets(line, sizeof(line), f))
		found = ends(line, " sys_bpf\n") || ends(line, " SyS_bpf\n");
	fclose(f);
	return found;
}

bool kernel_bpf_taints(const struct host *host)
{
	struct utsname u;

	return !uname(&u) && (kernel_release_bpf_taints(u.release) || (is_before(u.release, 3, 18) && has_bpf(host)));
}

bool kernel_release_registers_may_be_stale(const char *release)
{
	return !strncmp(release, "3.", 2);
}

bool kernel_registers_may_be_stale(void)
{
	return this_kernel(kernel_release_registers_may_be_stale);
}

bool kernel_release_has_fast_path(const char *release)
{
	return is_before(release, 4, 15);
}

bool kernel_has_fast_path(void)
{
	return this_kernel(kernel_release_has_fast_path);
}

bool kernel_release_withholds_registers(const char *release)
{
	return is_before(release, 4, 19);
}

bool kernel_withholds_registers(void)
{
	return this_kernel(kernel_release_withholds_registers);
}

bool kernel_release_locks_maps(const char *release)
{
	return is_before(release, 5, 11);
}

bool kernel_locks_maps(const struct host *host)
{
	char text[64];

	return host_read(host->proc, "sys/kernel/osrelease", text, sizeof(text)) > 0 && kernel_release_locks_maps(text);
}

bool kernel_cuts_names(const struct host *host)
{
	char text[512];

	return host_read(host->proc, "version", text, sizeof(text)) <= 0 || strstr(text, "clang version");
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

/* The kernel checks the flags before everything else. */
int kernel_answers_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL) < 0 ? -errno : 0;
}

int kernel_answers_bpf(void)
{
	return syscall(SYS_bpf, INT_MAX, NULL, 0) < 0 ? -errno : 0;
}
