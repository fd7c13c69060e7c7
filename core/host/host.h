/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about this host, read from /proc and /sys (or from copies of them, in tests). */
#ifndef CORE_HOST_HOST_H
#define CORE_HOST_HOST_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** struct host - the paths of the two file systems, without final slash. */
struct host {
	const char *proc; /* "/proc" */
	const char *sys;  /* "/sys" */
	bool foreign;     /* @proc belongs to another PID namespace, whose ids mean other processes here */
};

extern struct host host_here;

/** host_here_look() - find out facts that are only known at run time. Call it before all other functions. */
void host_here_look(void);

/** host_tasks() - the directory that has a directory for each process; if @proc is foreign a path that has none. */
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

/** host_online_cpus() - the CPUs in /sys/devices/system/cpu/online; without a /sys, those of sched_getaffinity(). */
int host_online_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/**
 * host_online_again() - host_online_cpus() for a caller that asks again and again: to look up the path and to open the
 * file costs more than to read it. If the open list cannot be read any more, it is opened again.
 * @kept: the descriptor of the list, which the caller closes; 0: none, as before the first call
 */
int host_online_again(const struct host *h, int *kept, struct cpu_list *out, struct err *err);

/** host_possible_cpus() - CPUs that can ever be online, from .../possible; without a /sys as host_online_cpus(). */
int host_possible_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/**
 * host_present_cpus() - CPUs that are present, online or not, from .../present; without a /sys as host_online_cpus().
 */
int host_present_cpus(const struct host *h, struct cpu_list *out, struct err *err);

/** struct cpu_times - how a CPU spent its time since boot, in nanoseconds, counted in ticks (10 ms). */
struct cpu_times {
	bool listed;       /* false: the CPU is offline or does not exist, and the rest is 0 */
	uint64_t idle_ns;  /* no task to run, also while a task waits for a disk (iowait) */
	uint64_t steal_ns; /* a task to run, but the hypervisor ran another guest */
	uint64_t busy_ns;  /* all other time; but some time of interrupts on an idle CPU is in no counter */
};

/**
 * host_cpu_times() - read /proc/stat. Its lines for single CPUs can be trusted; their sum cannot, because it jumps when
 * a CPU goes offline.
 * @cpus: which CPUs
 * @out:  one entry for each of @cpus, in its order; cleared on failure
 * Return: 0; -EINVAL: the file has another format; -errno.
 */
int host_cpu_times(const struct host *h, const struct cpu_list *cpus, struct cpu_times *out, struct err *err);

/**
 * cpu_times_passed() - add to @sum the times of @nr CPUs that passed from @before to @after.
 * @sum: in and out: set its @listed to false before; it becomes true if a CPU is listed in both
 *
 * A CPU that is not listed in both adds nothing. A time that went backwards does not count, either: this happens if a
 * CPU was offline in between, and to steal time when a guest moves to another host.
 */
void cpu_times_passed(const struct cpu_times *before, const struct cpu_times *after, size_t nr, struct cpu_times *sum);

/**
 * host_setting() - the number in /proc/sys/@name, e.g. "kernel/kptr_restrict".
 * Return: 0; -EINVAL: it is not a number; -errno.
 */
int host_setting(const struct host *h, const char *name, long long *out);

/**
 * host_read() - read the first @size - 1 bytes of @top/@name, zero-terminated.
 * @top: host.proc or host.sys
 * Return: how many were read, or -errno.
 */
ssize_t host_read(const char *top, const char *name, char *buf, size_t size);

/**
 * host_field() - find "@name:" in a text of such lines. Return: the rest of the line after blanks; NULL: there is no
 * such line.
 */
const char *host_field(const char *text, const char *name);

/**
 * host_task_field() - read the value of @name, e.g. "CapEff", from /proc/@task/status, without leading blanks
 * and without the newline.
 * @task: "self" or an id
 * Return: 0; -ENOENT: there is no such field or task; -EFBIG: it does not fit into @out; -errno.
 */
int host_task_field(const struct host *h, const char *task, const char *name, char *out, size_t size);

/** host_memory_bytes() - MemTotal of /proc/meminfo; 0: unknown. */
uint64_t host_memory_bytes(const struct host *h);

/**
 * host_has_pmu() - true if the CPUs count hardware events. Their PMU is called "cpu"; or it has the file "cpus",
 * because CPUs differ (cpu_core, cpu_atom) or because it is ARM's. Other PMUs, such as those of memory controllers,
 * have neither.
 */
bool host_has_pmu(const struct host *h);

/**
 * host_is_process() - test whether @pid is a process (its tgid is @pid).
 * @tgid: out: the process to which thread @pid belongs; 0: there is no such task, or it is hidden (hidepid), or @proc
 *        is foreign
 * Return: 1: it is; 0: it is not. If @proc is foreign: 1 for each task that exists, also for a thread.
 */
int host_is_process(const struct host *h, pid_t pid, pid_t *tgid);
/**
 * host_is_zombie() - true if @id has ended, but its parent has not waited for it. A process is a zombie only if all of
 * its threads have ended. False if @proc is foreign.
 * @is_process: @id means the whole process; false: only that thread
 */
bool host_is_zombie(const struct host *h, pid_t id, bool is_process);
/** host_is_thread() - 1 when a thread @tid exists, else 0. */
int host_is_thread(const struct host *h, pid_t tid);

#endif
