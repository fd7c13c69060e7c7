/* SPDX-License-Identifier: Apache-2.0 */
/* Apply decoded records: those about tasks and mappings update the tasks, samples are added to rows. */
#ifndef PERFRING_APPLY_H
#define PERFRING_APPLY_H

#include "backend-perfring/applier.h"
#include "backend-perfring/decode.h"

/**
 * apply_record() - apply a record of @ring, an index in @a->rings. Call it in time order across all rings.
 * Return: 0 or -ENOMEM, -E2BIG from the tables.
 */
int apply_record(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead);

/** apply_deferred() - a deferred_fn (deferred.h): count a sample that has waited for its stack. @ctx: the applier */
int apply_deferred(void *ctx, const struct row_key *key, unsigned int set);

/** apply_time() - count the time of throttling up to @ns, a time on the clock of the events. */
void apply_time(struct applier *a, uint64_t ns);

#endif
