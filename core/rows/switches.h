/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time off the CPU: from the switch that takes a thread off a CPU to the one that brings it back.
 *
 * Whoever sees the switches in time order says when a thread goes, with its name and its stacks, and when it comes; the
 * time between is added to the row of its name and stacks. What is remembered is one entry for each thread that is off
 * CPU, and the stacks of these: never more than there are threads. Not thread safe.
 *
 * An interval that has begun is charged, filtered, open or lost; nothing else, see switches_stats(). One is lost when
 * the switch that ended it, or the one that began the next one, was not seen.
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

/** struct switches_limits - which intervals are counted: those of @min_ns to @max_ns, both included. */
struct switches_limits {
	uint64_t min_ns, max_ns;
};

/** struct switch_out - a thread leaves its CPU. */
struct switch_out {
	uint32_t id; /* of the thread: what switches_in() calls it; for the kernel its tid in the initial namespace */
	uint64_t ns; /* when; any clock, the same for all */
	struct row_key key; /* of its interval; the stacks are borrowed during the call */
	uint64_t since;     /* when it had come to this CPU; 0: not known */
};

/** switches_new() - nobody is off CPU, as far as is known. @limits are copied. Return: NULL: no memory. */
struct switches *switches_new(const struct switches_limits *limits);
void switches_free(struct switches *s);

/**
 * switches_out() - an interval begins. If one of the same thread had begun and nothing told of its end, that is lost.
 * Return: 0; -ENOMEM, -E2BIG from the tables, nothing has begun then.
 */
int switches_out(struct switches *s, const struct switch_out *out);

/** switches_filtered() - one begins, and nobody has asked for it. What had begun before is lost. */
void switches_filtered(struct switches *s, uint32_t id);

/*
 * Where each CPU has a clock of its own (before 4.1 all that perf has) a thread may come to one CPU earlier than it
 * left another. The stays of a thread are in order by when they began; a leave that is heard of behind the begin of the
 * next stay begins an interval that is over.
 */

/**
 * switches_next_stay() - of thread @id, which had come to its CPU at @since: when did a stay begin that came behind
 * that and ended before now? Return: 0: there was none.
 */
uint64_t switches_next_stay(const struct switches *s, uint32_t id, uint64_t since);

/**
 * switches_over() - as switches_out() and switches_in() of an interval that was over at @ns; what has begun since
 * stays. Return: as switches_in().
 */
int switches_over(struct switches *s, const struct switch_out *out, uint64_t ns, struct rows *to);

/** switches_over_filtered() - the same of one that nobody has asked for. */
void switches_over_filtered(struct switches *s);

/** switches_unseen() - thread @id has been on a CPU, and nobody saw it: what had begun is lost. */
void switches_unseen(struct switches *s, uint32_t id);

/** switches_reject() - nobody has asked for the one that has begun: it is filtered. Nothing happens where none has. */
void switches_reject(struct switches *s, uint32_t id);

/**
 * switches_in() - thread @id is on a CPU again at @ns: its interval is over, and charged to its row in @to, in
 * nanoseconds, unless the limits forbid it. Nothing happens where none has begun.
 * Two CPUs may read their clocks differently: an end before the begin is an interval of 0 ns.
 * Return: 0; -ENOMEM, -E2BIG from @to: the interval is lost.
 */
int switches_in(struct switches *s, uint32_t id, uint64_t ns, struct rows *to);

/** switches_exit() - a new thread has the number of @id, which went for ever, and did not say so. */
void switches_exit(struct switches *s, uint32_t id);

/**
 * switches_exited() - thread @id has told its exit (PERF_RECORD_EXIT) before the interval that has begun. It leaves its
 * CPU for the last time after that, and may do so before: since Linux 6.16 it gives its memory and files back behind
 * that record. Unless it @comes_back for sure, the interval counts when it has ended, and as if it had never begun
 * until then: it is not open, nor lost. Of these the last SWITCHES_EXITED are remembered. Nothing happens where none
 * has begun.
 */
void switches_exited(struct switches *s, uint32_t id, bool comes_back);

/** switches_has_exited() - has that been told of the interval of thread @id that has begun? */
bool switches_has_exited(const struct switches *s, uint32_t id);

/** switches_gap() - switches were not seen until now: every interval that is open is lost. */
void switches_gap(struct switches *s);

/**
 * switches_open() - add those that are open, with their time so far, to their rows in @to, whatever the limits are.
 * They stay open.
 * Return: 0; -ENOMEM, -E2BIG from @to.
 */
int switches_open(const struct switches *s, uint64_t ns, struct rows *to);

/** switches_nr_open() - how many are. */
size_t switches_nr_open(const struct switches *s);

/**
 * switches_stats() - add to intervals_begun, _charged, _filtered and _lost of @stats what came since the last call.
 * An interval that a thread's exit ended counts as if it had never begun: where that was told before, it is taken back,
 * and _begun goes down, modulo 2^64.
 */
void switches_stats(struct switches *s, struct stats *stats);

#endif
