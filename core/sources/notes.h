/* SPDX-License-Identifier: Apache-2.0 */
/* What a counter in the kernel writes about what it passes on, as the reader of the ring gets it. */
#ifndef CORE_SOURCES_NOTES_H
#define CORE_SOURCES_NOTES_H

#include "core/tasks/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** enum proof - what is proved of a user stack by its addresses alone: see unwind_chain of unwind/unwind.h. */
enum proof {
	PROOF_NONE,
	PROOF_CHAIN, /* it is the callchain that the kernel walks by frame pointers */
	PROOF_LEAF,  /* the same, with the leaf's return address in between: its leaf has no frame */
};

/** enum proof_use - what a counter made of a proof. */
enum proof_use {
	PROOF_UNUSED,
	PROOF_PROMISED, /* it names the callchains of this process in its notes from now on */
	PROOF_ADMITTED, /* it counts the next sample with this stack itself */
};

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
	int32_t user_stack;  /* NOTE_SPILLED: what its callchain is called there, for counter_ops.unwound; -1: not known
			      */
	unsigned int tables; /* with that: which of the counter's tables it is called so in */
	uint64_t top;        /* with that: the word that the user's stack pointer points to; 0: not known */
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
