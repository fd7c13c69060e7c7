// SPDX-License-Identifier: Apache-2.0
#include "core/events/epoll_array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

_Static_assert(EPOLLIN == POLLIN && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP, "both report in the same bits");

/**
 * struct epoll_array - @fds: the descriptors that the epoll instance has, in the order of the array; -1: it has none
 * there
 * @found: room for the result of one wait
 */
struct epoll_array {
	int epoll, *fds;
	size_t nr;
	struct epoll_event *found;
};

void epoll_array_free(struct epoll_array *a)
{
	if (!a)
		return;
	if (a->epoll >= 0)
		close(a->epoll);
	free(a->fds);
	free(a->found);
	free(a);
}

struct epoll_array *epoll_array_new(size_t nr)
{
	struct epoll_array *a = calloc(1, sizeof(*a));
	size_t i;

	if (!a)
		return NULL;
	a->nr = nr;
	a->fds = calloc(nr, sizeof(*a->fds));
	a->found = calloc(nr, sizeof(*a->found));
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; a->fds && i < nr; i++)
		a->fds[i] = -1;
	if (a->fds && a->found && a->epoll >= 0)
		return a;
	epoll_array_free(a);
	return NULL;
}

/* Watch @fd at the @i-th place, instead of the one before. Return: 1: it is a new one; 0: the same, or none; -errno */
static int update_one(struct epoll_array *a, size_t i, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = i };

	if (a->fds[i] == fd)
		return 0;
	if (a->fds[i] >= 0)
		epoll_ctl(a->epoll, EPOLL_CTL_DEL, a->fds[i], NULL);
	a->fds[i] = fd;
	if (fd < 0)
		return 0;
	return epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 1;
}

int epoll_array_update(struct epoll_array *a, const struct pollfd *fds, size_t from)
{
	bool added = false;
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < a->nr; i++) {
		rc = update_one(a, i, fds[i].fd);
		added |= rc > 0 && i >= from;
	}
	return rc < 0 ? rc : added;
}

int epoll_array_wait(struct epoll_array *a, struct pollfd *fds, int timeout_ms)
{
	int i, n = epoll_wait(a->epoll, a->found, (int)a->nr, timeout_ms);

	for (i = 0; i < n; i++)
		fds[a->found[i].data.u64].revents = (short)a->found[i].events;
	return n;
}
