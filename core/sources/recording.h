/* SPDX-License-Identifier: Apache-2.0 */
/* The facts in a recording besides its samples. Filled by the backend that reads it. */
#ifndef CORE_SOURCES_RECORDING_H
#define CORE_SOURCES_RECORDING_H

#include "core/files/build_ids.h"
#include "core/files/recorded.h"

#include <stdbool.h>
#include <stdint.h>

/** struct recorded_event - an event of a recording, and the number of its samples. */
struct recorded_event {
	char *name; /* fit to print */
	uint64_t samples;
};

/**
 * struct recording - all zeros: nothing is known yet. Owned strings, fit to print; see recording_release().
 * @event:         perf record's name of the event whose samples are counted
 * @others:        the other events that were sampled, separated by ", "; NULL: there are none
 * @freq_hz:       samples per second of @event; 0: one every @period events
 * @more:          the other events that have samples, in the order of the recording
 * @other_samples: of the other events; they are not in the statistics
 * @undescribed_samples: of these: samples whose event is unknown
 * @first_ns:      least time of the samples of @event, on the recording's clock; @last_ns: greatest; 0: none has one
 * @user_callchains: samples of @event have user stacks that the kernel walked by frame pointers
 * @copies:        samples of @event have user registers and stack copies
 * @max_stack:     the most addresses that a callchain of @event can have
 * @ends:          it is a file, not a pipe
 * @damaged:       places where no record can be read; @damaged_at: offset in the file of the first
 * @damaged_in:    if the recording is a directory: the name of the file with the first damaged place; else ""
 * @left_out:      bytes that were skipped at these places
 * @missing:       bytes of records that are missing at the end of the file
 * @origin:        of which host, kernel and boot it is, to find names; its build ids are @build_ids
 */
struct recording {
	char *event, *others;
	uint64_t freq_hz, period;
	struct recorded_event *more;
	size_t nr_more;
	uint64_t other_samples, undescribed_samples;
	uint64_t first_ns, last_ns;
	bool user_callchains, copies;
	unsigned int max_stack;
	bool ends;
	uint64_t damaged, damaged_at, left_out, missing;
	char damaged_in[16];
	bool truncated;   /* it ends within a record, or before it should */
	bool unfinished;  /* its recorder did not come to the end */
	bool header_lost; /* the part of its header that stands behind the records is missing or damaged */
	struct build_ids *build_ids;
	struct recorded origin;
};

void recording_release(struct recording *r);

#endif
