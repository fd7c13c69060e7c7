// SPDX-License-Identifier: Apache-2.0
#include "core/host/pidns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PID_INIT_INO 0xEFFFFFFCU /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define MINOR_BITS   20          /* MINORBITS, include/linux/kdev_t.h */

/* Works without /proc, since 6.11; 5 is PIDFD_GET_PID_NAMESPACE, include/uapi/linux/pidfd.h. */
static int stat_own_namespace(struct stat *st)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0), ns = self < 0 ? -1 : ioctl(self, _IO(0xff, 5), 0);
	int rc = ns < 0 ? -1 : fstat(ns, st);

	if (ns >= 0)
		close(ns);
	if (self >= 0)
		close(self);
	return rc;
}

bool pidns_here(struct pidns *out)
{
	struct stat st;

	/* This link exists since 3.8. It leads to the namespace of this process, even if /proc is of another one. */
	if ((stat("/proc/self/ns/pid", &st) && stat_own_namespace(&st)) || st.st_ino == PID_INIT_INO)
		return false;
	if (out)
		*out = (struct pidns){ major(st.st_dev) << MINOR_BITS | minor(st.st_dev), (uint32_t)st.st_ino };
	return true;
}

/*
 * The number of ids after "NSpid:" in a status file (since 4.1): one for each namespace, from that of /proc to the
 * task's own.
 */
static size_t count_levels(FILE *status)
{
	static const char name[] = "NSpid:", blanks[] = " \t\n";
	const char *p;
	char line[1024];
	size_t nr = 0;

	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, name, sizeof(name) - 1))
			continue;
		p = line + sizeof(name) - 1;
		for (p += strspn(p, blanks); *p; p += strspn(p, blanks)) {
			p += strcspn(p, blanks);
			nr++;
		}
		break;
	}
	return nr;
}

/*
 * The target of /proc/self is the id of this process in the namespace of /proc. If that is an outer namespace, the two
 * ids may be equal by chance; then NSpid has more than one id (since 4.1).
 */
bool pidns_proc_is_foreign(void)
{
	char name[32];
	ssize_t len = readlink("/proc/self", name, sizeof(name) - 1);
	bool foreign;
	FILE *f;

	if (len < 0) /* a namespace without this process, or no /proc */
		return !access("/proc/version", F_OK);
	name[len] = 0;
	if (strtol(name, NULL, 10) != getpid())
		return true;
	f = fopen("/proc/self/status", "re");
	if (!f)
		return false;
	foreign = count_levels(f) > 1;
	fclose(f);
	return foreign;
}
