// SPDX-License-Identifier: Apache-2.0
#include "core/keeper.h"

#include "core/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FETCH_MS 50

enum { END, SIGNALS, RINGS }; /* places in keeper.fds */

struct keeper {
	const struct backend_ops *ops;
	struct backend *state;
	pthread_t thread;
	struct pollfd *fds;
	size_t nr_fds;
	bool signalled;
	int rc;
	struct err err;
};

/* The first ends the run, a second one the process. */
static void take_signals(struct keeper *k)
{
	struct pollfd *fd = &k->fds[SIGNALS];

	if (!fd->revents || !signals_take(fd->fd))
		return;
	k->signalled = true;
	fd->fd = -1;
	signals_release(); /* in this thread, which gets the next one */
}

/* A CPU that has gone offline would be ready for ever. */
static void forget_dead(struct keeper *k)
{
	size_t i;

	for (i = RINGS; i < k->nr_fds; i++)
		if (k->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			k->fds[i].fd = -1;
}

/* A failure ends the fetching, not the care for signals. */
static void *keep(void *arg)
{
	struct keeper *k = arg;

	while (!k->fds[END].revents) {
		if (!k->rc)
			k->rc = k->ops->fetch(k->state, &k->err);
		poll(k->fds, k->rc ? RINGS : k->nr_fds, FETCH_MS);
		take_signals(k);
		forget_dead(k);
	}
	return NULL;
}

static void keeper_free(struct keeper *k)
{
	if (k && k->fds && k->fds[END].fd >= 0)
		close(k->fds[END].fd);
	if (k)
		free(k->fds);
	free(k);
}

struct keeper *keeper_start(const struct backend_ops *ops, struct backend *state, const struct pollfd *fds, size_t nr,
			    struct err *err)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = ENOMEM;

	if (k) {
		*k = (struct keeper){ .ops = ops, .state = state, .nr_fds = nr + 1 };
		k->fds = calloc(k->nr_fds, sizeof(*k->fds));
	}
	if (k && k->fds) {
		k->fds[END] = (struct pollfd){ eventfd(0, EFD_CLOEXEC), POLLIN, 0 };
		memcpy(&k->fds[SIGNALS], fds, nr * sizeof(*fds));
		rc = k->fds[END].fd < 0 ? errno : pthread_create(&k->thread, NULL, keep, k);
	}
	if (!rc)
		return k;
	keeper_free(k);
	err_sys(err, -rc, "cannot start a thread to read the rings");
	return NULL;
}

int keeper_end(struct keeper *k, bool *signalled, struct err *err)
{
	int rc;

	eventfd_write(k->fds[END].fd, 1);
	pthread_join(k->thread, NULL);
	*signalled = k->signalled;
	rc = k->rc;
	if (rc)
		*err = k->err;
	keeper_free(k);
	return rc;
}
