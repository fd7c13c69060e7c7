/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_KERNEL_H
#define COMPAT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * kernel_bpf_taints() - would the first bpf(2) call taint this host?
 *
 * RHEL 7's 3.10 has bpf(2) as a technology preview: its first use sets a taint flag and logs a notice, which a
 * production tool must not do unasked. Only the release can tell, since trying is what must be avoided.
 */
bool kernel_bpf_taints(void);

/** kernel_release_bpf_taints() - the same for a given uname release, "3.10.0-1160.el7.x86_64". */
bool kernel_release_bpf_taints(const char *release);

/** struct kernel_pidns - a pid namespace, as bpf_get_ns_current_pid_tgid() takes it. */
struct kernel_pidns {
	uint32_t dev; /* as the kernel numbers it, not as stat(2) does */
	uint32_t ino;
};

/**
 * kernel_pid_namespace() - is this process in another pid namespace than the initial one?
 * @out: which, unless NULL
 * False when nothing tells: before 6.11 without a /proc, or with that of a namespace in which this process is not.
 */
bool kernel_pid_namespace(struct kernel_pidns *out);

/**
 * kernel_proc_is_foreign() - is /proc that of another pid namespace than this process is in? Then it lists processes
 * under numbers that mean others here. False where nothing is mounted there.
 */
bool kernel_proc_is_foreign(void);

/**
 * kernel_answers_perf() - the answer to a perf_event_open(2) that means nothing: -EINVAL from every kernel that has it,
 * whatever the caller's rights are; another one comes from what stands before the kernel, as a seccomp filter does.
 */
int kernel_answers_perf(void);

/** kernel_answers_bpf() - the same of bpf(2); but to a caller without rights a kernel may answer -EPERM itself. */
int kernel_answers_bpf(void);

#endif
