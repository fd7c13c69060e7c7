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
#include "backend-perfring/pack.h"
#include "core/base/err.h"

#include <asm/perf_regs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define MAX_THREADS 1024

int __real_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);
int __wrap_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);
size_t __real_pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
			  size_t size, void *to);
size_t __wrap_pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
			  size_t size, void *to);

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

static struct left *left_by(pid_t tid)
{
	return &left[(unsigned int)tid % MAX_THREADS];
}

static void remember(const struct record *r)
{
	struct left *l = left_by(r->tid);
	size_t i;

	l->tid = r->tid;
	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		const uint64_t *reg = record_reg(r, saved[i]);

		l->regs[i] = reg ? *reg : 0;
	}
}

static uint64_t stale(const struct record *r, size_t i, uint64_t sp)
{
	const struct left *l = left_by(r->tid);

	return l->tid == r->tid ? l->regs[i] : sp + 64;
}

static void age(const struct record *r)
{
	const uint64_t *sp = record_reg(r, PERF_REG_X86_SP);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		uint64_t *reg = (uint64_t *)(uintptr_t)record_reg(r, saved[i]);

		if (!reg || (saved[i] == PERF_REG_X86_BP && version() >= 4019))
			continue;
		*reg = version() < 3019 ? stale(r, i, sp ? *sp : 0) : UINT64_MAX;
	}
}

/* Records in the ring, which nobody may write to, are decoded to be copied; the copy is decoded once, and is ours. */
static _Thread_local bool copies;

size_t __wrap_pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
			  size_t size, void *to)
{
	copies = true;
	size = __real_pack_record(attr, roots, bytes, size, to);
	copies = false;
	return size;
}

int __wrap_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out)
{
	int rc = __real_decode_record(attr, bytes, size, out);

	if (rc <= 0 || out->type != PERF_RECORD_SAMPLE || out->sample.abi != PERF_SAMPLE_REGS_ABI_64 ||
	    version() >= 5011 || copies)
		return rc;
	if (out->sample.nr && out->sample.ips[0] == PERF_CONTEXT_KERNEL)
		age(out);
	else
		remember(out);
	return rc;
}
