// SPDX-License-Identifier: Apache-2.0
/*
 * naps SECONDS CPU FILE - sleeps 10 ms at a time, on one CPU, and does nothing else but to write into the file, a
 * struct naps, when that was.
 *
 * Expected, of all time off the CPU: naps;_start;begin;turn;nap, which is nearly all the time there is.
 */
#include "tests/vm/workloads/naps.h"
#include "tests/vm/workloads/bare.h"

#define NOINLINE __attribute__((noinline))

static volatile int stop; /* stays 0: see tests/workloads/workload.h */

/* The clocks are looked at here: where it is kept from running between these, this is its stack. */
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
