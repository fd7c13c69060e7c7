/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: the perf events, the backends that count, and the loop until the end.
 *
 *   session_new()   checks nothing, opens nothing
 *   session_open()  (open.h) opens the events and chooses the way, or opens a recording; sampling has not begun
 *   session_run()   samples until an interval or the run is over, then reads the rest of its samples
 *   session_free()
 */
#ifndef CORE_SESSION_SESSION_H
#define CORE_SESSION_SESSION_H

#include "core/session/state.h"

/**
 * session_new() - @request is copied, and its pointers are borrowed.
 * @ways: to choose from, all with live sources or all with recordings; borrowed
 * Return: NULL: no memory.
 */
struct session *session_new(const struct request *request, const struct way *ways);

/**
 * session_command() - sample only @command (borrowed) and its descendants, until it ends. Call it before
 * session_open().
 */
void session_command(struct session *s, struct command *command);

/**
 * session_ahead() - do work in advance for which the report would have to wait. While the kernel is sampled, @more is
 * called from time to time until it returns false. Each call should take no longer than a system call.
 */
void session_ahead(struct session *s, bool (*more)(void *ctx), void *ctx);

/**
 * session_progress() - while the kernel is sampled, call @fn about twice a second, first after half a second. This
 * causes no wakeups of its own: the loop wakes up more often anyway.
 */
void session_progress(struct session *s, void (*fn)(void *ctx, const struct progress *p), void *ctx);

/**
 * session_run() - sample until an interval of the report or the run is over.
 *
 * SIGINT and SIGTERM end the run. Then they have their default effect again, so that a second signal ends the process.
 * A failure while sampling ends the run.
 * Return: 1: an interval is over; sampling goes on, and a thread empties the rings until the next call. 0: the run is
 * over. -errno. After 1 and 0, session_samples() and session_intervals() (statistics.h) have the rows of the
 * interval that ended, until the next call.
 */
int session_run(struct session *s, struct err *err);

/** session_targets_ended() - true if all processes of -p, or threads of -L or -t, have ended. Then the run ends. */
bool session_targets_ended(const struct session *s);

/**
 * session_files_hung() - number of files mapped by processes that were not opened because their file system did not
 * answer in time.
 */
size_t session_files_hung(const struct session *s);
/** session_files_unserved() - number of files that were not opened because no process could be started to open them. */
size_t session_files_unserved(const struct session *s);

/**
 * session_close() - close events and rings, except those that events_hold() keeps. Rows and tasks stay for the report.
 * Call it after session_stats().
 */
void session_close(struct session *s);

void session_free(struct session *s);

/** session_way_name() - the name of the way, for --backend and --stats. */
const char *session_way_name(const struct session *s);

#endif
