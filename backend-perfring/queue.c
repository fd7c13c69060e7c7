// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/queue.h"

#include "backend-perfring/apply.h"
#include "backend-perfring/kernel_code.h"
#include "backend-perfring/switching.h"
#include "core/host/priority.h"
#include "core/sources/source.h"

#include <errno.h>
#include <stdlib.h>

/* What goes in front of the bytes of a record that waits. */
struct waiting {
	struct sample_lead lead;
	struct record record;
	const void *bytes; /* where they were when it was decoded */
};

_Static_assert(sizeof(struct waiting) % 8 == 0, "order.h: what follows is aligned to 8");

int queue_open(struct queue *q, const struct source_env *env, size_t nr_rings)
{
	/* A recording's kernel need not be ours. */
	bool tells_idle = env->request->in_pidns && !env->request->options->input;
	struct applier *a = &q->applier;

	a->env = env;
	a->rings = calloc(nr_rings, sizeof(*a->rings));
	if (env->request->unwinds)
		a->unwinding = unwinding_new(env);
	if (tells_idle)
		a->kernel_code = kernel_code_new(env->request->host);
	if (env->events->switches)
		a->switching = switching_new(env);
	if ((nr_rings && !a->rings) || (env->request->unwinds && !a->unwinding) || (tells_idle && !a->kernel_code) ||
	    (env->events->switches && !a->switching))
		return -ENOMEM;
	return 0;
}

void queue_release(struct queue *q)
{
	unwinding_free(q->applier.unwinding);
	kernel_code_free(q->applier.kernel_code);
	switching_free(q->applier.switching);
	free(q->applier.rings);
	order_release(&q->order);
	*q = (struct queue){ 0 };
}

bool queue_late(const struct queue *q, unsigned int set)
{
	const struct sink *sink = q->applier.env->sink;

	return set != sink->set && !(q->ending && set == sink->ended);
}

/* What one switch writes: it stays in its order. */
static bool is_of_switch(const struct incoming *in)
{
	return in->record.type == PERF_RECORD_SWITCH || in->lead.kind == OF_SWITCH || in->lead.kind == OF_SWITCH_NOTE;
}

int queue_add(struct queue *q, const struct incoming *in)
{
	const struct waiting w = { in->lead, in->record, in->bytes };

	return order_add(&q->order, in->record.time,
			 &(struct order_item){
				 .ring = in->ring,
				 .lead_size = sizeof(w),
				 .lead = &w,
				 .bytes = in->bytes,
				 .size = in->size,
				 .in_order = q->applier.switching && is_of_switch(in),
			 });
}

size_t queue_bytes(const struct queue *q)
{
	return q->order.used + q->order.nr * sizeof(struct order_entry);
}

static int apply(void *ctx, const struct order_item *item)
{
	const struct waiting *w = item->lead;
	struct queue *q = ctx;
	struct record r = w->record;

	priority_check();
	if (r.type == PERF_RECORD_SAMPLE && w->lead.kind == OF_SAMPLE && queue_late(q, w->lead.note.set)) {
		q->applier.stats[q->applier.set].late_samples++;
		return 0;
	}
	record_move(&r, w->bytes, item->bytes);
	return apply_record(&q->applier, item->ring, &r, &w->lead);
}

int queue_round(struct queue *q)
{
	return order_round(&q->order, apply, q);
}

int queue_flush(struct queue *q)
{
	return order_flush(&q->order, apply, q);
}
