// SPDX-License-Identifier: Apache-2.0
#include "core/events/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

_Static_assert(EPOLLIN == POLLIN && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP, "both report in the same bits");

/**
 * struct watched - an epoll instance for the descriptors of a struct waiting.
 * @fds: those descriptors of waiting.fds that it has, in the same order; -1: it has none there
 * @found: room for the result of one wait
 */
struct watched {
	int epoll;
	int *fds;
	struct epoll_event *found;
};

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

static void end_watch(struct waiting *w)
{
	if (!w->watched)
		return;
	if (w->watched->epoll >= 0)
		close(w->watched->epoll);
	free(w->watched->fds);
	free(w->watched->found);
	free(w->watched);
	w->watched = NULL;
}

void waiting_end(struct waiting *w)
{
	end_watch(w);
	free(w->fds);
	*w = (struct waiting){ 0 };
}

void waiting_watch(struct waiting *w)
{
	struct watched *v = calloc(1, sizeof(*v));
	size_t i;

	if (!v)
		return;
	w->watched = v;
	v->fds = calloc(w->nr, sizeof(*v->fds));
	v->found = calloc(w->nr, sizeof(*v->found));
	v->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; v->fds && i < w->nr; i++)
		v->fds[i] = -1;
	if (!v->fds || !v->found || v->epoll < 0)
		end_watch(w);
}

/* The @i-th of the events that share a ring. @side: the ring for tasks and mappings */
static int fd_at(const struct event_place *e, bool side, size_t i)
{
	if (!i)
		return side ? e->side.fd : e->fd;
	return side ? e->side.more[i - 1] : e->more[i - 1].fd;
}

/*
 * The event of a thread dies with the thread, while others still write to the same ring: poll the next one. -1: that
 * was the last.
 */
static int other_fd(const struct event_place *e, bool side, int fd)
{
	size_t nr = 1 + (side ? e->side.nr_more : e->nr_more), i = 0;

	while (i < nr && fd_at(e, side, i) != fd)
		i++;
	return i + 1 < nr ? fd_at(e, side, i + 1) : -1;
}

static bool is_dead(const struct pollfd *p)
{
	return p->revents & (POLLHUP | POLLERR | POLLNVAL);
}

/*
 * Stop polling a dead event, which would always be ready. All threads of a process may have ended: pass over all of
 * their events at once. Return: true: a CPU seems to have gone.
 */
static bool pass_over(struct waiting *w, size_t i)
{
	const struct event_place *e = &w->ev->places[i / 2];
	struct pollfd *p = &w->fds[WAITING_OTHERS + i];

	do {
		p->fd = other_fd(e, i % 2, p->fd);
		p->revents = 0;
	} while (p->fd >= 0 && poll(p, 1, 0) > 0 && is_dead(p));
	return p->fd < 0;
}

/*
 * Let epoll(7) wait for the descriptor that is now the @i-th, instead of the one before. Return: 1: it is a new one;
 * 0: it is the same, or none; -errno
 */
static int watch_one(struct waiting *w, size_t i)
{
	struct watched *v = w->watched;
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = i };

	if (v->fds[i] == w->fds[i].fd)
		return 0;
	if (v->fds[i] >= 0)
		epoll_ctl(v->epoll, EPOLL_CTL_DEL, v->fds[i], NULL);
	v->fds[i] = w->fds[i].fd;
	if (v->fds[i] < 0)
		return 0;
	return epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->fds[i], &e) ? -errno : 1;
}

/*
 * If one of the descriptors cannot be watched, use poll(2) from now on.
 * Return: true: a ring may want to be read, but the wait will not show it. The kernel keeps one note for a ring that
 * wants to be read, and each poll of one of its events takes that note, also that of EPOLL_CTL_ADD. In some kernels
 * (3.10) a note that comes during EPOLL_CTL_ADD is lost, too.
 */
static bool watch_all(struct waiting *w)
{
	bool added = false;
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < w->nr; i++) {
		rc = watch_one(w, i);
		added |= rc > 0 && i >= WAITING_OTHERS;
	}
	if (rc < 0)
		end_watch(w);
	return added || rc < 0;
}

/* The result is in waiting.fds, as after poll(2). */
static int wait_watched(struct waiting *w, int timeout_ms)
{
	struct watched *v = w->watched;
	int i, n = epoll_wait(v->epoll, v->found, (int)w->nr, timeout_ms);

	for (i = 0; i < n; i++)
		w->fds[v->found[i].data.u64].revents = (short)v->found[i].events;
	return n;
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
	n = w->watched ? wait_watched(w, timeout_ms) : poll(w->fds, w->nr, timeout_ms);
	if (n < 0 && errno != EINTR)
		return err_sys(err, -errno, "cannot poll the perf events");
	for (i = WAITING_OTHERS; i < w->nr; i++) {
		if (is_dead(&w->fds[i]))
			*gone |= pass_over(w, i - WAITING_OTHERS);
		ready |= !!(w->fds[i].revents & POLLIN);
	}
	return ready;
}
