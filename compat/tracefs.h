/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_TRACEFS_H
#define COMPAT_TRACEFS_H

#include "core/base/err.h"
#include "core/host/host.h"

#define TRACEFS_TEXT_MAX 65536

/** struct tracefs_event - what the files of a tracepoint say, terminated. */
struct tracefs_event {
	int rc; /* private */
	char id[32];
	char format[TRACEFS_TEXT_MAX];
};

/**
 * tracefs_read() - events/sched/sched_switch/id and .../format.
 *
 * From where tracefs is mounted; where it is mounted nowhere, from a mount of our own, of which nothing is left: one
 * without a place (fsopen(2), 5.2), or in the mount namespace of a child, which sends no signal when it ends. Of a
 * @host that is a copy, what the copy has.
 *
 * Return: 0; -errno, described: -ENOENT: this kernel has no such tracepoint; -EACCES, -EPERM: what has it may not be
 * read, nor may a file system be mounted; -EBADMSG: more than fits.
 */
int tracefs_read(const struct host *host, struct tracefs_event *out, struct err *err);

#endif
