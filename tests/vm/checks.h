/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked in a guest, one file each. */
#ifndef TESTS_VM_CHECKS_H
#define TESTS_VM_CHECKS_H

#include <stdbool.h>

/** check_choice() - which backend is taken, and what is said. First: on RHEL 7 no BPF may have been used before. */
void check_choice(void);
/** check_fixed() - the same user stacks of fixed workloads with each backend and way to unwind, with known shares. */
void check_fixed(void);
/** check_load() - all backends under a storm of processes. @more: with what takes its time to show itself */
void check_load(bool more);
/** check_costs() - start-up and memory. */
void check_costs(void);
/** check_targets() - a command, one process, all of the system. */
void check_targets(void);
/** check_waits() - time off the CPU, with each backend. */
void check_waits(void);
/** check_denied() - other users, settings, seccomp. */
void check_denied(void);
/** check_names() - of the kernel's addresses, in both ways. */
void check_names(void);
/** check_lockdown() - last: there is no way back. */
void check_lockdown(void);
/** check_hotplug() - CPUs that go and come. */
void check_hotplug(void);

/** last_cpu() - the highest number of those online at the start. */
unsigned int last_cpu(void);

#endif
