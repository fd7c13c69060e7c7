/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel stacks taken inside the scheduler. */
#ifndef CORE_REPORT_SCHEDULING_H
#define CORE_REPORT_SCHEDULING_H

#include "core/report/names.h"
#include "core/rows/rows.h"

/**
 * report_first_frame() - with from_schedule, the frame of a kernel stack that counts as its leaf: the caller of
 * __schedule(). Frames below it may belong to the tracepoint and the program that runs there: how many depends on the
 * kernel, and on the tracer. Stacks of the event context-switches begin with the caller already.
 */
uint32_t report_first_frame(const struct report_names *names, const struct stack *kernel);

#endif
