/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of this host: no memory, or a file that cannot be read. What they cost may be one name of many, and callers
 * go on without it, as they do without what a file never had. So that it is not taken for that, failures are counted
 * where they happen, and who asked for the name compares counts.
 */
#ifndef CORE_BASE_FAULTS_H
#define CORE_BASE_FAULTS_H

#include <errno.h>
#include <stdint.h>

/** struct faults - how many this thread has had, and the code of the last one. */
struct faults {
	uint64_t nr;
	int last;
};

extern _Thread_local struct faults faults;

/** fault() - count one. Return: @code, as it is. */
static inline int fault(int code)
{
	faults.nr++;
	faults.last = code;
	return code;
}

#endif
