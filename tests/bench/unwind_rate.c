// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_rate [FILE]: measure the cost of unwinding alone. Without FILE, unwind a stack of this program with 20 frames
 * repeatedly for a second of CPU time, and print stacks per second. Then let libunwind do the same in a process of its
 * own, for a second that includes the messages between the two processes. With FILE, measure only the cost of the first
 * rule of that file: the time to open it and find the rule, and the memory.
 */
#include "tests/bench/bench.h"

#include "core/base/clock.h"
#include "core/host/host.h"
#include "core/tasks/mapping.h"
#include "core/tasks/proc.h"
#include "unwind/libunwinder.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { FRAMES = 20, MAPPINGS = 64, COPY_BYTES = 16384, SECONDS = 1 };

/* Data about this process. */
struct self {
	struct mapping v[MAPPINGS];
	struct mapped_file files[MAPPINGS];
	struct rules *rules[MAPPINGS];
	size_t nr;
	struct unwind_regs regs;
	char stack[COPY_BYTES];
};

static struct self self;

static struct rules *open_rules(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct rules *r = NULL;
	struct elf_file file;

	rc = fd < 0 ? -errno : elf_file_open(&file, fd);
	if (rc) {
		fprintf(stderr, "unwind_rate: '%s': %s\n", path, strerror(-rc));
		exit(1);
	}
	close(fd);
	rules_open(&file, &ELF_FILE_NONE, &r);
	return r;
}

static int add_mapping(void *ctx, const struct proc_map *m)
{
	struct self *s = ctx;

	if (!m->exec || m->path[0] != '/' || s->nr == MAPPINGS)
		return 0;
	s->files[s->nr].path = strdup(m->path);
	s->v[s->nr] = (struct mapping){ .start = m->start, .end = m->end, .pgoff = m->pgoff };
	s->v[s->nr].file = &s->files[s->nr];
	s->rules[s->nr] = open_rules(m->path);
	s->nr++;
	return 0;
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	const struct self *s = ctx;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (addr >= s->v[i].start && addr < s->v[i].end)
			return &s->v[i];
	return NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	const struct self *s = ctx;

	return s->rules[m - s->v];
}

static int read_copy(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct self *s = ctx;
	uint64_t at = addr - s->regs.r[ARCH_SP];

	if (at > COPY_BYTES || len > COPY_BYTES - at)
		return -EFAULT;
	memcpy(to, s->stack + at, len);
	return 0;
}

static void take_regs(const ucontext_t *context, struct unwind_regs *out)
{
	static const int order[ARCH_NR_REGS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
						 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
						 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	unsigned int i;

	out->have = (1U << ARCH_NR_REGS) - 1;
	for (i = 0; i < ARCH_NR_REGS; i++)
		out->r[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

/* Store the data of a sample taken here. */
static __attribute__((noinline)) void take_sample(void)
{
	ucontext_t context;

	getcontext(&context);
	take_regs(&context, &self.regs);
	memcpy(self.stack, (const void *)(uintptr_t)self.regs.r[ARCH_SP], COPY_BYTES);
}

static __attribute__((noinline)) int descend(int left)
{
	/* All frames together are larger than the copy. */
	volatile char frame[COPY_BYTES / FRAMES + 1];

	frame[0] = (char)left;
	if (left)
		descend(left - 1);
	else
		take_sample();
	return frame[0];
}

static void measure(void)
{
	const struct unwind_memory memory = { &self, read_copy };
	const struct unwind_mappings mappings = { &self, find_mapping };
	const struct unwind_files files = { &self, find_rules };
	uint64_t ips[FRAMES];
	struct unwind_result result = { .ips = ips, .cap = FRAMES };
	double seconds, from;
	uint64_t stacks = 0;
	int i;

	unwind_walk(&self.regs, &memory, &mappings, &files, &result);
	from = cpu_time();
	do {
		for (i = 0; i < 100; i++)
			unwind_walk(&self.regs, &memory, &mappings, &files, &result);
		stacks += 100;
		seconds = cpu_time() - from;
	} while (seconds < SECONDS);
	printf("frames: %zu\nstacks_per_second: %.0f\n", result.nr, (double)stacks / seconds);
}

/* The two processes work in turn: elapsed time is the cost. */
static void measure_libunwind(void)
{
	const struct unwind_copy copy = { self.stack, self.regs.r[ARCH_SP], COPY_BYTES, 0 };
	const struct unwind_mappings mappings = { &self, find_mapping };
	const struct unwind_files files = { &self, find_rules };
	uint64_t ips[FRAMES], from, ns = 0, stacks = 0;
	struct unwind_result result = { .ips = ips, .cap = FRAMES };
	struct libunwinder *l = libunwinder_new();
	int rc = l ? libunwinder_walk(l, getpid(), &self.regs, &copy, &mappings, &files, &result) : -ENOMEM;

	from = now_ns();
	while (!rc && ns < SECONDS * NSEC_PER_SEC) {
		rc = libunwinder_walk(l, getpid(), &self.regs, &copy, &mappings, &files, &result);
		ns = now_ns() - from;
		stacks++;
	}
	if (rc)
		fprintf(stderr, "unwind_rate: libunwind: %s\n", strerror(-rc));
	else
		printf("libunwind_frames: %zu\nlibunwind_stacks_per_second: %.0f\n", result.nr,
		       (double)stacks * 1e9 / (double)ns);
	libunwinder_free(l);
}

/* Find the first executable MiB that has a rule. */
static void first_use(const char *path)
{
	double from = cpu_time();
	struct rules *r = open_rules(path);
	const struct cfi_row *row;
	uint64_t offset, addr;

	for (offset = 0; r && offset < 1ULL << 30; offset += 1 << 20) {
		if (!rules_address(r, offset, &addr) || rules_find(r, addr, &row) <= 0)
			continue;
		printf("first_rule_ms: %.2f\nfirst_rule_kib: %zu\n", (cpu_time() - from) * 1e3, rules_memory(r) >> 10);
		rules_close(r);
		return;
	}
	fprintf(stderr, "unwind_rate: '%s' has no rules\n", path);
	exit(1);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		first_use(argv[1]);
		return 0;
	}
	proc_maps(&host_here, getpid(), add_mapping, &self);
	descend(FRAMES);
	measure();
	measure_libunwind();
	return 0;
}
