// SPDX-License-Identifier: Apache-2.0
#include "core/waiting.h"

#include <errno.h>
#include <stdlib.h>

/* A CPU that is offline has no event: poll(2) passes over -1. Of several that share a ring one is enough. */
int waiting_begin(struct waiting *w, const struct capture *cap, struct err *err)
{
	size_t i;

	*w = (struct waiting){ .cap = cap, .nr = WAITING_OTHERS + 2 * cap->nr_events };
	w->fds = calloc(w->nr, sizeof(*w->fds));
	if (!w->fds)
		return err_sys(err, -ENOMEM, "cannot wait for %zu events", cap->nr_events);
	for (i = 0; i < WAITING_OTHERS; i++)
		w->fds[i] = (struct pollfd){ -1, POLLIN, 0 };
	for (i = 0; i < cap->nr_events; i++) {
		const struct capture_event *e = &cap->events[i];

		w->fds[WAITING_OTHERS + 2 * i] = (struct pollfd){ e->waits ? -1 : e->fd, POLLIN, 0 };
		w->fds[WAITING_OTHERS + 2 * i + 1] = (struct pollfd){ e->waits ? -1 : e->side.fd, POLLIN, 0 };
	}
	return 0;
}

void waiting_end(struct waiting *w)
{
	free(w->fds);
	*w = (struct waiting){ 0 };
}

/*
 * The event of a thread is dead with its thread, while others write to the same ring: the next of them is polled. -1:
 * that was the last.
 */
static int other_fd(const struct capture_event *e, int fd)
{
	size_t i = 0;

	if (fd != e->fd)
		while (i < e->nr_more && e->more[i++].fd != fd)
			;
	return i < e->nr_more ? e->more[i].fd : -1;
}

/* The same of what tells of tasks and mappings. */
static int other_side_fd(const struct side_band *s, int fd)
{
	size_t i = 0;

	if (fd != s->fd)
		while (i < s->nr_more && s->more[i++] != fd)
			;
	return i < s->nr_more ? s->more[i] : -1;
}

/* It would be ready for ever. Return: true: a CPU seems to have gone. */
static bool pass_over(struct waiting *w, size_t i)
{
	const struct capture_event *e = &w->cap->events[i / 2];
	struct pollfd *p = &w->fds[WAITING_OTHERS + i];

	p->fd = i % 2 ? other_side_fd(&e->side, p->fd) : other_fd(e, p->fd);
	return p->fd < 0;
}

int waiting_poll(struct waiting *w, int timeout_ms, bool *gone, struct err *err)
{
	int ready = 0;
	size_t i;

	*gone = false;
	for (i = 0; i < w->nr; i++)
		w->fds[i].revents = 0;
	if (poll(w->fds, w->nr, timeout_ms) < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot poll the perf events");
	for (i = WAITING_OTHERS; i < w->nr; i++) {
		ready |= !!(w->fds[i].revents & POLLIN);
		if (w->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			*gone |= pass_over(w, i - WAITING_OTHERS);
	}
	return ready;
}
