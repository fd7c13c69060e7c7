// SPDX-License-Identifier: Apache-2.0
#include "core/events/event.h"

#include "compat/perf_open.h"
#include "core/events/attrs.h"
#include "core/events/side_band.h"
#include "core/host/causes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char event_no_cgroups[] = "the perf rings do not tell the cgroup of a sample here";

/*
 * @tid: 0: the calling thread
 * @kernel: the kernel may have refused because the event samples the kernel, too
 */
static int refused(const struct events *ev, enum event_kind kind, pid_t tid, int cpu, bool kernel, int code,
		   struct err *err)
{
	const struct event_type *event = &ev->types[kind];
	uint64_t freq_hz = kind == ev->leads ? ev->request->sampling.freq_hz : 0;
	char thread[32] = "";
	struct cause why;

	if (tid > 0)
		snprintf(thread, sizeof(thread), "of thread %d ", tid);
	else if (!tid)
		snprintf(thread, sizeof(thread), "of a thread ");
	cause_of_event(ev->request->host, &(struct cause_event){ event, freq_hz, tid, kernel }, code, &why);
	return cause_err(err, code, &why, "cannot open perf event '%s' %son CPU %d", event->name, thread, cpu);
}

/* Close all events but the one that records tasks and mappings. */
void event_close_samples(struct event_place *e)
{
	size_t i;

	while (e->nr_more)
		close(e->more[--e->nr_more].fd);
	free(e->more);
	e->more = NULL;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	for (i = 0; i < MEASURED_NR; i++) {
		if (e->notes[i].fd >= 0)
			close(e->notes[i].fd);
		e->notes[i].fd = -1;
	}
	e->waits = false;
}

void event_close(struct event_place *e)
{
	event_close_samples(e);
	side_band_close(&e->side);
}

int event_id(int fd, int cpu, uint64_t *id, struct err *err)
{
	if (ioctl(fd, PERF_EVENT_IOC_ID, id))
		return err_sys(err, -errno, "cannot read the id of a perf event on CPU %d", cpu);
	return 0;
}

int event_open_notes(struct events *ev, struct event_place *e, enum event_kind about, struct err *err)
{
	struct cause why;
	int fd;

	attrs_fill_notes(ev, about);
	fd = perf_open(&ev->attrs[EVENT_NOTES + about], -1, e->cpu);
	if (fd == -ENODEV)
		return -ENODEV;
	if (fd < 0) {
		cause_of_files(ev->request->host, fd, &why);
		return cause_err(err, fd, &why, "cannot open the perf event for BPF output on CPU %d", e->cpu);
	}
	e->notes[about] = (struct joined_event){ .fd = fd, .kind = EVENT_NOTES + about };
	return event_id(fd, e->cpu, &e->notes[about].id, err);
}

/*
 * @attr: also out, see perf_open()
 * @tid: -1: the whole CPU
 * Return: a descriptor or -errno.
 */
static int open_for(struct perf_event_attr *attr, const struct event_place *e, pid_t tid)
{
	struct perf_event_attr side_band = *attr;

	/* On a CPU that does not sample, this event only provides a ring, for records of tasks and mappings. */
	side_band.type = PERF_TYPE_SOFTWARE;
	side_band.config = PERF_COUNT_SW_CPU_CLOCK;
	side_band.freq = 0;
	side_band.sample_period = 0;
	return perf_open(e->samples ? attr : &side_band, tid, e->cpu);
}

/* A user who may not sample the kernel may still be permitted to sample user code. */
static int open_user_only(struct events *ev, const struct event_place *e, pid_t tid, int code)
{
	struct perf_event_attr *a = &ev->attrs[ev->leads];
	struct err why;
	int fd;

	if ((code != -EACCES && code != -EPERM) || a->exclude_kernel || ev->request->filter.no_user)
		return code;
	refused(ev, ev->leads, tid, e->cpu, true, code, &why);
	a->exclude_kernel = 1;
	a->exclude_callchain_kernel = 1; /* otherwise Linux 7.2 refuses the event */
	fd = open_for(a, e, tid);
	if (fd >= 0) {
		ev->user_only = why;
	} else {
		a->exclude_kernel = 0;
		a->exclude_callchain_kernel = attrs_no_kernel_chain(ev->request);
	}
	return fd;
}

int event_open(struct events *ev, const struct event_place *e, enum event_kind kind, pid_t tid)
{
	int fd;

	if (kind != ev->leads) {
		attrs_fill_switches(ev);
		return perf_open(&ev->attrs[kind], tid, e->cpu);
	}
	fd = open_for(&ev->attrs[kind], e, tid);
	return fd < 0 && tid >= 0 ? open_user_only(ev, e, tid, fd) : fd;
}

/*
 * True if the kernel refuses @what in sample_type. -EINVAL does not say which attribute is wrong: try without @what.
 * Then another error means that the attributes are right, because the kernel checks permissions after them.
 */
static bool is_about(const struct events *ev, const struct event_place *e, pid_t tid, int code, uint64_t what)
{
	struct perf_event_attr without = *events_attr(ev);
	int fd;

	if (code != -EINVAL || !(without.sample_type & what))
		return false;
	without.sample_type &= ~what;
	fd = open_for(&without, e, tid);
	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

int event_refused(const struct events *ev, const struct event_place *e, enum event_kind kind, pid_t tid, int code,
		  struct err *err)
{
	if (kind != ev->leads)
		return refused(ev, kind, tid, e->cpu, tid < 0, code, err);
	if (is_about(ev, e, tid, code, PERF_SAMPLE_CGROUP))
		return err_set(err, code, "%s (before Linux 5.7, or without CONFIG_CGROUP_PERF)", event_no_cgroups);
	if (is_about(ev, e, tid, code, PERF_SAMPLE_IDENTIFIER))
		return err_set(err, code, "samples and switches cannot share a ring buffer (before Linux 3.12)");
	return refused(ev, kind, tid, e->cpu, tid < 0 || ev->request->filter.no_user, code, err);
}

int event_join(struct event_place *e, const struct joined_event *joined)
{
	struct joined_event *more = reallocarray(e->more, e->nr_more + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	e->more = more;
	e->more[e->nr_more++] = *joined;
	return 0;
}
