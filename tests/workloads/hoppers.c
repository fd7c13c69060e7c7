// SPDX-License-Identifier: Apache-2.0
/*
 * hoppers [SECONDS] - eight threads that change their names and their CPUs all the time. Each is called hop-ash,
 * hop-elm, hop-fir and hop-oak in turn, for about 600 us, and runs the function of that name. Before every piece of
 * work it moves to another CPU, and after every fifth one it renames the next thread to hop-other, in the middle of the
 * work of that thread.
 *
 * Expected: hop-ash;...;hop_forever;ash_work and so on, and all of the functions under hop-other. A few samples inside
 * prctl(2) and write(2) have the name before or after, or, while the kernel copies, half of each: hop-oaker.
 */
#include "workload.h"

#include <pthread.h>

enum { NR_HOPPERS = 8 };

static cpu_set_t allowed;
static int comm_files[NR_HOPPERS]; /* of each thread, once it runs; 0: not yet */

static NOINLINE void ash_work(uint64_t ns)
{
	spin_ns(ns);
}

static NOINLINE void elm_work(uint64_t ns)
{
	spin_ns(ns);
}

static NOINLINE void fir_work(uint64_t ns)
{
	spin_ns(ns);
}

static NOINLINE void oak_work(uint64_t ns)
{
	spin_ns(ns);
}

static const struct {
	const char *name;
	void (*work)(uint64_t ns);
} pieces[] = {
	{ "hop-ash", ash_work },
	{ "hop-elm", elm_work },
	{ "hop-fir", fir_work },
	{ "hop-oak", oak_work },
};

static NOINLINE void hop(int *cpu)
{
	do
		*cpu = (*cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*cpu, &allowed));
	workload_pin(*cpu);
}

static NOINLINE void rename_other(size_t other)
{
	static const char name[] = "hop-other";
	int fd = __atomic_load_n(&comm_files[other], __ATOMIC_ACQUIRE);

	if (fd && write(fd, name, sizeof(name) - 1) < 0)
		workload_die("cannot rename another thread");
}

static int open_comm(void)
{
	int fd = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		workload_die("cannot open /proc/thread-self/comm");
	return fd;
}

static NOINLINE void *hop_forever(void *arg)
{
	size_t self = (size_t)(intptr_t)arg;
	uint32_t r = (uint32_t)self;
	size_t i;
	int cpu = 0;

	__atomic_store_n(&comm_files[self], open_comm(), __ATOMIC_RELEASE);
	for (i = self; !workload_stop; i++) {
		r = r * 1664525 + 1013904223;
		hop(&cpu);
		prctl(PR_SET_NAME, pieces[i % 4].name);
		pieces[i % 4].work(2 * MSEC / 5 + (r >> 8) % (2 * MSEC / 5));
		if (i % 5 == 0)
			rename_other((self + 1) % NR_HOPPERS);
		sleep_ns(MSEC / 2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	intptr_t i;

	workload_live(argc, argv);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	for (i = 0; i < NR_HOPPERS; i++) {
		errno = pthread_create(&thread, NULL, hop_forever, (void *)i);
		if (errno)
			workload_die("cannot start a thread");
	}
	workload_ready();
	pthread_join(thread, NULL);
	return 0;
}
