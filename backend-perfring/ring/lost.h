/* SPDX-License-Identifier: Apache-2.0 */
/* Records that the rings have lost: what they tell, and what the events count. */
#ifndef PERFRING_LOST_H
#define PERFRING_LOST_H

#include "backend-perfring/ring/rings.h"

/**
 * lost_now() - what the events of place @i that write to the ring for samples have lost so far. lost_side_now(): the
 * same of the other ring. Before 6.0 that is not known: 0.
 */
struct lost lost_now(const struct source *b, size_t i);
uint64_t lost_side_now(const struct source *b, size_t i);

uint64_t lost_sum(const struct lost *l);

/** lost_told() - a ring of place @i says that @records were lost before the next one. @side: which */
void lost_told(struct source *b, uint32_t i, bool side, uint64_t records);

/** lost_side_band() - so many records are missing that tell of names and mappings, or some: these are read anew. */
void lost_side_band(struct source *b, uint64_t records);

/**
 * lost_count() - add to the statistics what place @i has lost since it was asked last: a ring tells of lost records in
 * front of the next one that fits, which never comes for those at the very end. lost_count_side(): the same of the
 * other ring.
 */
void lost_count(struct source *b, uint32_t i);
void lost_count_side(struct source *b, uint32_t i);

/** lost_count_all(), lost_count_all_side() - of all places. */
void lost_count_all(struct source *b);
void lost_count_all_side(struct source *b);

#endif
