// SPDX-License-Identifier: Apache-2.0
/*
 * pairs [SECONDS] - two threads, each on a CPU of its own, wait for each other. Then both take a page fault at once,
 * each with a stack of some 105 frames that it never had before.
 *
 * Expected: pairs;...;work_together;deepen (41 times);left|right (60 times);leaf_work
 */
#include "tree.h"

#include <pthread.h>
#include <sys/mman.h>

enum { NR_DEEP = 40, NR_LEVELS = 60, PAGE = 4096, NR_WITHOUT_PAUSE = 40 };

struct partner {
	pthread_t thread;
	int cpu;
	unsigned long turn; /* its last one */
	char *page;
};

static struct partner partners[2];
static __thread struct partner *self;

/* The thread that comes last goes on at once, and the other one sees it a little later: delay either by chance. */
static NOINLINE void leaf_work(void)
{
	const struct partner *other = &partners[self == partners];
	uint64_t chance = spin_step(spin_step(self->turn)) >> 40;

	__atomic_store_n(&self->turn, self->turn + 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&other->turn, __ATOMIC_SEQ_CST) < self->turn && !workload_stop)
		;
	if (&partners[chance & 1] == self)
		spin_iterations(chance / 2 % 16);
	*(volatile char *)self->page = 1;
}

/* The path is of the turn, and its last bit of the thread. */
static NOINLINE void deepen(int frames)
{
	if (frames > 0)
		deepen(frames - 1);
	else
		go_down(self->turn << 1 | (self == partners), NR_LEVELS);
	workload_sink++;
}

static NOINLINE void *work_together(void *arg)
{
	self = arg;
	workload_pin(self->cpu);
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (self->page == MAP_FAILED)
		workload_die("cannot map a page");
	while (!workload_stop) {
		if (madvise(self->page, PAGE, MADV_DONTNEED))
			workload_die("cannot empty a page");
		deepen(NR_DEEP);
		if (self->turn % NR_WITHOUT_PAUSE == 0)
			sleep_ns(MSEC);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct partner *p;
	cpu_set_t allowed;
	int cpu = 0;

	workload_live(argc, argv);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		workload_die("cannot use two CPUs");
	for (p = partners; p < partners + 2; p++) {
		while (!CPU_ISSET(cpu, &allowed))
			cpu++;
		p->cpu = cpu++;
		errno = pthread_create(&p->thread, NULL, work_together, p);
		if (errno)
			workload_die("cannot start a thread");
	}
	workload_ready();
	pthread_join(partners[0].thread, NULL);
	return 0;
}
