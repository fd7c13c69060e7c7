/* SPDX-License-Identifier: Apache-2.0 */
/* What this kernel can do, found out without profile. */
#ifndef TESTS_VM_HOST_H
#define TESTS_VM_HOST_H

#include <stdbool.h>

/** host_release() - as uname says. */
const char *host_release(void);
/** host_bpf_taints() - the first bpf(2) call would: that is RHEL 7. */
bool host_bpf_taints(void);
/**
 * host_hold_switches() - have an event of a thread as long as this process lives. With the first one of a host the
 * kernel patches __schedule(), and with the last one again (perf_sched_events, kernel/events/core.c). The emulator may
 * still run the breakpoint that was there while it did, of which the kernel knows nothing any more: it panics.
 */
void host_hold_switches(void);
/** host_has_bpf() - a BPF program for perf events loads. Not where that taints: it is said to be so there. */
bool host_has_bpf(void);
/** host_perf_of_own() - nobody may have an event of its own user code, with @paranoid. */
bool host_perf_of_own(int paranoid);

/** setting_get() - a number below /proc/sys/kernel/; -100: it is not there. */
int setting_get(const char *name);
/** setting_put() - false: it is not there, or the kernel does not take the value. */
bool setting_put(const char *name, int value);
/** host_write() - a short text to a file of the kernel's. */
bool host_write(const char *path, const char *text);

#endif
