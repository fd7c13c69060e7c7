// SPDX-License-Identifier: Apache-2.0
#include "core/events/watch.h"

#include <stdlib.h>
#include <string.h>

struct look {
	struct cpu_times *times; /* NULL: not known */
	uint64_t max_rate;       /* 0: not known */
};

struct watch {
	const struct host *host;
	struct cpu_list cpus;
	struct look before;
};

struct watch *watch_new(const struct host *host, const struct cpu_list *cpus)
{
	struct watch *w = calloc(1, sizeof(*w));
	int *cpu = calloc(cpus->nr, sizeof(*cpu));

	if (!w || !cpu) {
		free(w);
		free(cpu);
		return NULL;
	}
	memcpy(cpu, cpus->cpu, cpus->nr * sizeof(*cpu));
	*w = (struct watch){ .host = host, .cpus = { cpu, cpus->nr } };
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	free(w->before.times);
	cpu_list_release(&w->cpus);
	free(w);
}

static struct look look(const struct watch *w)
{
	struct look l = { .times = calloc(w->cpus.nr, sizeof(*l.times)) };
	struct err ignored;
	long long rate;

	if (l.times && host_cpu_times(w->host, &w->cpus, l.times, &ignored)) {
		free(l.times);
		l.times = NULL;
	}
	if (!host_setting(w->host, "kernel/perf_event_max_sample_rate", &rate) && rate > 0)
		l.max_rate = (uint64_t)rate;
	return l;
}

void watch_begin(struct watch *w)
{
	free(w->before.times);
	w->before = look(w);
}

void watch_end(struct watch *w, struct shortfall *s)
{
	struct cpu_times passed = { .listed = false };
	struct look now = look(w);

	if (now.times && w->before.times)
		cpu_times_passed(w->before.times, now.times, w->cpus.nr, &passed);
	s->times_known = passed.listed;
	s->idle_ns = passed.idle_ns;
	s->steal_ns = passed.steal_ns;
	s->busy_ns = passed.busy_ns;
	s->max_rate_start = w->before.max_rate;
	s->max_rate_end = now.max_rate;
	free(w->before.times);
	w->before = now;
}
