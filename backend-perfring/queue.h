/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records between a source and apply_record(). The source copies the bytes of a record, decodes the copy, and adds it.
 * The queue keeps the record until no earlier one can come, see order.h, and then applies it, see apply.h.
 *
 * Memory: decoded copies of the records of two rounds. A round of the rings has at most the records in the rings, and
 * the records moved to memory (events.kept_bytes_max). For a round of a recording see recording/recording.c.
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
	bool ending;                 /* samples of interval sink.ended are not late */
	struct chunk *chunk, *spare; /* @chunk: where the next record goes; @spare: empty ones */
	size_t nr_spare;
	size_t bytes; /* of records that wait */
};

/** struct incoming - a record in the queue, and its @size bytes. Its address stays the same. */
struct incoming {
	struct chunk *chunk;
	uint32_t ring, size;
	struct sample_lead lead;
	struct record record; /* decoded from @bytes by the source */
	uint64_t bytes[];
};

/**
 * queue_open() - prepare all that @env requests, such as unwinding and off-CPU intervals. @env is borrowed.
 * @nr_rings: entries of applier.rings
 * Return: 0 or -ENOMEM; call queue_release() in both cases.
 */
int queue_open(struct queue *q, const struct source_env *env, size_t nr_rings);
void queue_release(struct queue *q);

/** queue_late() - true if a sample of set @set is too late: the report of its interval has counted it as lost. */
bool queue_late(const struct queue *q, unsigned int set);

/**
 * queue_take() - make room for a record. The caller fills and decodes it, and then adds or drops it.
 * @size: of incoming.bytes, RECORD_MAX at most
 * Return: a record whose lead and record are zeros; NULL: no memory.
 */
struct incoming *queue_take(struct queue *q, size_t size);

void queue_drop(struct queue *q, struct incoming *in);

/** queue_add() - the record waits until it may be applied. Return: 0; -ENOMEM: it is dropped. */
int queue_add(struct queue *q, struct incoming *in);

/** queue_bytes() - memory of the records that wait. */
size_t queue_bytes(const struct queue *q);

/**
 * queue_round() - a round is over (see order.h): apply each record unless one that comes later may be of an earlier
 * time. queue_flush(): apply all records, because no more will come. Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int queue_round(struct queue *q);
int queue_flush(struct queue *q);

#endif
