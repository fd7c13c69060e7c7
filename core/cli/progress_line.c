// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress_line.h"

#include "core/base/clock.h"
#include "core/cli/terminal.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define ERASE      "\r\033[K"
#define WIDTH      80 /* if the terminal does not report its width */
#define TEXT_BYTES 128

static size_t put_time(char *out, size_t size, uint64_t ns)
{
	uint64_t s = (ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;

	if (s >= 3600)
		return (size_t)snprintf(out, size, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned int)(s / 60 % 60),
					(unsigned int)(s % 60));
	return (size_t)snprintf(out, size, "%u:%02u", (unsigned int)(s / 60), (unsigned int)(s % 60));
}

const char *progress_line_text(const struct options *o, const struct progress *p, size_t width, char out[TEXT_BYTES])
{
	bool ends = p->left_ns != UINT64_MAX;
	size_t used = (size_t)snprintf(out, TEXT_BYTES, "%s: ", tool_name(o->tool));

	used += put_time(out + used, TEXT_BYTES - used, ends ? p->left_ns : p->elapsed_ns);
	if (ends)
		used += (size_t)snprintf(out + used, TEXT_BYTES - used, " left");
	if (o->sampling.event)
		used += (size_t)snprintf(out + used, TEXT_BYTES - used, ", %" PRIu64 " samples", p->samples);
	if (o->off_cpu.wanted)
		used += (size_t)snprintf(out + used, TEXT_BYTES - used, ", %" PRIu64 " intervals", p->intervals);
	snprintf(out + used, TEXT_BYTES - used, ", %" PRIu64 " lost%s", p->lost, ends ? "" : " (Ctrl-C to end)");
	if (width < TEXT_BYTES)
		out[width] = 0;
	return out;
}

/* Writing beyond the last column would begin another line. */
static size_t width_here(void)
{
	unsigned int columns = terminal_columns(STDERR_FILENO);

	return (columns ? columns : WIDTH) - 1;
}

/*
 * Return false in a background job, and while Ctrl-S has stopped the terminal: a write would block this thread, which
 * also has to process the records of the ring buffers.
 */
static bool may_write(void)
{
	struct pollfd p = { STDERR_FILENO, POLLOUT, 0 };

	return tcgetpgrp(STDERR_FILENO) == getpgrp() && poll(&p, 1, 0) > 0 && p.revents & POLLOUT;
}

static void draw(void *ctx, const struct progress *p)
{
	struct progress_line *l = ctx;
	char text[TEXT_BYTES], line[TEXT_BYTES + sizeof(ERASE)];
	int len;

	if (!may_write())
		return;
	len = snprintf(line, sizeof(line), ERASE "%s", progress_line_text(l->options, p, width_here(), text));
	l->shown |= write(STDERR_FILENO, line, (size_t)len) > 0;
}

static bool is_alone(const struct options *o)
{
	struct stat st;

	return !o->command && !(o->interval_ns && !o->output && !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode));
}

void progress_line_begin(struct progress_line *l, const struct options *o, struct session *s)
{
	const char *term = getenv("TERM");

	*l = (struct progress_line){ .options = o };
	if (isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") && !o->input && is_alone(o))
		session_progress(s, draw, l);
}

/* No may_write() here: the output that follows would have to wait for a stopped terminal, too. */
void progress_line_erase(struct progress_line *l)
{
	if (l->shown && write(STDERR_FILENO, ERASE, strlen(ERASE)) > 0)
		l->shown = false;
}
