/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of several rings in time order.
 *
 * The rings are read one after the other, in rounds. A record that a ring gets while a later ring is read is found only
 * in the next round, though others with later times have been seen by then. But whatever has a time before the latest
 * one seen in a round was written before that round ended, so the next round finds it: a round may apply all records
 * up to the latest time of the round before. No clock of our own is needed, so this works with the clock of any kernel.
 *
 * Within a ring the order of times is not always that of the records: an interrupt may write while a record is on its
 * way, and clocks go back (ktime_get_mono_fast_ns(), kernel/time/timekeeping.c, where the clock is adjusted). What one
 * switch writes without a break is to stay in its order: see order_item.in_order.
 */
#ifndef PERFRING_ORDER_H
#define PERFRING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct order_item - a record, which is the caller's.
 * @time:     0: it has none, and stands where it arrived
 * @in_order: not to be applied before any other of its @ring that is so and was added before
 */
struct order_item {
	void *record;
	uint64_t time;
	uint32_t ring;
	bool in_order;
};

struct order_entry {
	uint64_t time;
	uint64_t seq; /* of arrival: the order of records with equal times */
	void *record;
};

/** struct order - all zeros: empty. */
struct order {
	struct order_entry *entries;
	size_t nr, cap;
	uint64_t seq;
	uint64_t latest, horizon, applied; /* latest: of this round; horizon: of the one before; applied: so far */
	uint64_t late;                     /* records with a time before one that had been applied */
	uint64_t *in_order;                /* for each of @nr_rings: the latest time of what is to stay in order */
	size_t nr_rings, cap_rings;
	uint64_t backward; /* records of these that had an earlier time */
};

/** order_fn - gets the records in order. Return 0, or -errno to stop after it. */
typedef int (*order_fn)(void *ctx, void *record);

/** order_add() - Return: 0; -ENOMEM: it was not added. */
int order_add(struct order *o, const struct order_item *item);

/** order_restart() - what comes of @ring from now on is of another event: nothing has come before. */
void order_restart(struct order *o, uint32_t ring);

/** order_round() - a round is over: apply what cannot be overtaken any more. */
int order_round(struct order *o, order_fn fn, void *ctx);

/** order_flush() - nothing more will come: apply everything. */
int order_flush(struct order *o, order_fn fn, void *ctx);

void order_release(struct order *o);

#endif
