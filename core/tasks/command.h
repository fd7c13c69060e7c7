/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that the user gave to be run and sampled: `profile -- command args`.
 *
 * Its process is there from command_start() on, with what the user started us with: rights, limits, signals. It waits
 * until events on it are open, and command_release() lets it execute the command. Whatever becomes of it, it is
 * the user's: it is never killed, only told of signals that were meant for both, see signals_pass_to().
 */
#ifndef CORE_TASKS_COMMAND_H
#define CORE_TASKS_COMMAND_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct command;

/**
 * command_start() - call it before rights are given up, limits are raised, and threads are started.
 * @argv: at least one, then NULL; borrowed
 *
 * SIGCHLD is blocked until command_free(), in the calling thread and those it starts meanwhile.
 * Return: NULL: described in @err.
 */
struct command *command_start(char *const *argv, struct err *err);

/** command_pid() - also that of its first thread; it does not change when the command is executed. */
pid_t command_pid(const struct command *c);

/**
 * command_release() - it is executed now, found as a shell finds it. Once at most.
 * @signal_fd: of signals_catch(); when it is readable before the exec is over, which may take long where a file system
 *             does not answer, that is not waited for, and nobody hears whether it fails. -1: there is none
 * Return: 0: it was, a signal came, or ended its process before; -errno: it could not be, and its process is gone.
 */
int command_release(struct command *c, int signal_fd, struct err *err);

/** command_fd() - readable when command_ended() may have another answer. Ours. */
int command_fd(const struct command *c);
/** command_ended() - does not wait. The processes that it made may go on. */
bool command_ended(struct command *c);
/**
 * command_cpu_ns() - CPU time of the command and of those processes below it that were waited for, when it has ended.
 * @user_only: not that in the kernel, as far as it was told apart
 */
uint64_t command_cpu_ns(const struct command *c, bool user_only);
/**
 * command_wait() - until it has ended; what was not released is gone then, and has run nothing. SIGINT and SIGTERM do
 * nothing meanwhile but to be passed on, until command_free().
 * Return: its exit status, or 128 and the number of the signal that killed it.
 */
int command_wait(struct command *c);

/** command_free() - what was not released is gone then, and has run nothing; else it goes on. NULL is fine. */
void command_free(struct command *c);

#endif
