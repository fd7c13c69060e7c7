/* SPDX-License-Identifier: Apache-2.0 */
/* The data that the workload naps writes into a file, and that other programs may map. */
#ifndef TESTS_VM_WORKLOADS_NAPS_H
#define TESTS_VM_WORKLOADS_NAPS_H

#include <stdint.h>

#define NAP_NS   10000000
#define MAX_NAPS 100000 /* no test takes so long; after them the workload ends */

/** struct naps - all its naps; times are in ns. */
struct naps {
	uint64_t nr; /* ended naps */
	struct nap {
		uint64_t from, to; /* of CLOCK_MONOTONIC */
		uint64_t on_cpu;   /* CPU time in between; the rest is off CPU, however long the machine stood still */
	} nap[MAX_NAPS];
};

#endif
