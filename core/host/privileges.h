/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drop capabilities as soon as they are no longer needed, so that hostile input read later has less to gain.
 *
 * A capability is kept because of a use. If there is a newer, narrower capability for the use, that one is kept. If the
 * kernel does not know it, or the process does not have it, the older and wider one is kept instead.
 *
 *   always                            CAP_DAC_READ_SEARCH   files of processes of all users
 *                                     CAP_SYSLOG            addresses in /proc/kallsyms
 *   PRIVILEGES_PROCESSES              CAP_SYS_PTRACE        /proc/PID/root, maps, map_files
 *                                     CAP_CHECKPOINT_RESTORE, before 5.9 CAP_SYS_ADMIN: targets of map_files
 *   PRIVILEGES_EVENTS                 CAP_PERFMON, before 5.8 CAP_SYS_ADMIN: events of CPUs that come online
 *                                     CAP_IPC_LOCK          their rings, beyond kernel.perf_event_mlock_kb
 *   PRIVILEGES_BPF                    CAP_BPF, before 5.8 CAP_SYS_ADMIN: BPF maps, and kernel symbols from a BPF
 *                                     program, where unprivileged bpf(2) is disabled
 *   PRIVILEGES_REPORT                 CAP_DAC_OVERRIDE, CAP_FOWNER: give the report its name, in any directory; the
 *                                     second in one like /tmp, to replace a file of another user
 *   PRIVILEGES_COMMAND                CAP_KILL              signals for a command that has changed its user
 *   PRIVILEGES_PRIORITY               CAP_SYS_NICE          priority_raise(), priority_thread_start()
 *
 * The program's file may have capabilities (setcap(8)), which the kernel then lends to a user who has none of them.
 * Everything that the caller names, and the command, must be opened with the caller's own rights. So no lent capability
 * is effective at first: files opened before sampling begins need no extra care. Then privileges_use() makes them
 * effective. The little that is done for the caller afterwards is between privileges_as_caller() and privileges_back().
 * This order is safer: a forgotten raise fails and is noticed, a forgotten drop works unnoticed. For root and for a
 * file without capabilities, there are no lent ones, and the functions above privileges_drop() change nothing.
 */
#ifndef CORE_HOST_PRIVILEGES_H
#define CORE_HOST_PRIVILEGES_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum privileges_use {
	PRIVILEGES_PROCESSES = 1 << 0,
	PRIVILEGES_EVENTS = 1 << 1,
	PRIVILEGES_BPF = 1 << 2,
	PRIVILEGES_REPORT = 1 << 3,
	PRIVILEGES_COMMAND = 1 << 4,
	PRIVILEGES_PRIORITY = 1 << 5,
};

/**
 * struct privileges_need - what still has to be done.
 * @uses: bits of enum privileges_use
 * @again: with PRIVILEGES_EVENTS: try to open an event like those of CPUs that come online later. Called while the
 *         capabilities to be dropped are not effective, but could become so again. Return: -EACCES, -EPERM:
 *         CAP_SYS_ADMIN has to stay. NULL: no test.
 * @ctx: for @again
 */
struct privileges_need {
	unsigned int uses;
	int (*again)(void *ctx);
	void *ctx;
};

/**
 * privileges_begin() - call it first of all: find out whether the file lends capabilities, and make these ineffective.
 * Return: 0; -EPERM: set-user-ID or set-group-ID, which this program does not support; -errno of capget(2), capset(2).
 */
int privileges_begin(struct err *err);

/** privileges_lent() - true if privileges_begin() found lent capabilities. */
bool privileges_lent(void);

/**
 * privileges_use() - make lent capabilities effective from now on, in the calling thread and those it starts. Clear the
 * environment, which comes from the caller: libraries read it, too.
 */
void privileges_use(void);

/**
 * privileges_as_caller() - for a moment, use only the caller's own rights in the calling thread. privileges_lend() -
 * for a moment, use all lent capabilities; privileges_only() - of these, only those for one use.
 * Return: the previously effective capabilities, for privileges_back(). These functions do not fail: if the kernel
 * refuses, the process aborts.
 */
uint64_t privileges_as_caller(void);
uint64_t privileges_lend(void);
uint64_t privileges_only(enum privileges_use use);
void privileges_back(uint64_t effective);

/**
 * privileges_return() - permanently return to the caller's own rights. The process must have one thread. If it has not
 * called privileges_use(), so has read nothing with lent capabilities, it becomes dumpable, so that the caller may
 * trace and sample it. The inheritable set belongs to the caller, and stays. Return: 0 or -errno of capget(2),
 * capset(2) or prctl(2), after which the process must not continue.
 */
int privileges_return(void);

/**
 * privileges_drop() - permanently drop all capabilities except the needed ones, and the possibility to gain any by an
 * exec (no_new_privs; also the bounding set, if that is permitted).
 *
 * Lent capabilities are not needed for a report (PRIVILEGES_REPORT), and are not kept for it.
 *
 * This applies to the calling thread and to threads that it starts later: call it before another thread exists. A
 * program that is executed later gains no capabilities, and its set-user-id bit has no effect, so the user's command
 * must be started before. A process without capabilities has nothing to drop, which is no error.
 *
 * Return: 0; -errno: a part could not be dropped, which is described; the rest was. The process can do its work in any
 * case.
 */
int privileges_drop(const struct privileges_need *need, struct err *err);

/** privileges_none() - drop all capabilities of the calling thread. Return: 0 or -errno of capset(2). */
int privileges_none(void);

#endif
