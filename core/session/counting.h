/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever counts in a run, in their order: the source behind its counters. */
#ifndef CORE_SESSION_COUNTING_H
#define CORE_SESSION_COUNTING_H

#include "core/session/state.h"

/**
 * counting_open() - the source, and the counters that @way needs for what is asked for.
 * Return: 0 or -errno, described: then counting_close().
 */
int counting_open(struct session *s, const struct way *way, struct err *err);
void counting_close(struct session *s);

/** counting_probe() - can these counters work here? See counter_ops.probe. */
int counting_probe(const struct session *s, const struct way *way, struct err *err);

/** counting_attach() - the source first: it is there before anything is passed on. */
int counting_attach(struct session *s, size_t place, struct err *err);
int counting_attach_all(struct session *s, struct err *err);
int counting_detach(struct session *s, size_t place, struct err *err);

/** counting_start() - the events are enabled. The source first: a counter that waits for it counts from then on. */
int counting_start(struct session *s, struct err *err);
int counting_drain(struct session *s, struct err *err);
/** counting_stop() - nothing counts from now on, on any CPU, while all events still tell what happens. */
int counting_stop(struct session *s, struct err *err);
/** counting_end() - of the interval that ended, from the kernel first: then it is known what the rings must hold. */
int counting_end(struct session *s, struct err *err);
int counting_take(struct session *s, struct err *err);
void counting_stats(const struct session *s, struct stats *stats);

/** counting_pids() - see counter_ops.pids. Return: false: of some counter not all. */
bool counting_pids(struct session *s, bool resume, bool (*fn)(void *ctx, pid_t pid), void *ctx);

/**
 * counting_so_far() - how many samples and intervals of the interval at hand have been counted, and lost, about: @lost
 * is of both.
 */
void counting_so_far(const struct session *s, struct progress *to);

/** counting_tend() - see counter_ops.tend. */
void counting_tend(struct session *s);

/** counting_judged() - as descendants_tell() wants it; @session: a struct session. */
bool counting_judged(void *session, pid_t pid, enum descent what);

#endif
