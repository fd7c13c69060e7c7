/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of the events of a run, before the kernel has seen them. */
#ifndef CORE_EVENTS_ATTRS_H
#define CORE_EVENTS_ATTRS_H

#include "core/events/perf_events.h"

/** attrs_choose() - which events there are to be. @with_notes: a program in the kernel will write notes */
void attrs_choose(struct events *ev, bool with_notes);

/**
 * attrs_no_kernel_chain() - may the kernel leave out its part of callchains? Not where stacks are unwound and that part
 * tells which of a user's registers are right: see arch_entry_stale().
 */
bool attrs_no_kernel_chain(const struct request *r);

/** attrs_fill() - of samples, with what tells of tasks and mappings where that has no rings of its own. */
void attrs_fill(struct events *ev, bool with_notes);

/** attrs_fill_switches() - when the former have been accepted. */
void attrs_fill_switches(struct events *ev);
/** attrs_fill_notes() - then, too. */
void attrs_fill_notes(struct events *ev, enum noted what);

#endif
