// SPDX-License-Identifier: Apache-2.0
#include "core/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers may be older than the kernel. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define CAP_NONE    (-1)
#define ALL_USES    (~0u)
#define BIT_OF(cap) (1ULL << (cap))

/* @uses: any of them needs @cap, or @older where there is no @cap. */
struct right {
	unsigned int uses;
	int cap, older;
};

static const struct right rights[] = {
	{ ALL_USES, CAP_DAC_READ_SEARCH, CAP_NONE },
	{ ALL_USES, CAP_SYSLOG, CAP_NONE },
	{ PRIVILEGES_PROCESSES, CAP_SYS_PTRACE, CAP_NONE },
	{ PRIVILEGES_PROCESSES, CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN },
	{ PRIVILEGES_EVENTS, CAP_PERFMON, CAP_SYS_ADMIN },
	{ PRIVILEGES_EVENTS, CAP_IPC_LOCK, CAP_NONE },
	{ PRIVILEGES_BPF, CAP_BPF, CAP_SYS_ADMIN },
	{ PRIVILEGES_REPORT, CAP_DAC_OVERRIDE, CAP_NONE },
	{ PRIVILEGES_REPORT, CAP_FOWNER, CAP_NONE },
};

/* Of this thread. */
struct caps {
	uint64_t effective, permitted, inheritable;
};

/* Not with libcap, for three system calls. */
static int get_caps(struct caps *out)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { 0 }; /* valgrind sees only the first written */

	if (syscall(SYS_capget, &head, d))
		return -errno;
	*out = (struct caps){
		.effective = (uint64_t)d[1].effective << 32 | d[0].effective,
		.permitted = (uint64_t)d[1].permitted << 32 | d[0].permitted,
		.inheritable = (uint64_t)d[1].inheritable << 32 | d[0].inheritable,
	};
	return 0;
}

static int set_caps(const struct caps *c)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = {
		{ (uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable },
		{ (uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32), (uint32_t)(c->inheritable >> 32) },
	};

	return syscall(SYS_capset, &head, d) ? -errno : 0;
}

/* Root has a bit for capabilities that the kernel does not know, before 3.16. */
static bool has(const struct caps *c, int cap)
{
	return cap != CAP_NONE && c->permitted & BIT_OF(cap) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0;
}

static uint64_t needed(const struct caps *have, unsigned int uses)
{
	uint64_t keep = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		const struct right *r = &rights[i];

		if (r->uses != ALL_USES && !(r->uses & uses))
			continue;
		if (has(have, r->cap))
			keep |= BIT_OF(r->cap);
		else if (has(have, r->older))
			keep |= BIT_OF(r->older);
	}
	return keep;
}

/* Some distributions' kernels ask for CAP_SYS_ADMIN where others have CAP_PERFMON suffice: so it is tried. */
static bool needs_admin(const struct privileges_need *need, const struct caps *have, uint64_t keep)
{
	struct caps tried = *have;
	int rc;

	if (!(need->uses & PRIVILEGES_EVENTS) || !need->again || !(have->effective & ~keep & BIT_OF(CAP_SYS_ADMIN)))
		return false;
	tried.effective &= keep;
	if (set_caps(&tried))
		return false; /* nothing will be given up, either */
	rc = need->again(need->ctx);
	set_caps(have);
	return rc == -EACCES || rc == -EPERM;
}

/* What a program may have that is executed. Without CAP_SETPCAP the set stays, and no_new_privs has to do. */
static void drop_bounding(const struct caps *have)
{
	int cap;

	if (have->effective & BIT_OF(CAP_SETPCAP))
		for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int privileges_drop(const struct privileges_need *need, struct err *err)
{
	struct caps have = { 0 };
	uint64_t keep;
	int rc = 0;

	/*
	 * Not made undumpable: only who has all of our capabilities may trace us anyway, and the files of /proc/self,
	 * which we read ourselves, would be root's.
	 */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = err_sys(err, -errno, "cannot set no_new_privs");
	if (get_caps(&have))
		return err_sys(err, -errno, "cannot read the capabilities");
	if (!have.permitted && !have.inheritable)
		return rc;
	keep = needed(&have, need->uses);
	if (needs_admin(need, &have, keep))
		keep |= BIT_OF(CAP_SYS_ADMIN);
	drop_bounding(&have);
	/* The ambient set, within the inheritable one, goes with it. */
	have = (struct caps){ .effective = have.effective & keep, .permitted = have.permitted & keep };
	if (set_caps(&have))
		rc = err_sys(err, -errno, "cannot give up capabilities");
	return rc;
}

int privileges_none(void)
{
	return set_caps(&(struct caps){ 0 });
}
