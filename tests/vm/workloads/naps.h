/* SPDX-License-Identifier: Apache-2.0 */
/* What the workload naps writes into a file, for whoever has mapped it, too. */
#ifndef TESTS_VM_WORKLOADS_NAPS_H
#define TESTS_VM_WORKLOADS_NAPS_H

#include <stdint.h>

#define NAP_NS   10000000
#define MAX_NAPS 100000 /* longer than any test takes; then it ends */

/** struct naps - all its naps; times are in ns. */
struct naps {
	uint64_t nr; /* that have ended */
	struct nap {
		uint64_t from, to; /* of CLOCK_MONOTONIC */
		uint64_t on_cpu;   /* of this time; all else is off CPU, however long the machine stood still */
	} nap[MAX_NAPS];
};

#endif
