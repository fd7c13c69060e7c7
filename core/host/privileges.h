/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights that are not needed any more, given up: what a profiled process makes us read, it makes less of.
 *
 * What is kept is named by its use. A use that a newer capability stands for keeps that one; where the kernel does not
 * know it, or we do not have it, the older and wider one, if we have that.
 *
 *   always                            CAP_DAC_READ_SEARCH   files of processes of all users
 *                                     CAP_SYSLOG            addresses in /proc/kallsyms
 *   PRIVILEGES_PROCESSES              CAP_SYS_PTRACE        /proc/PID/root, maps, map_files
 *                                     CAP_CHECKPOINT_RESTORE, before 5.9 CAP_SYS_ADMIN: what map_files leads to
 *   PRIVILEGES_EVENTS                 CAP_PERFMON, before 5.8 CAP_SYS_ADMIN: events of CPUs that come online
 *                                     CAP_IPC_LOCK          their rings, beyond kernel.perf_event_mlock_kb
 *   PRIVILEGES_BPF                    CAP_BPF, before 5.8 CAP_SYS_ADMIN: maps, and names of the kernel, where
 *                                     unprivileged bpf(2) is disabled
 *   PRIVILEGES_REPORT                 CAP_DAC_OVERRIDE, CAP_FOWNER: give the report its name, in any folder; the second
 *                                     in one like /tmp, where the file that is replaced is of somebody else
 *   PRIVILEGES_COMMAND                CAP_KILL              signals for a command that has become another user's
 *   PRIVILEGES_PRIORITY               CAP_SYS_NICE          priority_raise(), priority_create_thread()
 *
 * The program's file may lend capabilities (setcap(8)) to a user who has none of them. Then the caller's own rights
 * have to do for all that the caller names, and for the command. So none are effective to begin with: what is opened
 * before sampling begins needs no thought. privileges_use() puts them into effect when that is done, and the little
 * that is still done for the caller afterwards is between privileges_as_caller() and privileges_back(). It is this way
 * round, because what is not raised does not work, and is seen; what is not lowered works. Where nothing is lent, as
 * for root, none of these does anything.
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
 * struct privileges_need - what is still to be done.
 * @uses: of enum privileges_use
 * @again: with PRIVILEGES_EVENTS: try to open an event, as it will be done; called while the rights that go are not
 *         effective, but could still be. Return: -EACCES, -EPERM: CAP_SYS_ADMIN has to stay. NULL: nothing is tried.
 * @ctx: for @again
 */
struct privileges_need {
	unsigned int uses;
	int (*again)(void *ctx);
	void *ctx;
};

/**
 * privileges_begin() - before anything else is done: are there capabilities that the file lends? They are not effective
 * from now on.
 * Return: 0; -EPERM: set-user-ID or set-group-ID, which is not for this program; -errno of capget(2), capset(2).
 */
int privileges_begin(struct err *err);

/** privileges_lent() - do we have rights that who runs us does not have? Says what privileges_begin() found. */
bool privileges_lent(void);

/**
 * privileges_use() - what is lent is effective from now on, in the calling thread and those it starts. The environment,
 * which is the caller's, is forgotten: libraries read it, too.
 */
void privileges_use(void);

/**
 * privileges_as_caller() - for a moment, the calling thread has nothing but the caller's own rights.
 * privileges_lend() - for a moment, all that is lent; privileges_only() - of that, what the one use needs.
 * Return: what was effective, for privileges_back(). They do not fail: where that were forbidden the process ends.
 */
uint64_t privileges_as_caller(void);
uint64_t privileges_lend(void);
uint64_t privileges_only(enum privileges_use use);
void privileges_back(uint64_t effective);

/**
 * privileges_return() - for good, the calling process has nothing but the caller's own rights. It has one thread. If it
 * has read nothing with what was lent, before privileges_use(), the caller may look into it, too. The inheritable set
 * is the caller's, and stays. Return: 0 or -errno of capset(2) or prctl(2), with which it must not go on.
 */
int privileges_return(void);

/**
 * privileges_drop() - give up all capabilities but those needed, for good, and the right to gain any by executing a
 * program (no_new_privs; the bounding set, too, where that is permitted).
 *
 * What is lent is of no use for a report (PRIVILEGES_REPORT), and is not kept for it.
 *
 * Of the calling thread and of those that it starts: call it before there is another. A program executed later has no
 * capabilities, and set-user-id ones have no effect, so a command that the user gives is started before. Without any
 * capabilities there is nothing to give up, which is no error.
 *
 * Return: 0; -errno: something was not given up, which is described, and the rest was. The process can do all that
 * it needs in any case.
 */
int privileges_drop(const struct privileges_need *need, struct err *err);

/** privileges_none() - the calling thread has no capability from now on. Return: 0 or -errno of capset(2). */
int privileges_none(void);

#endif
