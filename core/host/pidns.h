/* SPDX-License-Identifier: Apache-2.0 */
/* PID namespaces: that of this process, and that of the /proc that it sees. */
#ifndef CORE_HOST_PIDNS_H
#define CORE_HOST_PIDNS_H

#include <stdbool.h>
#include <stdint.h>

/** struct pidns - a PID namespace, in the form for bpf_get_ns_current_pid_tgid(). */
struct pidns {
	uint32_t dev; /* the kernel's device number, not that of stat(2) */
	uint32_t ino;
};

/**
 * pidns_here() - true if this process is in another PID namespace than the initial one.
 * @out: out: which one; may be NULL
 *
 * Return: also false if the namespace is unknown. Before Linux 6.11, it is unknown if there is no /proc, or if /proc is
 * of a namespace that does not contain this process.
 */
bool pidns_here(struct pidns *out);

/**
 * pidns_proc_is_foreign() - true if /proc belongs to another PID namespace than this process. Then the ids in /proc
 * mean other processes here. False if nothing is mounted at /proc.
 */
bool pidns_proc_is_foreign(void);

#endif
