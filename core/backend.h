/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the core asks of a backend, and which backends there are.
 *
 * The core opens the perf events (capture.h) and gives them to the backends of the run, which turn what the kernel
 * says into rows (stacks.h) and task events (tasks.h). Order of calls: open, attach for each event, start, then drain,
 * attach and detach any number of times, end once for each interval, close. All calls come from one thread at a time.
 * Nothing here prints: errors are returned and described.
 */
#ifndef CORE_BACKEND_H
#define CORE_BACKEND_H

#include "core/descendants.h"
#include "core/err.h"
#include "core/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture;
struct host;
struct sched_switch;
struct stacks;
struct backend; /* each backend's own state */

/** enum unwound - how the unwinding of user stacks ended; a place in books.unwound. */
enum unwound {
	UNWOUND_ROOT,      /* with the outermost frame */
	UNWOUND_TRUNCATED, /* the copy of the stack, or the limit for frames, does not reach further */
	UNWOUND_NO_RULES,  /* nothing says where the caller's frame is */
	UNWOUND_BAD,       /* memory that cannot be read, damaged rules, frames that do not advance */
	UNWOUND_UNKNOWN,   /* a register is needed that the kernel did not report */
	UNWOUND_KERNEL, /* as the kernel walked it: of 32-bit or dying tasks, or without registers, a copy, or mappings
			 */
	UNWOUND_NR,
};

/**
 * struct books - what became of every sample: taken = counted_kernel + counted_ring + filtered + lost.
 *
 * Each term is counted where it happens: each backend of a run adds its own, the run adds what follows from them. They
 * are those of one interval, or of the whole run.
 * The one thing that nobody sees: a kernel runs no BPF program while the same CPU is inside another one or changes a
 * BPF map (bpf_prog_active), and drops the sample.
 */
struct books {
	uint64_t taken;            /* samples the kernel handed over */
	uint64_t counted_kernel;   /* counted by the BPF program */
	uint64_t counted_ring;     /* counted in user space from a ring */
	uint64_t filtered;         /* not asked for: idle, other processes */
	uint64_t hidden;           /* of these: the mount namespaces of their tasks may not be read */
	uint64_t idle;             /* of the idle task, wanted or not */
	uint64_t lost;             /* see capture_books() */
	uint64_t passed;           /* passed on by the BPF program, for one of the reasons below, of these: */
	uint64_t spilled_filtered; /* filtered in user space */
	/* Why a program passed on what it was to count, samples and intervals off the CPU: */
	uint64_t spilled_stack;       /* no room for the stack, or another one has its place */
	uint64_t spilled_count;       /* no room in the count table */
	uint64_t spilled_unwind;      /* the user's part is unwound in user space */
	uint64_t spilled_tree;        /* it did not know whether the process is of the command */
	uint64_t spilled_number;      /* it could not tell the task's pid in our pid namespace */
	uint64_t unwound[UNWOUND_NR]; /* user stacks of --unwind=dwarf */
	uint64_t ring_samples;        /* samples read from the rings */
	uint64_t bad_samples;         /* of these: refused by the decoder */
	uint64_t lost_records; /* for which a ring had no room: samples, notes, and those about tasks and mappings */
	uint64_t lost_here; /* of these: on CPUs that sample; without notes and switches, if the kernel tells which */
	uint64_t lost_side_band;    /* of these: about tasks and mappings, where these have rings of their own */
	uint64_t lost_notes;        /* of these: see backend_ops.note; 0 before 6.0, which does not tell them apart */
	uint64_t lost_switch_notes; /* the same: see backend_ops.switch_note */
	uint64_t ring_records;      /* read from the rings, of any kind */
	uint64_t ring_bytes;        /* of these */
	uint64_t late_records;      /* applied out of time order: they came after the window they belong to */
	uint64_t backward_records;  /* of switches, with an earlier time than the one before in their ring */
	uint64_t late_samples;  /* of an interval that had been reported, so not counted; a part of those lost there */
	uint64_t bad_records;   /* refused by the decoder; nothing of them was used */
	uint64_t dead_tasks;    /* samples of dying tasks, without ids: given to the last that exited on their CPU */
	uint64_t outside;       /* samples of tasks outside this pid namespace */
	uint64_t throttled;     /* PERF_RECORD_THROTTLE: the kernel stopped sampling on a CPU for a while */
	uint64_t started;       /* threads and processes that were made, as the rings tell */
	uint64_t throttled_ns;  /* until PERF_RECORD_UNTHROTTLE, of all CPUs */
	uint64_t count_entries; /* used of the in-kernel table of counts */
	uint64_t stack_entries; /* used of the in-kernel table of stacks */

	/*
	 * Of intervals off the CPU (switches.h), instead of the samples above, or beside them: begun = charged +
	 * filtered + open + lost, over the whole run. Those that have not ended stay open from one interval of the
	 * report to the next.
	 */
	uint64_t intervals_begun;    /* in the kernel, where a program counts there: also those it passed on */
	uint64_t intervals_charged;  /* are in the rows */
	uint64_t intervals_filtered; /* not asked for: other threads, other states, too short or too long */
	uint64_t intervals_open;     /* at the end of the run */
	uint64_t intervals_lost;
	uint64_t intervals_no_slot; /* of these: there were more threads than the program in the kernel has room for */
	uint64_t intervals_passed; /* that the program in the kernel passed on: when they began, or, with spilled_count,
				    * when they were over; not in its intervals_charged, but the reader's */
	uint64_t intervals_received; /* of which the reader got to know that they did */
	uint64_t switches_unsampled; /* of which the ring told without a sample: the stacks are missed */
	/* With both backends, of those that the reader adds up beside the program: */
	uint64_t intervals_seen;       /* that began, */
	uint64_t intervals_unended;    /* whose end it did not see, */
	uint64_t intervals_gone;       /* that it gave up, because records of some ring were lost */
	uint64_t reopened;             /* events of CPUs that came back: what happened there before nobody counted */
	uint64_t intervals_disordered; /* whose end was earlier than their begin, by the clocks of two CPUs */
	uint64_t clocks_apart;         /* switches that both backends count, whose clocks were read too far apart */
};

/** books_add() - add each number of @more to @to. */
void books_add(struct books *to, const struct books *more);

/** struct sample_note - what a program in the kernel says of a sample that it passed on. */
struct sample_note {
	unsigned int set; /* of capture.sets it belongs to */
	enum {
		NOTE_COUNTED,
		NOTE_FILTERED,
		NOTE_SPILLED,
		NOTE_UNKNOWN,    /* asked for if its process is one of filter.tree, which nobody there could tell */
		NOTE_UNNUMBERED, /* not looked at, as nobody there could tell whose it is: @pid and @tid are 0 */
	} verdict;
	pid_t pid, tid;      /* of our pid namespace; -1: of a task outside */
	char comm[COMM_LEN]; /* at the time of the sample */
	bool left;           /* NOTE_FILTERED, for want of a mount namespace: its task is about to exit */
};

/** struct switch_note - what a program in the kernel says of a switch, or of an interval off the CPU. */
struct switch_note {
	enum {
		SWITCH_SEEN,   /* the switch whose records come next in this ring was seen: else it does not count */
		SWITCH_BEGIN,  /* this record has the stacks with which a thread leaves its CPU; it could not keep them
				*/
		SWITCH_END,    /* the end of one that began so; at 0: nobody saw it */
		SWITCH_CHARGE, /* one that is over, for which it had no room: see backend_ops.charge */
	} kind;
	unsigned int set;       /* of capture.sets it belongs to, by the moment of the note */
	struct sample_note who; /* of SWITCH_BEGIN: its set, verdict, ids and name */
	uint32_t id;            /* of BEGIN, END: the thread, as the initial namespace numbers it; of SEEN: who comes */
	uint64_t ns;            /* of SEEN, BEGIN, END: CLOCK_MONOTONIC, when it was */
	const void *raw;        /* the note itself, of @raw_size bytes; borrowed */
	size_t raw_size;
};

/**
 * struct backend_ops - the whole contract of a backend; a const table each, see backend_bpf and backend_perfring.
 * All return 0 or -errno and describe a failure in @err.
 */
struct backend_ops {
	const char *name;   /* of --backend, --stats: stable */
	const char *source; /* of the program it runs in the kernel, for --ebpf; NULL: none */
	unsigned int files; /* it has open during a run, beside those of each event: maps, programs */
	bool in_kernel;     /* counts there and passes on what it cannot count: the ring's reader runs behind it */

	/* The one that measures intervals off the CPU in its place; NULL: it does both. */
	const struct backend_ops *switches;

	/* Can it work here? Tried, not guessed; leaves nothing behind. @forced: asked for by name. NULL: that is found
	 * out by opening it. */
	int (*probe)(bool forced, struct err *err);

	/*
	 * Does this host show the program what it counts? open() finds that out, too. @known: id 0: the tracepoint is
	 * not known, @unknown says why. NULL: it does wherever probe() succeeds.
	 */
	int (*shown)(const struct host *host, const struct sched_switch *known, const struct err *unknown,
		     struct err *err);

	/* Prepare for the events of @cap, which outlives the backend. *@out is set also on failure: close() it. */
	int (*open)(struct backend **out, struct capture *cap, struct err *err);

	/* Event @i of the capture is open, but not enabled. A backend that counts in the kernel comes after the reader.
	 */
	int (*attach)(struct backend *b, size_t i, struct err *err);

	/* Event @i is about to be closed, its CPU has gone offline: take what is left. Optional. */
	int (*detach)(struct backend *b, size_t i, struct err *err);

	/* The events have just been enabled. Optional. */
	int (*start)(struct backend *b, struct err *err);

	/* Take what is waiting. Optional. Return: 1: nothing more will ever come. */
	int (*drain)(struct backend *b, struct err *err);

	/*
	 * Only move what is waiting in the rings to memory, capture.kept_bytes_max at most: there drain() and end()
	 * find it. May be called by another thread, at any time but while @attach, @detach or @close are. Return: 1: it
	 * is so much that they should; 0; -errno, described. Optional.
	 */
	int (*fetch)(struct backend *b, struct err *err);

	/* The run is over: no sample taken from now on counts. The events are still enabled. Optional. */
	int (*stop)(struct backend *b, struct err *err);

	/*
	 * Interval capture.ended is over: take of it what the rings hold, or say how much that must be. Where
	 * capture.set is another one, sampling goes on into that; else the events are disabled.
	 */
	int (*end)(struct backend *b, struct err *err);

	/* Then take what waits in the kernel; the rings need not wait for that. Optional. */
	int (*take)(struct backend *b, struct err *err);

	/*
	 * Call @fn for the process of each count still held in the kernel, repeats included, until it says false.
	 * @resume: go on where the last such call ended, or begin again behind the last count. -EAGAIN: @fn ended it,
	 * or counts came faster than they could be walked. Optional.
	 */
	int (*pids)(struct backend *b, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx);

	/*
	 * What the reader says of process @pid, for filter.tree: it can be filtered in the kernel from now on, or not
	 * any more. Optional. Return: false: there is no room to keep that.
	 */
	bool (*judged)(struct backend *b, pid_t pid, enum descent what);

	/* Read a note that the program in the kernel put in front of a sample: @size bytes of raw data, not aligned. */
	int (*note)(const void *raw, size_t size, struct sample_note *out);

	/* The same of a note about switches. */
	int (*switch_note)(const void *raw, size_t size, struct switch_note *out);

	/* Add the interval of a SWITCH_CHARGE to its row in @to, in nanoseconds. */
	int (*charge)(struct backend *b, const struct switch_note *note, struct stacks *to);

	/* Add the counters of interval capture.ended to @books. Exact after end(). */
	void (*stats)(const struct backend *b, struct books *books);

	/* Detach and free. NULL and half-open are fine. */
	void (*close)(struct backend *b);
};

#define BACKEND_BOTH "both" /* of --backend: the one in the kernel and the reader count the same samples */

extern const struct backend_ops backend_bpf;
extern const struct backend_ops backend_bpf_switches; /* the one of offcputime, also called bpf */
extern const struct backend_ops backend_perfring;
extern const struct backend_ops backend_recorded;

/** backend_at() - the @i-th in order of preference, NULL past the end. */
const struct backend_ops *backend_at(unsigned int i);
/** backend_find() - by name; NULL when there is none. */
const struct backend_ops *backend_find(const char *name);
/** backend_in_kernel() - the one that counts in the kernel. */
const struct backend_ops *backend_in_kernel(void);
/** backend_reader() - the one that reads the rings behind a backend that counts in the kernel. */
const struct backend_ops *backend_reader(void);
/** backend_recording() - the one that reads a recording instead of taking samples; backend_at() does not list it. */
const struct backend_ops *backend_recording(void);

#endif
