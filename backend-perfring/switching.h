/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches to intervals off the CPU: those that the reader sees itself, in the samples of events.switches, and those
 * that a program in the kernel passed on.
 */
#ifndef PERFRING_SWITCHING_H
#define PERFRING_SWITCHING_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"

struct switching;

/** switching_new() - for one run. NULL: no memory. */
struct switching *switching_new(const struct source_env *env);
void switching_free(struct switching *sw);

/*
 * In time order, of @a->switching. Return: 0 or -ENOMEM, -E2BIG from the tables.
 */

/** switching_sample() - a sample of the event that is taken at each switch. */
int switching_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);
/** switching_record() - a PERF_RECORD_SWITCH. */
int switching_record(struct applier *a, uint32_t ring, const struct record *r);
/** switching_note() - a note of the program in the kernel. */
int switching_note(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** switching_task() - a FORK or EXIT record, or one of COMM that says that a program was executed. */
void switching_task(struct applier *a, uint32_t ring, const struct record *r);
/**
 * switching_gap_begins() - from now on, until the next record of this ring, some may have been lost. Who is off CPU
 * meanwhile may have come back and left again: such intervals are lost.
 */
void switching_gap_begins(struct applier *a, uint32_t ring);
/** switching_gap_ends() - there is another record of it: whether some were lost it says itself. */
void switching_gap_ends(struct applier *a, uint32_t ring);
/** switching_gap() - records of some ring were lost before now. */
void switching_gap(struct applier *a);

/** switching_end() - the run is over, since @ns: what is open stays so. */
int switching_end(struct applier *a, uint64_t ns);

#endif
