// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Count samples by task and stacks, in the kernel.
 *
 * Runs on every kernel since 4.9: helpers and map types of that version only, no loops, no global data, no calls, no
 * kernel BTF. layout.h says what user space finds where.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"

/* User space sets max_entries, and the value size of stack_map, before the maps are made. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_config);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_books);
} books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_count_key);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} stack_map SEC(".maps");

/* -EFAULT: there is no such stack (a kernel thread's user stack). Any other failure: it could not be stored. */
static __always_inline int stack_id(void *ctx, __u64 flags)
{
	int id = bpf_get_stackid(ctx, &stack_map, flags);

	return id == -EFAULT ? BPF_NO_STACK : id < 0 ? -EEXIST : id;
}

/* 1: counted, 0: no room. Two CPUs may come with the same new key at once: then one of them inserts it. */
static __always_inline int count(const struct bpf_count_key *key)
{
	__u64 one = 1, *n = bpf_map_lookup_elem(&counts, key);

	if (!n) {
		if (!bpf_map_update_elem(&counts, key, &one, BPF_NOEXIST))
			return 1;
		n = bpf_map_lookup_elem(&counts, key);
	}
	if (!n)
		return 0;
	__sync_fetch_and_add(n, 1);
	return 1;
}

SEC("perf_event")
int count_sample(struct bpf_perf_event_data *ctx)
{
	struct bpf_count_key key = {};
	__u64 task = bpf_get_current_pid_tgid();
	__u32 zero = 0, pid = task >> 32, tid = (__u32)task, id;
	struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	struct bpf_books *b = bpf_map_lookup_elem(&books, &zero);

	if (!c || !b)
		return 1;
	b->taken++;

	id = c->by == BPF_BY_TID ? tid : pid;
	if ((!tid && !c->idle) || (c->by != BPF_BY_NONE && !bpf_map_lookup_elem(&targets, &id))) {
		b->filtered++;
		return 0;
	}

	key.pid = pid;
	key.kernel_stack = c->no_kernel ? BPF_NO_STACK : stack_id(ctx, 0);
	key.user_stack = c->no_user ? BPF_NO_STACK : stack_id(ctx, BPF_F_USER_STACK);
	if (key.kernel_stack < BPF_NO_STACK || key.user_stack < BPF_NO_STACK) {
		b->spilled_stack++;
		return 1;
	}
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	if (!count(&key)) {
		b->spilled_count++;
		return 1;
	}
	b->counted++;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
