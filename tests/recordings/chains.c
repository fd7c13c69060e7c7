// SPDX-License-Identifier: Apache-2.0
/*
 * chains FILE - print the rows of a recording of perf record, one in a line: its samples, the command, and the user
 * stack, leaf first, with addresses as perf script prints them: "OFFSET(FILE)", or the address alone if no file is
 * known. For callers, it is the byte before the return address. Fields are separated by tabs. There are no symbols, so
 * that only unwinding can make a difference.
 *
 * Exit status: 0; 1: not a recording, or it cannot be read.
 */
#include "tests/replay/recording.h"

#include "core/cli/options.h"
#include "core/cli/request.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/session/statistics.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static void print_text(const char *text, size_t len)
{
	for (; len && *text; len--, text++)
		putchar(isprint((unsigned char)*text) ? *text : '?');
}

/* The address of a caller is in its call instruction, which is before the return address. */
static uint64_t code_address(const struct stack *stack, uint32_t i)
{
	uint64_t addr = stack->frames[i];

	if (i && frame_is_exact(addr))
		return addr & ~FRAME_EXACT;
	return addr - !!i;
}

static void print_frame(const struct session *session, const struct row *row, uint32_t i)
{
	uint64_t addr = code_address(&row->key.user, i);
	char comm[COMM_LEN + 1] = { 0 };
	struct mapping m;

	memcpy(comm, row->key.comm, COMM_LEN);
	putchar('\t');
	if (tasks_find(session->sink.tasks, row->key.pid, comm, row->key.image, addr, &m) != 1 ||
	    ((m.file->path[0] != '/' || m.file->path[1] == '/') && strcmp(m.file->path, "[vdso]"))) {
		printf("%" PRIx64, addr);
		return;
	}
	printf("%" PRIx64 "(", addr - m.start + m.pgoff);
	print_text(m.file->path, SIZE_MAX);
	putchar(')');
}

static void print_row(const struct session *session, const struct row *row)
{
	uint32_t i;

	printf("%" PRIu64 "\t", row->value);
	print_text(row->key.comm, COMM_LEN);
	for (i = 0; i < row->key.user.nr; i++)
		print_frame(session, row, i);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct options options;
	struct row row;
	struct session *session;
	struct err err;
	size_t i;

	if (argc != 2)
		die("usage: chains FILE");
	if (options_parse(&options, TOOL_PROFILE, 3, (char *[]){ argv[0], "--input", argv[1], NULL }, &host_here, &err))
		die("%s", err.msg);
	session = request_session(&options, &host_here);
	if (!session)
		die("no memory");
	if (session_open(session, &err) || session_run(session, &err) < 0)
		die("%s", err.msg);
	for (i = 0; i < rows_nr(session_samples(session)); i++) {
		rows_get(session_samples(session), i, &row);
		print_row(session, &row);
	}
	session_close(session);
	session_free(session);
	options_release(&options);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write");
	return 0;
}
