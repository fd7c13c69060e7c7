/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is asked for, and by whom: what everybody in it may read. */
#ifndef CORE_REQUEST_REQUEST_H
#define CORE_REQUEST_REQUEST_H

#include "core/host/host.h"
#include "core/request/options.h"
#include "core/tasks/command.h"
#include "core/tasks/filter.h"

/** struct request - it stays as it is once sampling begins. */
struct request {
	const struct options *options;
	const struct host *host;
	struct filter filter;    /* what counts: backends ask this, not @options */
	struct command *command; /* nothing but this is asked for, followed or by filter.tree; NULL: there is none */
	unsigned int asked;      /* see callchain_asked(); of a recording, what it was made with */
	bool both;               /* --backend=both: every sample is counted in the kernel, and passed on */
	bool unwinds;            /* user stacks are unwound here: samples with a user part come with what that needs */
	/* With @unwinds, bytes of the copies of stacks; and of these, where there is little room in the rings. */
	uint32_t dump_bytes, dump_least;
	bool proves;   /* with @unwinds: where frame pointers are proved, they are used: see unwind_mode */
	bool in_pidns; /* this process is in a pid namespace: there may be tasks outside */
};

/** request_filter() - what @o asks for that is known before anything is opened. Borrows from @o. */
struct filter request_filter(const struct options *o);

#endif
