/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of several rings in time order.
 *
 * The rings are read one after the other, in rounds. A record that is written to a ring while a later ring is read is
 * found only in the next round, though we have seen later records of other rings by then. But a record with a time
 * before the latest one seen in a round was written before that round ended, so the next round finds it. Therefore a
 * round may apply all records up to the latest time of the round before. This needs no clock of our own, so it works
 * with the clock of any kernel.
 *
 * The records of one ring are not always in the order of their times: an interrupt may write while another record is
 * being written, and clocks go back when they are adjusted (ktime_get_mono_fast_ns(), kernel/time/timekeeping.c). The
 * records that one switch writes without a break must stay in their order: see order_item.in_order.
 */
#ifndef PERFRING_ORDER_H
#define PERFRING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct order_item - a record, which the caller owns.
 * @time:     0: the record has none; it gets the latest time of all records added so far
 * @in_order: must not be applied before an earlier record of its @ring with @in_order
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
	uint64_t latest, horizon, applied; /* latest time so far; at the end of the round before; of applied records */
	uint64_t late;                     /* records that came after a later one had been applied */
	uint64_t *in_order;                /* for each of @nr_rings: latest time of records that stay in order */
	size_t nr_rings, cap_rings;
	uint64_t backward; /* records that stay in order, with a time before that of an earlier one of their ring */
};

/** order_fn - gets the records in order. Return 0, or -errno to stop after this record. */
typedef int (*order_fn)(void *ctx, void *record);

/** order_add() - Return: 0; -ENOMEM: it was not added. */
int order_add(struct order *o, const struct order_item *item);

/** order_restart() - from now on, records of @ring are of another event: forget earlier times. */
void order_restart(struct order *o, uint32_t ring);

/**
 * order_round() - a round is over: apply all records that no record still to come can precede.
 * Return: 0, or the error of @fn: the records behind that one wait for the next call.
 */
int order_round(struct order *o, order_fn fn, void *ctx);

/** order_flush() - nothing more will come: apply everything. Return: as order_round(). */
int order_flush(struct order *o, order_fn fn, void *ctx);

void order_release(struct order *o);

#endif
