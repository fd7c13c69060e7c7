/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may use at most: that of the host, or less in a cgroup with a limit. */
#ifndef CORE_TASKS_CGROUP_LIMITS_H
#define CORE_TASKS_CGROUP_LIMITS_H

#include "core/host/host.h"

/**
 * memory_limit() - the smallest of MemTotal (host_memory_bytes()) and the limits of the cgroup that /proc/self/cgroup
 * names and of those above it: memory.max (Documentation/admin-guide/cgroup-v2.rst), or memory.limit_in_bytes of
 * version 1. Return: bytes; 0: unknown.
 */
uint64_t memory_limit(const struct host *h);

#endif
