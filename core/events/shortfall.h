/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that were due but never taken: how many, and what withheld them.
 *
 * A clock event is due once in each period on each CPU. A timer that comes late does not make up for the periods it
 * missed, a throttled event has no timer until the next tick, and the event of a CPU that goes offline is gone.
 */
#ifndef CORE_EVENTS_SHORTFALL_H
#define CORE_EVENTS_SHORTFALL_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * struct shortfall - the facts of a run or of an interval. Times are sums over its CPUs; what is not known is 0.
 */
struct shortfall {
	uint64_t period_ns; /* between two samples on a CPU; of a rate: 10^9 / rate, rounded down as the kernel does */
	uint64_t nr_cpus;
	uint64_t due_ns; /* how long each was sampled, offline or not */

	uint64_t taken;      /* samples of any task */
	uint64_t idle_taken; /* of these: of the idle task */
	bool include_idle;   /* the idle task was asked for */
	bool in_kernel;      /* a BPF program took them, which the kernel does not run while it runs another one */

	uint64_t throttled;    /* PERF_RECORD_THROTTLE */
	uint64_t throttled_ns; /* until PERF_RECORD_UNTHROTTLE, or the end */
	uint64_t offline_ns;   /* without an event, the CPU being offline */

	bool times_known; /* the three below, of cpu_times_passed(), read not after the begin and not before the end */
	uint64_t steal_ns;
	uint64_t idle_ns;
	uint64_t busy_ns;

	uint64_t max_rate_start, max_rate_end; /* kernel.perf_event_max_sample_rate */

	/* Of a command whose threads are followed; shortfall_add() leaves these alone. */
	uint64_t cpu_ns;      /* its CPU time, that in the kernel included */
	bool followed_known;  /* the next one is */
	uint64_t followed_ns; /* of @cpu_ns, as the kernel counts it: threads that have events ran */
	uint64_t started;     /* threads and processes that it made, and that have events */
};

/** shortfall_add() - add the facts of the interval that follows @to; all zeros: none before. */
void shortfall_add(struct shortfall *to, const struct shortfall *more);

/** shortfall_period() - what the kernel makes of a period that was asked for: none is shorter than 10 us. */
uint64_t shortfall_period(uint64_t period_ns);

/**
 * shortfall_due() - how many samples a clock event gives in @due_ns, the sum over its CPUs; one more or less for each
 * of them.
 */
uint64_t shortfall_due(uint64_t period_ns, uint64_t due_ns);

/**
 * shortfall_explain() - were more than 5 % of the samples due not taken?
 *
 * Samples of the idle task that did not come count only where that task was asked for; otherwise neither are they due,
 * and where nobody knows how many they are, only what another cause accounts for is missing.
 * A cause is named when its time accounts for a tenth of what is missing, the largest first.
 *
 * Return: true and a line in @why with the share and its causes. A setting is blamed only when it was read, and when
 * it leaves no room for the rate.
 */
bool shortfall_explain(const struct shortfall *s, struct err *why);

/**
 * shortfall_explain_command() - were less than half of the samples taken that the CPU time of a command is worth, whose
 * threads are followed?
 *
 * What the kernel does not let be followed is known from the time for which the events were enabled. Of the rest, each
 * thread loses what is left of a period when it ends; throttling and steal time cost what they last; and what none of
 * these accounts for is of timers that came late. A cause is named when it accounts for a tenth of what is missing, the
 * largest first. Where the time is worth less than a dozen samples, nobody is told.
 * @s: due_ns: that CPU time; without idle tasks, and CPUs that are offline
 * Return: true and a line in @why. Where nobody knows how much was followed, it says what else the cause may be.
 */
bool shortfall_explain_command(const struct shortfall *s, struct err *why);

#endif
