/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the backend that reads recordings: its state, and its parts. recording.c reads records; admit.c decodes them,
 * decides which are applied, and notes what they tell of the recording; origin.c tells which host and boot it is of,
 * and the build ids of its files.
 */
#ifndef PERFRING_RECORDING_H
#define PERFRING_RECORDING_H

#include "backend-perfring/queue.h"
#include "backend-perfring/recording/event_choice.h"
#include "backend-perfring/recording/perfdata.h"
#include "core/sources/source.h"

struct source {
	const struct source_env *env;
	struct perfdata *pd;
	struct event_choice choice;
	struct queue queue;
	size_t nr_rings, cap_rings; /* of applier.rings: one for each CPU */
	uint64_t lost_records;      /* by PERF_RECORD_LOST */
	uint64_t lost_samples;      /* by PERF_RECORD_LOST_SAMPLES */
	size_t nr_asked;            /* events whose attr.build_id was looked at */
	bool wants_build_ids;       /* one of them has attr.build_id */
};

/**
 * recording_admit() - decode @in->bytes, a copy of @record, to @in->record; count it if it is a sample.
 * Return: 1: apply it; 0: do not; -ENOMEM.
 */
int recording_admit(struct source *b, const struct perf_event_header *record, struct incoming *in);

/**
 * recording_boot() - tell whether it was recorded since this host was booted. A recording does not name the boot. It
 * counts as of this boot if it is of this host and kernel, was written since the host was booted (not checked for a
 * pipe), and has no times more than a minute after now.
 */
enum recorded_boot recording_boot(const struct source *b);

/**
 * recording_ended() - when the last sample was taken, in seconds of the wall clock. Samples have times since
 * the boot. That of the last sample is added to the time of this host's boot. The sum has to agree with the time at
 * which the file was last written, because perf record ended then: this proves that the recording is of this boot. They
 * do not agree if a recording of an earlier boot was copied since the host was booted again, or if the host was
 * suspended since the recording. Return: 0: not proved.
 */
int64_t recording_ended(const struct source *b);

/** recording_build_ids() - keep the build ids that the recording tells. Return: 0; -ENOMEM. */
int recording_build_ids(const struct source *b);

#endif
