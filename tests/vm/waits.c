// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/naps.h"
#include "tests/vm/report.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECONDS 2
#define SHARE   0.9

/* The stack of tests/vm/workloads/naps.c. */
static const char stack[] = "naps;_start;begin;turn;nap;";

static void check_backend(const char *backend, pid_t pid)
{
	char name[64];
	struct run r;
	bool kernel;

	snprintf(name, sizeof(name), "off CPU, %s", backend);
	run_offcputime(&r, NULL, "--backend=%s -f -d --stats -p %d %d", backend, pid, SECONDS);
	if (check_ran(&r, name)) {
		check_naps(&r, name, stack, SHARE);
		/* Now and then the kernel preempts it on its way. */
		kernel = report_samples(r.out, stack, ";schedule") * 10 > report_samples(r.out, stack, "") * 9 &&
			 !report_samples(r.out, "", ";__schedule");
		if (!tap_ok(kernel, "%s: the kernel's stacks end with schedule", name))
			tap_text("stdout", r.out);
		/* See RAW_SKIP in backend-bpf/offcpu.c: how kernel stacks begin there depends on the kernel. */
		tap_ok(report_book(&r, "intervals_spilled") * 10 <= report_book(&r, "intervals_counted"),
		       "%s: hardly an interval spills", name);
		tap_line("row: %s %s fp naps=%" PRIu64 "us intervals=%" PRIu64 " taken-by=%s", host_release(), backend,
			 report_samples(r.out, stack, ""), report_book(&r, "intervals_counted"),
			 report_word(&r, "backend"));
	}
	run_free(&r);
}

/*
 * profile with time on and off the CPU. The number of samples is not checked, because an emulated CPU is late with
 * them, and this test has few.
 */
static void check_joined(const char *backend, pid_t pid)
{
	static const char off[] = "naps;off-cpu;_start;begin;turn;nap;";
	char name[64];
	struct run r;

	snprintf(name, sizeof(name), "on and off CPU, %s", backend);
	run_profile(&r, NULL, "--off-cpu -F 199 --backend=%s -f -d --stats -p %d %d", backend, pid, SECONDS);
	if (check_ran(&r, name)) {
		check_naps(&r, name, off, SHARE);
		tap_ok(!report_book(&r, "samples_unaccounted") && !report_book(&r, "intervals_unaccounted"),
		       "%s: nothing is unaccounted for", name);
		tap_ok(report_samples(r.out, "naps;", "") ==
			       report_samples(r.out, "naps;on-cpu", "") + report_samples(r.out, "naps;off-cpu", ""),
		       "%s: each row is on or off the CPU", name);
	}
	run_free(&r);
}

/* The whole system, including the guest itself. */
static void check_system(const char *backend)
{
	char name[64];
	struct run r;

	snprintf(name, sizeof(name), "off CPU, %s, all threads", backend);
	run_offcputime(&r, NULL, "--backend=%s -f -d --stats %d", backend, SECONDS);
	if (check_ran(&r, name))
		check_naps(&r, name, stack, SHARE);
	tap_ok(!report_samples(r.out, "swapper", ""), "%s: the idle task does not wait", name);
	run_free(&r);
}

/*
 * A user without rights may not read trace events: switches of its own threads are known from other records, and at
 * level 2 without stacks.
 */
static void check_nobody(void)
{
	static const struct confined nobody = { .nobody = true };
	int before = setting_get("perf_event_paranoid");
	struct run r;
	pid_t pid;

	if (!host_perf_of_own(2)) {
		tap_skip("off CPU, nobody", "this kernel refuses own tasks, too");
		return;
	}
	pid = naps_start(120, last_cpu(), true);
	setting_put("perf_event_paranoid", 1);
	run_offcputime(&r, &nobody, "-f -d --stats -p %d %d", pid, SECONDS);
	if (check_ran(&r, "off CPU, nobody, paranoid 1"))
		check_naps(&r, "off CPU, nobody, paranoid 1", stack, SHARE);
	run_free(&r);
	setting_put("perf_event_paranoid", 2);
	run_offcputime(&r, &nobody, "-f -d --stats -p %d %d", pid, SECONDS);
	if (check_ran(&r, "off CPU, nobody, paranoid 2"))
		check_naps(&r, "off CPU, nobody, paranoid 2", "naps;[Missed User Stack]", SHARE);
	run_free(&r);
	setting_put("perf_event_paranoid", before);
	naps_stop(pid);
}

static void open_event(struct perf_event_attr *attr)
{
	syscall(SYS_perf_event_open, attr, -1, 0, -1, 0);
}

/*
 * The kernel patches its scheduler for the first tracer, and again for the second. An emulated CPU of qemu 7.2 may not
 * see, beside other CPUs, that the breakpoint used for that is gone: 5.10 hung in asm_exc_int3, called by __schedule(),
 * in 3 of 11 runs. So the tracepoint stays enabled, and a child process keeps events open, until the machine is off.
 */
static void keep_tracing(void)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct perf_event_attr a = { .size = PERF_ATTR_SIZE_VER5, .disabled = 1, .context_switch = 1 };
	char path[128], id[16];
	size_t i;
	FILE *f;
	int fd;

	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	open_event(&a);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/id", folders[i]);
		f = fopen(path, "re");
		if (!f)
			continue;
		a.type = PERF_TYPE_TRACEPOINT;
		a.config = fgets(id, sizeof(id), f) ? strtoull(id, NULL, 10) : 0;
		fclose(f);
		open_event(&a);
		snprintf(path, sizeof(path), "%s/events/sched/sched_switch/enable", folders[i]);
		host_write(path, "1");
		break;
	}
	if (!fork()) {
		for (fd = 0; fd < 3; fd++)
			close(fd);
		for (;;)
			pause();
	}
}

void check_waits(void)
{
	static const char *const backends[] = { "auto", "perfring", "bpf", "both" };
	size_t i, nr = host_has_bpf() ? 4 : 2;
	pid_t pid;

	keep_tracing();
	pid = naps_start(600, last_cpu(), false);
	for (i = 0; i < nr; i++) {
		check_backend(backends[i], pid);
		check_system(backends[i]);
		check_joined(backends[i], pid);
	}
	/* If tracefs is not mounted, profile mounts it for itself. */
	if (!umount2("/sys/kernel/tracing", MNT_DETACH) | !umount2("/sys/kernel/debug", MNT_DETACH))
		for (i = 0; i < nr; i++)
			check_backend(backends[i], pid);
	naps_stop(pid);
	check_nobody();
}
