/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of this host: no memory, or an unreadable file. A failure may cost only a name, and callers continue without
 * it, just like for a file that never had the name. Failures are counted where they happen. A caller that needs to
 * distinguish the two cases compares the counts before and after.
 */
#ifndef CORE_BASE_FAULTS_H
#define CORE_BASE_FAULTS_H

#include <errno.h>
#include <stdint.h>

/** struct faults - the number of failures in this thread, and the code of the last one. */
struct faults {
	uint64_t nr;
	int last;
};

extern _Thread_local struct faults faults;

/** fault() - count a failure. Return: @code. */
static inline int fault(int code)
{
	faults.nr++;
	faults.last = code;
	return code;
}

#endif
