// SPDX-License-Identifier: Apache-2.0
#include "core/host/cpu_wait.h"

#include "core/base/clock.h"
#include "core/base/number.h"
#include "core/base/saturate.h"

#include <errno.h>

#define LONG_NS (5 * NSEC_PER_SEC)

/* Time that the main thread waited: the second number of schedstat (Documentation/scheduler/sched-stats.rst). */
static bool read_waited(const struct host *h, uint64_t *ns)
{
	char text[128];
	const char *p = text;
	uint64_t ran;

	return host_read(h->proc, "self/schedstat", text, sizeof(text)) >= 0 &&
	       !parse_digits(&p, 10, UINT64_MAX, &ran) && *p++ == ' ' && !parse_digits(&p, 10, UINT64_MAX, ns);
}

void cpu_wait_begin(const struct host *h, struct cpu_wait *w, const char *what)
{
	*w = (struct cpu_wait){ .what = what, .began_ns = now_ns() };
	w->known = read_waited(h, &w->waited_ns);
}

bool cpu_wait_is_long(const struct host *h, const struct cpu_wait *w, uint64_t now_ns, struct err *why)
{
	uint64_t passed = sub_or_0(now_ns, w->began_ns), waited;

	if (!w->known || passed <= LONG_NS || !read_waited(h, &waited))
		return false;
	waited = sub_or_0(waited, w->waited_ns);
	if (waited < passed / 2)
		return false;
	err_set(why, -EBUSY, "%s took %.1f s, of which this process waited %.1f s for a CPU", w->what,
		(double)passed / NSEC_PER_SEC, (double)waited / NSEC_PER_SEC);
	return true;
}
