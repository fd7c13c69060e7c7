/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM: the first one ends the sampling, a second one the process. Also signals that writing a report may
 * cause, which become errors of the write instead.
 */
#ifndef CORE_HOST_SIGNALS_H
#define CORE_HOST_SIGNALS_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * signals_catch() - block SIGINT and SIGTERM in the calling thread, and forget earlier signals (signals_due()). Return:
 * a non-blocking signalfd for them; -errno.
 */
int signals_catch(struct err *err);

/**
 * signals_take() - read a signal from @fd, and pass it on as signals_pass_to() says. A twin, the same signal within
 * 200 ms, is read but has no effect. A signal sent to a process may be sent again to its process group (timeout(1)).
 * Return: true if there was a signal.
 */
bool signals_take(int fd);

/**
 * signals_due() - when the work on a report has to end, so that it is printed within 5 s after the first signal. Work
 * that takes long ends by then, and leaves out the rest. May be called in any thread, also before the signal is taken
 * from its descriptor: the signal may come while the thread that takes it is busy.
 * Return: CLOCK_MONOTONIC, in ns; UINT64_MAX: there was no signal yet. signals_catch() and signals_note() forget
 * earlier ones. After signals_note(), a signal counts only from signals_obey() on.
 */
uint64_t signals_due(void);

/** signals_overdue() - true if the time of signals_due() has passed: then begin no work that may take long. */
bool signals_overdue(void);

/**
 * signals_pass_to() - from now on pass each taken signal on to our child @pid, unless the terminal has sent it to the
 * child, too. 0, the initial value: pass none on.
 */
void signals_pass_to(pid_t pid);

/**
 * signals_note() - the first signal of each kind only sets the result of signals_noted(), and system calls continue; a
 * second one of that kind ends the process.
 */
void signals_note(void);
/** signals_noted() - true if a signal has come since signals_note(). */
bool signals_noted(void);
/** signals_obey() - a signal was noted: the time of signals_due() counts from now, unless it counts already. */
void signals_obey(void);

/**
 * signals_release() - unblock both in the calling thread. From now on each of them is passed on and then ends the
 * process, even if it was ignored when the process started. The twin of the last taken signal does nothing.
 */
void signals_release(void);

/** signals_pass() - as signals_release(), but signals are only passed on and do not end the process. */
void signals_pass(void);

/** signals_hold() - block both in the calling thread: the next signals_wait() gets those that come meanwhile. */
void signals_hold(void);
/**
 * signals_wait() - wait for SIGINT, SIGTERM or the signal @other; the caller has blocked all three. The first two are
 * handled as by signals_take().
 */
void signals_wait(int other);

/** signals_ignore() - ignore SIGPIPE and SIGXFSZ. */
void signals_ignore(void);
/** signals_restore() - undo signals_ignore(), for a child that executes another program. */
void signals_restore(void);

#endif
