// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/events/event_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int cmp_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct event_id *)a)->id, y = ((const struct event_id *)b)->id;

	return (x > y) - (x < y);
}

enum event_kind rings_kind(const struct source *b, const struct cpu_rings *s, uint64_t id)
{
	const struct event_id key = { .id = id }, *of = bsearch(&key, s->ids, s->nr_ids, sizeof(key), cmp_ids);

	return of ? of->kind : b->env->events->leads;
}

static int join(struct cpu_rings *s, const struct event_place *e, const struct joined_event *joined)
{
	if (joined->id)
		s->ids[s->nr_ids++] = (struct event_id){ joined->id, joined->kind };
	return ioctl(joined->fd, PERF_EVENT_IOC_SET_OUTPUT, e->fd) ? -errno : 0;
}

/* Let all events of the place write to one ring. If threads are followed, there may be thousands. */
static int join_all(struct cpu_rings *s, const struct event_place *e, struct err *err)
{
	size_t i;
	int rc = 0;

	free(s->ids);
	s->nr_ids = 0;
	s->ids = malloc((e->nr_more + MEASURED_NR) * sizeof(*s->ids));
	if (!s->ids)
		return err_sys(err, -ENOMEM, "cannot remember the perf events of CPU %d", e->cpu);
	for (i = 0; i < MEASURED_NR && !rc; i++)
		if (e->notes[i].fd >= 0)
			rc = join(s, e, &e->notes[i]);
	for (i = 0; i < e->nr_more && !rc; i++)
		rc = join(s, e, &e->more[i]);
	qsort(s->ids, s->nr_ids, sizeof(*s->ids), cmp_ids);
	return rc ? err_sys(err, rc, "cannot join the perf events of CPU %d", e->cpu) : 0;
}

static int map_samples(struct source *b, size_t i, struct err *err)
{
	struct event_place *e = &b->env->events->places[i];
	struct cpu_rings *s = &b->rings[i];
	int rc = ring_map(&s->samples, e->fd, b->env->events->rings.samples, b->blocks);

	if (rc)
		return events_ring_error(b->env->events, e->cpu, rc, err);
	e->ring_bytes = b->env->events->rings.samples;
	if (b->env->request->unwinds) {
		s->source = b;
		s->samples.pack = rings_pack;
		s->samples.pack_ctx = s;
	}
	if (b->queue.applier.switching)
		s->samples.record =
			events_largest_record(b->env->events, events_attr(b->env->events)->sample_stack_user);
	return join_all(s, e, err);
}

static int map_side(struct source *b, size_t i, struct err *err)
{
	struct side_band *e = &b->env->events->places[i].side;
	int cpu = b->env->events->places[i].cpu;
	int rc = ring_map(&b->rings[i].side, e->fd, b->env->events->rings.side, b->blocks);
	size_t j;

	if (rc)
		return events_ring_error(b->env->events, cpu, rc, err);
	e->ring_bytes = b->env->events->rings.side;
	for (j = 0; j < e->nr_more; j++)
		if (ioctl(e->more[j], PERF_EVENT_IOC_SET_OUTPUT, e->fd))
			return err_sys(err, -errno, "cannot join the perf events of CPU %d", cpu);
	return 0;
}

/* Map the rings of the open events from place @first to @last. */
static int map_rings(struct source *b, size_t first, size_t last, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = first; i <= last && !rc; i++) {
		if (b->env->events->places[i].side.fd >= 0)
			rc = map_side(b, i, err);
		if (!rc && b->env->events->places[i].fd >= 0)
			rc = map_samples(b, i, err);
	}
	return rc;
}

static void unmap(struct cpu_rings *s)
{
	ring_unmap(&s->samples);
	ring_unmap(&s->side);
}

/*
 * Only the kernel knows how much memory may be locked, and other programs of the same user lock some of it, so try. All
 * rings should have the same size: unmap those that are mapped already, which frees their memory, and map them again.
 * Once the run has begun, the rings of other places hold records, and stay mapped.
 * Return: false: there is no smaller ring, or the failure @code has another cause than the size.
 */
static bool shrink_rings(struct source *b, size_t *first, size_t last, int code)
{
	const struct source_env *env = b->env;
	size_t i;

	if (code != -EPERM && code != -ENOMEM)
		return false;
	env->events->ring_refused = code;
	if (!ring_sizes_halve(&env->events->rings, (size_t)sysconf(_SC_PAGESIZE)))
		return false;
	if (!b->started)
		*first = 0;
	for (i = *first; i <= last; i++)
		unmap(&b->rings[i]);
	return true;
}

int rings_map(struct source *b, size_t i, struct err *err)
{
	size_t first = i;
	int rc;

	do
		rc = map_rings(b, first, i, err);
	while (rc && shrink_rings(b, &first, i, rc));
	return rc;
}

void rings_unmap(struct cpu_rings *s)
{
	unmap(s);
	free(s->ids);
	*s = (struct cpu_rings){ 0 };
}
