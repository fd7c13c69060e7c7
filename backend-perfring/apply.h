/* SPDX-License-Identifier: Apache-2.0 */
/* Apply decoded records: side-band to tasks, samples to rows. */
#ifndef PERFRING_APPLY_H
#define PERFRING_APPLY_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"

/**
 * apply_record() - records come in time order.
 * Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int apply_record(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** apply_deferred() - a deferred_fn: count a sample that has waited for its user stack. @ctx: the applier */
int apply_deferred(void *ctx, const struct row_key *key, unsigned int set);

/** apply_time() - it is @ns now, in event time: count the time of throttling up to now. */
void apply_time(struct applier *a, uint64_t ns);

#endif
