// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Count samples by task and stacks, in the kernel.
 *
 * count_sample() runs on every kernel since 4.9: helpers and map types of that version only, no loops, no global data,
 * no calls, no kernel BTF. What needs more is a program of its own, and user space loads one of them. layout.h says
 * what user space finds where.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

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

struct stack_map stack_map_0 SEC(".maps"), stack_map_1 SEC(".maps");

/* 1: counted, 0: no room. Two CPUs may come with the same new key at once: then one of them inserts it. */
static __always_inline int count(struct counts_map *counts, const struct bpf_count_key *key)
{
	__u64 one = 1, *n = bpf_map_lookup_elem(counts, key);

	if (!n) {
		if (!bpf_map_update_elem(counts, key, &one, BPF_NOEXIST))
			return 1;
		n = bpf_map_lookup_elem(counts, key);
	}
	if (!n)
		return 0;
	__sync_fetch_and_add(n, 1);
	return 1;
}

/*
 * Instructions are made for each set: which map a call is about must be known when the program is loaded.
 * @outside: see make_key()
 */
static __always_inline __u32 count_in(void *ctx, const struct bpf_config *c, struct bpf_stats *b,
				      const struct bpf_note *note, int outside, struct counts_map *counts,
				      struct stack_map *stacks)
{
	struct bpf_count_key key;

	if (c->unwind && !outside && has_user_part(ctx)) {
		b->spilled.unwind++;
		return BPF_SPILLED;
	}
	if (!make_key(ctx, c, note, outside, stacks, &key)) {
		b->spilled.stack++;
		return BPF_SPILLED;
	}
	if (!count(counts, &key)) {
		b->spilled.count++;
		return BPF_SPILLED;
	}
	b->counted++;
	return BPF_COUNTED;
}

/* All tasks outside have one number, -1, and one name. */
static __always_inline int is_outside(const struct bpf_config *c, struct bpf_stats *b, struct bpf_note *note)
{
	if (note->tid != BPF_OUTSIDE)
		return 0;
	b->outside++;
	__builtin_memcpy(note->comm, c->outside_comm, LAYOUT_COMM_LEN);
	return 1;
}

/* Return: 1: the sample is to be written to the ring. */
static __always_inline int take(struct bpf_perf_event_data *ctx, int groups)
{
	struct bpf_note note = {};
	__u64 task = bpf_get_current_pid_tgid();
	__u32 zero = 0, set;
	const struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	struct bpf_flight *f = bpf_map_lookup_elem(&flight, &zero);
	struct bpf_stats *b;
	int numbered = 1, outside = 0;

	if (!c || !f)
		return 1;
	__sync_fetch_and_add(&f->entered, 1); /* a full barrier, too: ARCH_ADD_IS_BARRIER */
	note.set = set = *(volatile const __u32 *)&c->set;
	b = bpf_map_lookup_elem(&stats, &set);
	if (!b) {
		f->left++;
		return 0;
	}
	b->taken++;

	note.pid = task >> 32;
	note.tid = (__u32)task;
	bpf_get_current_comm(note.comm, sizeof(note.comm));
	b->idle += !note.tid;
	if (groups & BY_PIDNS && note.tid) {
		numbered = !number(c, &note);
		outside = numbered && is_outside(c, b, &note);
	}
	note.verdict = numbered ? judge(c, &note, groups) : BPF_UNNUMBERED;
	if (!numbered) {
		note.pid = note.tid = 0;
		b->spilled.number++;
	} else if (note.verdict == BPF_UNKNOWN) {
		b->spilled.tree++;
	} else if (note.verdict != BPF_COUNTED) {
		b->filtered++;
	} else if (set == 0) {
		note.verdict = count_in(ctx, c, b, &note, outside, &counts_0, &stack_map_0);
	} else {
		note.verdict = count_in(ctx, c, b, &note, outside, &counts_1, &stack_map_1);
	}

	if (note.verdict >= BPF_SPILLED || c->pass_all) {
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
		return take(ctx, groups);                                                                              \
	}

PROGRAMS(count_sample)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
