// SPDX-License-Identifier: Apache-2.0
#include "core/keeper.h"

#include "core/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FETCH_MS 50

struct keeper {
	const struct backend_ops *ops;
	struct backend *state;
	pthread_t thread;
	int end_fd; /* readable: enough */
	int signal_fd;
	bool signalled;
	int rc;
	struct err err;
};

/* A failure ends the fetching, not the care for signals. */
static void *keep(void *arg)
{
	struct keeper *k = arg;
	struct pollfd fds[] = { { k->end_fd, POLLIN, 0 }, { k->signal_fd, POLLIN, 0 } };

	while (!fds[0].revents) {
		if (!k->rc)
			k->rc = k->ops->fetch(k->state, &k->err);
		poll(fds, ARRAY_SIZE(fds), k->rc ? -1 : FETCH_MS);
		if (fds[1].revents && signals_take(k->signal_fd)) {
			k->signalled = true;
			fds[1].fd = -1;
			signals_release(); /* in this thread, which gets the next one */
		}
	}
	return NULL;
}

struct keeper *keeper_start(const struct backend_ops *ops, struct backend *state, int signal_fd, struct err *err)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = ENOMEM;

	if (k) {
		*k = (struct keeper){ .ops = ops, .state = state, .signal_fd = signal_fd };
		k->end_fd = eventfd(0, EFD_CLOEXEC);
		rc = k->end_fd < 0 ? errno : pthread_create(&k->thread, NULL, keep, k);
	}
	if (!rc)
		return k;
	if (k && k->end_fd >= 0)
		close(k->end_fd);
	free(k);
	err_sys(err, -rc, "cannot start a thread to read the rings");
	return NULL;
}

int keeper_end(struct keeper *k, bool *signalled, struct err *err)
{
	int rc;

	eventfd_write(k->end_fd, 1);
	pthread_join(k->thread, NULL);
	close(k->end_fd);
	*signalled = k->signalled;
	rc = k->rc;
	if (rc)
		*err = k->err;
	free(k);
	return rc;
}
