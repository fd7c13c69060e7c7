/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to sample or to read a recording: a list in order of preference, which core/cli/ gives to a session. */
#ifndef CORE_SESSION_WAYS_H
#define CORE_SESSION_WAYS_H

#include "core/sources/source.h"

#define WAY_BOTH "both" /* for --backend: a counter and its source count the same samples, to compare them */

/**
 * struct way - one way to sample. A list ends with a way without a name.
 * @name: as in --backend and --stats: stable
 * @counter: in front of the source; NULL: the source alone
 */
struct way {
	const char *name;
	const struct counter_ops *counter;
	const struct source_ops *source;
};

/** way_at() - the @i-th of @ways; NULL at the end. */
const struct way *way_at(const struct way *ways, unsigned int i);
/** way_find() - find a way by name; NULL: there is none. */
const struct way *way_find(const struct way *ways, const char *name);
/** way_counting() - the first way with a counter, which WAY_BOTH uses, too; NULL: there is none. */
const struct way *way_counting(const struct way *ways);
/** way_alone() - the first way without a counter; NULL: there is none. */
const struct way *way_alone(const struct way *ways);

#endif
