/* SPDX-License-Identifier: Apache-2.0 */
/* Call the backends of a run in the needed order: the source, and the counters in front of it. */
#ifndef CORE_SESSION_COUNTING_H
#define CORE_SESSION_COUNTING_H

#include "core/session/state.h"

/**
 * counting_open() - open the source, and the counters of @way that this run needs.
 * Return: 0 or -errno, described: call counting_close() also then.
 */
int counting_open(struct session *s, const struct way *way, struct err *err);
void counting_close(struct session *s);

/** counting_probe() - test whether the counters of @way that this run needs can work here. See counter_ops.probe. */
int counting_probe(const struct session *s, const struct way *way, struct err *err);

/**
 * counting_attach() - attach the event at @place, first to the source: it must be ready before a counter passes
 * anything on.
 */
int counting_attach(struct session *s, size_t place, struct err *err);
int counting_attach_all(struct session *s, struct err *err);
int counting_detach(struct session *s, size_t place, struct err *err);

/**
 * counting_start() - start counting after the events are enabled. Counters start first, then they begin to report
 * processes (first_ops.watch), then the source starts: it may need long to read the names of all threads. With both
 * backends, counters start last, because they and the source count the same.
 */
int counting_start(struct session *s, struct err *err);
int counting_drain(struct session *s, struct err *err);
/** counting_stop() - stop the counters, while all events are still enabled. See counter_ops.stop. */
int counting_stop(struct session *s, struct err *err);
/** counting_end() - end an interval. The counts in the kernel end first: then it is known what the rings must hold. */
int counting_end(struct session *s, struct err *err);
int counting_take(struct session *s, struct err *err);
void counting_stats(const struct session *s, struct stats *stats);

/** counting_first_fd() - see first_ops.fd, of counter @i. */
int counting_first_fd(const struct session *s, size_t i);

/** counting_read_first() - see first_ops.read. */
void counting_read_first(struct session *s, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx);

/** counting_pids() - see counter_ops.pids. Return: false: a counter did not list all. */
bool counting_pids(struct session *s, bool (*fn)(void *ctx, pid_t pid), void *ctx);

/**
 * counting_so_far() - the approximate numbers of samples and intervals counted in the current interval of the report;
 * @lost: samples and intervals together.
 */
void counting_so_far(const struct session *s, struct progress *to);

/** counting_tend() - see counter_ops.tend. */
void counting_tend(struct session *s);

/** counting_judged() - callback for descendants_tell(), see counter_ops.judged; @session: a struct session. */
bool counting_judged(void *session, pid_t pid, enum descent what);

#endif
