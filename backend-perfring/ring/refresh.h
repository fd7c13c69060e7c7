/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads are called now, as RECORD_NAME among the records of the rings. When a CPU comes online, nobody
 * keeps its records until its event is open: a thread that was made or renamed there would have a wrong name from then
 * on.
 */
#ifndef PERFRING_REFRESH_H
#define PERFRING_REFRESH_H

#include "backend-perfring/queue.h"

/** refresh_read() - add the names of all threads, each with the time it was read at. Return: 0 or -ENOMEM. */
int refresh_read(struct queue *q);

#endif
