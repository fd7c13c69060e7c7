/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_PERF_OPEN_H
#define COMPAT_PERF_OPEN_H

#include <linux/perf_event.h>
#include <sys/types.h>

/**
 * perf_open() - perf_event_open(2) that does without what this kernel does not know.
 * @attr: in: what is wanted; out, on success: what was accepted. Optional features (see the table in perf_open.c) are
 *        cleared from it, newest first, until the kernel takes it; nothing else is.
 * @pid,@cpu: as perf_event_open(2)
 *
 * Return: a close-on-exec descriptor, or -errno with @attr unchanged: -EINVAL when no attempt was understood, else why
 * the first one that was understood was refused (-EACCES, -ENODEV, ...).
 */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu);

#endif
