/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: the perf events, who counts, the loop until the end.
 *
 *   session_new()   checks nothing, opens nothing
 *   session_open()  opens the events and chooses the way, or opens a recording; sampling has not begun
 *   session_run()   samples until an interval or the run is over, then takes what is left of it
 *   session_free()
 */
#ifndef CORE_SESSION_SESSION_H
#define CORE_SESSION_SESSION_H

#include "core/session/state.h"

/** session_new() - @options and @host are borrowed. NULL: no memory. */
struct session *session_new(const struct options *options, const struct host *host);

/** session_command() - sample nothing but @command, borrowed, until it ends. Call it before session_open(). */
void session_command(struct session *s, struct command *command);

/**
 * session_ahead() - work that the report would wait for: @more is called from time to time while the kernel is sampled,
 * until it returns false. It should not take longer than a system call each time.
 */
void session_ahead(struct session *s, bool (*more)(void *ctx), void *ctx);

/**
 * session_progress() - while the kernel is sampled, @fn is called about twice a second, for the first time after half a
 * second. No other time is waited for because of that: the loop wakes up more often anyway.
 */
void session_progress(struct session *s, void (*fn)(void *ctx, const struct progress *p), void *ctx);

/**
 * session_run() - sample until an interval of the options is over, or the run.
 *
 * SIGINT and SIGTERM end the run; then they have their default effect again, so that a second one ends the process. A
 * failure while sampling ends the run.
 * Return: 1: an interval is over, and sampling goes on, a thread of its own emptying the rings until the next call; 0:
 * the run is over; -errno. For the first two session_samples() and session_intervals() have the rows of the interval
 * that ended, until the next call.
 */
int session_run(struct session *s, struct err *err);

/** session_targets_ended() - have all processes of -p, or threads of -L, ended? A run ends with them. */
bool session_targets_ended(const struct session *s);

/** session_files_hung() - files of processes that were given up because their file system did not answer in time. */
size_t session_files_hung(const struct session *s);
/** session_files_unserved() - those that were not opened because no process could be started to open them. */
size_t session_files_unserved(const struct session *s);

/**
 * session_close() - close events and rings, but for what events_hold() keeps: what is left serves the report. After
 * session_stats().
 */
void session_close(struct session *s);

void session_free(struct session *s);

/** session_way_name() - of --backend and --stats. */
const char *session_way_name(const struct session *s);

#endif
