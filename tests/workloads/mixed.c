// SPDX-License-Identifier: Apache-2.0
/*
 * mixed [SECONDS] - threads that are on and off the CPU, each in its own way, and measure themselves. Ends after
 * SECONDS and prints a line for each: its name, when it began and ended (nanoseconds of CLOCK_MONOTONIC), the
 * nanoseconds of CPU time it had, and how often it left the CPU.
 *
 * Expected: "x-burns;on-cpu;...;burn_always", "x-mixes;on-cpu;...;burn_a_while" and "x-mixes;off-cpu;...;wait_a_while",
 * "x-waits;off-cpu;...;wait_until_end" from its first switch on, and "x-first", "x-second" on one CPU, in share_cpu.
 */
#include "workload.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct mix {
	const char *name;
	void (*live)(void);
	bool pinned;
	uint64_t began_ns, ended_ns, cpu_ns, switches;
	pthread_t thread;
};

static int ending;

static bool goes_on(void)
{
	return !__atomic_load_n(&ending, __ATOMIC_RELAXED);
}

/* libc's syscall() has no frame, so that its caller is missing in the stacks: that is always this function. */
static NOINLINE long call(long nr, long a, long b, long c, long d)
{
	long rc = syscall(nr, a, b, c, d, 0L, 0L);

	workload_sink++;
	return rc;
}

static NOINLINE void burn_always(void)
{
	while (goes_on())
		spin_iterations(20000);
}

static NOINLINE void burn_a_while(void)
{
	spin_ns(7 * MSEC);
}

static NOINLINE void wait_a_while(void)
{
	struct timespec ts = { .tv_nsec = 5 * MSEC };

	call(SYS_nanosleep, (long)&ts, 0, 0, 0);
	workload_sink++;
}

static NOINLINE void mix(void)
{
	while (goes_on()) {
		burn_a_while();
		wait_a_while();
	}
}

static NOINLINE void wait_until_end(void)
{
	while (goes_on())
		call(SYS_futex, (long)&ending, FUTEX_WAIT_PRIVATE, 0, 0);
}

static NOINLINE void share_cpu(void)
{
	while (goes_on())
		spin_iterations(20000);
}

static NOINLINE void *live(void *arg)
{
	struct mix *m = arg;
	struct rusage usage;

	m->began_ns = now_ns();
	workload_name_thread(m->name);
	m->live();
	m->ended_ns = now_ns();
	m->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	getrusage(RUSAGE_THREAD, &usage);
	m->switches = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	return arg;
}

static struct mix mixes[] = {
	{ .name = "x-burns", .live = burn_always },
	{ .name = "x-mixes", .live = mix },
	{ .name = "x-waits", .live = wait_until_end },
	{ .name = "x-first", .live = share_cpu, .pinned = true },
	{ .name = "x-second", .live = share_cpu, .pinned = true },
};

enum { NR_MIXES = sizeof(mixes) / sizeof(mixes[0]) };

/* Start the thread on its CPU, if it is pinned: then it has no interval on another one. */
static void start(struct mix *m)
{
	pthread_attr_t attr;
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(workload_last_cpu(), &last);
	errno = pthread_attr_init(&attr);
	if (!errno && m->pinned)
		errno = pthread_attr_setaffinity_np(&attr, sizeof(last), &last);
	if (!errno)
		errno = pthread_create(&m->thread, &attr, live, m);
	if (errno)
		workload_die("cannot start a thread");
	pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
	uint64_t time_ns = workload_time(argc, argv, 1, 60);
	size_t i;

	alarm((unsigned int)(time_ns / (1000 * MSEC)) + 30); /* whatever happens */
	for (i = 0; i < NR_MIXES; i++)
		start(&mixes[i]);
	workload_await_names(NR_MIXES);
	workload_ready();
	sleep_ns(time_ns);
	__atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
	call(SYS_futex, (long)&ending, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
	for (i = 0; i < NR_MIXES; i++) {
		pthread_join(mixes[i].thread, NULL);
		printf("%s %llu %llu %llu %llu\n", mixes[i].name, (unsigned long long)mixes[i].began_ns,
		       (unsigned long long)mixes[i].ended_ns, (unsigned long long)mixes[i].cpu_ns,
		       (unsigned long long)mixes[i].switches);
	}
	return fflush(stdout) ? 1 : 0;
}
