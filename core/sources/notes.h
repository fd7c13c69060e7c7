/* SPDX-License-Identifier: Apache-2.0 */
/* What a counter in the kernel writes about what it passes on, as the reader of the ring gets it. */
#ifndef CORE_SOURCES_NOTES_H
#define CORE_SOURCES_NOTES_H

#include "core/tasks/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** struct sample_note - what a program in the kernel says of a sample that it passed on. */
struct sample_note {
	unsigned int set; /* of sink.sets it belongs to */
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
		SWITCH_CHARGE, /* one that is over, for which it had no room: see counter_ops.charge */
	} kind;
	unsigned int set;       /* of sink.sets it belongs to, by the moment of the note */
	struct sample_note who; /* of SWITCH_BEGIN: its set, verdict, ids and name */
	uint32_t id;            /* of BEGIN, END: the thread, as the initial namespace numbers it; of SEEN: who comes */
	uint64_t ns;            /* of SEEN, BEGIN, END: CLOCK_MONOTONIC, when it was */
	const void *raw;        /* the note itself, of @raw_size bytes; borrowed */
	size_t raw_size;
};

#endif
