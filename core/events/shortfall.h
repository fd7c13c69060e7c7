/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count the samples that were due but never taken, and find the causes.
 *
 * A clock event is due once in each period on each CPU. A timer that comes late does not make up for the periods it
 * missed, a throttled event has no timer until the next tick, and the event of a CPU that goes offline is gone.
 */
#ifndef CORE_EVENTS_SHORTFALL_H
#define CORE_EVENTS_SHORTFALL_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/** struct shortfall - the facts of a run or of an interval. Times are sums over its CPUs. Unknown values are 0. */
struct shortfall {
	uint64_t period_ns; /* between two samples on a CPU; for a rate, 10^9 / rate rounded down, as in the kernel */
	uint64_t nr_cpus;
	uint64_t due_ns; /* sum over the CPUs of the time that each was to be sampled, offline or not */

	uint64_t taken;      /* samples of any task */
	uint64_t idle_taken; /* of these: samples of the idle task */
	bool include_idle;   /* samples of the idle task were requested */
	bool in_kernel;      /* a BPF program took the samples; the kernel skips it while another one runs */

	uint64_t throttled;    /* number of PERF_RECORD_THROTTLE */
	uint64_t throttled_ns; /* until PERF_RECORD_UNTHROTTLE, or until the end */
	uint64_t offline_ns;   /* time without an event because the CPU was offline */

	/* From cpu_times_passed(), measured from the beginning or earlier until the end or later: */
	bool times_known; /* the next three are known */
	uint64_t steal_ns;
	uint64_t idle_ns;
	uint64_t busy_ns;

	uint64_t max_rate_start, max_rate_end; /* kernel.perf_event_max_sample_rate */

	/* Only for a command whose threads are followed; shortfall_add() leaves these alone. */
	uint64_t cpu_ns;      /* CPU time of the command, including time in the kernel */
	bool followed_known;  /* @followed_ns is known */
	uint64_t followed_ns; /* the part of @cpu_ns in which threads with events ran, as the kernel counts it */
	uint64_t started;     /* threads and processes that the command created and that have events */
};

/** shortfall_add() - add the facts of @more, the interval that follows @to. @to may be all zeros. */
void shortfall_add(struct shortfall *to, const struct shortfall *more);

/** shortfall_period() - the period that the kernel uses for @period_ns: at least 10 us. */
uint64_t shortfall_period(uint64_t period_ns);

/**
 * shortfall_due() - how many samples a clock event gives in @due_ns, a sum over CPUs. The result may be off by one for
 * each CPU.
 */
uint64_t shortfall_due(uint64_t period_ns, uint64_t due_ns);

/**
 * shortfall_explain() - test whether more than 5 % of the samples due were not taken, and more than rounding explains.
 *
 * Missing samples of the idle task count only if that task was requested. Otherwise they are not due. If in that case
 * @times_known is false, only samples that a cause other than late timers accounts for count as missing. A cause is
 * named if its time accounts for a tenth of the missing samples, the largest cause first.
 *
 * Return: true and a line in @why with the share and its causes. The line blames a setting only if its value is
 * known and too low for the rate.
 */
bool shortfall_explain(const struct shortfall *s, struct err *why);

/**
 * shortfall_explain_command() - test whether fewer than half of the samples were taken that are due in the CPU time of
 * a command. For commands whose threads are followed.
 *
 * The time for which the events were enabled shows how much the kernel did not let profile follow. A thread also loses
 * a part of a period when it ends, and throttling and steal time cost the samples due in these times. Late timers
 * explain the remaining samples. A cause is named if it accounts for a tenth of the missing samples, the largest cause
 * first. If fewer than 12 samples are due, return false.
 * @s: due_ns: that CPU time, without the time in the kernel if only user code is sampled. The members about idle tasks
 *     and offline CPUs are not used
 * Return: true and a line in @why. If @followed_known is false, the line lists possible causes of the remaining
 * samples.
 */
bool shortfall_explain_command(const struct shortfall *s, struct err *why);

#endif
