/* SPDX-License-Identifier: Apache-2.0 */
/* Pid namespaces: the one of this process, and that of the /proc that it sees. */
#ifndef CORE_HOST_PIDNS_H
#define CORE_HOST_PIDNS_H

#include <stdbool.h>
#include <stdint.h>

/** struct pidns - a pid namespace, as bpf_get_ns_current_pid_tgid() takes it. */
struct pidns {
	uint32_t dev; /* as the kernel numbers it, not as stat(2) does */
	uint32_t ino;
};

/**
 * pidns_here() - is this process in another pid namespace than the initial one?
 * @out: which, unless NULL
 * False when nothing tells: before 6.11 without a /proc, or with that of a namespace in which this process is not.
 */
bool pidns_here(struct pidns *out);

/**
 * pidns_proc_is_foreign() - is /proc that of another pid namespace than this process is in? Then it lists processes
 * under numbers that mean others here. False where nothing is mounted there.
 */
bool pidns_proc_is_foreign(void);

#endif
