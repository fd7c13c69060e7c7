/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_TRACEFS_H
#define COMPAT_TRACEFS_H

#include "core/base/err.h"
#include "core/host/host.h"

#define TRACEFS_TEXT_MAX 65536

/** struct tracefs_event - the contents of a tracepoint's files; a zero byte ends each text. */
struct tracefs_event {
	int rc; /* private */
	char id[32];
	char format[TRACEFS_TEXT_MAX];
};

/**
 * tracefs_read() - read events/sched/sched_switch/id and .../format.
 *
 * Reads them where tracefs is mounted. Otherwise tries in this order: a tracefs mount on no directory (fsopen(2), 5.2);
 * a mounted debugfs; and a mount in the mount namespace of a child process, which sends no signal when it ends. Its own
 * mounts leave no trace. If @host is a copy of /proc and /sys, it makes no mount, and reads only the copy and the
 * mounts that the copy lists.
 *
 * Return: 0; -errno, described: -ENOENT: this kernel has no such tracepoint; -EACCES, -EPERM: we may neither read it
 * nor mount a file system; -EBADMSG: a file is too long.
 */
int tracefs_read(const struct host *host, struct tracefs_event *out, struct err *err);

#endif
