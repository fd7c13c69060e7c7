/* SPDX-License-Identifier: Apache-2.0 */
/* The request of a run, which all its parts may read: the options and facts derived from them. */
#ifndef CORE_REQUEST_REQUEST_H
#define CORE_REQUEST_REQUEST_H

#include "core/host/host.h"
#include "core/request/options.h"
#include "core/tasks/command.h"
#include "core/tasks/filter.h"

/** struct request - unchanged once sampling begins. */
struct request {
	const struct options *options;
	const struct host *host;
	struct filter filter; /* the filter on samples: backends use this, not @options */
	/* Only this command is sampled, by following its threads or by filter.tree; NULL: none */
	struct command *command;
	unsigned int asked; /* see callchain_asked(); for a recording, the limit with which it was made */
	bool both;          /* --backend=both: every sample is counted in the kernel, and also passed on */
	bool unwinds;       /* user stacks are unwound here: samples have the data for that */
	/* With @unwinds, bytes of the stack copies; and the smallest useful size, if the rings have little room. */
	uint32_t dump_bytes, dump_least;
	bool proves;   /* with @unwinds: use frame pointers if they are proven right: see unwind_mode */
	bool in_pidns; /* this process is in a PID namespace: there may be tasks outside */
};

/** request_wants_first() - true if processes that exist are to be read at their first sample. */
bool request_wants_first(const struct request *r);

/** request_filter() - the filters of @o that are known before anything is opened. Borrows from @o. */
struct filter request_filter(const struct options *o);

#endif
