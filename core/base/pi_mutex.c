// SPDX-License-Identifier: Apache-2.0
#include "core/base/pi_mutex.h"

int pi_mutex_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int rc = pthread_mutexattr_init(&attr);

	if (rc)
		return -rc;
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	rc = pthread_mutex_init(lock, &attr);
	if (rc)
		rc = pthread_mutex_init(lock, NULL);
	pthread_mutexattr_destroy(&attr);
	return -rc;
}
