// SPDX-License-Identifier: Apache-2.0
#include "core/cli/runtimes.h"

#include "core/base/err.h"
#include "core/base/number.h"

#include <stdint.h>
#include <string.h>

/*
 * @name:    the base name of its program or library or, with @prefix, the beginning of that
 * @prefix:  more may follow @name, if it begins with a digit, a '.' or a '-', as in "libnode.so.115"
 * @program: only for a program: another process may map a file of this name as data
 */
static const struct file_name {
	const char *name;
	bool prefix, program;
	enum runtime is;
} file_names[] = {
	{ "node", false, true, RUNTIME_NODE },
	{ "nodejs", false, true, RUNTIME_NODE },
	{ "libnode.so", true, false, RUNTIME_NODE },
	{ "python3.", true, true, RUNTIME_PYTHON },
	{ "libpython3.", true, false, RUNTIME_PYTHON },
	{ "libjvm.so", false, false, RUNTIME_JAVA },
	{ "libcoreclr.so", false, false, RUNTIME_DOTNET },
	{ "beam.smp", false, true, RUNTIME_ERLANG },
};

/*
 * @live:     how to run it so that it writes a perf map; @after_pid: text after the PID that follows @live, NULL: no
 *            PID follows
 * @recorded: how to record it so that there is a jitdump
 */
static const struct way {
	const char *live, *after_pid, *recorded; /* @live, @recorded: NULL: there is no way */
} ways[] = {
	[RUNTIME_NONE] = { NULL, NULL, NULL },
	[RUNTIME_NODE] = { "run node --perf-basic-prof", NULL, "node --perf-prof" },
	[RUNTIME_PYTHON_TRAMPOLINES] = { "run python3 -X perf", NULL, NULL },
	[RUNTIME_PYTHON] = { "run python3 -X perf", NULL, "python3 -X perf_jit" },
	[RUNTIME_JAVA] = { "run java -XX:+PreserveFramePointer, and before the report jcmd ", " Compiler.perfmap",
			   NULL },
	[RUNTIME_DOTNET] = { "run it with DOTNET_PerfMapEnabled=1", NULL, "it with DOTNET_PerfMapEnabled=1" },
	[RUNTIME_ERLANG] = { "run erl +JPperf true", NULL, NULL },
};

/* @rest: text after "python3." */
static enum runtime python_of(const char *rest)
{
	uint64_t minor;

	if (parse_digits(&rest, 10, UINT32_MAX, &minor))
		return RUNTIME_NONE;
	return minor < 12 ? RUNTIME_NONE : minor == 12 ? RUNTIME_PYTHON_TRAMPOLINES : RUNTIME_PYTHON;
}

static bool is_called(const char *base, const struct file_name *f)
{
	size_t len = strlen(f->name);

	if (strncmp(base, f->name, len) != 0)
		return false;
	return !base[len] || (f->prefix && strchr(".-0123456789", base[len]));
}

enum runtime runtime_of_file(const char *path, bool is_program)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(file_names); i++)
		if ((is_program || !file_names[i].program) && is_called(base, &file_names[i]))
			return file_names[i].is == RUNTIME_PYTHON ? python_of(base + strlen(file_names[i].name))
								  : file_names[i].is;
	return RUNTIME_NONE;
}

bool runtime_can(enum runtime r, bool recorded)
{
	return recorded ? ways[r].recorded : ways[r].live;
}

void runtime_print(FILE *out, enum runtime r, bool recorded, pid_t pid)
{
	const struct way *way = &ways[r];

	if (recorded)
		fprintf(out, "record %s by perf record -k 1, then use perf inject --jit", way->recorded);
	else if (way->after_pid)
		fprintf(out, "%s%d%s", way->live, pid, way->after_pid);
	else
		fprintf(out, "%s", way->live);
}
