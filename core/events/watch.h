/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did with the CPUs of a run meanwhile: the facts that only /proc knows of a shortfall. */
#ifndef CORE_EVENTS_WATCH_H
#define CORE_EVENTS_WATCH_H

#include "core/events/shortfall.h"
#include "core/host/host.h"

struct watch;

/** watch_new() - of these CPUs, copied; @host is borrowed. NULL: no memory. */
struct watch *watch_new(const struct host *host, const struct cpu_list *cpus);
void watch_free(struct watch *w);

/** watch_begin() - from now on. What cannot be read stays unknown. */
void watch_begin(struct watch *w);
/** watch_end() - until now: set the times and the rates of @s. The next time begins here. */
void watch_end(struct watch *w, struct shortfall *s);

#endif
