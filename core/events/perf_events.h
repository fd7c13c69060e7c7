/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events of a run: attributes, descriptors, and sizes of their rings. */
#ifndef CORE_EVENTS_PERF_EVENTS_H
#define CORE_EVENTS_PERF_EVENTS_H

#include "compat/tracepoint.h"
#include "core/events/ring_sizes.h"
#include "core/request/request.h"

#include <linux/perf_event.h>

/** enum event_kind - what the records of an event are. A run measures samples, switches, or both. */
enum event_kind {
	EVENT_SAMPLES,
	EVENT_SWITCHES,
	MEASURED_NR,
	EVENT_NOTES = MEASURED_NR, /* of a BPF program: the notes about events of kind K have kind EVENT_NOTES + K */
	EVENT_SWITCH_NOTES,
	EVENT_SIDE_BAND, /* records of tasks and mappings, in rings of their own */
	EVENT_KINDS
};

/**
 * struct joined_event - an event whose records go to the ring of another event, that of an event_place. @id: its
 * PERF_SAMPLE_IDENTIFIER; not needed, and 0, if it is of the same kind as that one.
 */
struct joined_event {
	int fd;
	enum event_kind kind;
	uint64_t id;
};

/**
 * struct side_band - the events that record tasks and mappings on one CPU, with a ring of their own.
 *
 * @fd is an event of PERF_COUNT_SW_DUMMY, which never fires; -1: there is none. @more are the other events that write
 * to the ring of @fd. If threads are followed, @fd is of one of them, and @more has one for each other thread. If @fd
 * leaves mappings to the events of wanted threads (events.side_of_targets), there is one for each of these; after
 * side_band_tell_of_all() one more, which records for all tasks what @fd leaves out.
 */
struct side_band {
	int fd;
	/* PERF_SAMPLE_IDENTIFIER of the event that writes all FORK and EXIT records of the CPU; 0: none does */
	uint64_t tasks_id;
	int *more;
	size_t nr_more, cap_more;
	size_t ring_bytes; /* of its ring; set by the reader */
};

/**
 * struct event_place - a possible CPU of this host, and its perf event; @fd is -1 while the CPU is offline. If
 * threads are followed, @fd is the event of one of them on this CPU, and @more has those of the others. If the run has
 * samples and switches, @more has the switch events, too.
 */
struct event_place {
	int fd;
	int cpu;
	struct joined_event *more;
	size_t nr_more;
	bool waits;   /* the CPU is offline: the open events of threads get their ring when it comes online */
	bool samples; /* false: side-band records only (a CPU that -C leaves out) */

	/* A BPF program writes notes about samples and switches to these events. @fd -1: it writes no such notes */
	struct joined_event notes[MEASURED_NR];
	size_t ring_bytes; /* of its ring; set by the reader */
	struct side_band side;

	/* When we last read the event's enabled time (CLOCK_MONOTONIC), and the enabled time then. */
	uint64_t looked_at, looked_ns;
	unsigned int stands; /* looks in a row that found it not advanced: the CPU may have gone and come back */
	uint64_t stands_ns;  /* the enabled time that they found; this and the next two count only if @stands */
	uint64_t stands_at;  /* when the enabled time still advanced, as far as we know */
	uint64_t again_at;   /* when to look again */
	bool due;            /* the CPU was online: samples are due since @due_from */
	uint64_t due_from;
	uint64_t offline_at; /* since when the CPU is offline, if it is */
	uint64_t offline_ns; /* how long it was offline before that */
};

/**
 * struct event_counts - the layout of read(2) from an event: all have PERF_FORMAT_TOTAL_TIME_ENABLED and, if the kernel
 * supports it, PERF_FORMAT_LOST.
 */
struct event_counts {
	uint64_t value, enabled_ns;
	uint64_t lost; /* records, since 6.0 */
};

/** enum switch_source - how the run sees threads leave a CPU and come back. */
enum switch_source {
	SWITCHES_NONE,          /* no off-CPU time was requested */
	SWITCHES_BY_TRACEPOINT, /* sched:sched_switch, with the stacks of the leaving thread; and PERF_RECORD_SWITCH */
	SWITCHES_BY_RECORDS, /* the event context-switches for stacks, PERF_RECORD_SWITCH (4.3) for both directions */
	SWITCHES_BY_PROGRAM, /* a BPF program, which writes a note about each switch that it cannot count */
};

/**
 * struct events - all perf events of a run; all zeros: none, as for a recording. The reader sets the sizes of its
 * rings in @places.
 */
struct events {
	const struct request *request;
	bool has_notes; /* BPF programs write notes */

	enum switch_source switches; /* how the run sees switches */
	enum event_kind leads; /* the kind of the events that have a ring: switches only if there are no samples */
	struct event_type types[MEASURED_NR];
	/* for SWITCHES_BY_TRACEPOINT, and for a BPF program; id 0: unknown, see @no_tracepoint */
	struct sched_switch sched_switch;
	struct err no_tracepoint;

	struct followed *followed; /* threads that are sampled; NULL: whole CPUs are sampled */
	struct err user_only;      /* why the kernel permits only user code and user stacks; code 0: no such limit */
	struct err unfollowed;     /* how many threads could not be followed, and why; code 0: all are followed */

	/*
	 * The attributes that the kernel accepted. They are the same for all events of a kind, so one decoder serves
	 * all rings. The fields behind records that are not samples (sample_id_all) are laid out alike for all kinds
	 * that share a ring.
	 */
	struct perf_event_attr attrs[EVENT_KINDS];
	/*
	 * Tasks and mappings have rings of their own. False: the leading events record them, and the attributes of
	 * EVENT_SIDE_BAND are a copy of theirs.
	 */
	bool apart;
	bool no_room_apart; /* locked memory was not enough for that */
	/*
	 * Read the rings soon: a process that is new to us may exit; or stacks are being proved (core/sources/notes.h),
	 * and until they are proved, their samples come with stack copies. Set by the reader and the session.
	 */
	bool hurry;
	bool lost_sight;            /* a target has lost its events: see side_band_tell_of_all(); set by the reader */
	bool side_of_all;           /* side_band_tell_of_all() was called */
	bool side_of_targets;       /* mappings are recorded for the wanted threads only */
	struct event_place *places; /* one for each possible CPU, the same for the whole run */
	size_t nr_places;
	size_t nr_cpus; /* the most that sampled at once; kept after events_close() */
	/*
	 * Sizes of each event's rings: powers of two of pages, or 0. The reader lowers them if needed; then
	 * @ring_refused is the -errno of mmap(2) for larger rings.
	 */
	struct ring_sizes rings;
	struct ring_sizes rings_wanted; /* sizes that survive a stall of the reader, if the host had the memory */
	int ring_refused;
	bool wakes_at_samples; /* each sample wakes the reader, see rings_wakeup() */
	size_t kept_bytes_max; /* see source_ops.fetch */
	uint64_t kept_bytes;   /* the most bytes that waited there; set by the reader */
	/* bytes of a stack copy that would have held the largest stack that did not fit; set by the reader */
	uint64_t dump_needed;
	struct err refused; /* why a CPU that came online could not be sampled, the first time; code 0: all could */
	struct watch *watch;
	int held_fd;   /* see events_hold(); 0: none */
	int online_fd; /* see host_online_again() */

	/* For the interval that ended: */
	uint64_t
		due_ns; /* sum over the sampling CPUs of the time since the interval began, or since they came online */
	uint64_t offline_ns; /* the part of it while they were offline */
};

/**
 * events_attr() - the attributes of the events that have a ring. All events that write to one ring have the same clock
 * and format of read(2); those that measure also exclude the same code (kernel or user), and copy stacks alike.
 */
static inline const struct perf_event_attr *events_attr(const struct events *ev)
{
	return &ev->attrs[ev->leads];
}

/** events_reader_counts() - true if the reader of the rings counts, alone or beside a BPF program. */
static inline bool events_reader_counts(const struct events *ev)
{
	return !ev->has_notes || ev->request->both;
}

/** events_read_switches() - true if the reader of the rings sees the switches. */
static inline bool events_read_switches(const struct events *ev)
{
	return ev->switches == SWITCHES_BY_TRACEPOINT || ev->switches == SWITCHES_BY_RECORDS;
}

/** events_measure() - true if events of @kind are open: those that have a ring, and perhaps switch events beside. */
static inline bool events_measure(const struct events *ev, enum event_kind kind)
{
	return kind == ev->leads || (kind == EVENT_SWITCHES && events_read_switches(ev));
}

/** events_join_switches() - true if switch events exist beside the sampling events. */
static inline bool events_join_switches(const struct events *ev)
{
	return ev->leads == EVENT_SAMPLES && events_read_switches(ev);
}

/**
 * events_want_kernel_code() - are records about code that the kernel makes (PERF_RECORD_KSYMBOL) of use? The kernel
 * writes them to events of whole CPUs, and to events of the thread that loads a BPF program.
 */
static inline bool events_want_kernel_code(const struct events *ev)
{
	return !ev->request->filter.no_kernel && !ev->followed;
}

#endif
