/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_KERNEL_H
#define COMPAT_KERNEL_H

#include <stdbool.h>

/**
 * kernel_bpf_taints() - would the first bpf(2) call taint this host?
 *
 * RHEL 7's 3.10 has bpf(2) as a technology preview: its first use sets a taint flag and logs a notice, which a
 * production tool must not do unasked. Only the release can tell, since trying is what must be avoided.
 */
bool kernel_bpf_taints(void);

/** kernel_release_bpf_taints() - the same for a given uname release, "3.10.0-1160.el7.x86_64". */
bool kernel_release_bpf_taints(const char *release);

/** kernel_in_pid_namespace() - is this process in a pid namespace of its own? False when /proc does not tell. */
bool kernel_in_pid_namespace(void);

/**
 * kernel_answers_perf() - the answer to a perf_event_open(2) that means nothing: -EINVAL from every kernel that has it,
 * whatever the caller's rights are; another one comes from what stands before the kernel, as a seccomp filter does.
 */
int kernel_answers_perf(void);

/** kernel_answers_bpf() - the same of bpf(2); but to a caller without rights a kernel may answer -EPERM itself. */
int kernel_answers_bpf(void);

#endif
