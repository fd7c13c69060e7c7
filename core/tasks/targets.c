// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/targets.h"

#include "core/base/clock.h"
#include "core/tasks/proc.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_NS (100 * 1000 * 1000ULL)

struct targets {
	const struct host *host;
	const pid_t *ids;
	bool are_processes;
	size_t nr, nr_ended; /* the first @nr_ended have ended; we wait for the next one */
	int fd;              /* pidfd of the next one, or -1 */
	uint64_t look_at;    /* when to read /proc for the next one; 0: that was not done yet */
	int rc;              /* result of targets_begin() */
	uint64_t had_ns;     /* CPU time at targets_begin() */
	uint64_t started[];  /* see proc_started(): another process with a reused id has another time */
};

static bool has_ended(const struct targets *t)
{
	return proc_ended(t->host, t->ids[t->nr_ended], t->are_processes, t->started[t->nr_ended]);
}

/* If pidfd_open(2) fails, whatever the reason, read /proc. */
static void wait_for_next(struct targets *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	if (t->nr_ended < t->nr && t->are_processes)
		t->fd = (int)syscall(SYS_pidfd_open, t->ids[t->nr_ended], 0);
	t->look_at = 0;
}

struct targets *targets_new(const struct host *host, const pid_t *ids, size_t nr, bool are_processes)
{
	struct targets *t = calloc(1, sizeof(*t) + nr * sizeof(*t->started));
	size_t i;

	if (!t)
		return NULL;
	t->host = host;
	t->ids = ids;
	t->nr = nr;
	t->are_processes = are_processes;
	t->fd = -1;
	for (i = 0; i < nr; i++)
		t->started[i] = proc_started(host, ids[i]);
	wait_for_next(t);
	return t;
}

void targets_free(struct targets *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

int targets_fd(const struct targets *t)
{
	return t->fd;
}

/* A new pidfd may be of another process, which has reused the id. */
static bool next_has_ended(struct targets *t)
{
	struct pollfd p = { t->fd, POLLIN, 0 };
	bool is_new = !t->look_at;
	uint64_t now;

	if (t->fd >= 0 && !is_new)
		return poll(&p, 1, 0) > 0;
	now = now_ns();
	if (now < t->look_at)
		return false;
	t->look_at = now + LOOK_NS;
	return has_ended(t);
}

bool targets_ended(struct targets *t)
{
	while (t->nr_ended < t->nr && next_has_ended(t)) {
		t->nr_ended++;
		wait_for_next(t);
	}
	return t->nr_ended == t->nr;
}

static int cpu_ns(const struct targets *t, uint64_t *sum)
{
	uint64_t ns = 0;
	size_t i;
	int rc = 0;

	*sum = 0;
	for (i = 0; i < t->nr && !rc; i++) {
		rc = proc_cpu_ns(t->host, t->ids[i], t->are_processes, &ns);
		*sum += ns;
	}
	return rc;
}

void targets_begin(struct targets *t)
{
	t->rc = cpu_ns(t, &t->had_ns);
}

int targets_ran(const struct targets *t, uint64_t *ns)
{
	int rc = t->rc ? t->rc : cpu_ns(t, ns);

	/* Another process may have the id now. */
	if (!rc && *ns < t->had_ns)
		rc = -ESRCH;
	if (!rc)
		*ns -= t->had_ns;
	return rc;
}
