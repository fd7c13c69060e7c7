/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of one place: mapped, and joined by all events that write to them. */
#ifndef PERFRING_MAP_H
#define PERFRING_MAP_H

#include "backend-perfring/ring/rings.h"

/**
 * rings_map() - those of place @i whose events are open. Where memory may not be locked for all rings, smaller ones are
 * tried: in a run that has not begun, for all places up to @i. Return: 0 or -errno, described.
 */
int rings_map(struct source *b, size_t i, struct err *err);

/** rings_unmap() - what @s has is gone, and it is empty. */
void rings_unmap(struct cpu_rings *s);

/** rings_is_switch() - is @id that of an event at switches? */
bool rings_is_switch(const struct cpu_rings *s, uint64_t id);

#endif
