/* SPDX-License-Identifier: Apache-2.0 */
/* Watch how the host used the CPUs of a run. Only /proc has these facts, which explain missing samples. */
#ifndef CORE_EVENTS_WATCH_H
#define CORE_EVENTS_WATCH_H

#include "core/events/shortfall.h"
#include "core/host/host.h"

struct watch;

/** watch_new() - watch these CPUs. @cpus is copied, @host is borrowed. NULL: no memory. */
struct watch *watch_new(const struct host *host, const struct cpu_list *cpus);
void watch_free(struct watch *w);

/** watch_begin() - start. Values that cannot be read stay unknown. */
void watch_begin(struct watch *w);
/** watch_end() - set the idle, steal and busy times and the maximum rates of @s, and start the next interval. */
void watch_end(struct watch *w, struct shortfall *s);

#endif
