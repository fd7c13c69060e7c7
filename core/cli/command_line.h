/* SPDX-License-Identifier: Apache-2.0 */
/* The checked command line. */
#ifndef CORE_CLI_COMMAND_LINE_H
#define CORE_CLI_COMMAND_LINE_H

#include "core/base/err.h"
#include "core/report/cfg.h"
#include "core/request/request.h"

enum options_action {
	ACTION_PROFILE,
	ACTION_HELP,
	ACTION_VERSION,
	ACTION_PRINT_BPF,     /* --ebpf */
	ACTION_LIST_BACKENDS, /* --list-backends */
	ACTION_SUMMARY,       /* -h */
};

#define TABLE_LINES 30 /* default of --limit */

/** enum color_use - color in messages; COLOR_AUTO: if they go to a terminal. */
enum color_use { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/** enum tool - which of the two commands this is. */
enum tool { TOOL_PROFILE, TOOL_OFFCPUTIME };

const char *tool_name(enum tool tool);

/** struct options - a checked command line. Strings point into argv. */
struct options {
	enum options_action action;
	enum tool tool;

	pid_t *pids;       /* -p, -L or -t, sorted ascending, no duplicates; owned */
	pid_t *given_pids; /* the same in the order of the command line, to print; owned */
	size_t nr_pids;
	/* Only the name, the idle task, @by_tid, -U and -K; request_of() sets the rest, from the other members. */
	struct filter filter;
	struct groups groups;
	int cpu; /* -C; -1: all */

	struct sampling sampling; /* without an event, rate and period are not used */
	struct off_cpu off_cpu;   /* --off-cpu; offcputime: always, with -m, -M, --open-intervals */
	const char *event_name;   /* the argument of -e; NULL: not given */

	/* Filters for intervals off the CPU. */
	bool user_threads, kernel_threads; /* -u, -k: only user or kernel threads; both false: any */
	/* --state: bits of the states in which the thread left its CPU, 0: it could still run; -1: any */
	int64_t state_mask;

	uint64_t duration_ns; /* 0: until interrupted */
	uint64_t interval_ns; /* -i; 0: one report */
	const char *duration; /* the argument, for the header; NULL: none */

	struct report_cfg report;
	bool wants_cgroups;     /* the report prints the cgroups of processes */
	bool list_fields;       /* --list-backends with -f: lines for scripts */
	const char *output;     /* -o; NULL: stdout, or stderr with a command */
	char *const *arguments; /* the whole command line; NULL: none */
	char *const *command;   /* a command to run and sample, with its arguments, then NULL; NULL: none */
	/*
	 * The first file of --input, or in a copy of the options for one recording, that recording. "-": stdin; NULL:
	 * take samples. With --input, processes and CPUs in options are not checked on this host.
	 */
	const char *input;
	const char *input_copy; /* path at which to read @input instead; NULL: @input itself */
	const char **inputs;    /* all files of --input; owned */
	size_t nr_inputs;
	const char *baseline;           /* --baseline: a report to compare with; NULL: none */
	double fail_above;              /* --fail-above: points; below 0: not given */
	const char *debug_dir;          /* --debug-dir; NULL: not given */
	const char *symfs;              /* --symfs; NULL: not given */
	const char *kallsyms, *vmlinux; /* files; NULL: not given */
	const char *backend;            /* --backend: a name, or WAY_BOTH (core/session/ways.h); NULL: auto */
	enum unwind_mode unwind;        /* --unwind */
	uint32_t dump_bytes;            /* --stack-dump-size; 0: the session chooses */
	struct table_sizes tables;
	enum color_use color; /* --color */
	bool stats, verbose;
};

/** options_release() - free the memory that @o owns. */
void options_release(struct options *o);

#endif
