/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a source, for tests without a session. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include "core/sources/source.h"

struct rig {
	struct request request;
	struct events events;
	struct sink sink;
	struct mapped_files_cfg files;
	struct recording recording;
	struct source_env env;
};

/* Make it empty except for @request. */
static inline void rig_make(struct rig *r, struct request request)
{
	*r = (struct rig){ .request = request };
	r->events.request = &r->request;
	r->env = (struct source_env){ &r->request, &source_rings, &r->events, &r->sink, &r->files, &r->recording };
}

#endif
