/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: the first one ends the sampling, a second one the process. And those that writing a report may
 * cause, which are its errors instead.
 */
#ifndef CORE_HOST_SIGNALS_H
#define CORE_HOST_SIGNALS_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** signals_catch() - block both. Return: a signalfd of them, not blocking; -errno. None has come so far. */
int signals_catch(struct err *err);

/**
 * signals_take() - has one come? It is taken from @fd then, and passed on, unless it is the twin of the last one: who
 * is sent one as a process may be sent it once more as a member of its group.
 */
bool signals_take(int fd);

/**
 * signals_due() - when the work on a report has to end, so that the report is there within 5 s after the first signal.
 * Whatever may take long ends by then, and leaves out the rest. May be called in any thread, also before the signal is
 * taken from its descriptor: it may come while the thread that takes it is busy.
 * Return: CLOCK_MONOTONIC, in ns; UINT64_MAX: no signal has come since signals_catch() or signals_note().
 */
uint64_t signals_due(void);

/** signals_overdue() - true after signals_due(): begin nothing that may take long. */
bool signals_overdue(void);

/**
 * signals_pass_to() - each signal taken is sent to @pid, too, a child of ours, unless the terminal has sent it to both;
 * 0: to nobody, as it begins.
 */
void signals_pass_to(pid_t pid);

/**
 * signals_note() - the first of each only sets what signals_noted() tells, and system calls go on; a second one of it
 * ends the process.
 */
void signals_note(void);
/** signals_noted() - has one come since signals_note()? */
bool signals_noted(void);
/** signals_obey() - from now on a report is due, as signals_due() says, because of a signal that was noted. */
void signals_obey(void);

/**
 * signals_release() - from here on they end the process again, also where they were ignored when it started; in the
 * thread that calls this, and others where they are not blocked. That one is passed on, too. But the twin of the last
 * one that was taken does nothing.
 */
void signals_release(void);

/** signals_pass() - as signals_release(), but they are passed on and end nothing. */
void signals_pass(void);

/** signals_hold() - block both in the calling thread: the next signals_wait() has those that come meanwhile. */
void signals_hold(void);
/**
 * signals_wait() - until one of both, or @other, has come, which have to be blocked. Those of both are passed on, as
 * signals_take() does.
 */
void signals_wait(int other);

/** signals_ignore() - SIGPIPE and SIGXFSZ. */
void signals_ignore(void);
/** signals_restore() - both as they were before signals_ignore(): for a child that executes another program. */
void signals_restore(void);

#endif
