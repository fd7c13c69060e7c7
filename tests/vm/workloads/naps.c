// SPDX-License-Identifier: Apache-2.0
/*
 * naps SECONDS CPU FILE - sleep 10 ms at a time, on one CPU, and write the times into the file, a struct naps.
 *
 * Expected stack of all time off the CPU: naps;_start;begin;turn;nap, nearly all of the time.
 */
#include "tests/vm/workloads/naps.h"
#include "tests/vm/workloads/bare.h"

#define NOINLINE __attribute__((noinline))

static volatile int stop; /* stays 0: see tests/workloads/workload.h */

/* The clocks are read in this function: if the thread is preempted between two readings, its stack has nap(), too. */
static NOINLINE void nap(volatile struct nap *n)
{
	struct timespec ts = { 0, NAP_NS };
	uint64_t on_cpu;

	n->from = clock_ns(CLOCK_MONOTONIC);
	on_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bare_call(SYS_nanosleep, (long)&ts, 0, 0);
	n->on_cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - on_cpu;
	n->to = clock_ns(CLOCK_MONOTONIC);
	stop = 0;
}

static NOINLINE void turn(volatile struct naps *naps)
{
	while (!stop && naps->nr < MAX_NAPS) {
		nap(&naps->nap[naps->nr]);
		naps->nr++;
	}
}

void begin(const long *stack)
{
	long fd, at;

	bare_begin(stack, 4);
	fd = bare_call(SYS_open, stack[4], O_RDWR, 0);
	at = bare_map(fd, sizeof(struct naps));
	if (at < 0)
		bare_die(1);
	bare_ready();
	turn((volatile struct naps *)at);
	bare_die(3);
}
