/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_PERF_OPEN_H
#define COMPAT_PERF_OPEN_H

#include <linux/perf_event.h>
#include <sys/types.h>

/**
 * perf_open() - perf_event_open(2) that drops optional features if this kernel does not know them.
 * @attr: in: the wanted features; out, on success: the accepted ones. Optional features (see the table in perf_open.c)
 *        are cleared, newest first, until the kernel accepts @attr. If the kernel's struct is smaller, and a field that
 *        it lacks is not 0, @attr gets the kernel's size, and these fields become 0. Nothing else changes.
 * @pid,@cpu: as perf_event_open(2)
 *
 * Return: a close-on-exec descriptor, or -errno with @attr unchanged: -EINVAL if the kernel understood no attempt, else
 * its error for the first attempt that it understood (-EACCES, -ENODEV, ...).
 */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu);

#endif
