// SPDX-License-Identifier: Apache-2.0
/*
 * crowd [SECONDS [N]] - N processes (100) that together keep the CPUs about 80 % busy: each works for 0.2 ms and then
 * sleeps as long as the others need.
 *
 * Expected: crowd;...;main;take_turns;one_turn
 */
#include "workload.h"

#define TURN_NS (MSEC / 5)

static NOINLINE void one_turn(void)
{
	spin_iterations(140000);
}

static NOINLINE void take_turns(uint64_t pause_ns, uint64_t first_ns)
{
	sleep_ns(first_ns);
	while (!workload_stop) {
		one_turn();
		sleep_ns(pause_ns);
	}
}

int main(int argc, char **argv)
{
	uint64_t cycle_ns;
	cpu_set_t allowed;
	long n, i;

	workload_live(argc, argv);
	n = workload_arg(argc, argv, 2, 100);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	cycle_ns = (uint64_t)n * TURN_NS * 10 / 8 / (uint64_t)CPU_COUNT(&allowed);
	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			workload_die("cannot fork");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			take_turns(cycle_ns > TURN_NS ? cycle_ns - TURN_NS : 0, cycle_ns * (uint64_t)i / (uint64_t)n);
		}
	}
	workload_ready();
	while (!workload_stop)
		pause();
	return 0;
}
