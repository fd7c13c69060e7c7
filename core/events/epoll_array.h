/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait for the descriptors of an array with epoll(7). The kernel then looks only at those that are ready, where poll(2)
 * looks at all of them each time. A descriptor stays open while it is watched, and is in the array once.
 */
#ifndef CORE_EVENTS_EPOLL_ARRAY_H
#define CORE_EVENTS_EPOLL_ARRAY_H

#include <poll.h>
#include <stddef.h>

struct epoll_array;

/** epoll_array_new() - for arrays of @nr descriptors; watches none yet. NULL: it cannot be had, or no memory. */
struct epoll_array *epoll_array_new(size_t nr);

/** epoll_array_free() - @a may be NULL. */
void epoll_array_free(struct epoll_array *a);

/**
 * epoll_array_update() - watch for input on the descriptors that @fds has now; -1: none at this place.
 * Return: 1: at @from or a later place there is a new one; 0: there is none; -errno: one cannot be watched, and @a can
 * only be freed.
 */
int epoll_array_update(struct epoll_array *a, const struct pollfd *fds, size_t from);

/** epoll_array_wait() - as poll(2) for @fds of the last epoll_array_update(), with all revents 0. */
int epoll_array_wait(struct epoll_array *a, struct pollfd *fds, int timeout_ms);

#endif
