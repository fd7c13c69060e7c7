/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events without a kernel: this program's own syscall() and ioctl() take the place of libc's. What the kernel
 * answers is the test's, which has the two functions that are not in fake_kernel.c.
 */
#ifndef TESTS_UNIT_FAKE_KERNEL_H
#define TESTS_UNIT_FAKE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

/** fake_event_open() - the test's: perf_event_open(2). Return: a descriptor, or what fake_refuse() returns. */
int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/** fake_event_ioctl() - the test's: ioctl(2) of the open @fd; @id: of PERF_EVENT_IOC_ID. Return: 0 or -1. */
int fake_event_ioctl(int fd, unsigned long request, uint64_t *id);

/** fake_pidfd_open - the test's: pidfd_open(2), as fake_event_open(). NULL: the kernel does not have it. */
extern int (*fake_pidfd_open)(pid_t pid);

/** fake_refuse() - Return: -1, with errno -@code. */
int fake_refuse(int code);

/** fake_is_dummy() - does it tell of tasks and mappings, and has no samples? */
bool fake_is_dummy(const struct perf_event_attr *attr);

/** fake_list_cpus() - below @sys: @cpus are "possible", "present" or "online". */
void fake_list_cpus(const char *sys, const char *which, const char *cpus);

#endif
