/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a uretprobe on one of its functions: while that function runs, the kernel has replaced its return
 * address by that of its own code in [uprobes]. Expected: ...;main;outer;probed_caller;probed;busy_leaf, as without the
 * probe.
 */
#include "tests/workloads/workload.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

extern const char __executable_start[];

static NOINLINE void busy_leaf(void)
{
	spin_iterations(400000);
	workload_sink++;
}

static NOINLINE void probed(void)
{
	busy_leaf();
	workload_sink++;
}

static NOINLINE void probed_caller(void)
{
	probed();
	workload_sink++;
}

static NOINLINE void outer(void)
{
	probed_caller();
	workload_sink++;
}

static uint64_t number_in(const char *path)
{
	char text[32];
	FILE *f = fopen(path, "r");

	if (!f || !fgets(text, sizeof(text), f))
		workload_die(path);
	fclose(f);
	return strtoull(text, NULL, 10);
}

/*
 * Probe the returns of @function, in this process, until it ends. The offset of a function in the file is its distance
 * from __executable_start.
 */
static void probe_return(void (*function)(void))
{
	struct perf_event_attr attr = {
		.type = (uint32_t)number_in("/sys/bus/event_source/devices/uprobe/type"),
		.size = sizeof(attr),
		.config = 1, /* retprobe */
		.uprobe_path = (uintptr_t) "/proc/self/exe",
		.probe_offset = (uintptr_t)function - (uintptr_t)__executable_start,
	};

	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		workload_die("perf_event_open");
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	probe_return(probed);
	workload_ready();
	while (!workload_stop)
		outer();
	return 0;
}
