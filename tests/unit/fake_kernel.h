/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events without a kernel: this program's own syscall() and ioctl() replace libc's. The test chooses the kernel's
 * answers by fake_event_open() and fake_event_ioctl(), which it must define, and by fake_pidfd_open and fake_bpf.
 */
#ifndef TESTS_UNIT_FAKE_KERNEL_H
#define TESTS_UNIT_FAKE_KERNEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

struct events;

/**
 * fake_event_open() - written by the test: perf_event_open(2). Return: a descriptor, or the result of fake_refuse().
 */
int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/** fake_event_ioctl() - written by the test: ioctl(2) of the open @fd; @id: for PERF_EVENT_IOC_ID. Return: 0 or -1. */
int fake_event_ioctl(int fd, unsigned long request, uint64_t *id);

/**
 * fake_pidfd_open - set by the test: pidfd_open(2), returns as fake_event_open(). NULL: the kernel does not have it.
 */
extern int (*fake_pidfd_open)(pid_t pid);

/** fake_bpf - set by the test: bpf(2), returns as fake_event_open(). NULL: the kernel does not have it. */
extern int (*fake_bpf)(int cmd, void *attr);

/** fake_event_fds() - this program's open descriptors, but for that of the list of CPUs, which @ev keeps open. */
unsigned int fake_event_fds(const struct events *ev);

/** fake_refuse() - Return: -1, with errno -@code. */
int fake_refuse(int code);

/** fake_is_dummy() - true if the event records tasks and mappings and takes no samples. */
bool fake_is_dummy(const struct perf_event_attr *attr);

/** fake_list_cpus() - write @cpus to the list @which ("possible", "present" or "online") of the sysfs at @sys. */
void fake_list_cpus(const char *sys, const char *which, const char *cpus);

#endif
