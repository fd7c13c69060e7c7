/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that may be wrong because the task entered the kernel by code that does not save the callee-saved registers.
 *
 * See arch_entry_stale(). The kernel still walks the user's stack by the frame pointer, but it takes the frame pointer
 * that an earlier entry stored. In most programs this value is right, or belongs to a caller. A wrong value looks like
 * a right one.
 */
#ifndef CORE_REPORT_ENTRY_H
#define CORE_REPORT_ENTRY_H

#include "core/report/report.h"

/**
 * report_unsure_stacks() - sum of the values of rows whose user stack may have been walked from the frame pointer of an
 * earlier entry.
 * @intervals: sum up the numbers of intervals instead of the values
 */
uint64_t report_unsure_stacks(const struct rows *rows, bool intervals, const struct report_names *names);

#endif
