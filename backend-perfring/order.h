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
 *
 * Memory: copies of the records of two rounds, with their leads. Each round has at most what was in the rings and what
 * was kept of them in memory (events.kept_bytes_max).
 */
#ifndef PERFRING_ORDER_H
#define PERFRING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct order_item - the bytes of a record, and what is to be remembered with them.
 * @lead: @lead_size bytes, a multiple of 8; NULL where that is 0
 * @in_order: not to be applied before any other of its ring that is so and was added before
 */
struct order_item {
	uint32_t ring;
	uint32_t lead_size;
	const void *lead;
	const void *bytes;
	size_t size; /* of @bytes */
	bool in_order;
};

struct order_entry {
	uint64_t time;
	uint64_t seq; /* of arrival: the order of records with equal times */
	size_t at;    /* in @bytes: the lead, then those of the record */
	uint32_t lead_size;
	uint32_t size;
	uint32_t ring;
};

/** struct order - all zeros: empty. */
struct order {
	struct order_entry *entries;
	size_t nr, env;
	unsigned char *bytes;
	size_t used, room;
	uint64_t seq;
	uint64_t latest, horizon, applied; /* latest: of this round; horizon: of the one before; applied: so far */
	uint64_t late;                     /* records with a time before one that had been applied */
	uint64_t *in_order;                /* for each of @nr_rings: the latest time of what is to stay in order */
	size_t nr_rings, cap_rings;
	uint64_t backward; /* records of these that had an earlier time */
};

/** order_fn - gets the records in order, as they were given to order_add(). Return 0, or -errno to stop after it. */
typedef int (*order_fn)(void *ctx, const struct order_item *item);

/** order_add() - keep a copy. Records without a time (@time 0) stand where they arrived. Return: 0 or -ENOMEM. */
int order_add(struct order *o, uint64_t time, const struct order_item *item);

/** order_restart() - what comes of @ring from now on is of another event: nothing has come before. */
void order_restart(struct order *o, uint32_t ring);

/** order_round() - a round is over: apply what cannot be overtaken any more. */
int order_round(struct order *o, order_fn fn, void *ctx);

/** order_flush() - nothing more will come: apply everything. */
int order_flush(struct order *o, order_fn fn, void *ctx);

void order_release(struct order *o);

#endif
