/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads are called now, as records of our own among those of the rings. When a CPU comes online, nobody
 * keeps its records until its event is open: a thread that was made or renamed there would have a wrong name from then
 * on.
 */
#ifndef PERFRING_REFRESH_H
#define PERFRING_REFRESH_H

#include "backend-perfring/order.h"

#include <stdbool.h>

struct source_env;

/** refresh_read() - put the names of all threads into @o, each with the time it was read at. Return: 0 or -ENOMEM. */
int refresh_read(struct order *o, const struct source_env *env);

/** refresh_is() - is this a record of ours? */
bool refresh_is(const struct order_item *item);

/** refresh_apply() - the time of such a record has come. Return: 0 or -ENOMEM. */
int refresh_apply(const struct source_env *env, const struct order_item *item);

#endif
