/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on the terminal that tells how far sampling is, while nothing else is printed:
 *
 *   profile: 0:18 left, 1204 samples, 0 lost
 *   profile: 0:42, 1204 samples, 0 lost (Ctrl-C to end)
 *
 * There is none where stderr is no terminal, or one that cannot erase a line (TERM=dumb); nor of a recording, which is
 * not waited for. Nor is there one where others may print to the same terminal meanwhile: a command, or the reader of a
 * pipe that gets a report each interval.
 */
#ifndef CORE_CLI_PROGRESS_LINE_H
#define CORE_CLI_PROGRESS_LINE_H

#include "core/session/session.h"

/** struct progress_line - all zeros: there is none. */
struct progress_line {
	const struct options *options;
	bool shown;
};

/** progress_line_begin() - from now on session_run() of @s, which has to outlive neither, shows it where it may. */
void progress_line_begin(struct progress_line *l, struct session *s);

/** progress_line_erase() - before anything else is printed. */
void progress_line_erase(struct progress_line *l);

/** progress_line_text() - what it says: at most @width columns. Return: @out. */
const char *progress_line_text(const struct options *o, const struct progress *p, size_t width, char out[128]);

#endif
