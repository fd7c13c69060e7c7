/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel stacks that were taken in the scheduler. */
#ifndef CORE_REPORT_SCHEDULING_H
#define CORE_REPORT_SCHEDULING_H

#include "core/report/names.h"
#include "core/rows/rows.h"

/**
 * report_first_frame() - the frame of a kernel stack that is its leaf with from_schedule: who called __schedule().
 * Below may be what runs the tracepoint, and the program there: how many frames depends on the kernel, and on who
 * traces. The event context-switches has its stacks from the caller on.
 */
uint32_t report_first_frame(const struct report_names *names, const struct stack *kernel);

#endif
