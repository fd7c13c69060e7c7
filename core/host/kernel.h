/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_HOST_KERNEL_H
#define CORE_HOST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct host;

/**
 * kernel_bpf_taints() - true if the first bpf(2) call would taint this host's kernel.
 *
 * RHEL 7's 3.10 has bpf(2) as a technology preview: its first use sets a taint flag and logs a notice, which a
 * production tool must not do unasked. So bpf(2) must not be tried. Mainline has bpf(2) since 3.18: an older kernel
 * with bpf(2), whatever its release string, has the preview of a vendor. Such a kernel has bpf(2) if the setting
 * kernel.unprivileged_bpf_disabled exists, or if /proc/kallsyms lists its function (even if addresses are hidden). If
 * /proc/kallsyms cannot be read, the answer is true. A release of RHEL 7 is enough: nothing else is read then.
 */
bool kernel_bpf_taints(const struct host *host);

/** kernel_release_bpf_taints() - true if the uname release is of RHEL 7, "3.10.0-1160.el7.x86_64". */
bool kernel_release_bpf_taints(const char *release);

/**
 * kernel_registers_may_be_stale() - true if perf may report registers of a system call that its entry code has not
 * saved. Kernels before 3.19 report whatever is at their place (perf_sample_regs_user(), kernel/events/core.c). RHEL 7
 * does so, too, though its perf has the interface of 4.7: so only the release can tell. 3.19 counts as affected,
 * because only the "3." of the release is compared.
 */
bool kernel_registers_may_be_stale(void);

/**
 * kernel_withholds_registers() - true if perf reports no callee-saved registers of a task in a system call. Kernels
 * before 4.19 report none: arch/x86/kernel/perf_regs.c. The release decides, because the answer must be known before
 * the first such sample. A kernel that has the later code backported counts as one that withholds them.
 */
bool kernel_withholds_registers(void);

/** kernel_release_withholds_registers() - the same for a given uname release. */
bool kernel_release_withholds_registers(const char *release);

/**
 * kernel_has_fast_path() - true if a system call may have entered the kernel by code that does not save the
 * callee-saved registers. True before 4.15: see arch_entry_stale() in core/arch/arch.h. The release decides, as above.
 */
bool kernel_has_fast_path(void);

/** kernel_release_has_fast_path() - the same for a given uname release. */
bool kernel_release_has_fast_path(const char *release);

/** kernel_release_registers_may_be_stale() - kernel_registers_may_be_stale() for a given uname release. */
bool kernel_release_registers_may_be_stale(const char *release);

/**
 * kernel_cuts_names() - true if the name that the kernel gives a BPF program for an address may lack its end. This
 * happens if clang built the kernel with link-time optimization: cleanup_symbol_name() of kernel/kallsyms.c, since 5.13
 * (/proc/kallsyms has the whole name). True for every kernel that clang built, by /proc/version; also if /proc/version
 * cannot be read.
 */
bool kernel_cuts_names(const struct host *host);

/**
 * kernel_locks_maps() - true if each BPF map counts as locked memory (RLIMIT_MEMLOCK). That is so until 5.10; since
 * 5.11 a map counts as memory of a cgroup instead. If the limit is too low, the only sign is EPERM, which has other
 * causes, too. The release in /proc decides; without one: false.
 */
bool kernel_locks_maps(const struct host *host);

/** kernel_release_locks_maps() - the same for a given release, "5.10.0-28-amd64". */
bool kernel_release_locks_maps(const char *release);

/**
 * kernel_has_perfmon() - true if the kernel has CAP_PERFMON and CAP_BPF (since 5.8). Before, CAP_SYS_ADMIN includes
 * both. kernel.cap_last_cap decides; before 3.16, root's capability sets cannot, because they have bits for
 * capabilities that do not exist. True if it is unknown.
 */
bool kernel_has_perfmon(const struct host *host);

/**
 * kernel_max_stack() - most addresses of a callchain, and most entries of a stack map's value: the setting
 * kernel.perf_event_max_stack, which came with 4.8 as did perf_event_attr.sample_max_stack. Older kernels have 127
 * compiled in (PERF_MAX_STACK_DEPTH), which includes the markers of a callchain. 4.1 to 4.7 accept sample_max_stack,
 * but ignore it: see callchain_limit().
 */
unsigned int kernel_max_stack(const struct host *host);

/**
 * kernel_answers_perf() - the answer to a perf_event_open(2) with invalid arguments. Every kernel that has the call
 * returns -EINVAL, whatever the caller's permissions. Another answer comes from something in front of the kernel, such
 * as a seccomp filter.
 */
int kernel_answers_perf(void);

/**
 * kernel_answers_bpf() - the same for bpf(2); but the kernel itself may answer -EPERM to a caller without permissions.
 */
int kernel_answers_bpf(void);

#endif
