/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel stacks taken inside the scheduler. */
#ifndef CORE_REPORT_SCHEDULING_H
#define CORE_REPORT_SCHEDULING_H

#include "core/report/names.h"
#include "core/rows/rows.h"

/**
 * report_first_frame() - for report_part.from_schedule: the frame of a kernel stack that counts as its leaf, the caller
 * of __schedule(). Frames before it may belong to the tracepoint and to the BPF program or tracer that runs there: how
 * many depends on these and on the kernel. Stacks of the event context-switches begin with the caller already.
 * Return: its index in @kernel; 0 if no frame of the scheduler is found.
 */
uint32_t report_first_frame(const struct report_names *names, const struct stack *kernel);

#endif
