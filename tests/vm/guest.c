// SPDX-License-Identifier: Apache-2.0
/*
 * guest SCENARIO - run the checks inside a virtual machine, as root. It needs only ./profile, ./offcputime, the
 * programs of tests/vm/workloads beside it, and the kernel's file systems, and runs from Linux 3.10 on.
 *
 * stdout is TAP, with lines for the starter of the machine: "# row: ..." and "# figure: ..." belong into its tables,
 * "@@ADD-CPU N" asks it to plug in a CPU.
 */
#include "tests/vm/checks.h"
#include "tests/vm/host.h"
#include "tests/vm/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned int highest_cpu;

unsigned int last_cpu(void)
{
	return highest_cpu;
}

static void all(void)
{
	check_choice();
	check_fixed();
	check_load(true);
	check_costs();
	check_targets();
	check_waits();
	check_names();
	check_denied();
	check_lockdown();
}

/* Machines that differ only in their CPUs. */
static void cpus(void)
{
	check_choice();
	check_fixed();
	check_load(false);
	check_waits();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "all", all },         { "hotplug", check_hotplug }, { "one", cpus },
	{ "possible64", cpus }, { "waits", check_waits },     { "names", check_names },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc != 2 || strcmp(argv[1], scenarios[i].name))
			continue;
		highest_cpu = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
		/* Under emulation, interrupts take longer than the kernel expects. */
		setting_put("perf_cpu_time_max_percent", 0);
		host_has_bpf(); /* before BPF is used */
		host_hold_switches();
		scenarios[i].run();
		return tap_end();
	}
	fputs("usage: guest all|hotplug|one|possible64|waits|names\n", stderr);
	return 2;
}
