// SPDX-License-Identifier: Apache-2.0
#include "core/host/starved.h"

#include "core/base/clock.h"
#include "core/base/number.h"

#include <errno.h>
#include <string.h>

/* The second number of its schedstat (Documentation/scheduler/sched-stats.rst). */
static bool waited(const struct host *h, uint64_t *ns)
{
	char text[128];
	const char *p = text;
	uint64_t ran;

	return host_read(h->proc, "self/schedstat", text, sizeof(text)) >= 0 &&
	       !parse_digits(&p, 10, UINT64_MAX, &ran) && *p++ == ' ' && !parse_digits(&p, 10, UINT64_MAX, ns);
}

/* "/autogroup-97 nice 0": the file is empty if this process is in no such group (kernel/sched/autogroup.c). */
static bool session_may_have_more(const struct host *h)
{
	char text[64], *nice;
	long long enabled;

	if (host_setting(h, "kernel/sched_autogroup_enabled", &enabled) || !enabled ||
	    host_read(h->proc, "self/autogroup", text, sizeof(text)) < 0)
		return false;
	nice = strstr(text, " nice ");
	return nice && strcmp(nice, " nice -20\n");
}

bool host_starved(const struct host *h, uint64_t late_ns, struct err *why)
{
	uint64_t ns;

	if (!waited(h, &ns) || ns < NSEC_PER_SEC || ns < late_ns / 2)
		return false;
	err_set(why, -EBUSY, "the report came %.1f s after the sampling: this process waited %.1f s for a CPU%s",
		(double)late_ns / NSEC_PER_SEC, (double)ns / NSEC_PER_SEC,
		session_may_have_more(h)
			? " (kernel.sched_autogroup_enabled is 1: as root, echo -20 > /proc/self/autogroup)"
			: "");
	return true;
}
