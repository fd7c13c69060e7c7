/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records between a source and what they do. The source takes a copy of the bytes, decodes it there, and adds the
 * record. The queue keeps it until no earlier one can come, see order.h, and applies it then, see apply.h.
 *
 * Memory: copies of the records of two rounds, decoded. Each round has at most what was in the rings and what was kept
 * of them in memory (events.kept_bytes_max).
 */
#ifndef PERFRING_QUEUE_H
#define PERFRING_QUEUE_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"
#include "backend-perfring/order.h"

struct chunk;

/** struct queue - the records of one source. All zeros: it is not open, and may be released. */
struct queue {
	struct order order;
	struct applier applier;
	bool ending;                 /* samples of interval sink.ended count, too */
	struct chunk *chunk, *spare; /* @chunk: where the next record goes; @spare: empty ones */
	size_t nr_spare;
	size_t bytes; /* of those that wait */
};

/** struct incoming - a record in the queue, of @size bytes; it does not move. */
struct incoming {
	struct chunk *chunk;
	uint32_t ring, size;
	struct sample_lead lead;
	struct record record; /* decoded from @bytes by the source */
	uint64_t bytes[];
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

/**
 * queue_take() - room for a record, for the caller to fill and to decode: then it is either added or dropped.
 * @size: of incoming.bytes, RECORD_MAX at most
 * Return: with an empty lead and record; NULL: no memory.
 */
struct incoming *queue_take(struct queue *q, size_t size);

/** queue_trim() - the one that was taken last needs only @size bytes of its room. */
void queue_trim(struct queue *q, struct incoming *in, size_t size);
void queue_drop(struct queue *q, struct incoming *in);

/** queue_add() - it waits until its time has come. Return: 0; -ENOMEM: it is dropped. */
int queue_add(struct queue *q, struct incoming *in);

/** queue_bytes() - memory of those that wait. */
size_t queue_bytes(const struct queue *q);

/**
 * queue_round() - each ring has been read: apply what cannot be overtaken any more. queue_flush(): apply all.
 * Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int queue_round(struct queue *q);
int queue_flush(struct queue *q);

#endif
