/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the perf events of a run: the values that profile requests. */
#ifndef CORE_EVENTS_ATTRS_H
#define CORE_EVENTS_ATTRS_H

#include "core/events/perf_events.h"

/** attrs_choose() - choose the events to open. @with_notes: a BPF program will write notes */
void attrs_choose(struct events *ev, bool with_notes);

/**
 * attrs_no_kernel_chain() - true if the kernel may leave its part out of callchains. False if stacks are unwound and
 * the kernel's part shows which user registers are right: see arch_entry_stale().
 */
bool attrs_no_kernel_chain(const struct request *r);

/**
 * attrs_fill() - fill in the attributes of samples. They include task and mapping records unless those have rings of
 * their own.
 */
void attrs_fill(struct events *ev, bool with_notes);

/**
 * attrs_fill_switches() - fill in the attributes of switch events. Call it after the kernel has accepted those of
 * samples.
 */
void attrs_fill_switches(struct events *ev);
/** attrs_fill_notes() - fill in the attributes of note events, also after those of samples. */
void attrs_fill_notes(struct events *ev, enum noted what);

#endif
