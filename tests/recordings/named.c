// SPDX-License-Identifier: Apache-2.0
/*
 * named FILE [dwarf] - print the report of a recording of perf record. In place of the module it has the address of
 * each frame as perf script prints it: "OFFSET(FILE)", or the address alone in the kernel and if no file is known.
 * Frames without symbol are [unknown], as in perf script. With "dwarf", stacks are unwound, and in user stacks the
 * address of a caller is the byte before the return address.
 *
 * Exit status: 0; 1: not a recording, or it cannot be read.
 */
#include "tests/replay/recording.h"

#include "core/cli/options.h"
#include "core/cli/request.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/session/statistics.h"
#include "core/report/report.h"
#include "core/symbols/symbols.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct named {
	struct session *session;
	struct symbols *symbols;
	bool dwarf;
	struct frame_names places; /* a report needs its modules until it ends */
	char place[PATH_MAX + 32];
};

static void set_module(struct named *n, struct symbol *out)
{
	frame_t place;

	if (frame_names_add(&n->places, FRAME_MARKER, n->place, &place))
		die("no memory");
	out->module = frame_names_text(&n->places, place);
	out->anonymous = true;
}

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	struct named *n = ctx;

	symbols_kernel(n->symbols, addr, is_return, out);
	snprintf(n->place, sizeof(n->place), "%" PRIx64, addr);
	set_module(n, out);
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	struct named *n = ctx;
	struct mapping m;
	uint64_t at = addr - (n->dwarf && is_return);
	const char *path;

	symbols_user(n->symbols, pid, comm, image, addr, is_return, out);
	out->offset -= out->offset ? addr - at : 0;
	snprintf(n->place, sizeof(n->place), "%" PRIx64, at);
	if (tasks_find(n->session->sink.tasks, pid, comm, image, addr - is_return, &m) == 1) {
		path = m.file->path;
		if ((path[0] == '/' && path[1] != '/') || !strcmp(path, "[vdso]"))
			snprintf(n->place, sizeof(n->place), "%" PRIx64 "(%s)", at - m.start + m.pgoff, path);
	}
	set_module(n, out);
}

static int demangle_names(void *ctx, const char *const *names, size_t nr, const char **out)
{
	struct named *n = ctx;

	return symbols_demangle(n->symbols, names, nr, out);
}

int main(int argc, char **argv)
{
	bool dwarf = argc == 3 && !strcmp(argv[2], "dwarf");
	char *args[] = { argv[0], "--input", argv[1], dwarf ? "--unwind=dwarf" : "--unwind=fp", NULL };
	const struct report_cfg form = { .form = &report_text, .delimited = true, .offsets = true };
	struct named n = { .dwarf = dwarf };
	const struct report_names names = { &n, name_kernel, name_user, .demangle = demangle_names };
	struct symbols_cfg cfg = { 0 };
	struct options options;
	struct err err;

	if (argc != 2 + dwarf)
		die("usage: named FILE [dwarf]");
	if (options_parse(&options, TOOL_PROFILE, 4, args, &host_here, &err))
		die("%s", err.msg);
	n.session = request_session(&options, &host_here);
	if (!n.session)
		die("no memory");
	cfg.files = &n.session->files;
	if (symbols_open(n.session->sink.tasks, &cfg, &n.symbols, &err) || session_open(n.session, &err) ||
	    session_run(n.session, &err) < 0 || report_write(stdout, session_samples(n.session), &names, &form, &err))
		die("%s", err.msg);
	symbols_free(n.symbols);
	frame_names_release(&n.places);
	session_close(n.session);
	session_free(n.session);
	options_release(&options);
	return 0;
}
