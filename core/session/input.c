// SPDX-License-Identifier: Apache-2.0
#include "core/session/input.h"

#include "core/host/signals.h"
#include "core/session/counting.h"
#include "core/session/forget.h"
#include "core/session/unwinder.h"

#include <stdio.h>

int input_open(struct session *s, struct err *err)
{
	int rc;

	s->way = s->ways;
	snprintf(s->reason, sizeof(s->reason), "reads '%.500s'", s->request.input.path);
	/*
	 * counting_open() may read records, and wait for them, until the event is known: note signals before that. If
	 * this recording is compared with a run that a signal has ended, the report is due: let a second signal end the
	 * process.
	 */
	if (signals_due() == UINT64_MAX)
		signals_note();
	rc = counting_open(s, s->way, err);
	if (!rc)
		rc = unwinder_recorded(s, err);
	if (!rc)
		rc = counting_start(s, err);
	if (rc)
		signals_release();
	return rc;
}

int input_run(struct session *s, struct err *err)
{
	int rc;

	do {
		rc = counting_drain(s, err);
		if (!rc && tasks_forget_due(s->sink.tasks))
			forget_tasks(s);
	} while (!rc && !(s->recording.ends && signals_noted()));
	/* Reading the rest of a pipe may have taken long: the time for the report (signals_due()) counts from now. */
	if (signals_noted())
		signals_obey();
	signals_release();
	if (rc >= 0)
		rc = counting_end(s, err);
	s->sink.started_ns = s->recording.first_ns;
	s->sink.stopped_ns = s->recording.last_ns;
	return rc;
}
