/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a guest runs: profile, with its output and cost, and workloads. For kernels from 3.10 on. */
#ifndef TESTS_VM_RUN_H
#define TESTS_VM_RUN_H

#include "tests/vm/tap.h"

#include <stdint.h>
#include <sys/types.h>

enum { DENY_BPF = 1, DENY_PERF = 2 };

/** struct confined - restrictions of a program; all zeros: it is root. */
struct confined {
	bool nobody;         /* run as another user, without privileges */
	unsigned int denied; /* system calls that return ENOSYS, as on a kernel without them */
};

/** struct run - a run of profile or offcputime. run_free() frees its output. */
struct run {
	pid_t pid;
	int out_fd, err_fd;
	char args[256]; /* its arguments */
	int status;     /* its exit status; 128 + signal; -1: it did not end in time */
	char *out, *err;
	uint64_t forked_ns; /* CLOCK_MONOTONIC */
	long maxrss_kb;
};

/** run_start() - run profile with arguments separated by blanks. No return value: a failure ends the guest. */
void run_start(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/** run_start_offcputime() - the same for offcputime. */
void run_start_offcputime(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/**
 * run_await_sampling() - wait until it prints that its events are open. Return: false: it has ended, or does not print
 * that.
 */
bool run_await_sampling(struct run *r);
/** run_end() - wait until it ends. */
void run_end(struct run *r);
void run_free(struct run *r);
/** run_profile() - start it and wait until it ends. */
void run_profile(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/** run_offcputime() - the same for offcputime. */
void run_offcputime(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);

/**
 * load_start() - start a workload under the name @name, and wait until it prints "ready".
 * @args: separated by blanks
 */
pid_t load_start(const char *program, const char *name, const char *args, bool nobody);
void load_stop(pid_t pid);
/** load_cpu_ms() - the CPU time that it has used. */
uint64_t load_cpu_ms(pid_t pid);

uint64_t now_ns(void);
void nap_ms(unsigned int ms);
/** await() - wait until @holds(@arg); false: not within @seconds. */
bool await(bool (*holds)(void *arg), void *arg, unsigned int seconds);
void die(const char *what) __attribute__((noreturn));

#endif
