/* SPDX-License-Identifier: Apache-2.0 */
/* The request of a run, made from the command line by core/cli/request.c. */
#ifndef CORE_REQUEST_REQUEST_H
#define CORE_REQUEST_REQUEST_H

#include "core/host/event_types.h"
#include "core/host/host.h"
#include "core/tasks/command.h"
#include "core/tasks/filter.h"
#include "unwind/mode.h"

/** struct sampling - the samples of running threads. */
struct sampling {
	const struct event_type *event; /* NULL: no samples are taken */
	uint64_t freq_hz;               /* 0: use @period */
	uint64_t period;                /* a sample for so many events; 0: use @freq_hz */
};

/** struct off_cpu - the intervals off the CPU. A run without them takes samples. */
struct off_cpu {
	bool wanted;
	bool open;               /* also intervals that have not ended when the run ends */
	uint64_t min_ns, max_ns; /* limits of their length; UINT64_MAX: none */
};

/** struct groups - groups of tasks, as the user named them. session_open() opens them, and adds them to the filter. */
struct groups {
	const char *cgroup;                 /* a directory; NULL: none */
	const char *cgroup_map, *mntns_map; /* paths of pinned BPF maps; NULL: none */
	pid_t mntns_of;                     /* only tasks in the mount namespace of this process; 0: any */
};

/** struct input - the recording to read. */
struct input {
	const char *path;  /* "-": stdin; NULL: none, this host is sampled */
	const char *copy;  /* path at which to read it instead; NULL: @path itself */
	const char *event; /* name of the event whose samples count; NULL: the first one with samples */
};

#define STACK_DUMP_MAX   65528 /* PERF_SAMPLE_STACK_USER; the size of a record has 16 bits */
#define STACK_DUMP_LEAST 16384 /* the default of request.dump_least; few stacks are larger */

#define HASH_ENTRIES  40960 /* the defaults of struct table_sizes */
#define STACK_ENTRIES 16384

/** struct table_sizes - the most entries of the tables in the kernel. */
struct table_sizes {
	uint32_t counts, stacks;
};

/** struct request - unchanged once the session is open. Strings are borrowed. */
struct request {
	const struct host *host;
	struct sampling sampling;
	struct off_cpu off_cpu;
	struct filter filter; /* the filter on samples and intervals */
	struct groups groups;
	struct input input;
	uint64_t duration_ns; /* 0: until interrupted */
	uint64_t interval_ns; /* between reports; 0: there is one report */
	const char *backend;  /* name of the only way to try, or WAY_BOTH (core/session/ways.h); NULL: any */
	bool both;            /* --backend=both: every sample is counted in the kernel, and also passed on */
	enum unwind_mode unwind;
	uint32_t dump_asked; /* bytes of the stack copies; 0: the session chooses */
	struct table_sizes tables;
	const char *debug_dir, *symfs; /* see struct mapped_files_cfg */
	bool keeps_cgroups;            /* the report needs the cgroups of processes */
	bool counts_entries;           /* the statistics of the tables in the kernel are needed */
	bool writes_file;              /* -o: the file of the report gets its name when the session is over */

	/* The session sets these before it is open. */
	struct command *command; /* only it is sampled, by following its threads or by filter.tree; NULL: none */
	unsigned int asked;      /* see callchain_asked(); for a recording, the limit with which it was made */
	bool unwinds;            /* user stacks are unwound in user space: samples have the data for that */
	/* With @unwinds, bytes of the stack copies; and the smallest useful size, if the rings have little room. */
	uint32_t dump_bytes, dump_least;
	bool proves;   /* with @unwinds: use frame pointers if they are proven right: see unwind_mode */
	bool in_pidns; /* this process is in a PID namespace: there may be tasks outside */
};

/** request_wants_first() - true if the mappings or cgroups of processes are to be read at their first sample. */
static inline bool request_wants_first(const struct request *r)
{
	/* Without user stacks, only the cgroup of a process is of use. */
	return !r->filter.no_user || r->keeps_cgroups;
}

#endif
