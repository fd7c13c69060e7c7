/* SPDX-License-Identifier: Apache-2.0 */
/* What this host allows and has, read from /proc and /sys (or from copies of them, in tests). */
#ifndef CORE_HOST_HOST_H
#define CORE_HOST_HOST_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** struct host - where the two file systems are. Without final slash. */
struct host {
	const char *proc; /* "/proc" */
	const char *sys;  /* "/sys" */
	bool foreign; /* @proc is of another pid namespace: its processes are others than those of these numbers here */
};

extern struct host host_here;

/** host_here_look() - find out what cannot be known before: to be called first of all. */
void host_here_look(void);

/** host_tasks() - the directory with a folder for each process. None is in it where @proc is foreign. */
const char *host_tasks(const struct host *h);

/** struct cpu_list - CPU numbers, ascending, no duplicates; owned, see cpu_list_release(). */
struct cpu_list {
	int *cpu;
	size_t nr;
};

/**
 * cpu_list_parse() - read the kernel's list format, "0-3,5,8-11\n" (admin-guide/cputopology.rst).
 * Return: 0; -EINVAL: not such a list, empty, not ascending, or a number above 65535; -ENOMEM. @out is
 *         written only for 0.
 */
int cpu_list_parse(const char *text, struct cpu_list *out);
bool cpu_list_has(const struct cpu_list *l, int cpu);
void cpu_list_release(struct cpu_list *l);

/** host_online_cpus() - from /sys/devices/system/cpu/online; without a /sys, those of sched_getaffinity. */
int host_online_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/** host_possible_cpus() - those that can ever be online, from .../possible; without a /sys as host_online_cpus(). */
int host_possible_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/** host_present_cpus() - those that are there, online or not, from .../present; without a /sys as host_online_cpus().
 */
int host_present_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/** struct cpu_times - what became of a CPU's time since boot, in nanoseconds, counted in ticks (10 ms). */
struct cpu_times {
	bool listed;       /* false: the CPU is offline or there is none, and the rest is 0 */
	uint64_t idle_ns;  /* nothing to run, also while a task waits for a disk (iowait) */
	uint64_t steal_ns; /* something to run, but the hypervisor ran something else */
	uint64_t busy_ns;  /* all else; but of the interrupts of an idle CPU some time is nowhere */
};

/**
 * host_cpu_times() - from /proc/stat, whose lines of single CPUs can be trusted where their sum cannot: that one jumps
 * when a CPU goes offline.
 * @cpus: which
 * @out:  as many as @cpus has, in its order; cleared on failure
 * Return: 0; -EINVAL: not such a file; -errno.
 */
int host_cpu_times(const struct host *h, const struct cpu_list *cpus, struct cpu_times *out, struct err *err);

/**
 * cpu_times_passed() - add to @sum what became of the time of @nr CPUs from @before to @after.
 * @sum: as the caller initialized it; listed: a CPU was in both
 *
 * A CPU that one of them does not list adds nothing, nor does a time that went back, as that of a CPU that was offline
 * in between may (steal does when a guest moves to another host).
 */
void cpu_times_passed(const struct cpu_times *before, const struct cpu_times *after, size_t nr, struct cpu_times *sum);

/** host_setting() - the number in /proc/sys/@name, e.g. "kernel/kptr_restrict". Return: 0, -errno, -EINVAL */
int host_setting(const struct host *h, const char *name, long long *out);

/**
 * host_read() - the first @size - 1 bytes of @top/@name, zero terminated.
 * @top: host.proc or host.sys
 * Return: how many there are, or -errno.
 */
ssize_t host_read(const char *top, const char *name, char *buf, size_t size);

/** host_field() - what follows "@name:" and blanks in a text of such lines; NULL: there is no such line. */
const char *host_field(const char *text, const char *name);

/**
 * host_task_field() - what /proc/@task/status says of @name, e.g. "CapEff": without the blanks before it and the
 * newline.
 * @task: "self" or a number
 * Return: 0; -ENOENT: it says nothing of that, or there is no such task; -EFBIG: more than @out has room for; -errno.
 */
int host_task_field(const struct host *h, const char *task, const char *name, char *out, size_t size);

/** host_memory_bytes() - MemTotal of /proc/meminfo; 0 when unknown. */
uint64_t host_memory_bytes(const struct host *h);

/**
 * host_is_process() - is @pid a process (its tgid is @pid)?
 * @tgid: out: the process that @pid is a thread of; 0: there is no such task, or it is hidden (hidepid)
 * Return: 1: it is; 0: it is not.
 */
int host_is_process(const struct host *h, pid_t pid, pid_t *tgid);
/**
 * host_is_zombie() - true if @id has ended, but its parent has not waited for it. A process is a zombie only if all of
 * its threads have ended. @is_process: not a single thread
 */
bool host_is_zombie(const struct host *h, pid_t id, bool is_process);
/** host_is_thread() - 1 when a thread @tid exists, else 0. */
int host_is_thread(const struct host *h, pid_t tid);

#endif
