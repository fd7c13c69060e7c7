/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_HOST_KERNEL_H
#define CORE_HOST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

struct host;

/**
 * kernel_bpf_taints() - would the first bpf(2) call taint this host?
 *
 * RHEL 7's 3.10 has bpf(2) as a technology preview: its first use sets a taint flag and logs a notice, which a
 * production tool must not do unasked. Trying is what must be avoided. Mainline has bpf(2) since 3.18: in an older
 * kernel, whatever its release is called, it is the preview of a vendor. Whether it is there is known by its setting,
 * or by its symbol, which has its name even where addresses are hidden.
 */
bool kernel_bpf_taints(const struct host *host);

/** kernel_release_bpf_taints() - the same for a given uname release, "3.10.0-1160.el7.x86_64". */
bool kernel_release_bpf_taints(const char *release);

/**
 * kernel_registers_may_be_stale() - may perf tell registers of a system call that its entry code has not saved? Before
 * 3.19 it hands out what is in their place (perf_sample_regs_user(), kernel/events/core.c). RHEL 7 does, too, though
 * its perf has the interface of 4.7: so only the release can tell. 3.19 is taken for one that does.
 */
bool kernel_registers_may_be_stale(void);

/**
 * kernel_withholds_registers() - does perf report no callee-saved registers of a task in a system call? Before 4.19:
 * arch/x86/kernel/perf_regs.c. By the release, since it is to be known before the first such sample; a kernel that has
 * the later code is taken for one that does not.
 */
bool kernel_withholds_registers(void);

/** kernel_release_withholds_registers() - the same for a given uname release. */
bool kernel_release_withholds_registers(const char *release);

/**
 * kernel_has_fast_path() - may a system call have entered by code that does not save what functions save? Before 4.15:
 * see arch_entry_stale(). The release tells it, as above.
 */
bool kernel_has_fast_path(void);

/** kernel_release_has_fast_path() - the same for a given uname release. */
bool kernel_release_has_fast_path(const char *release);

/** kernel_release_registers_may_be_stale() - the same for a given uname release. */
bool kernel_release_registers_may_be_stale(const char *release);

/**
 * kernel_cuts_names() - may the kernel, asked for the name of an address, leave out its end? Where clang has built it
 * for optimization at link time: cleanup_symbol_name() of kernel/kallsyms.c, since 5.13 (/proc/kallsyms has the whole
 * name). Taken to be so for every kernel that clang has built, by /proc/version; yes, if that cannot be read.
 */
bool kernel_cuts_names(const struct host *host);

/**
 * kernel_locks_maps() - does each BPF map count as locked memory (RLIMIT_MEMLOCK)? Until 5.10; then as memory of its
 * cgroup. What a limit is too low for is only told by EPERM, which has other reasons, too.
 * Of the release that /proc tells; without one: no.
 */
bool kernel_locks_maps(const struct host *host);

/** kernel_release_locks_maps() - the same for a given release, "5.10.0-28-amd64". */
bool kernel_release_locks_maps(const char *release);

/**
 * kernel_has_perfmon() - are there CAP_PERFMON and CAP_BPF (since 5.8)? Before, CAP_SYS_ADMIN stands for both, and
 * before 3.16 root has bits in its sets for capabilities that there are not. Yes, if nothing tells.
 */
bool kernel_has_perfmon(const struct host *host);

/**
 * kernel_max_stack() - entries of a callchain, markers included, and of a stack map's value: the setting
 * kernel.perf_event_max_stack, which came with 4.8 as did perf_event_attr.sample_max_stack. Before, 127 is compiled in
 * (PERF_MAX_STACK_DEPTH), and 4.1 to 4.7 accept the field, but take no notice of it: see callchain_limit().
 */
unsigned int kernel_max_stack(const struct host *host);

/**
 * kernel_answers_perf() - the answer to a perf_event_open(2) that means nothing: -EINVAL from every kernel that has it,
 * whatever the caller's rights are; another one comes from what stands before the kernel, as a seccomp filter does.
 */
int kernel_answers_perf(void);

/** kernel_answers_bpf() - the same of bpf(2); but to a caller without rights a kernel may answer -EPERM itself. */
int kernel_answers_bpf(void);

#endif
