/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time off the CPU: from the switch that takes a thread off a CPU to the switch that brings it back.
 *
 * The caller passes switches in time order: switches_out() with name and stacks when a thread leaves, switches_in()
 * when it comes back. The time between is added to the row of this name and these stacks. The memory is limited by
 * the number of threads: this table holds a row with stacks for each thread that is off CPU. It keeps rows of ended
 * intervals, too, until it has 4096 rows and 4 for each such thread. Not thread safe.
 *
 * Each interval that has begun is either charged, filtered, open or lost, see switches_stats(). It is lost if the
 * switch that ended it turns out to have been missed, or if its row cannot be added.
 */
#ifndef CORE_ROWS_SWITCHES_H
#define CORE_ROWS_SWITCHES_H

#include "core/rows/rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SWITCHES_EXITED 4096

struct stats;
struct switches;

/** struct switches_limits - count intervals of @min_ns to @max_ns, both included. */
struct switches_limits {
	uint64_t min_ns, max_ns;
};

/** struct switch_out - a thread leaves its CPU. */
struct switch_out {
	uint32_t id; /* number of the thread, as for switches_in(), such as its tid in the initial pid namespace */
	uint64_t ns; /* time of the switch, on any clock, the same one for all switches */
	struct row_key key; /* key of its interval; the stacks are borrowed during the call */
	uint64_t since;     /* when it came to this CPU; 0: not known */
};

/** switches_new() - no thread is known to be off CPU yet. @limits are copied. Return: NULL: no memory. */
struct switches *switches_new(const struct switches_limits *limits);
void switches_free(struct switches *s);

/**
 * switches_out() - begin an interval. If an interval of the same thread is still open, it is lost.
 * Return: 0; -ENOMEM, -E2BIG from the tables: then no interval has begun.
 */
int switches_out(struct switches *s, const struct switch_out *out);

/**
 * switches_filtered() - begin an interval that is not requested. If an interval of the thread is still open, it is
 * lost.
 */
void switches_filtered(struct switches *s, uint32_t id);

/*
 * If each CPU has its own clock (the only kind that perf has before 4.1), a thread may seem to come to one CPU before
 * it left another. So the stays of a thread on CPUs are ordered by the times at which they began. We may read that a
 * thread came back before we read that it left. Then the interval has ended already: see switches_over().
 */

/**
 * switches_next_stay() - thread @id came to a CPU at @since. Return: when it came to the CPU that it left last, if that
 * was later than @since; 0: it was not, that time is not known, or no interval is open.
 */
uint64_t switches_next_stay(const struct switches *s, uint32_t id, uint64_t since);

/**
 * switches_over() - as switches_out() and switches_in() for an interval that was over at @ns; an interval begun since
 * then stays open. Return: as switches_in().
 */
int switches_over(struct switches *s, const struct switch_out *out, uint64_t ns, struct rows *to);

/** switches_over_filtered() - the same for an interval that is not requested. */
void switches_over_filtered(struct switches *s);

/** switches_unseen() - a switch of thread @id was missed: drop its open interval and count it as lost. */
void switches_unseen(struct switches *s, uint32_t id);

/** switches_reject() - drop the open interval of thread @id, if there is one, and count it as filtered. */
void switches_reject(struct switches *s, uint32_t id);

/**
 * switches_in() - thread @id is on a CPU again at @ns: end its interval, and add the time in ns to its row in @to,
 * unless the limits exclude it. Does nothing if no interval is open. Two CPUs may read their clocks differently: an end
 * before the begin makes an interval of 0 ns.
 * Return: 0; -ENOMEM, -E2BIG from @to: the interval is lost.
 */
int switches_in(struct switches *s, uint32_t id, uint64_t ns, struct rows *to);

/**
 * switches_exit() - a new thread has the number @id: the old one left for ever, without a record. The open interval
 * counts as if it had never begun.
 */
void switches_exit(struct switches *s, uint32_t id);

/**
 * switches_exited() - the PERF_RECORD_EXIT of thread @id came before the interval that is open now. The thread may
 * never come back. But it may also come back and leave again: since Linux 6.16 it gives its memory and files back after
 * the record. Unless it @comes_back for sure, the interval counts neither as begun nor as lost, and switches_open()
 * leaves it out; but if switches_in() ends it, it counts as any other. The last SWITCHES_EXITED such threads are
 * remembered. Does nothing if no interval is open.
 */
void switches_exited(struct switches *s, uint32_t id, bool comes_back);

/** switches_has_exited() - true if switches_exited() was called for the open interval of thread @id. */
bool switches_has_exited(const struct switches *s, uint32_t id);

/** switches_gap() - switches were not seen until now: every open interval is lost. */
void switches_gap(struct switches *s);

/**
 * switches_open() - add the open intervals, with their time so far, to their rows in @to, whatever the limits are. They
 * stay open.
 * Return: 0; -ENOMEM, -E2BIG from @to.
 */
int switches_open(const struct switches *s, uint64_t ns, struct rows *to);

/** switches_nr_open() - number of intervals that switches_open() adds. */
size_t switches_nr_open(const struct switches *s);

/**
 * switches_stats() - add to intervals_begun, _charged, _filtered and _lost of @stats the numbers since the last call.
 * An interval that a thread's exit ended counts as if it had never begun. If an earlier call has counted it in _begun,
 * this call subtracts it, modulo 2^64.
 */
void switches_stats(struct switches *s, struct stats *stats);

#endif
