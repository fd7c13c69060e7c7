/* SPDX-License-Identifier: Apache-2.0 */
/* The notes that a counter in the kernel writes about the records that it passes on, decoded for the ring's reader. */
#ifndef CORE_SOURCES_NOTES_H
#define CORE_SOURCES_NOTES_H

#include "core/tasks/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * enum proof - whether samples with the same callchain by frame pointers always have the same unwound stack, so that
 * they need no unwinding: see enum unwind_chain in unwind/unwind.h.
 */
enum proof {
	PROOF_NONE,
	PROOF_CHAIN, /* the unwound stack is that callchain */
	PROOF_LEAF,  /* the same, with the return address of the leaf, which has no frame, inserted after the leaf */
};

/** enum proof_use - how a counter uses a proof. */
enum proof_use {
	PROOF_UNUSED,
	PROOF_PROMISED, /* from now on, notes about samples of this process have @user_stack */
	PROOF_ADMITTED, /* the counter counts the next samples with this stack itself */
};

/** struct sample_note - a BPF program's note about a sample that it passed on. */
struct sample_note {
	unsigned int set; /* index in sink.sets of the set that it belongs to */
	enum {
		NOTE_COUNTED,
		NOTE_FILTERED,
		NOTE_SPILLED,    /* passes the filters, but the program could not count it: the reader has to */
		NOTE_UNKNOWN,    /* wanted if its process passes filter.tree, which the program does not know */
		NOTE_UNNUMBERED, /* not filtered yet, because the program has no ids of its task: @pid and @tid are 0 */
	} verdict;
	pid_t pid, tid;      /* of our pid namespace; -1: of a task outside */
	char comm[COMM_LEN]; /* at the time of the sample */
	int32_t user_stack;  /* NOTE_SPILLED: the program's id of its callchain, for counter_ops.unwound; -1: unknown */
	unsigned int tables; /* the counter's tables (one of two instances) in which @user_stack is valid */
	uint64_t top;        /* if @user_stack is known: the word at the user's stack pointer; 0: not known */
	bool left;           /* NOTE_FILTERED, because its task, about to exit, has left its mount namespace */
};

/** struct switch_note - a BPF program's note about a switch, or an off-CPU interval. */
struct switch_note {
	enum {
		SWITCH_SEEN,   /* the program has seen the switch whose records come next in this ring */
		SWITCH_BEGIN,  /* a thread leaves its CPU; this record has its stacks, which the program did not keep */
		SWITCH_END,    /* the end of an interval with SWITCH_BEGIN; @ns 0: the program has missed the end */
		SWITCH_CHARGE, /* an ended interval that the program had no room to count: see counter_ops.charge */
	} kind;
	unsigned int set;       /* index in sink.sets, by the time of the note */
	struct sample_note who; /* of SWITCH_BEGIN: its set, verdict, ids and name */
	uint32_t id;            /* of BEGIN, END: the thread, in the initial namespace; of SEEN: the next thread */
	uint64_t ns;            /* of SEEN, BEGIN, END: CLOCK_MONOTONIC; of CHARGE: length of the interval */
	const void *raw;        /* the note itself, of @raw_size bytes; borrowed */
	size_t raw_size;
};

#endif
