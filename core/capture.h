/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: the perf events, the backends on them, the loop until the end.
 *
 *   capture_new()   checks nothing, opens nothing
 *   capture_open()  opens the events and chooses the backend, or opens a recording; sampling has not begun
 *   capture_run()   samples until an interval or the run is over, then takes what is left of it
 *   capture_free()
 */
#ifndef CORE_CAPTURE_H
#define CORE_CAPTURE_H

#include "compat/tracepoint.h"
#include "core/backend.h"
#include "core/command.h"
#include "core/filter.h"
#include "core/followed.h"
#include "core/host.h"
#include "core/mapped_files.h"
#include "core/options.h"
#include "core/recording.h"
#include "core/ring_sizes.h"
#include "core/shortfall.h"
#include "core/stacks.h"
#include "core/tasks.h"

#include <linux/perf_event.h>

/** enum noted - what a program in the kernel writes notes about. */
enum noted { NOTED_SAMPLES, NOTED_SWITCHES, NOTED_NR };

/** struct joined_event - another event whose records go to the ring of a capture_event. */
struct joined_event {
	int fd;
	uint64_t switch_id; /* PERF_SAMPLE_IDENTIFIER of one of capture.switch_attr; 0: it is of capture.attr */
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
 * struct capture_event - one perf event on one CPU that this host may have; @fd is -1 while the CPU is offline.
 * Where threads are followed it is that of one of them on this CPU, and @more has those of the others. Where there are
 * samples and switches, too, @more has the events of these.
 */
struct capture_event {
	int fd;
	int cpu;
	struct joined_event *more;
	size_t nr_more;
	bool waits;   /* its CPU is offline; the events of threads are open, and get their ring when it comes */
	bool samples; /* false: side-band records only (a CPU that -C leaves out) */

	/* What a program in the kernel writes notes to, for each kind of these; their records go to the ring of @fd. */
	struct capture_notes {
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
 * struct event_counts - what read(2) of an event gives: capture.attr has PERF_FORMAT_TOTAL_TIME_ENABLED and, if the
 * kernel has it, PERF_FORMAT_LOST.
 */
struct event_counts {
	uint64_t value, enabled_ns;
	uint64_t lost; /* records, since 6.0 */
};

/** struct capture_set - what is counted within one interval. */
struct capture_set {
	struct stacks *samples;   /* values are their numbers */
	struct stacks *intervals; /* off the CPU: values are nanoseconds */

	/* The same as the ring alone shows them; NULL without --backend=both, and where they are not asked for. */
	struct compare *compare;
	struct stacks *ring_intervals;
};

/** enum switch_source - what tells of threads that leave a CPU and come back. */
enum switch_source {
	SWITCHES_NONE,          /* nobody asks */
	SWITCHES_BY_TRACEPOINT, /* sched:sched_switch, with the stacks of the thread that leaves; and as the next: */
	SWITCHES_BY_RECORDS,    /* the event context-switches for the stacks, PERF_RECORD_SWITCH for both (4.3) */
	SWITCHES_BY_PROGRAM,    /* a program in the kernel, which notes what it cannot count */
};

/**
 * struct capture - what the backends of a run share. They write to @tasks and @sets alone, and the reader notes the
 * sizes of its rings in @events.
 */
struct capture {
	const struct options *options;
	const struct host *host;
	struct filter filter;
	unsigned int asked; /* see callchain_asked() */
	bool both;          /* --backend=both: every sample is counted in the kernel, and passed on */
	bool unwinds;       /* user stacks are unwound here: samples with a user part come with what that needs */
	bool has_notes;     /* programs in the kernel write notes */
	bool gap;           /* see capture_gap() */
	bool in_pidns;      /* this process is in a pid namespace: there may be tasks outside */

	enum switch_source switches;      /* where the rings' reader sees them */
	struct event_type event;          /* whose samples are taken, */
	struct event_type switch_event;   /* and where the reader sees switches, which may be the same */
	struct sched_switch sched_switch; /* of SWITCHES_BY_TRACEPOINT, and where a program in the kernel uses it: id 0:
					     it is not known, @no_tracepoint says why */
	struct err no_tracepoint;

	struct followed *followed; /* threads that are sampled instead of whole CPUs; NULL: these */
	struct command *command;   /* nothing but this is asked for, followed or by filter.tree; NULL: there is none */
	struct err user_only;  /* why only user code is sampled, and user stacks; code 0: not because of the kernel */
	struct err unfollowed; /* how many threads could not be followed, and why; code 0: all are */

	/*
	 * The attributes the kernel accepted; the same for all events of a kind, so one decoder serves all rings. What
	 * records have that are no samples is the same for all kinds.
	 */
	struct perf_event_attr attr, switch_attr, notes_attr[NOTED_NR];
	struct perf_event_attr side_attr; /* of what tells of tasks and mappings: where that is not apart, as @attr */
	bool apart;                   /* it has rings of its own: @attr tells of samples, switches and losses alone */
	bool no_room_apart;           /* there was not enough memory to be locked for that */
	bool lost_sight;              /* of a target: see side_band_tell_of_all(); noted by the reader */
	bool side_of_all;             /* that has been done */
	bool side_of_targets;         /* mappings are told of the threads alone that are asked for */
	struct capture_event *events; /* one for each CPU that may be there, in the same place for the whole run */
	size_t nr_events;
	size_t nr_cpus; /* of them that sampled, at most, also after capture_close() */
	/*
	 * Sizes of each event's rings, powers of two of pages, or 0; the reader lowers them where needed, and
	 * @ring_refused is -errno of mmap(2) for larger ones then.
	 */
	struct ring_sizes rings;
	struct ring_sizes rings_wanted; /* what would survive a stall of the reader, if the host had the memory */
	int ring_refused;
	size_t kept_bytes_max; /* see backend_ops.fetch */
	uint64_t kept_bytes;   /* that waited there, at most; noted by the reader */
	uint64_t dump_needed;  /* bytes that would have held the largest stack which a copy did not; noted by the reader
				*/

	/* Of @sets: where samples are counted now, and the interval that has ended. */
	unsigned int set, ended;
	uint64_t began_ns;                         /* CLOCK_MONOTONIC: the first moment a sample could count */
	uint64_t samples_passed, intervals_passed; /* of @ended, that programs in the kernel passed on */
	struct capture_set sets[2];
	struct tasks *tasks;
	struct mapped_files_cfg files; /* its open_files is ours, there where user stacks are sampled now */
	struct perf_maps *perf_maps;   /* there, too */

	/* The chosen backend, its two halves where it counts samples and intervals in the kernel, and behind what
	 * counts there the ring's reader. */
	struct capture_backend {
		const struct backend_ops *ops;
		struct backend *state;
	} backends[3];
	size_t nr_backends;
	char reason[1024]; /* why this backend, one line */

	int signal_fd;              /* SIGINT and SIGTERM, from capture_open() to the end of capture_run(); else -1 */
	bool signalled;             /* one has been taken from it */
	int mntns_fd;               /* the mount namespace filter.mntns is about, see proc_hold_mntns(); else -1 */
	int held_fd;                /* see capture_hold(); -1: none */
	struct recording recording; /* with options.input: then there are no events */
	struct err refused;         /* why a CPU that came online could not be sampled, the first time; code 0: never */
	struct err kept;            /* why rights were not given up that are not needed any more; code 0: they were */
	struct keeper *keeper;
	struct watch *watch;
	bool (*ahead)(void *ctx); /* see capture_ahead(); NULL: nothing is left */
	void *ahead_ctx;
	uint64_t ahead_at;
	uint64_t cpus_at, learn_at; /* when to look next which CPUs are online, and whom the kernel counts */

	/* Of the interval that ended, CLOCK_MONOTONIC. */
	uint64_t started_ns, stopped_ns;
	uint64_t due_ns;            /* sum over the CPUs that sample, of the time since they came online */
	uint64_t offline_ns;        /* of that: while they were offline */
	uint64_t over_ns;           /* CLOCK_MONOTONIC: the run is over since; 0: it is not */
	uint64_t command_ns;        /* CPU time of the command, whose threads were followed until it ended; else 0 */
	uint64_t followed_ns;       /* how much of that, and of its time in the kernel, its events know of, */
	bool followed_known;        /* if they tell */
	struct shortfall shortfall; /* see capture_shortfall() */
};

/** capture_new() - @options and @host are borrowed. NULL: no memory. */
struct capture *capture_new(const struct options *options, const struct host *host);

/** capture_command() - sample nothing but @command, borrowed, until it ends. Call it before capture_open(). */
void capture_command(struct capture *cap, struct command *command);

/**
 * capture_ahead() - work that the report would wait for: @more is called from time to time while the kernel is sampled,
 * until it returns false. It should not take longer than a system call each time.
 */
void capture_ahead(struct capture *cap, bool (*more)(void *ctx), void *ctx);

/**
 * capture_open() - open events and backend. When the options name a backend only that one is tried, else each in
 * order of preference; then @cap->reason says why the earlier ones were not taken. Where whole CPUs may not be sampled,
 * threads are followed instead; then its last sentence is about them. Then this process gives up what
 * rights it does not need any more, see core/privileges.h: call it before there is another thread.
 */
int capture_open(struct capture *cap, struct err *err);

/**
 * capture_run() - sample until an interval of the options is over, or the run.
 *
 * SIGINT and SIGTERM end the run; then they have their default effect again, so that a second one ends the process. A
 * failure while sampling ends the run.
 * Return: 1: an interval is over, and sampling goes on, a thread of its own emptying the rings until the next call; 0:
 * the run is over; -errno. For the first two capture_samples() and capture_intervals() have the rows of the interval
 * that ended, until the next call.
 */
int capture_run(struct capture *cap, struct err *err);

/** capture_forget() - drop what is known of exited processes that no row will ask for; see tasks_forget_due(). */
void capture_forget(struct capture *cap);

/** capture_files_hung() - files of processes that were given up because their file system did not answer in time. */
size_t capture_files_hung(const struct capture *cap);

/** capture_samples(), capture_intervals() - the rows of the interval that ended. */
const struct stacks *capture_samples(const struct capture *cap);
const struct stacks *capture_intervals(const struct capture *cap);

/** capture_period_ns() - the time that a sample of a clock stands for. */
uint64_t capture_period_ns(const struct capture *cap);

/** capture_reads_switches() - does the rings' reader see the switches? */
static inline bool capture_reads_switches(const struct capture *cap)
{
	return cap->switches == SWITCHES_BY_TRACEPOINT || cap->switches == SWITCHES_BY_RECORDS;
}

/** capture_joins_switches() - are there events at switches beside those that sample? */
static inline bool capture_joins_switches(const struct capture *cap)
{
	return cap->options->on_cpu && capture_reads_switches(cap);
}

/** capture_switch_program() - what in the kernel writes notes about switches; NULL: nothing does. */
static inline const struct capture_backend *capture_switch_program(const struct capture *cap)
{
	size_t i;

	for (i = 0; i < cap->nr_backends; i++)
		if (cap->backends[i].ops->switch_note)
			return &cap->backends[i];
	return NULL;
}

/**
 * capture_gap() - @missing: records about tasks may be missing from now on, a CPU has gone offline or come; false: it
 * is back, and everything was looked up anew. That ends it where no CPU is away.
 */
void capture_gap(struct capture *cap, bool missing);

/** capture_missed() - such records were lost, nobody knows when: so a gap began some time ago. */
void capture_missed(struct capture *cap);

/**
 * capture_open_error() - describe why @event could not be opened on @cpu.
 * @freq_hz: the rate asked for; 0: none
 * @code:    -errno of perf_event_open(2); returned. A setting is blamed only after it was read.
 */
int capture_open_error(const struct host *host, const struct event_type *event, uint64_t freq_hz, int cpu, int code,
		       struct err *err);

/**
 * capture_ring_error() - describe why not even the smallest ring could be mapped, for an event of @cpu.
 * @code: -errno of mmap(2); returned. The limits for locked memory are blamed only after they were read.
 */
int capture_ring_error(const struct capture *cap, int cpu, int code, struct err *err);

/**
 * capture_small_rings() - are the rings smaller than what keeps all samples on a busy host, or did the copies of stacks
 * have to become smaller for them? Then @why is a line with the limits that are in the way.
 */
bool capture_small_rings(const struct capture *cap, struct err *why);

/** struct unaccounted - what a run cannot account for, with its sign; not 0 is a bug. */
struct unaccounted {
	int64_t samples, intervals;
};

/**
 * capture_books() - what became of every sample, and every interval off the CPU, of the interval that ended.
 *
 * Lost are the samples the program passed on and no ring gave back, if the kernel tells of so many records lost (since
 * 6.0; before, they are believed); where there is no program, every record that a ring lost counts as a sample, which
 * is at least as many. Samples the decoder refused are lost, too.
 * Return: samples taken minus what is in the rows, filtered or lost. Of intervals off the CPU those begun minus what is
 * in the rows, filtered, open or lost; as one may end in a later interval of the report, that is 0 for all of these
 * together, when the run is over.
 */
struct unaccounted capture_books(const struct capture *cap, struct books *out);

/**
 * capture_largest_record() - bytes of a sample with stacks, registers and a copy of a stack, at most.
 * @dump: bytes of that copy
 */
size_t capture_largest_record(const struct capture *cap, size_t dump);

/** capture_ring_sizes() - of the smallest rings; 0: there is none. */
struct ring_sizes capture_ring_sizes(const struct capture *cap);

/**
 * capture_shortfall() - the facts about samples that were due in the interval that ended, and not taken.
 * @books: of that interval
 * Return: false when the event is not a clock, so that nobody knows how many were due.
 */
bool capture_shortfall(const struct capture *cap, const struct books *books, struct shortfall *out);

/**
 * capture_command_shortfall() - see shortfall_explain_command(); false, too, where the command has not ended within the
 * run, and where what it should have given is not known.
 * @books, @total: of the whole run, capture_shortfall() of its intervals added up
 */
bool capture_command_shortfall(const struct capture *cap, const struct books *books, const struct shortfall *total,
			       struct err *why);

/**
 * capture_hold() - take over @fd, the last descriptor of a tracepoint's events: to let go of that the kernel waits for
 * grace periods of RCU (tracepoint_synchronize_unregister(); from 6.13 on for RCU tasks trace, too, where a program was
 * attached), many seconds where processes come and go as fast as they can. capture_free(), after the report, closes it;
 * where there is one already, @fd is closed at once.
 */
void capture_hold(struct capture *cap, int fd);

/**
 * capture_close() - close events and rings, but for what capture_hold() keeps: what is left serves the report. After
 * capture_books().
 */
void capture_close(struct capture *cap);

void capture_free(struct capture *cap);

#endif
