/* SPDX-License-Identifier: Apache-2.0 */
/* What a decoded record does: side-band to tasks, samples to rows. */
#ifndef PERFRING_APPLY_H
#define PERFRING_APPLY_H

#include "backend-perfring/decode.h"
#include "backend-perfring/unwinding.h"
#include "core/backend.h"
#include "core/tasks.h"

struct capture;
struct idle_code;

/** struct applied_ring - what has to be remembered of the records of one ring. */
struct applied_ring {
	struct {
		pid_t pid, tid; /* 0: none yet */
		char comm[COMM_LEN];
	} exit;                /* the task that exited last on this CPU; -1: one outside our pid namespace */
	uint64_t throttled_at; /* since when the kernel does not sample here; 0: it does */
	uint64_t since;        /* when its event was opened, after the run began: an older one is throttled no more */
};

/** struct sample_lead - what is known of a sample before it is decoded. */
struct sample_lead {
	struct sample_note note; /* without a note only @note.set counts */
	uint64_t noted;          /* 1: there was one */
};

/**
 * struct applier
 * @rings: one entry for each ring
 * @books: of the whole backend, for each of capture.sets: what is applied is counted here, what is read by perfring.c
 * @set:   of @books, for records that are no samples
 * @unwinding: of user stacks; NULL: they are as the kernel walked them
 * @idle_code: tells the idle task from those outside our pid namespace; NULL: there are none
 */
struct applier {
	struct capture *cap;
	struct applied_ring *rings;
	struct books books[2];
	unsigned int set;
	struct unwinding *unwinding;
	struct idle_code *idle_code;
};

/**
 * apply_record() - records come in time order.
 * @lead: of a sample, else unused
 * Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int apply_record(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** apply_time() - it is @ns now, in event time: what lasts is accounted until here. */
void apply_time(struct applier *a, uint64_t ns);

#endif
