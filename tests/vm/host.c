// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/host.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

const char *host_release(void)
{
	static struct utsname u;

	return uname(&u) ? "?" : u.release;
}

bool host_bpf_taints(void)
{
	const char *release = host_release();

	return (!strncmp(release, "3.10.0-", 7) && strstr(release, ".el7")) ||
	       (!strncmp(release, "3.10.", 5) && !access("/proc/sys/kernel/unprivileged_bpf_disabled", F_OK));
}

/* r0 = 0; exit */
static int load_program(void)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	/* The size that the first kernels with bpf(2) know. */
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, 48);
}

/*
 * Tested once, before bpf(2) is used: before 5.11 the maps of an ended profile still count against the user's locked
 * memory for some time, and then no program can be loaded.
 */
bool host_has_bpf(void)
{
	static int has = -1;
	int fd;

	if (has < 0 && !host_bpf_taints()) {
		fd = load_program();
		has = fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return has != 0;
}

static int open_own_event(void)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

void host_hold_switches(void)
{
	open_own_event();
}

bool host_perf_of_own(int paranoid)
{
	int before = setting_get("perf_event_paranoid"), status = 1;
	pid_t pid;

	if (!setting_put("perf_event_paranoid", paranoid))
		return false;
	pid = fork();
	if (!pid)
		_exit(setgid(65534) || setuid(65534) || open_own_event() < 0);
	if (pid > 0)
		waitpid(pid, &status, 0);
	setting_put("perf_event_paranoid", before);
	return !status;
}

int setting_get(const char *name)
{
	char path[128], line[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (!f)
		return -100;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	return (int)strtol(line, NULL, 10);
}

bool host_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool setting_put(const char *name, int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	snprintf(text, sizeof(text), "%d", value);
	return host_write(path, text);
}
