// SPDX-License-Identifier: Apache-2.0
#include "core/events/place.h"

#include "core/base/clock.h"
#include "core/events/event.h"
#include "core/events/side_band.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int join(struct event_place *e, struct joined_event *joined, struct err *err)
{
	int rc = event_id(joined->fd, e->cpu, &joined->id, err);

	if (!rc && event_join(e, joined))
		rc = err_sys(err, -ENOMEM, "cannot remember the events of CPU %d", e->cpu);
	if (rc)
		close(joined->fd);
	return rc;
}

static int open_whole(struct events *ev, struct event_place *e, enum event_kind kind, struct err *err)
{
	struct joined_event opened = { .fd = event_open(ev, e, kind, -1), .kind = kind };

	if (opened.fd == -ENODEV)
		return -ENODEV;
	if (opened.fd < 0)
		return event_refused(ev, e, kind, -1, opened.fd, err);
	if (kind != ev->leads)
		return join(e, &opened, err);
	e->fd = opened.fd;
	return 0;
}

int place_open(struct events *ev, struct event_place *e, struct err *err)
{
	const struct request *r = ev->request;
	int rc = ev->followed && e->fd < 0 ? -ENODEV : 0;
	enum event_kind kind;

	for (kind = 0; kind < MEASURED_NR && !ev->followed && !rc; kind++)
		if (events_measure(ev, kind))
			rc = open_whole(ev, e, kind, err);
	if (!rc && ev->has_notes && r->sampling.event && e->samples)
		rc = event_open_notes(ev, e, EVENT_SAMPLES, err);
	if (!rc && ev->has_notes && r->off_cpu.wanted)
		rc = event_open_notes(ev, e, EVENT_SWITCHES, err);
	if (!rc && ev->apart && !ev->followed)
		rc = side_band_open(ev, e, err);
	if (rc) {
		event_close_samples(e);
		side_band_leave(&e->side);
	}
	return rc;
}

int place_tell(const struct event_place *e, unsigned long request)
{
	size_t i;

	if (e->fd >= 0 && ioctl(e->fd, request, 0))
		return -errno;
	for (i = 0; i < e->nr_more; i++)
		if (ioctl(e->more[i].fd, request, 0))
			return -errno;
	return 0;
}

/* Read the clock here: a time that the caller took before would be too early for @enabled_ns. */
void place_look(struct event_place *e, uint64_t enabled_ns)
{
	e->looked_at = now_ns();
	e->looked_ns = enabled_ns;
}

int place_enable(struct event_place *e, struct err *err)
{
	int rc = side_band_tell(&e->side, PERF_EVENT_IOC_ENABLE);

	if (!rc)
		rc = place_tell(e, PERF_EVENT_IOC_ENABLE);
	place_look(e, 0);
	e->stands = 0;
	return rc ? err_sys(err, rc, "cannot enable the perf event of CPU %d", e->cpu) : 0;
}
