// SPDX-License-Identifier: Apache-2.0
#include "core/host/privileges.h"

#include "core/host/capability.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_NONE    (-1)
#define ALL_USES    (~0u)
#define BIT_OF(cap) (1ULL << (cap))

/* @uses: uses that need @cap, or @older if the kernel does not know @cap or the process does not have it. */
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
	{ PRIVILEGES_COMMAND, CAP_KILL, CAP_NONE },
	{ PRIVILEGES_PRIORITY, CAP_SYS_NICE, CAP_NONE },
};

/* Capabilities of this thread. */
struct caps {
	uint64_t effective, permitted, inheritable;
};

/* libcap is not used, because three system calls are enough: capget(2), capset(2) and prctl(2). */
static int get_caps(struct caps *out)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { 0 }; /* valgrind checks only the first element */

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

/* Before 3.16, root has bits for capabilities that the kernel does not know. */
static bool has_capability(const struct caps *c, int cap)
{
	return cap != CAP_NONE && c->permitted & BIT_OF(cap) && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0;
}

static uint64_t needed(const struct caps *have, unsigned int uses, bool always)
{
	uint64_t keep = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		const struct right *r = &rights[i];

		if (r->uses == ALL_USES ? !always : !(r->uses & uses))
			continue;
		if (has_capability(have, r->cap))
			keep |= BIT_OF(r->cap);
		else if (has_capability(have, r->older))
			keep |= BIT_OF(r->older);
	}
	return keep;
}

/* ---- lent capabilities */

/* The lent capabilities at privileges_begin(), whether effective now or not. */
static uint64_t lent;
static bool used; /* files may have been read with them */

/*
 * AT_SECURE: the exec gave the process more rights than its caller has. It is not set for ambient capabilities, for
 *            example from systemd, because they are the caller's. For root, a security module may have set it for other
 *            reasons.
 */
int privileges_begin(struct err *err)
{
	struct caps have;
	int rc;

	if (!getauxval(AT_SECURE))
		return 0;
	if (getuid() != geteuid() || getgid() != getegid())
		return err_set(err, -EPERM,
			       "the program is set-user-ID or set-group-ID (use file capabilities: see SECURITY in "
			       "profile(8))");
	rc = get_caps(&have);
	if (rc)
		return err_sys(err, rc, "cannot read the capabilities");
	if (!getuid() || !have.permitted)
		return 0;
	lent = have.permitted;
	have.effective = 0;
	/* Data of other users will be in our memory. If fs.suid_dumpable is 0, the kernel has done this at exec. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	rc = set_caps(&have);
	return rc ? err_sys(err, rc, "cannot lower the capabilities") : 0;
}

bool privileges_lent(void)
{
	return lent;
}

/* Set @effective, as far as these are still permitted. Return: the ones before; 0: privileges_lent() is false */
static uint64_t set_effective(uint64_t effective)
{
	struct caps c;
	uint64_t was;

	if (!lent)
		return 0;
	if (get_caps(&c))
		abort();
	was = c.effective;
	c.effective = effective & c.permitted;
	if (set_caps(&c))
		abort(); /* continuing with wrong capabilities would be dangerous */
	return was;
}

void privileges_use(void)
{
	used = lent;
	if (lent)
		clearenv();
	set_effective(lent);
}

uint64_t privileges_as_caller(void)
{
	return set_effective(0);
}

uint64_t privileges_lend(void)
{
	return set_effective(lent);
}

uint64_t privileges_only(enum privileges_use use)
{
	return set_effective(needed(&(struct caps){ .permitted = lent }, use, false));
}

void privileges_back(uint64_t effective)
{
	set_effective(effective);
}

int privileges_return(void)
{
	struct caps c;
	int rc = lent ? get_caps(&c) : 0;

	if (!lent || rc)
		return rc;
	c.effective = c.permitted = 0;
	lent = 0;
	rc = set_caps(&c);
	/* If the process were not dumpable, opening a perf event on it would need a capability. */
	return !rc && !used && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? -errno : rc;
}

/* ---- dropping capabilities */

/*
 * Some distributions' kernels require CAP_SYS_ADMIN for events, where CAP_PERFMON suffices on others. So try to open an
 * event without CAP_SYS_ADMIN.
 */
static bool needs_admin(const struct privileges_need *need, const struct caps *have, uint64_t keep)
{
	struct caps tried = *have;
	int rc;

	if (!(need->uses & PRIVILEGES_EVENTS) || !need->again || !(have->effective & ~keep & BIT_OF(CAP_SYS_ADMIN)))
		return false;
	tried.effective &= keep;
	if (set_caps(&tried))
		return false; /* nothing can be dropped, either */
	rc = need->again(need->ctx);
	set_caps(have);
	return rc == -EACCES || rc == -EPERM;
}

/*
 * Empty the bounding set, which limits an executed program. Without CAP_SETPCAP the set stays, and no_new_privs has to
 * suffice.
 */
static void drop_bounding(const struct caps *have)
{
	int cap;

	if (have->effective & BIT_OF(CAP_SETPCAP))
		for (cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int privileges_drop(const struct privileges_need *need, struct err *err)
{
	unsigned int uses = lent ? need->uses & ~(unsigned int)PRIVILEGES_REPORT : need->uses;
	struct caps have = { 0 };
	uint64_t keep;
	int rc = 0;

	/*
	 * Stay dumpable: only a process with all of our capabilities may trace us anyway, and otherwise root would own
	 * the files of /proc/self, which we read ourselves. With lent capabilities the process is not dumpable from the
	 * beginning.
	 */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = err_sys(err, -errno, "cannot set no_new_privs");
	if (get_caps(&have))
		return err_sys(err, -errno, "cannot read the capabilities");
	if (!have.permitted && !have.inheritable)
		return rc;
	keep = needed(&have, uses, true);
	if (needs_admin(need, &have, keep))
		keep |= BIT_OF(CAP_SYS_ADMIN);
	drop_bounding(&have);
	/* This also clears the ambient set, which is a part of the inheritable one. */
	have = (struct caps){ .effective = have.effective & keep, .permitted = have.permitted & keep };
	if (set_caps(&have))
		rc = err_sys(err, -errno, "cannot give up capabilities");
	return rc;
}

int privileges_none(void)
{
	return set_caps(&(struct caps){ 0 });
}
