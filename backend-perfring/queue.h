/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records between a source and what they do: a source decodes each one, once, and adds it here. It waits until no
 * earlier one can come, see order.h, and is applied then, see apply.h.
 */
#ifndef PERFRING_QUEUE_H
#define PERFRING_QUEUE_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"
#include "backend-perfring/order.h"

/** struct queue - those of one source. All zeros: nothing is open, and may be released. */
struct queue {
	struct order order;
	struct applier applier;
	bool ending; /* samples of interval sink.ended count, too */
};

/**
 * struct incoming - a record as its source adds it.
 * @record: decoded from @bytes
 * @size:   of @bytes, a multiple of 8
 */
struct incoming {
	uint32_t ring;
	struct sample_lead lead;
	struct record record;
	const void *bytes;
	size_t size;
};

/**
 * queue_open() - with what @env asks for: unwinding, intervals off the CPU. @env is borrowed.
 * @nr_rings: entries of applier.rings
 * Return: 0 or -ENOMEM; release it in both cases.
 */
int queue_open(struct queue *q, const struct source_env *env, size_t nr_rings);
void queue_release(struct queue *q);

/** queue_late() - is a sample of set @set too late? Its interval has been reported, and there it counted as lost. */
bool queue_late(const struct queue *q, unsigned int set);

/** queue_add() - keep a copy until its time has come. Return: 0 or -ENOMEM. */
int queue_add(struct queue *q, const struct incoming *in);

/** queue_bytes() - memory of those that wait. */
size_t queue_bytes(const struct queue *q);

/**
 * queue_round() - each ring has been read: apply what cannot be overtaken any more. queue_flush(): apply all.
 * Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int queue_round(struct queue *q);
int queue_flush(struct queue *q);

#endif
