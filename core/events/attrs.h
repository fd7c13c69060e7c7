/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the perf events of a run: the values that profile requests. */
#ifndef CORE_EVENTS_ATTRS_H
#define CORE_EVENTS_ATTRS_H

#include "core/events/perf_events.h"

/** attrs_choose() - choose the events to open. */
void attrs_choose(struct events *ev);

/**
 * attrs_no_kernel_chain() - true if the kernel may leave its part out of callchains, because the report does not show
 * it. False also if stacks are unwound and the kernel's part shows which user registers are right: see
 * arch_entry_stale() in core/arch/.
 */
bool attrs_no_kernel_chain(const struct request *r);

/**
 * attrs_fill() - fill in the attributes of the leading events (events.leads). They record tasks and mappings, too,
 * unless these have rings of their own.
 */
void attrs_fill(struct events *ev);

/**
 * attrs_fill_switches() - fill in the attributes of switch events beside samples. Call it after the kernel has accepted
 * those of samples.
 */
void attrs_fill_switches(struct events *ev);
/** attrs_fill_notes() - the same for the event of the notes @about samples or switches. Call it after attrs_fill(). */
void attrs_fill_notes(struct events *ev, enum event_kind about);

#endif
