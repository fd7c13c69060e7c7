// SPDX-License-Identifier: Apache-2.0
/*
 * Imitate the user registers and stacks that old kernels report for a sample in the kernel. Linked into the commands
 * around decode_record() and pack_record(). The release of uname(2) selects the kernel. From
 * arch/x86/kernel/perf_regs.c and the entry code (see arch_entry_stale()):
 *
 *   before 3.19   in a system call, the stack pointer of an earlier entry: here that of the thread's last sample
 *                 outside the kernel. The stack copy begins there; its part below the true stack pointer, if any, has
 *                 the bytes of that sample. RHEL 7 has the right rbx, rbp and r12-r15. Other kernels have the return
 *                 address of the entry code's call in rbx, and the values of the earlier entry in rbp and r12-r15.
 *   before 4.19   all ones in rbx, rbp and r12-r15
 *   before 5.11   all ones in rbx and r12-r15
 *
 * Callchains are changed from 3.19 to 4.18 only; other kernels keep those that this kernel has walked by the right rbp.
 * Up to 4.8, the walk in a system call begins at the rbp of the thread's last sample outside the kernel. From 4.9 on,
 * the outermost frame of a thread with an odd id has an address of code instead of its caller's rbp, as with glibc up
 * to 2.33, and the walk goes on from that address.
 */
#include "backend-perfring/decode.h"
#include "backend-perfring/pack.h"
#include "core/base/err.h"

#include <asm/perf_regs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#define MAX_THREADS 1024
#define COPY_MAX    (64u << 10)

int __real_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);
int __wrap_decode_record(const struct perf_event_attr *attr, const void *bytes, size_t size, struct record *out);
size_t __real_pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
			  size_t size, void *to);
size_t __wrap_pack_record(const struct perf_event_attr *attr, const struct stack_roots *roots, const void *bytes,
			  size_t size, void *to);

static const unsigned int saved[] = { PERF_REG_X86_BP,  PERF_REG_X86_BX,  PERF_REG_X86_R12,
				      PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15 };

/* The last states of threads outside the kernel. Threads with equal tid modulo MAX_THREADS share an entry. */
static struct left {
	pid_t tid;
	uint64_t regs[ARRAY_SIZE(saved)], sp;
	size_t size; /* of @copy, which has the beginning of its stack */
	unsigned char *copy;
} left[MAX_THREADS];

static struct utsname *this_kernel(void)
{
	static struct utsname u;

	if (!*u.release)
		uname(&u);
	return &u;
}

static int version(void)
{
	static long known;
	char *end;

	if (!known) {
		known = 1000 * strtol(this_kernel()->release, &end, 10);
		known += *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	}
	return (int)known;
}

/* True for the entry code of system calls, by the symbols of this kernel. */
static bool is_entry(uint64_t addr)
{
	static uint64_t start, end;
	char line[512], *name;
	uint64_t at;
	FILE *f;

	if (!start) {
		f = fopen("/proc/kallsyms", "re");
		while (f && fgets(line, sizeof(line), f)) {
			at = strtoull(line, &name, 16);
			if (!strcmp(name, " t system_call_fastpath\n") ||
			    !strcmp(name, " t entry_SYSCALL_64_fastpath\n") ||
			    !strcmp(name, " T system_call_fastpath\n") ||
			    !strcmp(name, " T entry_SYSCALL_64_fastpath\n"))
				start = at;
			else if (start && at > start && (!end || at < end))
				end = at;
		}
		if (f)
			fclose(f);
		start = start ? start : 1;
	}
	return addr > start && addr <= end;
}

/* True if a task was sampled in the kernel inside a system call. *@ret: out: return address of its entry code's call */
static bool in_system_call(const struct record *r, uint64_t *ret)
{
	uint64_t i;

	for (i = 1; i < r->sample.nr && r->sample.ips[i] != PERF_CONTEXT_USER; i++)
		*ret = r->sample.ips[i];
	return i > 1 && is_entry(*ret);
}

static uint64_t *reg_of(const struct record *r, unsigned int reg)
{
	return (uint64_t *)(uintptr_t)record_reg(r, reg);
}

static struct left *left_by(pid_t tid)
{
	return &left[(unsigned int)tid % MAX_THREADS];
}

static void remember(const struct record *r)
{
	const uint64_t *sp = reg_of(r, PERF_REG_X86_SP);
	struct left *l = left_by(r->tid);
	size_t i;

	l->tid = r->tid;
	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		const uint64_t *reg = reg_of(r, saved[i]);

		l->regs[i] = reg ? *reg : 0;
	}
	l->sp = sp ? *sp : 0;
	l->copy = l->copy ? l->copy : malloc(COPY_MAX);
	l->size = l->copy && r->sample.stack ? r->sample.stack_size : 0;
	if (l->size)
		memcpy(l->copy, r->sample.stack, l->size);
}

/* @bytes are those at [@at, @at + @len). Copy the ones in [@from, @from + @size) to @to, which begins at @from. */
static void overlay(unsigned char *to, uint64_t from, size_t size, const void *bytes, uint64_t at, size_t len)
{
	uint64_t low = at > from ? at : from, high = at + len < from + size ? at + len : from + size;

	if (low < high)
		memcpy(to + (low - from), (const unsigned char *)bytes + (low - at), high - low);
}

/* Move the copy, as if it had begun at the earlier stack pointer. */
static void move_copy(struct record *r, uint64_t *sp)
{
	static _Thread_local unsigned char moved[COPY_MAX];
	const struct left *l = left_by(r->tid);
	uint64_t from = l->tid == r->tid && l->sp ? l->sp : *sp - 4096;
	size_t size = r->sample.stack_size;

	memset(moved, 0, sizeof(moved));
	if (l->tid == r->tid)
		overlay(moved, from, size, l->copy, l->sp, l->size);
	if (r->sample.stack)
		overlay(moved, from, size, r->sample.stack, *sp, size);
	if (r->sample.stack)
		memcpy((void *)(uintptr_t)r->sample.stack, moved, size);
	/* It ends at the end of the stack. */
	if (r->sample.stack_whole && from > *sp)
		r->sample.stack_size = from - *sp < size ? size - (from - *sp) : 0;
	r->sample.stack_whole &= from >= *sp;
	*sp = from;
}

/* Before 3.19. */
static void write_less(struct record *r)
{
	bool saves = strstr(this_kernel()->release, ".el7");
	uint64_t *sp = reg_of(r, PERF_REG_X86_SP), *reg, ret;
	const struct left *l = left_by(r->tid);
	size_t i;

	if (!sp || !in_system_call(r, &ret))
		return;
	for (i = 0; i < ARRAY_SIZE(saved) && !saves; i++) {
		reg = reg_of(r, saved[i]);
		if (reg)
			*reg = saved[i] == PERF_REG_X86_BX ? ret : l->tid == r->tid ? l->regs[i] : *sp + 64;
	}
	move_copy(r, sp);
}

static uint64_t *user_part(const struct record *r, uint64_t *nr)
{
	uint64_t i;

	for (i = 0; i < r->sample.nr; i++)
		if (r->sample.ips[i] == PERF_CONTEXT_USER) {
			*nr = r->sample.nr - i - 1;
			return (uint64_t *)(uintptr_t)&r->sample.ips[i + 1];
		}
	*nr = 0;
	return NULL;
}

/* Read the frame at @addr, like perf_callchain_user(). */
static bool read_frame(const struct record *r, uint64_t sp, uint64_t addr, uint64_t frame[2])
{
	const struct iovec to = { frame, 16 };
	struct iovec from = { (void *)addr, 16 };

	if (addr >= sp && addr - sp + 16 <= r->sample.stack_size && r->sample.stack) {
		memcpy(frame, (const unsigned char *)r->sample.stack + (addr - sp), 16);
		return true;
	}
	return process_vm_readv(r->pid, &to, 1, &from, 1, 0) == 16;
}

/* Walk the callchain from @fp like the kernel, after @nr user addresses of @chain. Return: how many there are. */
static uint64_t walk(const struct record *r, uint64_t sp, uint64_t fp, uint64_t *chain, uint64_t nr, uint64_t max)
{
	uint64_t frame[2];

	for (; nr < max && read_frame(r, sp, fp, frame); fp = frame[0])
		chain[nr++] = frame[1];
	return nr;
}

/* Move the callchain to memory with room for 128 addresses more. *@user: its user part. NULL: none, or too long. */
static uint64_t *new_chain(struct record *r, uint64_t **user)
{
	/* Used in turn. On a slow host, more than 4,000 records may wait for earlier ones of other rings. */
	static uint64_t chains[1 << 16][256];
	static unsigned int next;
	uint64_t nr, *old = user_part(r, &nr), head = r->sample.nr - nr, *chain = chains[next % ARRAY_SIZE(chains)];

	if (!old || r->sample.nr + 128 > ARRAY_SIZE(chains[0]))
		return NULL;
	next++;
	memcpy(chain, r->sample.ips, 8 * r->sample.nr);
	r->sample.ips = chain;
	*user = chain + head;
	return chain;
}

static void walk_by_stale(struct record *r)
{
	const struct left *l = left_by(r->tid);
	uint64_t *sp = reg_of(r, PERF_REG_X86_SP), *user, ret, nr;

	if (!sp || !in_system_call(r, &ret) || !new_chain(r, &user))
		return;
	nr = walk(r, *sp, l->tid == r->tid ? l->regs[0] : *sp + 64, user, 1, 100);
	r->sample.nr = (uint64_t)(user - r->sample.ips) + nr;
}

/* Put the address of the code that the thread is in into the outermost frame, as the saved rbp, and walk on from it. */
static void leave_by_text(struct record *r)
{
	uint64_t *sp = reg_of(r, PERF_REG_X86_SP), *bp = reg_of(r, PERF_REG_X86_BP), *user, fp, frame[2], nr, outer = 0;

	if (!sp || !bp || r->tid % 2 == 0 || !new_chain(r, &user))
		return;
	nr = r->sample.nr - (uint64_t)(user - r->sample.ips);
	for (fp = *bp;
	     fp > outer && fp >= *sp && fp - *sp + 16 <= r->sample.stack_size && read_frame(r, *sp, fp, frame);
	     fp = frame[0])
		outer = fp;
	if (!outer || nr < 2 || fp > 4096)
		return;
	*(uint64_t *)((uintptr_t)r->sample.stack + (outer - *sp)) = user[0];
	r->sample.nr = (uint64_t)(user - r->sample.ips) + walk(r, *sp, user[0], user, nr, nr + 2);
}

static void withhold(const struct record *r)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(saved); i++) {
		uint64_t *reg = reg_of(r, saved[i]);

		if (reg && (saved[i] != PERF_REG_X86_BP || version() < 4019))
			*reg = UINT64_MAX;
	}
}

/* True in pack_record(): it decodes records in the ring, which is read-only. Its copies are changed later. */
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
	if (!out->sample.nr || out->sample.ips[0] != PERF_CONTEXT_KERNEL)
		remember(out);
	else if (version() < 3019)
		write_less(out);
	else {
		if (version() < 4009)
			walk_by_stale(out);
		else if (version() < 4019)
			leave_by_text(out);
		withhold(out);
	}
	return rc;
}
