// SPDX-License-Identifier: Apache-2.0
/*
 * waits [SECONDS [KIND...]] - threads that wait, each in its own way, and measure how long they were off the CPU
 * meanwhile. The program ends after SECONDS or by SIGTERM, when each wait has ended, and prints a line for each kind:
 * its name, the number of intervals, their time in microseconds, and for how long its threads could run but other
 * threads did. If a kind is not possible on this host, it has no intervals, and the reason is on stderr.
 *
 * Expected: "w-KIND;...;FUNCTION;...": sleep wait_in_nanosleep, futex wait_in_futex, pipe wait_in_pipe, disk
 * wait_on_disk, fault wait_in_fault, mutex wait_for_mutex, preempted be_preempted. On SIGUSR1 one more wait begins,
 * which does not end: w-never;...;wait_forever.
 *
 * Each thread measures wall time without CPU time, from the first to the last instruction of the function. So this
 * includes all intervals with that function in their stack, also those in which another thread took the CPU.
 */
#include "workload.h"

#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { PAGE = 4096, DISK_PAGES = 256, CONVOY = 4, MOST_THREADS = 32 };

struct kind {
	const char *name;
	void (*start)(struct kind *k);
	uint64_t intervals, off_ns, queued_ns;
};

struct moment {
	uint64_t wall_ns, cpu_ns;
};

static pthread_t threads[MOST_THREADS];
static unsigned int nr_threads;
static int ending; /* set: begin no more waits */

static bool goes_on(void)
{
	return !__atomic_load_n(&ending, __ATOMIC_RELAXED);
}

/*
 * Time that this thread waited for a CPU: the second number of its schedstat (Documentation/scheduler/sched-stats.rst);
 * 0 if the kernel does not count it.
 */
static uint64_t queued_ns(void)
{
	static _Thread_local int fd = -1;
	char line[128], *second;
	long len;

	if (fd < 0)
		fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? 0 : pread(fd, line, sizeof(line) - 1, 0);
	line[len > 0 ? len : 0] = 0;
	second = strchr(line, ' ');
	return second ? strtoull(second, NULL, 10) : 0;
}

/*
 * Add the time that the thread waited for a CPU during @call, a function that measures. Read it outside of that
 * function, whose intervals would otherwise include the reading.
 */
#define ADD_QUEUED(k, call)                                                                                            \
	do {                                                                                                           \
		uint64_t since = queued_ns();                                                                          \
		call;                                                                                                  \
		__atomic_add_fetch(&(k)->queued_ns, queued_ns() - since, __ATOMIC_RELAXED);                            \
	} while (0)

static struct moment begin(void)
{
	struct moment m = { .wall_ns = now_ns() };

	m.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return m;
}

static void end(struct kind *k, struct moment from, uint64_t intervals)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from.cpu_ns, wall = now_ns() - from.wall_ns;

	__atomic_add_fetch(&k->intervals, intervals, __ATOMIC_RELAXED);
	__atomic_add_fetch(&k->off_ns, wall > cpu ? wall - cpu : 0, __ATOMIC_RELAXED);
}

static void start_thread(void *(*what)(void *), struct kind *k)
{
	if (nr_threads == MOST_THREADS) {
		errno = E2BIG;
		workload_die("cannot start a thread");
	}
	errno = pthread_create(&threads[nr_threads++], NULL, what, k);
	if (errno)
		workload_die("cannot start a thread");
}

static void be_called(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/*
 * libc's syscall() has no frame, so that its caller is missing in the stacks: that is always this function. Other
 * functions of libc may use the frame pointer for something else.
 */
static NOINLINE long call(long nr, long a, long b, long c, long d)
{
	long rc = syscall(nr, a, b, c, d, 0L, 0L);

	workload_sink++;
	return rc;
}

static void futex_wait(int *word, int value)
{
	call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0);
}

static void futex_wake(int *word, int nr)
{
	call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, nr, 0);
}

/* A wait that is not measured. */
static NOINLINE void idle_ns(uint64_t ns)
{
	struct timespec ts = { .tv_nsec = (long)ns };

	call(SYS_nanosleep, (long)&ts, 0, 0, 0);
	workload_sink++;
}

/* ---- sleep ---- */

static NOINLINE void wait_in_nanosleep(struct kind *k)
{
	struct moment from = begin();
	struct timespec ts = { .tv_nsec = 10 * MSEC };

	call(SYS_nanosleep, (long)&ts, 0, 0, 0);
	end(k, from, 1);
}

static NOINLINE void *sleep_thread(void *arg)
{
	struct kind *k = arg;

	be_called("w-sleep");
	while (goes_on())
		ADD_QUEUED(k, wait_in_nanosleep(k));
	return arg;
}

static void start_sleep(struct kind *k)
{
	start_thread(sleep_thread, k);
}

/* ---- futex: two threads take turns; each holds the turn for 2 ms ---- */

static int turn; /* 0 or 1; 2: the end */

static NOINLINE void wait_in_futex(struct kind *k, int other)
{
	struct moment from = begin();

	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == other)
		futex_wait(&turn, other);
	end(k, from, 1);
}

static void take_turns(struct kind *k, int mine)
{
	int now;

	be_called("w-futex");
	for (;;) {
		ADD_QUEUED(k, wait_in_futex(k, !mine));
		now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
		if (now != mine)
			return;
		idle_ns(2 * MSEC);
		now = goes_on() ? !mine : 2;
		__atomic_store_n(&turn, now, __ATOMIC_RELEASE);
		futex_wake(&turn, 1);
		if (now == 2)
			return;
	}
}

static NOINLINE void *first_thread(void *arg)
{
	take_turns(arg, 0);
	return arg;
}

static NOINLINE void *second_thread(void *arg)
{
	take_turns(arg, 1);
	return arg;
}

static void start_futex(struct kind *k)
{
	start_thread(first_thread, k);
	start_thread(second_thread, k);
}

/* ---- pipe: another thread writes every 3 ms ---- */

static int pipe_fds[2];

static NOINLINE bool wait_in_pipe(struct kind *k)
{
	struct moment from = begin();
	char byte;
	long n = call(SYS_read, pipe_fds[0], (long)&byte, 1, 0);

	end(k, from, 1);
	return n == 1;
}

static NOINLINE void *pipe_thread(void *arg)
{
	struct kind *k = arg;
	bool more = true;

	be_called("w-pipe");
	while (more)
		ADD_QUEUED(k, more = wait_in_pipe(k));
	return arg;
}

static NOINLINE void *writer_thread(void *arg)
{
	be_called("w-writer");
	while (goes_on()) {
		idle_ns(3 * MSEC);
		if (write(pipe_fds[1], "", 1) != 1)
			workload_die("cannot write to a pipe");
	}
	close(pipe_fds[1]);
	return arg;
}

static void start_pipe(struct kind *k)
{
	if (pipe2(pipe_fds, O_CLOEXEC))
		workload_die("cannot make a pipe");
	start_thread(pipe_thread, k);
	start_thread(writer_thread, k);
}

/* ---- disk: a file without a name, read past the cache ---- */

static int disk_fd;
static char disk_page[PAGE] __attribute__((aligned(PAGE)));

static NOINLINE void wait_on_disk(struct kind *k, long at)
{
	struct moment from = begin();

	if (call(SYS_pread64, disk_fd, (long)disk_page, PAGE, at) != PAGE)
		workload_die("cannot read a file");
	end(k, from, 1);
}

static NOINLINE void *disk_thread(void *arg)
{
	struct kind *k = arg;
	uint64_t random = 1;

	be_called("w-disk");
	while (goes_on()) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		ADD_QUEUED(k, wait_on_disk(k, (long)((random >> 33) % DISK_PAGES * PAGE)));
		idle_ns(MSEC);
	}
	return arg;
}

static int make_file(void)
{
	const char *base = getenv("TMPDIR");
	char path[PATH_MAX];
	int i, fd, direct;

	snprintf(path, sizeof(path), "%s/waits-XXXXXX", base ? base : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		workload_die(path);
	for (i = 0; i < DISK_PAGES; i++)
		if (write(fd, disk_page, PAGE) != PAGE)
			workload_die(path);
	if (fsync(fd))
		workload_die(path);
	direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(path);
	close(fd);
	return direct;
}

static void start_disk(struct kind *k)
{
	memset(disk_page, 'x', sizeof(disk_page));
	disk_fd = make_file();
	if (disk_fd < 0)
		fprintf(stderr, "waits: disk: no O_DIRECT in TMPDIR: %s\n", strerror(errno));
	else
		start_thread(disk_thread, k);
}

/* ---- fault: another thread provides the page after 2 ms ---- */

static int fault_fd;
static volatile char *fault_page;

static NOINLINE void wait_in_fault(struct kind *k)
{
	struct moment from = begin();

	workload_sink += (uint64_t)*fault_page;
	end(k, from, 1);
}

static NOINLINE void *fault_thread(void *arg)
{
	struct kind *k = arg;

	be_called("w-fault");
	while (goes_on()) {
		ADD_QUEUED(k, wait_in_fault(k));
		if (madvise((void *)fault_page, PAGE, MADV_DONTNEED))
			workload_die("cannot drop a page");
	}
	return arg;
}

/* It runs until the process ends. */
static NOINLINE void *pager_thread(void *arg)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)fault_page, .len = PAGE } };
	struct uffd_msg msg;

	be_called("w-pager");
	while (read(fault_fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg)) {
		idle_ns(2 * MSEC);
		if (ioctl(fault_fd, UFFDIO_ZEROPAGE, &zero))
			workload_die("cannot bring a page");
	}
	return arg;
}

static void start_fault(struct kind *k)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t pager;

	fault_page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fault_page == MAP_FAILED)
		workload_die("cannot map a page");
	range.range.start = (uintptr_t)fault_page;
	range.range.len = PAGE;
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) || ioctl(fault_fd, UFFDIO_REGISTER, &range)) {
		fprintf(stderr, "waits: fault: no userfaultfd: %s\n", strerror(errno));
		return;
	}
	errno = pthread_create(&pager, NULL, pager_thread, NULL);
	if (errno)
		workload_die("cannot start a thread");
	start_thread(fault_thread, k);
}

/* ---- mutex: the owner keeps it for a millisecond, and three threads wait ---- */

static int lock; /* 0: free, 1: taken, 2: taken, and threads wait for it */

static NOINLINE void wait_for_mutex(struct kind *k)
{
	struct moment from = begin();
	int seen = 0;

	if (!__atomic_compare_exchange_n(&lock, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE))
			futex_wait(&lock, 2);
	end(k, from, 1);
}

static NOINLINE void *mutex_thread(void *arg)
{
	struct kind *k = arg;

	be_called("w-mutex");
	while (goes_on()) {
		ADD_QUEUED(k, wait_for_mutex(k));
		idle_ns(MSEC);
		if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
			futex_wake(&lock, 1);
		idle_ns(MSEC / 2); /* otherwise this thread would take it again */
	}
	return arg;
}

static void start_mutex(struct kind *k)
{
	int i;

	for (i = 0; i < CONVOY; i++)
		start_thread(mutex_thread, k);
}

/* ---- preempted: two threads want one CPU all the time ---- */

static NOINLINE void be_preempted(struct kind *k)
{
	struct rusage before, after;
	struct moment from = begin();

	getrusage(RUSAGE_THREAD, &before);
	while (goes_on())
		spin_iterations(20000);
	getrusage(RUSAGE_THREAD, &after);
	end(k, from, (uint64_t)(after.ru_nivcsw - before.ru_nivcsw));
}

static NOINLINE void *preempted_thread(void *arg)
{
	struct kind *k = arg;

	be_called("w-preempted");
	workload_pin(workload_last_cpu());
	ADD_QUEUED(k, be_preempted(k));
	return arg;
}

static NOINLINE void *spinner_thread(void *arg)
{
	be_called("w-spinner");
	workload_pin(workload_last_cpu());
	while (goes_on())
		spin_iterations(20000);
	return arg;
}

static void start_preempted(struct kind *k)
{
	start_thread(preempted_thread, k);
	start_thread(spinner_thread, k);
}

/* ---- never ---- */

static NOINLINE void wait_forever(void)
{
	int word = 0;

	while (!workload_stop)
		futex_wait(&word, 0);
}

static NOINLINE void *never_thread(void *arg)
{
	be_called("w-never");
	wait_forever();
	return arg;
}

/* Live until SIGTERM, or for @time_ns. SIGUSR1 starts a thread that waits for ever. */
static void live(uint64_t time_ns, const sigset_t *set)
{
	uint64_t now, until = now_ns() + time_ns;
	struct timespec left;
	pthread_t never;

	while ((now = now_ns()) < until) {
		left.tv_sec = (time_t)((until - now) / (1000 * MSEC));
		left.tv_nsec = (long)((until - now) % (1000 * MSEC));
		switch (sigtimedwait(set, NULL, &left)) {
		case SIGTERM:
			return;
		case SIGUSR1:
			errno = pthread_create(&never, NULL, never_thread, NULL);
			if (errno)
				workload_die("cannot start a thread");
		}
	}
}

static struct kind kinds[] = {
	{ "sleep", start_sleep, 0, 0, 0 },         { "futex", start_futex, 0, 0, 0 }, { "pipe", start_pipe, 0, 0, 0 },
	{ "disk", start_disk, 0, 0, 0 },           { "fault", start_fault, 0, 0, 0 }, { "mutex", start_mutex, 0, 0, 0 },
	{ "preempted", start_preempted, 0, 0, 0 },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool asked_for(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	uint64_t time_ns = workload_time(argc, argv, 1, 60);
	sigset_t set;
	unsigned int i;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	alarm((unsigned int)(time_ns / (1000 * MSEC)) + 30); /* whatever happens */
	for (i = 0; i < NR_KINDS; i++)
		if (asked_for(kinds[i].name, argc, argv))
			kinds[i].start(&kinds[i]);
	workload_ready();
	live(time_ns, &set);
	__atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < NR_KINDS; i++)
		if (asked_for(kinds[i].name, argc, argv))
			printf("%s %llu %llu %llu\n", kinds[i].name, (unsigned long long)kinds[i].intervals,
			       (unsigned long long)kinds[i].off_ns / 1000,
			       (unsigned long long)kinds[i].queued_ns / 1000);
	return fflush(stdout) ? 1 : 0;
}
