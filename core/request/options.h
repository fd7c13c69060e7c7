/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is asked for: a checked command line. */
#ifndef CORE_REQUEST_OPTIONS_H
#define CORE_REQUEST_OPTIONS_H

#include "core/base/err.h"
#include "core/host/event_types.h"
#include "core/host/host.h"
#include "core/report/cfg.h"

enum options_action {
	ACTION_PROFILE,
	ACTION_HELP,
	ACTION_VERSION,
	ACTION_PRINT_BPF,     /* --ebpf */
	ACTION_LIST_BACKENDS, /* --list-backends */
};

/**
 * enum unwind_mode - how user stacks are walked.
 * UNWIND_DEFAULT: by frame pointer; of a recording, as what was recorded permits
 */
enum unwind_mode { UNWIND_DEFAULT, UNWIND_BY_FP, UNWIND_BY_RULES };

#define STACK_DUMP_MAX 65528 /* PERF_SAMPLE_STACK_USER; the size of a record has 16 bits */

/** enum tool - which of the two commands this is. */
enum tool { TOOL_PROFILE, TOOL_OFFCPUTIME };

const char *tool_name(enum tool tool);

/** struct options - a checked command line. Strings point into argv. */
struct options {
	enum options_action action;
	enum tool tool;
	bool on_cpu, off_cpu; /* what is counted: samples of what runs, intervals off the CPU; at least one of them */

	pid_t *pids; /* -p or -L, sorted ascending, no duplicates; owned */
	size_t nr_pids;
	bool by_tid; /* they came with -L */
	bool user_only, kernel_only;
	unsigned int group; /* parts that rows' keys have: enum row_group; no option sets any */
	bool include_idle;
	const char *cgroup_map, *mntns_map; /* --cgroupmap, --mntnsmap: pinned BPF maps; NULL: not given */
	pid_t mntns_of;                     /* --mntns: whose mount namespace; 0: not given */
	const char *comm;                   /* --comm; NULL: not given */
	const char *cgroup;                 /* --cgroup: a folder; NULL: not given */
	int cpu;                            /* -C; -1: all */

	const struct event_type *event; /* to sample */
	const char *event_name;         /* -e as it was written; NULL: not given */
	uint64_t freq_hz;               /* 0: @period counts */
	uint64_t period;                /* every that many events; 0: @freq_hz counts */

	/* Which intervals off the CPU count. Without @on_cpu the event, rate and period are not used. */
	bool user_threads, kernel_threads; /* -u, -k: only those; both false: any */
	uint64_t min_ns, max_ns;           /* -m, -M: their length; UINT64_MAX: without limit */
	int64_t state_mask;  /* --state: of the thread, as it left its CPU, 0: it could still run; -1: any */
	bool open_intervals; /* --open-intervals: those, too, that have not ended by the end of the run */

	uint64_t duration_ns; /* 0: until interrupted */
	uint64_t interval_ns; /* -i; 0: one report */
	const char *duration; /* as it was written, for the header; NULL: none */

	struct report_cfg report;
	bool list_fields;     /* --list-backends with -f: lines for scripts */
	const char *output;   /* -o; NULL: stdout, or stderr with a command */
	char *const *command; /* to be run and sampled, with its arguments, then NULL; NULL: none */
	const char *
		input; /* --input, "-": stdin; NULL: take samples. Then what they are asked for is not looked up here */
	const char *debug_dir;          /* --debug-dir; NULL: not given */
	const char *kallsyms, *vmlinux; /* files; NULL: not given */
	const char *backend;            /* --backend: a name, or WAY_BOTH; NULL: auto */
	enum unwind_mode unwind;        /* --unwind; UNWIND_DEFAULT: not given */
	uint32_t dump_bytes;            /* --stack-dump-size */
	uint32_t hash_entries, stack_entries;
	bool stats, verbose;
};

/** options_release() - what it owns. */
void options_release(struct options *o);

#endif
