// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/queue.h"

#include "backend-perfring/apply.h"
#include "backend-perfring/deferred.h"
#include "backend-perfring/kernel_code.h"
#include "backend-perfring/switching.h"
#include "core/sources/source.h"
#include "core/symbols/kernel_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for at least one record of the largest size. Not more, because each page of a chunk has to be faulted in. */
#define CHUNK_BYTES (128UL << 10)
#define SPARE_MAX   64 /* chunks that are kept, because new memory has to be faulted in again */

/* Memory for records, freed when the last of them has been applied. */
struct chunk {
	struct chunk *next; /* of the spare ones */
	size_t used, live;  /* bytes; records */
	_Alignas(struct incoming) unsigned char bytes[CHUNK_BYTES];
};

int queue_open(struct queue *q, const struct source_env *env, size_t nr_rings)
{
	/* A recording's kernel need not be ours. */
	bool tells_idle = env->request->in_pidns && env->source->live;
	struct applier *a = &q->applier;

	a->env = env;
	if (env->sink->kernel_ranges)
		kernel_ranges_by_address(env->sink->kernel_ranges, env->nr_counters);
	a->rings = calloc(nr_rings, sizeof(*a->rings));
	if (env->request->unwinds)
		a->unwinding = unwinding_new(env);
	if (tells_idle)
		a->kernel_code = kernel_code_new(env->request->host);
	if (env->events->switches)
		a->switching = switching_new(env);
	if (env->source->defers)
		a->deferred = deferred_new(apply_deferred, a);
	if ((nr_rings && !a->rings) || (env->request->unwinds && !a->unwinding) || (tells_idle && !a->kernel_code) ||
	    (env->events->switches && !a->switching) || (env->source->defers && !a->deferred))
		return -ENOMEM;
	return 0;
}

static size_t room_of(size_t size)
{
	return (sizeof(struct incoming) + size + 7) & ~(size_t)7;
}

/* Return: NULL: no memory. */
static struct chunk *chunk_with(struct queue *q, size_t size)
{
	struct chunk *c = q->chunk;

	if (c && size <= CHUNK_BYTES - c->used)
		return c;
	c = q->spare;
	if (c) {
		q->spare = c->next;
		q->nr_spare--;
	} else {
		c = malloc(sizeof(*c));
	}
	if (!c)
		return NULL;
	c->used = c->live = 0;
	q->chunk = c;
	return c;
}

struct incoming *queue_take(struct queue *q, size_t size)
{
	size_t room = room_of(size);
	struct chunk *c = chunk_with(q, room);
	struct incoming *in;

	if (!c)
		return NULL;
	in = (struct incoming *)(c->bytes + c->used);
	*in = (struct incoming){ .chunk = c, .size = (uint32_t)size };
	c->used += room;
	c->live++;
	q->bytes += room;
	return in;
}

void queue_drop(struct queue *q, struct incoming *in)
{
	struct chunk *c = in->chunk;
	size_t room = room_of(in->size);

	q->bytes -= room;
	/* A record that was not needed is dropped at once, while it is the chunk's last one: use its room again. */
	if ((unsigned char *)in + room == c->bytes + c->used)
		c->used -= room;
	if (--c->live)
		return;
	c->used = 0;
	if (c == q->chunk)
		return;
	if (q->nr_spare == SPARE_MAX) {
		free(c);
		return;
	}
	c->next = q->spare;
	q->spare = c;
	q->nr_spare++;
}

static int drop(void *ctx, void *record)
{
	queue_drop(ctx, record);
	return 0;
}

void queue_release(struct queue *q)
{
	order_flush(&q->order, drop, q);
	free(q->chunk);
	while (q->spare) {
		struct chunk *c = q->spare;

		q->spare = c->next;
		free(c);
	}
	unwinding_free(q->applier.unwinding);
	kernel_code_free(q->applier.kernel_code);
	switching_free(q->applier.switching);
	deferred_free(q->applier.deferred);
	free(q->applier.rings);
	order_release(&q->order);
	*q = (struct queue){ 0 };
}

bool queue_late(const struct queue *q, unsigned int set)
{
	const struct sink *sink = q->applier.env->sink;

	return set != sink->set && !(q->ending && set == sink->ended);
}

/* True for the records of a switch: they stay in their order. */
static bool is_of_switch(const struct incoming *in)
{
	if (in->record.type != PERF_RECORD_SAMPLE)
		return in->record.type == PERF_RECORD_SWITCH;
	return in->lead.kind == EVENT_SWITCHES || in->lead.kind == EVENT_SWITCH_NOTES;
}

int queue_add(struct queue *q, struct incoming *in)
{
	const struct order_item item = { in, in->record.time, in->ring, q->applier.switching && is_of_switch(in) };
	int rc = order_add(&q->order, &item);

	if (rc)
		queue_drop(q, in);
	return rc;
}

size_t queue_bytes(const struct queue *q)
{
	return q->bytes + q->order.nr * sizeof(struct order_entry);
}

static int apply(void *ctx, void *record)
{
	struct incoming *in = record;
	struct queue *q = ctx;
	int rc = 0;

	if (in->record.type == PERF_RECORD_SAMPLE && in->lead.kind == EVENT_SAMPLES && queue_late(q, in->lead.note.set))
		q->applier.stats[q->applier.set].late_samples++;
	else
		rc = apply_record(&q->applier, in->ring, &in->record, &in->lead);
	queue_drop(q, in);
	return rc;
}

static void begin_round(struct queue *q)
{
	if (q->applier.unwinding)
		unwinding_round(q->applier.unwinding);
}

int queue_round(struct queue *q)
{
	begin_round(q);
	return order_round(&q->order, apply, q);
}

int queue_flush(struct queue *q)
{
	int rc;

	begin_round(q);
	rc = order_flush(&q->order, apply, q);
	return rc || !q->applier.deferred ? rc : deferred_flush(q->applier.deferred);
}
