// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Count samples by task and stacks, in the kernel.
 *
 * count_sample() runs on every kernel since 4.9: only helpers and map types of that version, no loops, no global data,
 * no calls, no kernel BTF. Code that needs more is in programs of its own, and user space loads one of them. The maps
 * are described in layout.h.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/layout.h"
#include "bpf/shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct bpf_stats);
} stats SEC(".maps");

struct counts_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_count_key);
	__type(value, __u64);
} counts_0 SEC(".maps"), counts_1 SEC(".maps");

/*
 * Proven user stacks: unwinding would give the addresses of the kernel's walk, or these and the leaf's caller (see
 * struct bpf_proved_key). User space has unwound a sample with each.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_proved_key);
	__type(value, __s32);
} proved SEC(".maps");

struct stack_map stack_map_0 SEC(".maps"), stack_map_1 SEC(".maps");
struct stack_map short_map_0 SEC(".maps"), short_map_1 SEC(".maps");

/*
 * Two CPUs may come with the same new key at once: then one of them inserts it.
 * @user_stack: the number of the callchain; that in @key may stand for the callchain with its leaf's caller
 */
static __always_inline __u32 count(struct bpf_perf_event_data *ctx, const struct bpf_config *c, struct bpf_stats *b,
				   struct counts_map *counts, struct stack_maps maps, const struct bpf_count_key *key,
				   __s32 user_stack)
{
	__u64 one = 1, *n = bpf_map_lookup_elem(counts, key);

	if (!n) {
		if (!has_stacks(ctx, c, maps, key->kernel_stack, user_stack)) {
			b->spilled.stack++;
			return BPF_SPILLED;
		}
		if (!bpf_map_update_elem(counts, key, &one, BPF_NOEXIST)) {
			b->counted++;
			return BPF_COUNTED;
		}
		n = bpf_map_lookup_elem(counts, key);
	}
	if (!n) {
		b->spilled.count++;
		return BPF_SPILLED;
	}
	__sync_fetch_and_add(n, 1);
	b->counted++;
	return BPF_COUNTED;
}

/* True if the sample interrupted kernel code: kernel addresses are negative. */
static __always_inline int is_of_kernel(struct bpf_perf_event_data *ctx)
{
	return (__s64)PT_REGS_SP(&ctx->regs) < 0;
}

/*
 * Read the word at the user's stack pointer; 0: not known. If the kernel is locked down, user space removes the call.
 */
static __always_inline __u64 top_of_stack(struct bpf_perf_event_data *ctx)
{
	__u64 top = 0;

	if (!is_of_kernel(ctx))
		bpf_probe_read(&top, sizeof(top), (void *)PT_REGS_SP(&ctx->regs));
	return top;
}

/*
 * Find the user_stack with which to count a sample with the stack of @proof. A leaf without a frame hides its caller
 * from the callchain, but its return address is on top of the stack. Return: NULL: the stack is not proven.
 */
static __always_inline const __s32 *find_proof(struct bpf_perf_event_data *ctx, struct bpf_proved_key *proof)
{
	const __s32 *stack = bpf_map_lookup_elem(&proved, proof);

	if (stack)
		return stack;
	proof->top = top_of_stack(ctx);
	return proof->top ? bpf_map_lookup_elem(&proved, proof) : NULL;
}

/*
 * True if the sample's process has proven stacks, and the sample may use them.
 * @proof: with BPF_NO_STACK
 */
static __always_inline int may_be_proved(struct bpf_perf_event_data *ctx, const struct bpf_config *c,
					 const struct bpf_proved_key *proof)
{
	return c->unwind == BPF_UNWIND_UNPROVED && !(c->proves_user && is_of_kernel(ctx)) &&
	       bpf_map_lookup_elem(&proved, proof);
}

/*
 * Inlined once for each set: the verifier must know the map of each call when the program is loaded.
 * @note: out: if the user stack is stored, but not proven, the stack and its top
 * @outside: the task is outside our PID namespace. Take no user stack: user space cannot read its mappings
 */
static __always_inline __u32 count_in(struct bpf_perf_event_data *ctx, const struct bpf_config *c, struct bpf_stats *b,
				      struct bpf_sample_note *note, int outside, struct counts_map *counts,
				      struct stack_maps maps)
{
	struct bpf_proved_key proof = { .pid = note->who.pid, .user_stack = BPF_NO_STACK };
	int proves = !outside && may_be_proved(ctx, c, &proof);
	__s32 user_stack = BPF_NO_STACK, counted_as;
	struct bpf_count_key key;
	const __s32 *found;
	__u32 verdict;

	if (c->unwind && !proves && !outside && has_user_part(ctx)) {
		b->spilled.unwind++;
		return BPF_SPILLED;
	}
	if (!outside && !c->no_user)
		user_stack = stack_id(ctx, c, maps, BPF_F_USER_STACK);
	counted_as = user_stack;
	proves = proves && user_stack >= 0;
	if (proves) {
		proof.set = note->who.set;
		proof.user_stack = user_stack;
		found = find_proof(ctx, &proof);
		if (!found) {
			if (is_stored(ctx, c, maps, BPF_F_USER_STACK, user_stack)) {
				note->user_stack = user_stack;
				note->top = proof.top;
			}
			b->spilled.unwind++;
			return BPF_SPILLED;
		}
		counted_as = *found;
	}
	if (!make_key(ctx, c, &note->who, counted_as, maps, &key)) {
		b->spilled.stack++;
		return BPF_SPILLED;
	}
	verdict = count(ctx, c, b, counts, maps, &key, user_stack);
	b->proved += verdict == BPF_COUNTED && proves;
	return verdict;
}

/* All tasks outside our PID namespace get the same ids, -1, and the same name. */
static __always_inline int is_outside(const struct bpf_config *c, struct bpf_stats *b, struct bpf_note *note)
{
	if (note->tid != BPF_OUTSIDE)
		return 0;
	b->outside++;
	__builtin_memcpy(note->comm, c->outside_comm, LAYOUT_COMM_LEN);
	return 1;
}

/* Return: 1: the kernel writes the sample to the ring. */
static __always_inline int handle_sample(struct bpf_perf_event_data *ctx, int groups)
{
	struct bpf_sample_note note = { .user_stack = BPF_NO_STACK };
	struct stack_maps maps_0 = { &short_map_0, &stack_map_0 }, maps_1 = { &short_map_1, &stack_map_1 };
	struct bpf_note *who = &note.who;
	__u64 task = bpf_get_current_pid_tgid();
	__u32 zero = 0, set;
	const struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	struct bpf_flight *f = bpf_map_lookup_elem(&flight, &zero);
	struct bpf_stats *b;
	int numbered = 1, outside = 0;

	if (!c || !f)
		return 1;
	__sync_fetch_and_add(&f->entered, 1); /* a full barrier, too: ARCH_ADD_IS_BARRIER */
	note.generation = c->generation;
	who->set = set = *(volatile const __u32 *)&c->set;
	b = bpf_map_lookup_elem(&stats, &set);
	if (!b) {
		f->left++;
		return 0;
	}
	b->taken++;

	who->pid = task >> 32;
	who->tid = (__u32)task;
	bpf_get_current_comm(who->comm, sizeof(who->comm));
	b->idle += !who->tid;
	if (groups & BY_PIDNS && who->tid) {
		numbered = !number(c, who);
		outside = numbered && is_outside(c, b, who);
	}
	who->verdict = numbered ? judge(c, who, groups) : BPF_UNNUMBERED;
	if (!numbered) {
		who->pid = who->tid = 0;
		b->spilled.number++;
	} else if (who->verdict == BPF_UNKNOWN) {
		b->spilled.tree++;
	} else if (who->verdict != BPF_COUNTED) {
		b->filtered++;
	} else if (set == 0) {
		who->verdict = count_in(ctx, c, b, &note, outside, &counts_0, maps_0);
	} else {
		who->verdict = count_in(ctx, c, b, &note, outside, &counts_1, maps_1);
	}

	if (who->verdict == BPF_COUNTED || who->verdict == BPF_SPILLED)
		note_first(ctx, who->pid);
	if (who->verdict >= BPF_SPILLED || c->pass_all) {
		bpf_perf_event_output(ctx, &notes, BPF_F_CURRENT_CPU, &note, sizeof(note));
		f->left++;
		return 1;
	}
	f->left++;
	return 0;
}

#define PROGRAM(name, groups)                                                                                          \
	SEC("perf_event")                                                                                              \
	int name(struct bpf_perf_event_data *ctx)                                                                      \
	{                                                                                                              \
		return handle_sample(ctx, groups);                                                                     \
	}

PROGRAMS(count_sample)

/* Its only entry is one of the programs above. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

SEC("perf_event")
int dispatch(struct bpf_perf_event_data *ctx)
{
	bpf_tail_call(ctx, &programs, 0);
	/*
	 * Not reached: the tail call does not return. But Linux 6.1 and 6.2 walk the callchain before a program runs
	 * only if the attached program calls this helper (bpf_overflow_handler(), prog->call_get_stack), and the helper
	 * always expects a walked callchain.
	 */
	bpf_get_stackid(ctx, &probe, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
