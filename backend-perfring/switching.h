/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn context switches into off-CPU intervals: switches that the reader sees itself, in samples of EVENT_SWITCHES and
 * in PERF_RECORD_SWITCH records, and switches that a BPF program passed on in notes.
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
 * Call these in time order; they use @a->switching. Functions that can fail return 0, or -ENOMEM, -E2BIG of
 * core/rows/switches.h.
 */

/** switching_sample() - a sample of EVENT_SWITCHES, taken when a thread leaves its CPU. */
int switching_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);
/** switching_record() - a PERF_RECORD_SWITCH. */
int switching_record(struct applier *a, uint32_t ring, const struct record *r);
/** switching_note() - a note of the BPF program about a switch or an interval. */
int switching_note(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** switching_task() - a FORK or EXIT record, or a COMM record of an exec. */
void switching_task(struct applier *a, uint32_t ring, const struct record *r);
/**
 * switching_gap_begins() - records of this ring may be lost from now on, until its next record. If a thread comes to
 * any CPU before that record, all open intervals count as lost: their threads may have come back and left again. If the
 * ring's CPU is offline, there is no next record, and the open intervals are lost at once.
 */
void switching_gap_begins(struct applier *a, uint32_t ring);
/** switching_gap_ends() - the ring has its next record, which says whether records were lost, or it is detached. */
void switching_gap_ends(struct applier *a, uint32_t ring);
/** switching_gap() - records of some ring were lost before now: count all open intervals as lost. */
void switching_gap(struct applier *a);

/** switching_end() - the run ended at @ns: count the open intervals; with off_cpu.open, add them to the rows, too. */
int switching_end(struct applier *a, uint64_t ns);

#endif
