/* SPDX-License-Identifier: Apache-2.0 */
/* The notes that a counter in the kernel writes about the records that it passes on, decoded for the ring's reader. */
#ifndef CORE_SOURCES_NOTES_H
#define CORE_SOURCES_NOTES_H

#include "core/tasks/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** enum proof - whether the addresses of a user stack prove it: see unwind_chain of unwind/unwind.h. */
enum proof {
	PROOF_NONE,
	PROOF_CHAIN, /* it is the callchain that the kernel walks by frame pointers */
	PROOF_LEAF,  /* the same, with the leaf's return address in between: its leaf has no frame */
};

/** enum proof_use - how a counter uses a proof. */
enum proof_use {
	PROOF_UNUSED,
	PROOF_PROMISED, /* from now on, its notes name the callchains of this process */
	PROOF_ADMITTED, /* it counts the next samples with this stack itself */
};

/** struct sample_note - a BPF program's note about a sample that it passed on. */
struct sample_note {
	unsigned int set; /* of sink.sets it belongs to */
	enum {
		NOTE_COUNTED,
		NOTE_FILTERED,
		NOTE_SPILLED,
		NOTE_UNKNOWN,    /* wanted if its process passes filter.tree, which the program does not know */
		NOTE_UNNUMBERED, /* not filtered, because the program has no ids of its task: @pid and @tid are 0 */
	} verdict;
	pid_t pid, tid;      /* of our pid namespace; -1: of a task outside */
	char comm[COMM_LEN]; /* at the time of the sample */
	int32_t user_stack;  /* NOTE_SPILLED: the program's id of its callchain, for counter_ops.unwound; -1: unknown */
	unsigned int tables; /* with that: the counter's tables in which it has this id */
	uint64_t top;        /* with that: the word at the user's stack pointer; 0: not known */
	bool left;           /* NOTE_FILTERED, because its task, about to exit, has left its mount namespace */
};

/** struct switch_note - a BPF program's note about a switch, or an off-CPU interval. */
struct switch_note {
	enum {
		SWITCH_SEEN,   /* the program has seen the switch whose records come next in this ring */
		SWITCH_BEGIN,  /* a thread leaves its CPU; the record has its stacks, for which the program had no room
				*/
		SWITCH_END,    /* the end of such an interval; at 0: the program has missed it */
		SWITCH_CHARGE, /* an interval that is over, for which it had no room: see counter_ops.charge */
	} kind;
	unsigned int set;       /* of sink.sets it belongs to, by the time of the note */
	struct sample_note who; /* of SWITCH_BEGIN: its set, verdict, ids and name */
	uint32_t id;            /* of BEGIN, END: the thread, in the initial namespace; of SEEN: the next thread */
	uint64_t ns;            /* of SEEN, BEGIN, END: CLOCK_MONOTONIC */
	const void *raw;        /* the note itself, of @raw_size bytes; borrowed */
	size_t raw_size;
};

#endif
