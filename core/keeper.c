// SPDX-License-Identifier: Apache-2.0
#include "core/keeper.h"

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
	int rc;
	struct err err;
};

static void *keep(void *arg)
{
	struct keeper *k = arg;
	struct pollfd end = { k->end_fd, POLLIN, 0 };

	do
		k->rc = k->ops->fetch(k->state, &k->err);
	while (!k->rc && poll(&end, 1, FETCH_MS) <= 0);
	return NULL;
}

struct keeper *keeper_start(const struct backend_ops *ops, struct backend *state, struct err *err)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int rc = ENOMEM;

	if (k) {
		*k = (struct keeper){ .ops = ops, .state = state, .end_fd = eventfd(0, EFD_CLOEXEC) };
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

int keeper_end(struct keeper *k, struct err *err)
{
	int rc;

	eventfd_write(k->end_fd, 1);
	pthread_join(k->thread, NULL);
	close(k->end_fd);
	rc = k->rc;
	if (rc)
		*err = k->err;
	free(k);
	return rc;
}
