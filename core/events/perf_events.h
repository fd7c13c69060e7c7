/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events of a run: attributes, descriptors, and the sizes of their rings. */
#ifndef CORE_EVENTS_PERF_EVENTS_H
#define CORE_EVENTS_PERF_EVENTS_H

#include "compat/tracepoint.h"
#include "core/events/ring_sizes.h"
#include "core/request/request.h"

#include <linux/perf_event.h>

/** enum noted - what a program in the kernel writes notes about. */
enum noted { NOTED_SAMPLES, NOTED_SWITCHES, NOTED_NR };

/** struct joined_event - another event whose records go to the ring of an event_place. */
struct joined_event {
	int fd;
	uint64_t switch_id; /* PERF_SAMPLE_IDENTIFIER of one of events.switch_attr; 0: it is of events.attr */
};

/**
 * struct side_band - what tells of the tasks and mappings of one CPU, in a ring of its own.
 *
 * @fd is an event of PERF_COUNT_SW_DUMMY, which never fires; -1: there is none. @more are the others whose records go
 * to the ring of @fd: those of the threads that are followed, or that alone are asked for.
 */
struct side_band {
	int fd;
	uint64_t
		tasks_id; /* PERF_SAMPLE_IDENTIFIER of @fd, if it writes all FORK and EXIT records of its CPU; else 0 */
	int *more;
	size_t nr_more, cap_more;
	size_t ring_bytes; /* of its ring; set by the reader */
};

/**
 * struct event_place - one perf event on one CPU that this host may have; @fd is -1 while the CPU is offline.
 * Where threads are followed it is that of one of them on this CPU, and @more has those of the others. Where there are
 * samples and switches, too, @more has the events of these.
 */
struct event_place {
	int fd;
	int cpu;
	struct joined_event *more;
	size_t nr_more;
	bool waits;   /* its CPU is offline; the events of threads are open, and get their ring when it comes */
	bool samples; /* false: side-band records only (a CPU that -C leaves out) */

	/* What a program in the kernel writes notes to, for each kind of these; their records go to the ring of @fd. */
	struct event_notes {
		int fd;      /* -1: there is no such program */
		uint64_t id; /* PERF_SAMPLE_IDENTIFIER */
	} notes[NOTED_NR];
	size_t ring_bytes; /* of its ring; set by the reader */
	struct side_band side;

	/* Moments of CLOCK_MONOTONIC: of the last look at the time it has been enabled for, and of this interval. */
	uint64_t looked_at, looked_ns;
	unsigned int stands; /* at so many looks that time stood still: its CPU may have gone and be back; */
	uint64_t stands_ns;  /* at this, */
	uint64_t stands_at;  /* which was here; */
	uint64_t again_at;   /* when it is looked at again; all of these count where @stands does */
	bool due;            /* has been online: since then samples of it are due, */
	uint64_t due_from;   /* which was here; */
	uint64_t offline_at; /* since when it is offline, if it is; */
	uint64_t offline_ns; /* how long it was offline before */
};

/**
 * struct event_counts - what read(2) of an event gives: events.attr has PERF_FORMAT_TOTAL_TIME_ENABLED and, if the
 * kernel has it, PERF_FORMAT_LOST.
 */
struct event_counts {
	uint64_t value, enabled_ns;
	uint64_t lost; /* records, since 6.0 */
};

/** enum switch_source - what tells of threads that leave a CPU and come back. */
enum switch_source {
	SWITCHES_NONE,          /* nobody asks */
	SWITCHES_BY_TRACEPOINT, /* sched:sched_switch, with the stacks of the thread that leaves; and as the next: */
	SWITCHES_BY_RECORDS,    /* the event context-switches for the stacks, PERF_RECORD_SWITCH for both (4.3) */
	SWITCHES_BY_PROGRAM,    /* a program in the kernel, which notes what it cannot count */
};

/** struct events - all zeros: there are none, as of a recording. The reader notes the sizes of its rings in @places. */
struct events {
	const struct request *request;
	bool has_notes; /* programs in the kernel write notes */

	enum switch_source switches;      /* where the rings' reader sees them */
	struct event_type event;          /* whose samples are taken, */
	struct event_type switch_event;   /* and where the reader sees switches, which may be the same */
	struct sched_switch sched_switch; /* of SWITCHES_BY_TRACEPOINT, and where a program in the kernel uses it: id 0:
					     it is not known, @no_tracepoint says why */
	struct err no_tracepoint;

	struct followed *followed; /* threads that are sampled instead of whole CPUs; NULL: these */
	struct err user_only;  /* why only user code is sampled, and user stacks; code 0: not because of the kernel */
	struct err unfollowed; /* how many threads could not be followed, and why; code 0: all are */

	/*
	 * The attributes the kernel accepted; the same for all events of a kind, so one decoder serves all rings. What
	 * records have that are no samples is the same for all kinds.
	 */
	struct perf_event_attr attr, switch_attr, notes_attr[NOTED_NR];
	struct perf_event_attr side_attr; /* of what tells of tasks and mappings: where that is not apart, as @attr */
	bool apart;                 /* it has rings of its own: @attr tells of samples, switches and losses alone */
	bool no_room_apart;         /* there was not enough memory to be locked for that */
	bool hurry;                 /* a counter was told of a proof: reading soon spares copies; noted by the reader */
	bool lost_sight;            /* of a target: see side_band_tell_of_all(); noted by the reader */
	bool side_of_all;           /* that has been done */
	bool side_of_targets;       /* mappings are told of the threads alone that are asked for */
	struct event_place *places; /* one for each CPU that may be there, the same for the whole run */
	size_t nr_places;
	size_t nr_cpus; /* of them that sampled, at most, also after events_close() */
	/*
	 * Sizes of each event's rings, powers of two of pages, or 0; the reader lowers them where needed, and
	 * @ring_refused is -errno of mmap(2) for larger ones then.
	 */
	struct ring_sizes rings;
	struct ring_sizes rings_wanted; /* what would survive a stall of the reader, if the host had the memory */
	int ring_refused;
	size_t kept_bytes_max; /* see source_ops.fetch */
	uint64_t kept_bytes;   /* that waited there, at most; noted by the reader */
	uint64_t dump_needed;  /* bytes that would have held the largest stack which a copy did not; noted by the reader
				*/
	struct err refused;    /* why a CPU that came online could not be sampled, the first time; code 0: never */
	struct watch *watch;
	int held_fd; /* see events_hold(); 0: none */

	/* Of the interval that ended. */
	uint64_t due_ns;     /* sum over the CPUs that sample, of the time since they came online */
	uint64_t offline_ns; /* of that: while they were offline */
};

/** events_read_switches() - does the rings' reader see the switches? */
static inline bool events_read_switches(const struct events *ev)
{
	return ev->switches == SWITCHES_BY_TRACEPOINT || ev->switches == SWITCHES_BY_RECORDS;
}

/** events_join_switches() - are there events at switches beside those that sample? */
static inline bool events_join_switches(const struct events *ev)
{
	return ev->request->options->on_cpu && events_read_switches(ev);
}

/**
 * events_want_kernel_code() - are records about code that the kernel makes (PERF_RECORD_KSYMBOL) of use? The kernel
 * writes them to events of whole CPUs, and to events of the thread that loads a BPF program.
 */
static inline bool events_want_kernel_code(const struct events *ev)
{
	return !ev->request->options->user_only && !ev->followed;
}

#endif
