/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From context switches to off-CPU intervals: switches in the samples of events.switches, which the reader sees itself,
 * and switches that a BPF program passed on.
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
 * Call these in time order; they use @a->switching. Return 0 or -ENOMEM, -E2BIG from the tables.
 */

/** switching_sample() - a sample of the event for each switch. */
int switching_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);
/** switching_record() - a PERF_RECORD_SWITCH. */
int switching_record(struct applier *a, uint32_t ring, const struct record *r);
/** switching_note() - a note of the BPF program. */
int switching_note(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** switching_task() - a FORK or EXIT record, or a COMM record of an exec. */
void switching_task(struct applier *a, uint32_t ring, const struct record *r);
/**
 * switching_gap_begins() - records of this ring may be lost from now on, until its next record. Threads that are off
 * CPU meanwhile may have come back and left again: their intervals are lost.
 */
void switching_gap_begins(struct applier *a, uint32_t ring);
/** switching_gap_ends() - there is another record of the ring; it says whether records were lost. */
void switching_gap_ends(struct applier *a, uint32_t ring);
/** switching_gap() - records of some ring were lost before now. */
void switching_gap(struct applier *a);

/** switching_end() - the run ended at @ns: open intervals stay open. */
int switching_end(struct applier *a, uint64_t ns);

#endif
