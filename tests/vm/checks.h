/* SPDX-License-Identifier: Apache-2.0 */
/* The checks in a guest. */
#ifndef TESTS_VM_CHECKS_H
#define TESTS_VM_CHECKS_H

#include <stdbool.h>

/**
 * check_choice() - which backend is taken, and the messages. Call it first: on RHEL 7 BPF must not have been used
 * before.
 */
void check_choice(void);
/** check_fixed() - with each backend and way to unwind, fixed workloads have the same user stacks, in known shares. */
void check_fixed(void);
/** check_load() - all backends under a storm of processes. @more: include checks that take long */
void check_load(bool more);
/** check_costs() - start-up and memory. */
void check_costs(void);
/** check_targets() - a command, one process, the whole system. */
void check_targets(void);
/** check_waits() - time off the CPU, with each backend. */
void check_waits(void);
/** check_denied() - other users, settings, seccomp. */
void check_denied(void);
/** check_names() - names of the kernel's addresses, from /proc/kallsyms and from the kernel itself. */
void check_names(void);
/** check_lockdown() - call it last: lockdown cannot be undone. */
void check_lockdown(void);
/** check_hotplug() - CPUs that go offline and come online. */
void check_hotplug(void);

/** last_cpu() - the highest number of the CPUs online at the start. */
unsigned int last_cpu(void);

#endif
