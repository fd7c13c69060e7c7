/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of tasks that entered the kernel by code that does not save the registers that functions save.
 *
 * See arch_entry_stale(). The kernel walks the user's stack by the frame pointer all the same, by what an earlier
 * entry has left in its place. In most programs that is right, or of a caller; it cannot be told from the right one.
 */
#ifndef CORE_REPORT_ENTRY_H
#define CORE_REPORT_ENTRY_H

#include "core/report/report.h"

/**
 * report_unsure_stacks() - how many user stacks were walked by a frame pointer that may be of an earlier entry.
 * @intervals: count intervals, else values
 */
uint64_t report_unsure_stacks(const struct rows *rows, bool intervals, const struct report_names *names);

#endif
