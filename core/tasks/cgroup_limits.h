/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that the host and its cgroups set for this process: on memory, and on the CPU time of real-time threads. */
#ifndef CORE_TASKS_CGROUP_LIMITS_H
#define CORE_TASKS_CGROUP_LIMITS_H

#include "core/host/host.h"

/**
 * memory_limit() - the smallest of MemTotal (host_memory_bytes()) and the limits of the cgroup that /proc/self/cgroup
 * names and of those above it: memory.max (Documentation/admin-guide/cgroup-v2.rst), or memory.limit_in_bytes of
 * version 1. Return: bytes; 0: unknown.
 */
uint64_t memory_limit(const struct host *h);

/**
 * realtime_limit_us() - CPU time that all real-time threads of our cgroup of version 1, or of one above it, may use on
 * each CPU in a second: cpu.rt_runtime_us (Documentation/scheduler/sched-rt-group.rst). Other real-time threads of the
 * cgroup may use it up; then no real-time thread of the cgroup runs, even if the CPU is idle. Return: microseconds; 0:
 * no limit is known.
 */
uint64_t realtime_limit_us(const struct host *h);

#endif
