/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on the terminal that shows the progress of sampling, while nothing else is printed:
 *
 *   profile: 0:18 left, 1204 samples, 0 lost
 *   profile: 0:42, 1204 samples, 0 lost (Ctrl-C to end)
 *
 * There is no such line if stderr is not a terminal, or if TERM is "dumb" or not set; nor for a recording, which is
 * read without waiting. The same holds if other programs may print to the same terminal meanwhile: a command,
 * or the reader of a pipe that gets a report in each interval.
 */
#ifndef CORE_CLI_PROGRESS_LINE_H
#define CORE_CLI_PROGRESS_LINE_H

#include "core/cli/command_line.h"
#include "core/session/session.h"

/** struct progress_line - all zeros: no line is shown. */
struct progress_line {
	const struct options *options;
	bool shown;
};

/**
 * progress_line_begin() - show the line during session_run() of @s, where possible. @l must exist until that has ended.
 */
void progress_line_begin(struct progress_line *l, const struct options *o, struct session *s);

/** progress_line_erase() - erase it before anything else is printed. */
void progress_line_erase(struct progress_line *l);

/** progress_line_text() - the text of the line: at most @width columns. Return: @out. */
const char *progress_line_text(const struct options *o, const struct progress *p, size_t width, char out[128]);

#endif
