/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a guest runs: profile, with what it said and took, and what is profiled. For kernels from 3.10 on. */
#ifndef TESTS_VM_RUN_H
#define TESTS_VM_RUN_H

#include "tests/vm/tap.h"

#include <stdint.h>
#include <sys/types.h>

enum { DENY_BPF = 1, DENY_PERF = 2 };

/** struct confined - what a program may not do; all zeros: it is root. */
struct confined {
	bool nobody;         /* another user, without rights */
	unsigned int denied; /* system calls that say ENOSYS, as a kernel without them does */
};

/** struct run - of profile, or offcputime. What it said is freed by run_free(). */
struct run {
	pid_t pid;
	int out_fd, err_fd;
	char args[256]; /* it was run with */
	int status;     /* its exit status; 128 + signal; -1: it did not end in time */
	char *out, *err;
	uint64_t forked_ns; /* CLOCK_MONOTONIC */
	long maxrss_kb;
};

/** run_start() - run profile with arguments that are separated by blanks. Nothing is returned: failing ends the guest.
 */
void run_start(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/** run_start_offcputime() - the same of the other program. */
void run_start_offcputime(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/** run_await_sampling() - until it says that its events are open. Return: false: it has ended, or does not say so. */
bool run_await_sampling(struct run *r);
/** run_end() - wait until it ends. */
void run_end(struct run *r);
void run_free(struct run *r);
/** run_profile() - from start to end. */
void run_profile(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);
/** run_offcputime() - the same of the other program. */
void run_offcputime(struct run *r, const struct confined *as, const char *format, ...) PRINTF(3, 4);

/**
 * load_start() - run a program of this folder until it says "ready", as @name.
 * @args: separated by blanks
 */
pid_t load_start(const char *program, const char *name, const char *args, bool nobody);
void load_stop(pid_t pid);
/** load_cpu_ms() - the CPU time that it got. */
uint64_t load_cpu_ms(pid_t pid);

uint64_t now_ns(void);
void nap_ms(unsigned int ms);
/** await() - until @holds(@arg); false: it did not within @seconds. */
bool await(bool (*holds)(void *arg), void *arg, unsigned int seconds);
void die(const char *what) __attribute__((noreturn));

#endif
