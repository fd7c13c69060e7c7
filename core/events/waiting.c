// SPDX-License-Identifier: Apache-2.0
#include "core/events/waiting.h"

#include "core/events/epoll_array.h"

#include <errno.h>
#include <stdlib.h>

/* A CPU that is offline has no event: poll(2) skips -1. If several events share a ring, polling one is enough. */
int waiting_begin(struct waiting *w, const struct events *ev, struct err *err)
{
	size_t i;

	*w = (struct waiting){ .ev = ev, .nr = WAITING_OTHERS + 2 * ev->nr_places };
	w->fds = calloc(w->nr, sizeof(*w->fds));
	if (!w->fds)
		return err_sys(err, -ENOMEM, "cannot wait for %zu events", ev->nr_places);
	for (i = 0; i < WAITING_OTHERS; i++)
		w->fds[i] = (struct pollfd){ -1, POLLIN, 0 };
	for (i = 0; i < ev->nr_places; i++) {
		const struct event_place *e = &ev->places[i];

		w->fds[WAITING_OTHERS + 2 * i] = (struct pollfd){ e->waits ? -1 : e->fd, POLLIN, 0 };
		w->fds[WAITING_OTHERS + 2 * i + 1] = (struct pollfd){ e->waits ? -1 : e->side.fd, POLLIN, 0 };
	}
	return 0;
}

void waiting_end(struct waiting *w)
{
	epoll_array_free(w->watched);
	free(w->fds);
	*w = (struct waiting){ 0 };
}

void waiting_watch(struct waiting *w)
{
	w->watched = epoll_array_new(w->nr);
}

/* The @i-th of the events that share a ring. @side: the ring for tasks and mappings */
static int fd_at(const struct event_place *e, bool side, size_t i)
{
	if (!i)
		return side ? e->side.fd : e->fd;
	return side ? e->side.more[i - 1] : e->more[i - 1].fd;
}

static bool is_dead(const struct pollfd *p)
{
	return p->revents & (POLLHUP | POLLERR | POLLNVAL);
}

/*
 * Stop polling a dead event, which would always be ready. The event of a thread dies with the thread, while others
 * still write to the same ring: poll the next one that lives. Return: true: there is none, a CPU seems to have gone.
 */
static bool pass_over(struct waiting *w, size_t i)
{
	const struct event_place *e = &w->ev->places[i / 2];
	bool side = i % 2;
	size_t nr = 1 + (side ? e->side.nr_more : e->nr_more), k = 0;
	struct pollfd *p = &w->fds[WAITING_OTHERS + i];

	while (k < nr && fd_at(e, side, k) != p->fd)
		k++;
	do {
		p->fd = ++k < nr ? fd_at(e, side, k) : -1;
		p->revents = 0;
	} while (p->fd >= 0 && poll(p, 1, 0) > 0 && is_dead(p));
	return p->fd < 0;
}

/*
 * If one of the descriptors cannot be watched, use poll(2) from now on.
 * Return: true: a ring may want to be read, but the wait will not show it. The kernel keeps one note for a ring that
 * wants to be read, and each poll of one of its events takes that note, also that of EPOLL_CTL_ADD. In some kernels
 * (3.10) a note that comes during EPOLL_CTL_ADD is lost, too.
 */
static bool watch_all(struct waiting *w)
{
	int rc = epoll_array_update(w->watched, w->fds, WAITING_OTHERS);

	if (rc < 0) {
		epoll_array_free(w->watched);
		w->watched = NULL;
	}
	return rc;
}

int waiting_poll(struct waiting *w, int timeout_ms, bool *gone, struct err *err)
{
	int ready = w->watched && watch_all(w), n;
	size_t i;

	*gone = false;
	for (i = 0; i < w->nr; i++)
		w->fds[i].revents = 0;
	if (ready)
		timeout_ms = 0;
	n = w->watched ? epoll_array_wait(w->watched, w->fds, timeout_ms) : poll(w->fds, w->nr, timeout_ms);
	if (n < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot poll the perf events");
	for (i = WAITING_OTHERS; i < w->nr; i++) {
		if (is_dead(&w->fds[i]))
			*gone |= pass_over(w, i - WAITING_OTHERS);
		ready |= !!(w->fds[i].revents & POLLIN);
	}
	return ready;
}
