/* SPDX-License-Identifier: Apache-2.0 */
/* Find the next record of a damaged recording. */
#ifndef PERFRING_PERFDATA_SEARCH_H
#define PERFRING_PERFDATA_SEARCH_H

#include "backend-perfring/recording/perfdata_source.h"

#include <linux/perf_event.h>

/** record_possible() - true if a record can have the type and the size of @h. Accepts unknown types. */
bool record_possible(const struct perf_event_header *h);

/**
 * search_here() - check whether records begin at the front of @w: two possible records of known types in a row, or one
 * with which the recording ends.
 * @ended: the recording ends where the window does
 * Return: 1; 0: no; -EAGAIN: read more, then ask again.
 */
int search_here(const struct window *w, bool ended);

#endif
