// SPDX-License-Identifier: Apache-2.0
/*
 * What old kernels report as the registers of a task that is in the kernel; linked into the commands in the place of
 * decode_record(). Which kernel it is uname(2) says. From arch/x86/kernel/perf_regs.c and arch/x86/entry/entry_64.S:
 *
 *   before 3.19   what an earlier entry has left where system calls do not save rbx, rbp and r12-r15: here what the
 *                 thread's last sample outside the kernel had, or else something that looks like a frame
 *   before 4.19   all ones for these
 *   before 5.11   the same, but for rbp
 *
 * Before 5.4 a callchain has what it had: the kernel itself walks by the right rbp here.
 */
#include "backend-perfring/decode.h"
#include "core/base/err.h"

#include <asm/perf_regs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define MAX_THREADS 1024

int __real_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);
int __wrap_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);

static const unsigned int saved[] = { PERF_REG_X86_BP,  PERF_REG_X86_BX,  PERF_REG_X86_R12,
				      PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15 };

/* Of a thread, by its tid: the newer one takes the place. */
static struct left {
	pid_t tid;
	uint64_t regs[ARRAY_SIZE(saved)];
} left[MAX_THREADS];

static int version(void)
{
	static long known;
	struct utsname u;
	char *end;

	if (!known && !uname(&u)) {
		known = 1000 * strtol(u.release, &end, 10);
		known += *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	}
	return (int)known;
}

static uint64_t *place(uint64_t *regs, uint64_t mask, unsigned int reg)
{
	return mask & 1ULL << reg ? &regs[__builtin_popcountll(mask & ((1ULL << reg) - 1))] : NULL;
}

static struct left *left_by(pid_t tid)
{
	return &left[(unsigned int)tid % MAX_THREADS];
}

static void remember(const struct record *r, uint64_t *regs)
{
	struct left *l = left_by(r->tid);
	size_t i;

	l->tid = r->tid;
	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		const uint64_t *reg = place(regs, r->sample.mask, saved[i]);

		l->regs[i] = reg ? *reg : 0;
	}
}

static uint64_t stale(const struct record *r, size_t i, uint64_t sp)
{
	const struct left *l = left_by(r->tid);

	return l->tid == r->tid ? l->regs[i] : sp + 64;
}

static void age(const struct record *r, uint64_t *regs)
{
	const uint64_t *sp = place(regs, r->sample.mask, PERF_REG_X86_SP);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		uint64_t *reg = place(regs, r->sample.mask, saved[i]);

		if (!reg || (saved[i] == PERF_REG_X86_BP && version() >= 4019))
			continue;
		*reg = version() < 3019 ? stale(r, i, sp ? *sp : 0) : UINT64_MAX;
	}
}

/* A record is decoded once, in memory that is ours. */
int __wrap_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out)
{
	int rc = __real_decode_record(attr, bytes, size, out);
	uint64_t *regs;

	if (rc <= 0 || out->type != PERF_RECORD_SAMPLE || out->sample.abi != PERF_SAMPLE_REGS_ABI_64 ||
	    version() >= 5011)
		return rc;
	regs = (uint64_t *)(uintptr_t)out->sample.regs;
	if (out->sample.nr && out->sample.ips[0] == PERF_CONTEXT_KERNEL)
		age(out, regs);
	else
		remember(out, regs);
	return rc;
}
