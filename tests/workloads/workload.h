/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the workloads. A workload is a program that the tests profile. Its first argument is the time that it may
 * live, in seconds (default 60). It prints "ready" when it has begun its work, and leaves nothing behind. Its functions
 * are noinline, so that their names are in the stacks.
 */
#ifndef TESTS_WORKLOAD_H
#define TESTS_WORKLOAD_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define MSEC     1000000ULL /* ns */

__attribute__((unused)) static volatile uint64_t workload_sink; /* for unused results */

/*
 * Always 0. Loops read it so that the compiler does not know that they are endless: a call that never returns may be
 * the last instruction of its function, and its return address then belongs to the next one.
 */
__attribute__((unused)) static volatile int workload_stop;

__attribute__((unused)) static void workload_die(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline __attribute__((always_inline, unused)) uint64_t spin_step(uint64_t x)
{
	return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

/*
 * Take as long as @n multiplications in sequence. Inlined: the caller is the leaf. Each turn of the loop does eight,
 * because a turn costs an AMD EPYC half a cycle more if a cache line ends within the loop: with one multiplication in a
 * turn that was 12 %.
 */
static inline __attribute__((always_inline, unused)) void spin_iterations(uint64_t n)
{
	volatile uint64_t result; /* in memory: gcc omits the frame of a leaf that stores nothing in it */
	uint64_t x = n;

	for (; n >= 8; n -= 8)
		x = spin_step(spin_step(spin_step(spin_step(spin_step(spin_step(spin_step(spin_step(x))))))));
	while (n--)
		x = spin_step(x);
	result = x;
	(void)result;
}

static inline __attribute__((always_inline, unused)) uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static inline __attribute__((unused)) uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * Work until @clock has advanced by @ns: CLOCK_THREAD_CPUTIME_ID does so only while the thread works. Inlined, so that
 * the caller is the leaf, except in the vdso's clock now and then.
 */
static inline __attribute__((always_inline, unused)) void spin_clock_ns(clockid_t clock, uint64_t ns)
{
	uint64_t end = clock_ns(clock) + ns;

	do
		spin_iterations(20000);
	while (clock_ns(clock) < end);
}

static inline __attribute__((always_inline, unused)) void spin_ns(uint64_t ns)
{
	spin_clock_ns(CLOCK_MONOTONIC, ns);
}

__attribute__((unused)) static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000ULL), .tv_nsec = (long)(ns % 1000000000ULL) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* The number in argv[i], or @dflt without one. */
__attribute__((unused)) static long workload_arg(int argc, char **argv, int i, long dflt)
{
	char *end;
	long v;

	if (i >= argc)
		return dflt;
	v = strtol(argv[i], &end, 10);
	if (*end || end == argv[i] || v < 0) {
		fprintf(stderr, "workload: bad number '%s'\n", argv[i]);
		exit(2);
	}
	return v;
}

/* The seconds in argv[i], which may have decimals, as nanoseconds; @dflt seconds without one. */
__attribute__((unused)) static uint64_t workload_time(int argc, char **argv, int i, unsigned int dflt)
{
	double seconds = dflt;
	char *end;

	if (i < argc) {
		seconds = strtod(argv[i], &end);
		if (*end || end == argv[i] || !(seconds >= 0 && seconds < 1e6)) {
			fprintf(stderr, "workload: bad time '%s'\n", argv[i]);
			exit(2);
		}
	}
	return (uint64_t)(seconds * 1e9);
}

/* End by SIGALRM after argv[1] seconds (default 60). An alarm outlives exec, so chains of programs end, too. */
__attribute__((unused)) static long workload_live(int argc, char **argv)
{
	long seconds = workload_arg(argc, argv, 1, 60);

	alarm((unsigned int)seconds);
	return seconds;
}

__attribute__((unused)) static int workload_nr_named;

/* Threads name themselves. Tests look for the names when the workload is ready, so await them before that. */
__attribute__((unused)) static void workload_name_thread(const char *name)
{
	prctl(PR_SET_NAME, name);
	__atomic_add_fetch(&workload_nr_named, 1, __ATOMIC_RELAXED);
}

__attribute__((unused)) static void workload_await_names(int nr)
{
	while (__atomic_load_n(&workload_nr_named, __ATOMIC_RELAXED) < nr)
		sleep_ns(MSEC);
}

__attribute__((unused)) static void workload_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Run on @cpu only. */
__attribute__((unused)) static void workload_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		workload_die("cannot pin to a CPU");
}

/* The last CPU that this process may use. */
__attribute__((unused)) static int workload_last_cpu(void)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		workload_die("cannot read the CPU affinity");
	for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(cpu, &set); cpu--)
		;
	return cpu;
}

/* Copy the contents of the file @from to @path, which is opened with @flags. */
__attribute__((unused)) static void workload_copy(const char *from, const char *path, int flags)
{
	char buf[65536];
	ssize_t n;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(path, O_WRONLY | O_CLOEXEC | flags, 0700);

	if (in < 0 || out < 0)
		workload_die(in < 0 ? from : path);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			workload_die(path);
	if (n < 0 || close(out))
		workload_die(path);
	close(in);
}

/*
 * For programs that exec: make @dir/@name, a copy of this executable. Hard links would not work across file systems.
 */
__attribute__((unused)) static void workload_copy_self(const char *dir, const char *name)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	workload_copy("/proc/self/exe", path, O_CREAT | O_EXCL);
}

static char workload_dir[PATH_MAX];
static const char *const *workload_copies;

/* Uses only calls that are safe in a signal handler. */
static void workload_remove_copies(int sig)
{
	size_t i;

	if (chdir(workload_dir) == 0) {
		for (i = 0; workload_copies[i]; i++)
			unlink(workload_copies[i]);
		rmdir(workload_dir);
	}
	if (sig) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

/*
 * Make a directory with copies of this executable named @names (NULL-terminated), which is removed when a signal ends
 * this process. A program that ends in another way calls workload_remove_copies(0).
 */
__attribute__((unused)) static const char *workload_make_copies(const char *const *names)
{
	static const int deadly[] = { SIGALRM, SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa = { .sa_handler = workload_remove_copies };
	const char *base = getenv("TMPDIR");
	size_t i;

	snprintf(workload_dir, sizeof(workload_dir), "%s/workload-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(workload_dir))
		workload_die(workload_dir);
	workload_copies = names;
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &sa, NULL);
	for (i = 0; names[i]; i++)
		workload_copy_self(workload_dir, names[i]);
	return workload_dir;
}

#endif
