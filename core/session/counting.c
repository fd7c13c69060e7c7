// SPDX-License-Identifier: Apache-2.0
#include "core/session/counting.h"

/* List the counters of @way that this run needs. A second one may count the off-CPU intervals. Return: how many. */
static size_t counters_of(const struct session *s, const struct way *way, const struct counter_ops **out)
{
	bool other = s->request.off_cpu.wanted && way->counter && way->counter->switches;
	size_t nr = 0;

	if (way->counter && (s->request.sampling.event || !other))
		out[nr++] = way->counter;
	if (other)
		out[nr++] = way->counter->switches;
	return nr;
}

int counting_probe(const struct session *s, const struct way *way, struct err *err)
{
	const struct counter_ops *ops[COUNTERS_MAX];
	size_t nr = counters_of(s, way, ops), i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		rc = ops[i]->probe(s->request.backend != NULL, err);
	return rc;
}

int counting_open(struct session *s, const struct way *way, struct err *err)
{
	const struct counter_ops *ops[COUNTERS_MAX];
	size_t nr = counters_of(s, way, ops), i;
	int rc = 0;

	s->env.source = way->source;
	for (i = 0; i < nr && !rc; i++) {
		struct used_counter *c = &s->env.counters[s->env.nr_counters++];

		*c = (struct used_counter){ .ops = ops[i] };
		rc = ops[i]->open(&c->state, &s->env, err);
	}
	if (rc)
		return rc;
	return way->source->open(&s->source, &s->env, err);
}

void counting_close(struct session *s)
{
	if (s->env.source)
		s->env.source->close(s->source);
	s->env.source = NULL;
	s->source = NULL;
	while (s->env.nr_counters) {
		struct used_counter *c = &s->env.counters[--s->env.nr_counters];

		c->ops->close(c->state);
	}
}

int counting_attach(struct session *s, size_t place, struct err *err)
{
	size_t i = s->env.nr_counters;
	int rc;

	if (s->sink.began_ns)
		sink_gap(&s->sink, true);
	rc = s->env.source->attach(s->source, place, err);
	while (!rc && i-- > 0)
		rc = s->env.counters[i].ops->attach(s->env.counters[i].state, place, err);
	return rc;
}

int counting_attach_all(struct session *s, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->events.nr_places && !rc; i++)
		if (s->events.places[i].fd >= 0 && !s->events.places[i].waits)
			rc = counting_attach(s, i, err);
	return rc;
}

int counting_detach(struct session *s, size_t place, struct err *err)
{
	size_t i;
	int rc = 0;

	sink_gap(&s->sink, true);
	for (i = 0; i < s->env.nr_counters && !rc; i++)
		rc = s->env.counters[i].ops->detach(s->env.counters[i].state, place, err);
	return rc ? rc : s->env.source->detach(s->source, place, err);
}

static int start_counters(struct session *s, struct err *err)
{
	size_t i = s->env.nr_counters;
	int rc = 0;

	while (!rc && i-- > 0)
		if (s->env.counters[i].ops->start)
			rc = s->env.counters[i].ops->start(s->env.counters[i].state, err);
	return rc;
}

int counting_start(struct session *s, struct err *err)
{
	int rc = s->request.both ? 0 : start_counters(s, err);
	size_t i;

	for (i = 0; !rc && i < s->env.nr_counters; i++)
		if (s->env.counters[i].ops->first)
			s->env.counters[i].ops->first->watch(s->env.counters[i].state);
	if (!rc && s->env.source->start)
		rc = s->env.source->start(s->source, err);
	if (!rc && s->request.both)
		rc = start_counters(s, err);
	return rc;
}

int counting_drain(struct session *s, struct err *err)
{
	return s->env.source->drain(s->source, err);
}

int counting_stop(struct session *s, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->env.nr_counters && !rc; i++)
		rc = s->env.counters[i].ops->stop(s->env.counters[i].state, err);
	return rc;
}

int counting_end(struct session *s, struct err *err)
{
	struct stats b = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; i < s->env.nr_counters && !rc; i++) {
		const struct used_counter *c = &s->env.counters[i];

		rc = c->ops->end(c->state, err);
		if (!rc)
			c->ops->stats(c->state, &b);
	}
	s->env.samples_passed = s->request.both ? b.taken : b.passed;
	s->env.intervals_passed = b.intervals_passed;
	return rc ? rc : s->env.source->end(s->source, err);
}

int counting_take(struct session *s, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->env.nr_counters && !rc; i++)
		rc = s->env.counters[i].ops->take(s->env.counters[i].state, err);
	return rc;
}

void counting_stats(const struct session *s, struct stats *stats)
{
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		s->env.counters[i].ops->stats(s->env.counters[i].state, stats);
	if (s->env.source)
		s->env.source->stats(s->source, stats);
}

int counting_first_fd(const struct session *s, size_t i)
{
	const struct used_counter *c = &s->env.counters[i];

	return i < s->env.nr_counters && c->ops->first ? c->ops->first->fd(c->state) : -1;
}

void counting_read_first(struct session *s, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx)
{
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		if (s->env.counters[i].ops->first)
			s->env.counters[i].ops->first->read(s->env.counters[i].state, fn, ctx);
}

bool counting_pids(struct session *s, bool (*fn)(void *ctx, pid_t pid), void *ctx)
{
	bool all = true;
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		all &= !s->env.counters[i].ops->pids(s->env.counters[i].state, fn, ctx);
	return all;
}

void counting_so_far(const struct session *s, struct progress *to)
{
	const struct row_set *set = &s->sink.sets[s->sink.set];
	struct stats stats = { 0 };
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		if (s->env.counters[i].ops->so_far)
			s->env.counters[i].ops->so_far(s->env.counters[i].state, &stats);
	if (s->env.source->so_far)
		s->env.source->so_far(s->source, &stats);
	to->samples = rows_times(set->samples) + stats.counted_kernel;
	to->intervals = rows_times(set->intervals) + stats.intervals_charged;
	to->lost = stats.lost_here;
}

void counting_tend(struct session *s)
{
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		if (s->env.counters[i].ops->tend)
			s->env.counters[i].ops->tend(s->env.counters[i].state);
}

bool counting_judged(void *session, pid_t pid, enum descent what)
{
	const struct session *s = session;
	bool kept = true;
	size_t i;

	for (i = 0; i < s->env.nr_counters; i++)
		kept &= s->env.counters[i].ops->judged(s->env.counters[i].state, pid, what);
	return kept;
}
