/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command for us to run and sample: `profile -- command args`.
 *
 * command_start() makes its process, with the rights, limits and signals that we were started with. The process waits
 * until events on it are open; command_release() lets it execute the command. We never kill it. We only pass on the
 * SIGINT and SIGTERM that we get, see signals_pass_to().
 */
#ifndef CORE_TASKS_COMMAND_H
#define CORE_TASKS_COMMAND_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct command;

/**
 * command_start() - call it before dropping rights, raising limits, and starting threads.
 * @argv: at least one, then NULL; borrowed
 *
 * SIGCHLD is blocked until command_free(), in the calling thread and in threads that it starts meanwhile.
 * Return: NULL: the error is in @err.
 */
struct command *command_start(char *const *argv, struct err *err);

/** command_pid() - also the id of its first thread; it does not change with the exec. */
pid_t command_pid(const struct command *c);

/**
 * command_release() - execute the command now, found like a shell finds it. Call it at most once.
 * @signal_fd: from signals_catch(). Exec may take long if a file system does not answer: if a signal comes first, do
 *             not wait for the exec, and do not report whether it fails. -1: there is none
 * Return: 0: the exec succeeded, a signal came first, or the process ended before the exec; -errno: exec failed, and
 * the process is gone.
 */
int command_release(struct command *c, int signal_fd, struct err *err);

/** command_fd() - a descriptor, readable if the result of command_ended() may have changed. Owned by @c. */
int command_fd(const struct command *c);
/** command_ended() - true if the command has ended; does not wait. Its child processes may go on. */
bool command_ended(struct command *c);
/**
 * command_cpu_ns() - CPU time of the command and of the processes below it that were waited for, once it has ended.
 * @user_only: without the time in the kernel, as far as the kernel counts it separately
 */
uint64_t command_cpu_ns(const struct command *c, bool user_only);
/**
 * command_wait() - wait until it has ended; a command that was not released ends and runs nothing. SIGINT and SIGTERM
 * are blocked in the calling thread until command_free(); while it waits, it passes them on.
 * Return: its exit status, or 128 + the number of the signal that killed it.
 */
int command_wait(struct command *c);

/** command_free() - a command that was not released ends and runs nothing; any other goes on. NULL is fine. */
void command_free(struct command *c);

#endif
