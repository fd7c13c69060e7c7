// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/unwinding.h"

#include "backend-perfring/kernel_code.h"
#include "backend-perfring/made_rules.h"
#include "backend-perfring/stack_roots.h"
#include "backend-perfring/unwinders.h"
#include "core/arch/arch.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/base/saturate.h"
#include "core/host/kernel.h"
#include "core/sources/source.h"
#include "core/tasks/proc.h"
#include "unwind/frame_chain.h"
#include "unwind/return_probes.h"
#include "unwind/rule_files.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READS_AT_ONCE 16
#define LOOK_MAX      (1u << 20)   /* bytes of a list of mappings that are searched for a stack */
#define LINE_BYTES    73           /* of a line of that list, without the path */
#define STACK_REACH   (64UL << 20) /* above the stack pointer: an address within this may be of the stack */

_Static_assert(FRAME_EXACT == UNWIND_EXACT, "addresses are marked alike");
_Static_assert(UNWOUND_ROOT == (int)UNWIND_ROOT && UNWOUND_TRUNCATED == (int)UNWIND_TRUNCATED &&
		       UNWOUND_BAD == (int)UNWIND_BAD,
	       "the ends are numbered alike");

/* A stack that is larger than its copy. */
struct stack_range {
	pid_t pid;
	uint64_t sp, start, end;
	size_t looked; /* bytes of the list of mappings that were searched */
};

struct unwinding {
	const struct source_env *env;
	struct rule_files *files;
	struct kernel_code *kernel_code; /* NULL: it is not needed */
	unsigned int may_be_stale;       /* ARCH_STALE_* that are possible with this kernel */
	bool chain_right;                /* callchains begin at the right frame pointer; false: unknown or unneeded */
	struct unwind_mappings mappings; /* of the current sample */
	struct unwind_memory memory;     /* its memory */
	struct unwind_files rules;       /* and the unwind rules for its code */
	struct unwinders *unwinders;
	uint64_t ips[UNWIND_MAX_FRAMES];

	/* Of the current sample. */
	const struct record *record;
	struct stats *stats;
	struct unwind_copy copy;
	bool beyond; /* the walk tried to read above the end of the copy, where the stack may go on */
	pid_t pid;
	struct mapping mapping; /* the last one that was found */
	uint64_t function;      /* the function whose frame pointer is wanted, see unwind_function(); 0: not known */

	struct stack_range ranges[64]; /* by pid */
	uint64_t credit_ns, credit_at; /* see may_read() */

	/* Processes with uretprobes, by pid, and the address in [uprobes] to which probed functions return. */
	struct probed_process {
		pid_t pid;
		uint64_t code;
	} probed[64];
	void *restored; /* STACK_DUMP_MAX bytes: a copy of a stack with the original return addresses; NULL: none yet */
	struct stack_roots roots;
};

static int read_copy(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct unwinding *u = ctx;
	int rc = unwind_copy_read(&u->copy, addr, to, len);

	u->beyond |= rc && addr - u->copy.at <= STACK_REACH;
	return rc;
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	struct unwinding *u = ctx;

	if (addr >= u->mapping.start && addr < u->mapping.end)
		return &u->mapping;
	return tasks_mapped(u->env->sink->tasks, u->pid, addr, &u->mapping) == 1 ? &u->mapping : NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	struct unwinding *u = ctx;
	int rc;
	struct rules *rules = rule_files_find(u->files, u->pid, m, &rc);

	if (descriptors_ran_out(rc))
		fault(rc);
	/* A compiler at run time may make code in any mapping without a usable path, also of memfd_create(2). */
	if (!rules && u->env->jitdumps && !mapped_file_has_path(m->file))
		rules = made_rules_of(u->env->jitdumps, u->pid);
	return rules;
}

struct unwinding *unwinding_new(const struct source_env *env)
{
	struct unwinding *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->env = env;
	u->chain_right = env->source->live && kernel_withholds_registers();
	if (u->chain_right && kernel_has_fast_path())
		u->may_be_stale = ARCH_STALE_SAVED | (kernel_registers_may_be_stale() ? ARCH_STALE_SP : 0);
	u->mappings = (struct unwind_mappings){ u, find_mapping };
	u->memory = (struct unwind_memory){ u, read_copy };
	u->rules = (struct unwind_files){ u, find_rules };
	u->files = rule_files_new(env->files, env->sink->tasks, NSEC_PER_SEC);
	if (u->may_be_stale)
		u->kernel_code = kernel_code_new(env->request->host);
	u->unwinders = unwinders_new(env->request->unwind, &env->sink->unwinders);
	if (u->files && u->unwinders && (u->kernel_code || !u->may_be_stale))
		return u;
	unwinding_free(u);
	return NULL;
}

void unwinding_free(struct unwinding *u)
{
	if (!u)
		return;
	unwinders_free(u->unwinders);
	rule_files_free(u->files);
	kernel_code_free(u->kernel_code);
	free(u->restored);
	free(u);
}

void unwinding_round(struct unwinding *u)
{
	rule_files_round(u->files);
}

const struct stack_roots *unwinding_roots(const struct unwinding *u)
{
	return &u->roots;
}

static void take_regs(const struct record *r, struct unwind_regs *out)
{
	unsigned int i;

	*out = (struct unwind_regs){ 0 };
	for (i = 0; i < ARCH_NR_REGS; i++) {
		const uint64_t *reg = record_reg(r, arch_perf_regs[i]);

		if (!reg)
			continue;
		out->r[i] = *reg;
		/* The kernel reports -1 for a register that it does not know, see are_withheld(). */
		out->have |= (arch_regs)(out->r[i] != UINT64_MAX) << i;
	}
}

/* True if the kernel withholds the registers that functions save: it may do so for a task that is in the kernel. */
static bool are_withheld(const struct unwind_regs *regs, uint64_t mask)
{
	unsigned int i;

	for (i = 0; i < ARCH_NR_REGS; i++)
		if (ARCH_PERF_SAVED >> arch_perf_regs[i] & 1 && regs->have & ARCH_BIT(i))
			return false;
	return (mask & ARCH_PERF_SAVED) == ARCH_PERF_SAVED;
}

/*
 * True if a register that the entry code did not save has the value @ret: a call in the entry code has pushed @ret
 * where the saved register would be.
 */
static bool is_pushed(const struct unwind_regs *regs, uint64_t ret)
{
	unsigned int i;

	for (i = 0; i < ARCH_NR_REGS; i++)
		if (ARCH_PERF_PUSHED >> arch_perf_regs[i] & 1 && regs->have & ARCH_BIT(i) && regs->r[i] == ret)
			return true;
	return false;
}

/*
 * Return ARCH_STALE_*: the registers of a sample that are of an earlier entry into the kernel than that of @kernel. If
 * the entry is not known: all that may be stale with this kernel.
 */
static unsigned int what_is_stale(const struct unwinding *u, const struct record *r, const struct stack *kernel)
{
	struct unwind_regs regs;
	int stale;

	if (!u->kernel_code || (!kernel->nr && r->mode != PERF_RECORD_MISC_KERNEL))
		return 0;
	if (!kernel->nr || kernel->nr >= u->env->request->asked)
		return u->may_be_stale;
	stale = kernel_code_stale(u->kernel_code, kernel);
	if (stale < 0)
		return u->may_be_stale;
	/* The entry code of RHEL 7 saves the registers that functions save; mainline's does not. */
	take_regs(r, &regs);
	if (stale == (ARCH_STALE_SAVED | ARCH_STALE_SP) && kernel->nr > 1 && !are_withheld(&regs, r->sample.mask) &&
	    !is_pushed(&regs, kernel->frames[kernel->nr - 1]))
		return ARCH_STALE_SP;
	return (unsigned int)stale & (u->may_be_stale | ARCH_STALE_IP);
}

static void forget_saved(struct unwind_regs *regs)
{
	const uint64_t saved = ARCH_PERF_SAVED | 1ULL << arch_perf_regs[ARCH_FP];
	unsigned int i;

	for (i = 0; i < ARCH_NR_REGS; i++)
		if (saved >> arch_perf_regs[i] & 1)
			regs->have &= ~ARCH_BIT(i);
}

static int find_stack(void *ctx, const struct proc_map *m)
{
	struct stack_range *range = ctx;

	range->looked += LINE_BYTES + strlen(m->path);
	if (range->looked > LOOK_MAX)
		return 1;
	if (range->sp < m->start || range->sp >= m->end)
		return 0;
	range->start = m->start;
	range->end = m->end;
	return 1;
}

/* Processes may have many stacks and many mappings: read a few lists at once, then one a second. */
static bool may_read(struct unwinding *u)
{
	uint64_t now = now_ns();

	u->credit_ns += now - u->credit_at;
	u->credit_at = now;
	if (u->credit_ns > READS_AT_ONCE * NSEC_PER_SEC)
		u->credit_ns = READS_AT_ONCE * NSEC_PER_SEC;
	if (u->credit_ns < NSEC_PER_SEC)
		return false;
	u->credit_ns -= NSEC_PER_SEC;
	return true;
}

/* Raise dump_needed to the size of the stack by /proc. Does nothing for a recording, or if the process has ended. */
static void note_needed(struct unwinding *u)
{
	struct stack_range *range = &u->ranges[(uint32_t)u->pid % ARRAY_SIZE(u->ranges)];
	uint64_t sp = u->copy.at, needed;

	if (u->env->files->recorded || u->env->events->dump_needed > STACK_DUMP_MAX)
		return;
	if (range->pid != u->pid || sp < range->start || sp >= range->end) {
		if (!may_read(u))
			return;
		*range = (struct stack_range){ .pid = u->pid, .sp = sp };
		proc_maps(u->env->request->host, u->pid, find_stack, range);
	}
	needed = sp < range->end ? (range->end - sp + 7) / 8 * 8 : 0;
	if (needed > u->env->events->dump_needed)
		u->env->events->dump_needed = needed;
}

/* As unwind_function(), for the process of the current sample. */
static bool find_function(struct unwinding *u, uint64_t ip, uint64_t *start)
{
	return unwind_function(&u->mappings, &u->rules, ip, start);
}

static bool is_call(void *ctx, uint64_t addr)
{
	struct unwinding *u = ctx;
	uint64_t start;

	if (!find_mapping(u, addr - 1))
		return false;
	return !u->function || !find_function(u, addr - 1, &start) || start != u->function;
}

/* True if a function may return to @addr; also if the code before @addr cannot be read. */
static bool is_return(void *ctx, uint64_t addr)
{
	struct unwinding *u = ctx;
	uint64_t target;

	return unwind_called(&u->mappings, &u->rules, addr, &target);
}

/*
 * Find the frame pointer of the function at @ip by the kernel's own walk of the stack, @user.
 * @exact: @ip is no return address
 */
static enum frame_chain_found learn_fp(struct unwinding *u, const struct stack *user, uint64_t ip, bool exact,
				       struct unwind_regs *regs)
{
	const struct record *r = u->record;
	const struct frame_chain chain = { .ips = user->frames,
					   .nr = user->state == STACK_TAKEN ? user->nr : 0,
					   .sp = u->copy.at,
					   .stack = r->sample.stack,
					   .size = r->sample.stack_size,
					   .whole = r->sample.stack_whole,
					   .ctx = u,
					   .is_call = u->chain_right ? NULL : is_call,
					   .is_return = is_return };
	enum frame_chain_found found;

	if (!find_function(u, ip - !exact, &u->function))
		u->function = 0;
	found = frame_chain_find(&chain, &regs->r[ARCH_FP]);
	if (found == FRAME_CHAIN_FOUND)
		regs->have |= ARCH_BIT(ARCH_FP);
	return found;
}

/* Append the kernel's callers by frame pointer, @user, from the @from-th on. */
static void go_on_by_kernel(struct unwinding *u, const struct stack *user, size_t from, struct unwind_result *result)
{
	size_t i;

	for (i = from; i < user->nr && result->nr < result->cap; i++)
		u->ips[result->nr++] = user->frames[i];
}

/*
 * Append callers from @user, the kernel's walk, beginning with the second address. Call this only if the second address
 * is known to be a caller. Stop before an address that is no return address, and behind a function that does not keep a
 * frame pointer: the kernel's walk continues there, but not with callers.
 */
static void go_on_chained(struct unwinding *u, const struct stack *user, struct unwind_result *result)
{
	struct stack chained = { .frames = user->frames, .nr = 1 };
	size_t room = result->cap - result->nr;
	uint64_t work = 0;

	while (chained.nr < user->nr && chained.nr <= room &&
	       (chained.nr == 1 || is_return(u, user->frames[chained.nr])) &&
	       unwind_keeps_fp(&u->mappings, &u->rules, user->frames[chained.nr++] - 1, &work))
		;
	go_on_by_kernel(u, &chained, 1, result);
}

/* True if the sample has everything that unwinding needs. */
static bool begin(struct unwinding *u, const struct record *r, pid_t pid, struct unwind_regs *regs)
{
	const arch_regs needed = ARCH_BIT(ARCH_IP) | ARCH_BIT(ARCH_SP);

	if (r->sample.abi != PERF_SAMPLE_REGS_ABI_64 || !r->sample.stack || pid <= 0)
		return false;
	take_regs(r, regs);
	u->record = r;
	u->copy = (struct unwind_copy){ .bytes = r->sample.stack,
					.at = regs->r[ARCH_SP],
					.size = r->sample.stack_size,
					.end = r->sample.stack_whole ? 0
								     : add_or_max(regs->r[ARCH_SP], STACK_REACH + 1) };
	u->beyond = false;
	u->pid = pid;
	u->mapping = (struct mapping){ 0 };
	return (regs->have & needed) == needed && find_mapping(u, regs->r[ARCH_IP]);
}

/*
 * A dying task has no user memory any more; 5.10 still gives its registers, but neither callchain nor copy. A recording
 * may have no callchains at all.
 */
static bool has_no_stack(const struct unwinding *u, const struct record *r, const struct stack *user)
{
	return user->state == STACK_NONE && !r->sample.stack_size && u->env->source->live;
}

/* The end to count for the walk of a sample. */
static enum unwound end_of(const struct unwind_result *result, bool withheld)
{
	return withheld && result->unknown ? UNWOUND_UNKNOWN : (enum unwound)result->end;
}

static bool is_uprobes(struct unwinding *u, uint64_t addr)
{
	const struct mapping *m = find_mapping(u, addr);

	return m && mapped_file_is_uprobes(m->file);
}

/* Put return addresses that uretprobes replaced into the copy, if @user has them. Return: true if some were put. */
static bool restore_returns(struct unwinding *u, const struct stack *user, const struct unwind_regs *regs,
			    uint64_t code)
{
	const struct return_probes probes = {
		.ips = user->frames,
		.nr = user->state == STACK_TAKEN ? user->nr : 0,
		.fp = regs->r[ARCH_FP],
		.code = code,
		.sp = u->copy.at,
		.stack = u->restored,
		.size = u->copy.size,
	};

	if (!(regs->have & ARCH_BIT(ARCH_FP)) || u->copy.size > STACK_DUMP_MAX || u->copy.bytes == u->restored)
		return false;
	memcpy(u->restored, u->copy.bytes, u->copy.size);
	if (!return_probes_restore(&probes))
		return false;
	u->copy.bytes = u->restored;
	return true;
}

/* True if the walk ended at a uretprobe. Remembers the process then. */
static bool ends_at_probe(struct unwinding *u, const struct unwind_result *result)
{
	uint64_t last = result->nr ? u->ips[result->nr - 1] : 0;

	if (result->nr < 2 || result->end == UNWIND_ROOT || last & UNWIND_EXACT || !is_uprobes(u, last))
		return false;
	u->probed[(uint32_t)u->pid % ARRAY_SIZE(u->probed)] = (struct probed_process){ u->pid, last };
	if (!u->restored)
		u->restored = malloc(STACK_DUMP_MAX);
	return true;
}

/*
 * @user: the kernel's walk. Return: false: the stack ends at a uretprobe, and its return address could not be restored:
 * the kernel did not put it into the callchain, or the function has no frame.
 */
static bool walk(struct unwinding *u, const struct stack *user, const struct unwind_regs *regs,
		 struct unwind_result *result)
{
	const struct unwinders_sample sample = { u->pid, regs, &u->memory, &u->copy, &u->mappings, &u->rules };
	const struct probed_process *probed = &u->probed[(uint32_t)u->pid % ARRAY_SIZE(u->probed)];

	if (probed->pid == u->pid && u->restored)
		restore_returns(u, user, regs, probed->code);
	unwinders_walk(u->unwinders, &sample, result, u->stats);
	if (!ends_at_probe(u, result))
		return true;
	if (!u->restored || !restore_returns(u, user, regs, u->ips[result->nr - 1]))
		return false;
	unwinders_walk(u->unwinders, &sample, result, u->stats);
	return !ends_at_probe(u, result);
}

/*
 * The walk came to a function that needs its frame pointer. The function's code shows how far above the stack pointer
 * its frame is. Believe the return address there if it is behind a call of this function, or behind a call through a
 * PLT or a pointer, which may be of any function.
 */
static bool fp_by_code(struct unwinding *u, const struct unwind_result *result, struct unwind_regs *regs)
{
	uint64_t ip = u->ips[result->nr - 1] & ~UNWIND_EXACT, start, size, target, other, work = 0;
	struct arch_frame frame;
	int known;

	if (result->nr == 1 || u->ips[result->nr - 1] & UNWIND_EXACT || !find_function(u, ip - 1, &start))
		return false;
	known = unwind_frame_size(&u->mappings, &u->rules, start, &size);
	if (!known || read_copy(u, result->sp + size, &frame, sizeof(frame)) ||
	    unwind_called(&u->mappings, &u->rules, frame.ret, &target) <= 0)
		return false;
	/* The frame may be larger than @size: only a call of this function can be believed. */
	if (known == 1 && target != start)
		return false;
	if (target && target != start && find_function(u, target, &other) && other == target)
		return false;
	/* If the caller keeps a frame pointer, frame.fp has to be the caller's frame: aligned, and above this one. */
	if (unwind_keeps_fp(&u->mappings, &u->rules, frame.ret - 1, &work) &&
	    (frame.fp % sizeof(uint64_t) || frame.fp <= result->sp + size))
		return false;
	regs->r[ARCH_FP] = result->sp + size;
	regs->have |= ARCH_BIT(ARCH_FP);
	return true;
}

/*
 * The kernel withholds registers. If the walk comes to a frame that needs the frame pointer, learn it. If that frame is
 * above the copy, append the kernel's callers. @stale: the kernel has used another frame pointer. Return: true if the
 * kernel's callers were appended.
 */
static bool walk_on(struct unwinding *u, const struct stack *user, struct unwind_regs *regs, bool stale,
		    struct unwind_result *result)
{
	uint64_t last;
	bool exact;

	unwind_walk(regs, &u->memory, &u->mappings, &u->rules, result);
	if (!result->by_fp)
		return false;
	if (stale) {
		fp_by_code(u, result, regs);
		return false;
	}
	last = u->ips[result->nr - 1];
	exact = result->nr == 1 || last & UNWIND_EXACT;
	switch (learn_fp(u, user, last & ~UNWIND_EXACT, exact, regs)) {
	case FRAME_CHAIN_NONE:
		fp_by_code(u, result, regs);
		return false;
	case FRAME_CHAIN_BEYOND:
		go_on_chained(u, user, result); /* @user's second address is the last frame's caller */
		return true;
	default:
		return false;
	}
}

/*
 * True if the kernel's walk, @user, begins with the frame of a function. If the frame pointer's register has another
 * use, the second address is hardly ever a return address in a function that keeps a frame pointer.
 */
static bool begins_with_frame(struct unwinding *u, const struct stack *user)
{
	uint64_t target, work = 0;

	return user->state == STACK_TAKEN && user->nr > 1 &&
	       unwind_called(&u->mappings, &u->rules, user->frames[1], &target) > 0 &&
	       unwind_keeps_fp(&u->mappings, &u->rules, user->frames[1] - 1, &work);
}

/*
 * The stack pointer is stale, so the copy may begin anywhere, and may not be of this stack. Only the kernel's walk is
 * left. @saved: that walk began with the right frame pointer.
 */
static enum unwound walk_without_sp(struct unwinding *u, const struct stack *user, const struct unwind_regs *regs,
				    bool saved, struct unwind_result *result)
{
	u->ips[0] = regs->r[ARCH_IP];
	result->nr = 1;
	if (!saved || !begins_with_frame(u, user))
		return UNWOUND_UNKNOWN;
	go_on_chained(u, user, result);
	return UNWOUND_KERNEL;
}

/*
 * Prove the stack if the callchain by frame pointers, @user, equals the stack by the rules, and if the rules
 * show that both are equal for every stack with these addresses (enum unwind_chain). The copy of a deep stack need not
 * reach its root: then check the rest of the callchain by rules.
 */
static enum proof prove(struct unwinding *u, const struct stack *user, struct unwind_result *result)
{
	size_t leaf = result->chain == UNWIND_CHAIN_BEHIND_LEAF, nr = result->nr - leaf;

	if (result->chain == UNWIND_CHAIN_NONE || user->state != STACK_TAKEN || user->truncated || !nr ||
	    nr > user->nr || u->ips[0] != user->frames[0] ||
	    memcmp(u->ips + 1 + leaf, user->frames + 1, (nr - 1) * sizeof(*u->ips)))
		return PROOF_NONE;
	if (result->end == UNWIND_TRUNCATED && result->missing &&
	    unwind_chained(&u->mappings, &u->rules, user->frames + nr, user->nr - nr)) {
		go_on_by_kernel(u, user, nr, result);
		result->end = UNWIND_ROOT;
		result->missing = 0;
	} else if (result->end != UNWIND_ROOT || nr != user->nr) {
		return PROOF_NONE;
	}
	return leaf ? PROOF_LEAF : PROOF_CHAIN;
}

/* If there are more faults than @before, note the last one and return true. */
static bool note_faults(struct unwinding *u, uint64_t before)
{
	struct unwinders_notes *notes = &u->env->sink->unwinders;

	if (faults.nr == before)
		return false;
	notes->nr_faults++;
	notes->fault = faults.last;
	return true;
}

/* Walk the user stack of the current sample. @stale: ARCH_STALE_*; *@proof: set if the stack is proved */
static enum unwound walk_sample(struct unwinding *u, const struct stack *user, struct unwind_regs *regs,
				unsigned int stale, struct unwind_result *result, enum proof *proof)
{
	bool withheld = stale & ARCH_STALE_SAVED || are_withheld(regs, u->record->sample.mask);

	/* The instruction is one that a uprobe has moved, or a return through a uretprobe: the caller is unknown. */
	if (is_uprobes(u, regs->r[ARCH_IP])) {
		u->ips[0] = regs->r[ARCH_IP];
		result->nr = 1;
		return UNWOUND_PROBED;
	}
	if (stale & ARCH_STALE_SAVED)
		forget_saved(regs);
	if (stale & ARCH_STALE_SP)
		return walk_without_sp(u, user, regs, !withheld, result);
	if (withheld && walk_on(u, user, regs, stale, result))
		return UNWOUND_KERNEL;
	if (!walk(u, user, regs, result))
		return UNWOUND_PROBED;
	if (u->env->request->proves && !withheld)
		*proof = prove(u, user, result);
	return end_of(result, withheld);
}

/* Keep the kernel's walk; if it used a stale frame pointer, only its first address. Return: the end to count. */
static enum unwound keep_walked(struct stack *user, unsigned int stale)
{
	if (!(stale & ARCH_STALE_SAVED) || user->nr <= 1)
		return UNWOUND_KERNEL;
	user->nr = 1;
	return UNWOUND_UNKNOWN;
}

enum proof unwinding_stack(struct unwinding *u, const struct record *r, pid_t pid, const struct stack *kernel,
			   struct stack *user, struct stats *stats)
{
	struct unwind_result result = { .ips = u->ips, .cap = ARRAY_SIZE(u->ips) };
	unsigned int stale = what_is_stale(u, r, kernel);
	enum proof proof = PROOF_NONE;
	uint64_t before = faults.nr;
	struct unwind_regs regs;
	enum unwound end;

	/* Not even the instruction pointer is known. */
	if (stale & ARCH_STALE_IP) {
		*user = (struct stack){ .state = STACK_MISSED };
		stats->unwound[UNWOUND_UNKNOWN]++;
		return PROOF_NONE;
	}
	if (has_no_stack(u, r, user) || !begin(u, r, pid, &regs)) {
		stats->unwound[keep_walked(user, stale)]++;
		return PROOF_NONE;
	}
	u->stats = stats;
	end = walk_sample(u, user, &regs, stale, &result, &proof);
	if (note_faults(u, before))
		proof = PROOF_NONE;
	stats->unwound[end]++;
	if (result.missing)
		note_needed(u);
	if (result.root)
		stack_roots_note(&u->roots, r, result.root);
	else if (u->beyond)
		stack_roots_doubt(&u->roots, r);
	*user = (struct stack){ .frames = u->ips,
				.nr = (uint32_t)result.nr,
				.state = STACK_TAKEN,
				.truncated = end == UNWOUND_KERNEL ? user->truncated : end == UNWOUND_TRUNCATED };
	return proof;
}
