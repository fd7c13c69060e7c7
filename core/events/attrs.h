/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the perf events of a run: the values that profile requests. */
#ifndef CORE_EVENTS_ATTRS_H
#define CORE_EVENTS_ATTRS_H

#include "core/events/perf_events.h"

/** attrs_choose() - choose the events to open. */
void attrs_choose(struct events *ev);

/**
 * attrs_no_kernel_chain() - true if the kernel may leave its part out of callchains. False if stacks are unwound and
 * the kernel's part shows which user registers are right: see arch_entry_stale().
 */
bool attrs_no_kernel_chain(const struct request *r);

/**
 * attrs_fill() - fill in the attributes of the events that have a ring. They include task and mapping records unless
 * those have rings of their own.
 */
void attrs_fill(struct events *ev);

/**
 * attrs_fill_switches() - fill in the attributes of switch events beside samples. Call it after the kernel has accepted
 * those of samples.
 */
void attrs_fill_switches(struct events *ev);
/** attrs_fill_notes() - fill in the attributes of the notes @about samples or switches, also after those. */
void attrs_fill_notes(struct events *ev, enum event_kind about);

#endif
