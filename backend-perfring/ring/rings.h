/* SPDX-License-Identifier: Apache-2.0 */
/* What the source of live records has: two rings for each place of the events, and the queue of their records. */
#ifndef PERFRING_RINGS_H
#define PERFRING_RINGS_H

#include "backend-perfring/queue.h"
#include "backend-perfring/ring/ring.h"
#include "core/sources/source.h"

/** struct lost - records that the events of one place have lost, by PERF_FORMAT_LOST. */
struct lost {
	uint64_t samples, switches, notes[NOTED_NR];
};

/** struct cpu_rings - of the place of events.places with the same number. */
struct cpu_rings {
	struct ring samples, side;
	uint64_t *switch_ids; /* of its events at switches, ascending */
	size_t nr_switch_ids;
	struct lost lost;        /* when they were asked last */
	uint64_t lost_side;      /* the same of @side */
	struct sample_note note; /* of the sample that comes next */
	bool noted;
	uint64_t latest;         /* time of a record that was read from @samples */
	uint64_t lost_when_full; /* records, by PERF_FORMAT_LOST */
};

struct source {
	const struct source_env *env;
	struct cpu_rings *rings;
	struct queue queue;
	bool started;
	size_t kept_most;      /* bytes that waited, seen by rings_fetch() */
	bool told_of_all;      /* see side_band_tell_of_all() */
	bool refresh;          /* names are to be read anew, */
	uint64_t refreshed_at; /* but not as often as records get lost */
	bool starting;         /* samples do not count yet */
};

/* Is there a program in the kernel that counts, and passes on the rest? */
static inline bool rings_in_kernel(const struct source *b)
{
	return b->env->nr_counters;
}

/* Of what is read, if no program in the kernel tells to which set it belongs. */
static inline struct stats *rings_stats(struct source *b)
{
	return &b->queue.applier.stats[b->queue.applier.set];
}

#endif
