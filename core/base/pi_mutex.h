/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes that lend the priority of a thread that waits to the thread that has the lock. */
#ifndef CORE_BASE_PI_MUTEX_H
#define CORE_BASE_PI_MUTEX_H

#include <pthread.h>

/**
 * pi_mutex_init() - with PTHREAD_PRIO_INHERIT, or, on a kernel without it, an ordinary one. Ended by
 * pthread_mutex_destroy().
 * Return: 0 or -errno
 */
int pi_mutex_init(pthread_mutex_t *lock);

#endif
