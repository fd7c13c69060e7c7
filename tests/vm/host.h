/* SPDX-License-Identifier: Apache-2.0 */
/* The features of this kernel, found without running profile. */
#ifndef TESTS_VM_HOST_H
#define TESTS_VM_HOST_H

#include <stdbool.h>

/** host_release() - the release in uname. */
const char *host_release(void);
/** host_bpf_taints() - true if the first bpf(2) call taints the kernel: RHEL 7. */
bool host_bpf_taints(void);
/**
 * host_hold_switches() - keep an event of a thread open as long as this process lives. The kernel patches __schedule()
 * when the first such event of the host is opened, and when the last one is closed (perf_sched_events,
 * kernel/events/core.c). While it patches, a breakpoint is there. The emulator may execute this breakpoint after the
 * kernel has removed it: the kernel does not know it any more, and panics.
 */
void host_hold_switches(void);
/** host_has_bpf() - true if a BPF program for perf events can be loaded, or if loading one would taint the kernel. */
bool host_has_bpf(void);
/** host_perf_of_own() - true if a user without rights may open an event for its own user code, with @paranoid. */
bool host_perf_of_own(int paranoid);

/** setting_get() - a number below /proc/sys/kernel/; -100: it does not exist. */
int setting_get(const char *name);
/** setting_put() - false: it does not exist, or the kernel refuses the value. */
bool setting_put(const char *name, int value);
/** host_write() - write a short text to a file of the kernel. */
bool host_write(const char *path, const char *text);

#endif
