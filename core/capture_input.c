// SPDX-License-Identifier: Apache-2.0
#include "core/capture_input.h"

#include "core/signals.h"

#include <stdio.h>

int input_open(struct capture *cap, struct err *err)
{
	struct capture_backend *b = &cap->backends[cap->nr_backends++];

	b->ops = backend_recording();
	b->state = NULL;
	snprintf(cap->reason, sizeof(cap->reason), "reads '%.500s'", cap->options->input);
	return b->ops->open(&b->state, cap, err);
}

int input_run(struct capture *cap, struct err *err)
{
	const struct capture_backend *b = &cap->backends[0];
	int rc;

	signals_note();
	do {
		rc = b->ops->drain(b->state, err);
		if (!rc && tasks_forget_due(cap->tasks))
			capture_forget(cap);
	} while (!rc && !(cap->recording.ends && signals_noted()));
	signals_release();
	if (rc >= 0)
		rc = b->ops->end(b->state, err);
	cap->started_ns = cap->recording.first_ns;
	cap->stopped_ns = cap->recording.last_ns;
	return rc;
}
