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
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"

enum { BY_CGROUP = 1, BY_MNTNS = 2, BY_PIDNS = 4 };

#define MAX_LEVEL 32 /* of pid namespaces in each other: MAX_PID_NS_LEVEL, include/linux/pid_namespace.h */

/* User space sets max_entries, and the value size of the stack maps, before the maps are made. */
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
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

/* In their places maps that somebody else has pinned. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} cgroup_ids SEC(".maps"), mntns_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct bpf_books);
} books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_flight);
} flight SEC(".maps");

/* For each CPU an event whose records go to the ring of the sampling event there. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} notes SEC(".maps");

struct counts_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_count_key);
	__type(value, __u64);
} counts_0 SEC(".maps"), counts_1 SEC(".maps");

struct stack_map {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} stack_map_0 SEC(".maps"), stack_map_1 SEC(".maps");

/* Holds what nobody reads: whether a stack can be put into it tells whether there is one. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 2 * sizeof(__u64));
} probe SEC(".maps");

static __always_inline int has_user_part(void *ctx)
{
	return bpf_get_stackid(ctx, &probe, BPF_F_USER_STACK | BPF_F_REUSE_STACKID) != -EFAULT;
}

/* -EFAULT: there is no such stack (a kernel thread's user stack). Any other failure: it could not be stored. */
static __always_inline int stack_id(void *ctx, struct stack_map *stacks, __u64 flags)
{
	int id = bpf_get_stackid(ctx, stacks, flags);

	return id == -EFAULT ? BPF_NO_STACK : id < 0 ? -EEXIST : id;
}

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

/* In words, as the stack is aligned. */
static __always_inline int has_comm(const struct bpf_config *c, const char *comm)
{
	__u32 name[LAYOUT_COMM_LEN / 4];

	_Static_assert(LAYOUT_COMM_LEN == 16, "all words of it");
	__builtin_memcpy(name, comm, sizeof(name));
	return name[0] == c->comm[0] && name[1] == c->comm[1] && name[2] == c->comm[2] && name[3] == c->comm[3];
}

/*
 * In the one asked for, or below it? Before 4.18 the helper did not work in an interrupt, as a sample is; the other one
 * came with 4.18, so that nothing older loads this.
 */
static __always_inline int is_in_cgroup(const struct bpf_config *c)
{
	__u64 id = bpf_get_current_cgroup_id();

	if (c->by_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return 0;
	return !c->by_cgroup_ids || bpf_map_lookup_elem(&cgroup_ids, &id);
}

/* Of the running task; 0: it has left it, to exit. Where its parts are user space has read in the kernel's BTF. */
static __always_inline __u32 mount_namespace(const struct bpf_config *c)
{
	__u64 at = bpf_get_current_task();
	__u32 inum = 0;

	if (bpf_probe_read(&at, sizeof(at), (void *)(at + c->nsproxy_at)) || !at ||
	    bpf_probe_read(&at, sizeof(at), (void *)(at + c->mnt_ns_at)) || !at ||
	    bpf_probe_read(&inum, sizeof(inum), (void *)(at + c->inum_at)))
		return 0;
	return inum;
}

/* The pointer that is @offset bytes into what is at @at; 0: none, or it cannot be read. */
static __always_inline __u64 pointer(__u64 at, __u32 offset)
{
	__u64 p = 0;

	return bpf_probe_read(&p, sizeof(p), (void *)(at + offset)) ? 0 : p;
}

static __always_inline int is_ours(const struct bpf_config *c, __u64 upid)
{
	__u64 ns = pointer(upid, c->upid_ns_at);
	__u32 inum = 0;

	return ns && !bpf_probe_read(&inum, sizeof(inum), (void *)(ns + c->pidns_inum_at)) && inum == c->pidns;
}

/*
 * Where the running task has its numbers: in its own namespace and in each around that. Ours may be one of these.
 * Return: as number().
 */
static __always_inline int number_by_levels(const struct bpf_config *c, struct bpf_note *note)
{
	__u64 task = bpf_get_current_task(), at = pointer(task, c->thread_pid_at);
	__u64 tgid = pointer(pointer(task, c->signal_at), c->tgid_at);
	__u32 level = 0, i, place = c->numbers_at;

	if (!at || !tgid || bpf_probe_read(&level, sizeof(level), (void *)(at + c->level_at)) || level > MAX_LEVEL)
		return -1;
#pragma clang loop unroll(disable)
	for (i = 0; i <= MAX_LEVEL; i++, place += c->upid_size) {
		if (i > level) {
			note->pid = note->tid = BPF_OUTSIDE;
			return 0;
		}
		if (is_ours(c, at + place))
			return bpf_probe_read(&note->tid, sizeof(note->tid), (void *)(at + place + c->nr_at)) ||
					       bpf_probe_read(&note->pid, sizeof(note->pid),
							      (void *)(tgid + place + c->nr_at)) ||
					       !note->tid || !note->pid
				       ? -1
				       : 0;
	}
	return -1;
}

/*
 * Which numbers the running task has in our pid namespace. The helper knows of the namespace that a task is in, not of
 * those around it. A dying task has none any more.
 * Return: 0: @note has them; -1: not known.
 */
static __always_inline int number(const struct bpf_config *c, struct bpf_note *note)
{
	struct bpf_pidns_info in = {};

	if (bpf_get_ns_current_pid_tgid(c->pidns_dev, c->pidns, &in, sizeof(in)))
		return c->thread_pid_at ? number_by_levels(c, note) : -1;
	note->pid = in.tgid;
	note->tid = in.pid;
	return in.tgid && in.pid ? 0 : -1;
}

/*
 * Is this sample asked for? See core/filter.h.
 * @groups: of BY_CGROUP, BY_MNTNS; known when this is compiled
 * Return: BPF_COUNTED, it is; BPF_UNKNOWN, it may be; BPF_FILTERED or BPF_LEFT.
 */
static __always_inline __u32 judge(const struct bpf_config *c, const struct bpf_note *note, const char *comm,
				   int groups)
{
	__u32 id = c->by == BPF_BY_TID ? note->tid : note->pid, *target, wanted = BPF_COUNTED;
	__u64 mntns;

	if (!note->tid && (!c->idle || groups & BY_MNTNS))
		return BPF_FILTERED;
	if (c->by != BPF_BY_NONE && groups & BY_PIDNS && note->tid == BPF_OUTSIDE)
		return BPF_FILTERED;
	if (c->by != BPF_BY_NONE) {
		target = bpf_map_lookup_elem(&targets, &id);
		if (target ? !*target : c->by != BPF_BY_TREE)
			return BPF_FILTERED;
		if (!target)
			wanted = BPF_UNKNOWN;
	}
	if ((c->by_comm && !has_comm(c, comm)) || (groups & BY_CGROUP && !is_in_cgroup(c)))
		return BPF_FILTERED;
	if (!(groups & BY_MNTNS))
		return wanted;
	if (groups & BY_PIDNS && note->tid == BPF_OUTSIDE)
		return BPF_FILTERED; /* the rings tell nothing of its namespaces */
	mntns = mount_namespace(c);
	if (!mntns)
		return BPF_LEFT;
	if ((c->mntns && mntns != c->mntns) || (c->by_mntns_ids && !bpf_map_lookup_elem(&mntns_ids, &mntns)))
		return BPF_FILTERED;
	return wanted;
}

/*
 * Instructions are made for each set: which map a call is about must be known when the program is loaded.
 * @outside: no user stack is wanted: nobody here can tell what its addresses are
 */
static __always_inline __u32 count_in(void *ctx, const struct bpf_config *c, struct bpf_books *b,
				      struct bpf_count_key *key, int outside, struct counts_map *counts,
				      struct stack_map *stacks)
{
	if (c->unwind && !outside && has_user_part(ctx)) {
		b->spilled_unwind++;
		return BPF_SPILLED;
	}
	key->kernel_stack = c->no_kernel ? BPF_NO_STACK : stack_id(ctx, stacks, 0);
	key->user_stack = outside || c->no_user ? BPF_NO_STACK : stack_id(ctx, stacks, BPF_F_USER_STACK);
	if (key->kernel_stack < BPF_NO_STACK || key->user_stack < BPF_NO_STACK) {
		b->spilled_stack++;
		return BPF_SPILLED;
	}
	if (!count(counts, key)) {
		b->spilled_count++;
		return BPF_SPILLED;
	}
	b->counted++;
	return BPF_COUNTED;
}

/* All tasks outside have one number, -1, and one name. */
static __always_inline int is_outside(const struct bpf_config *c, struct bpf_books *b, const struct bpf_note *note,
				      char *comm)
{
	if (note->tid != BPF_OUTSIDE)
		return 0;
	b->outside++;
	__builtin_memcpy(comm, c->outside_comm, LAYOUT_COMM_LEN);
	return 1;
}

/* Return: 1: the sample is to be written to the ring. */
static __always_inline int take(struct bpf_perf_event_data *ctx, int groups)
{
	struct bpf_count_key key = {};
	struct bpf_note note = {};
	__u64 task = bpf_get_current_pid_tgid();
	__u32 zero = 0, set;
	const struct bpf_config *c = bpf_map_lookup_elem(&config, &zero);
	struct bpf_flight *f = bpf_map_lookup_elem(&flight, &zero);
	struct bpf_books *b;
	int numbered = 1, outside = 0;

	if (!c || !f)
		return 1;
	__sync_fetch_and_add(&f->entered, 1); /* on x86 a full barrier, too */
	note.set = set = *(volatile const __u32 *)&c->set;
	b = bpf_map_lookup_elem(&books, &set);
	if (!b) {
		f->left++;
		return 0;
	}
	b->taken++;

	key.pid = note.pid = task >> 32;
	note.tid = (__u32)task;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	b->idle += !note.tid;
	if (groups & BY_PIDNS && note.tid) {
		numbered = !number(c, &note);
		key.pid = note.pid;
		outside = numbered && is_outside(c, b, &note, key.comm);
	}
	note.verdict = numbered ? judge(c, &note, key.comm, groups) : BPF_UNNUMBERED;
	if (!numbered) {
		note.pid = note.tid = 0;
		b->spilled_number++;
	} else if (note.verdict == BPF_UNKNOWN) {
		b->spilled_tree++;
	} else if (note.verdict != BPF_COUNTED) {
		b->filtered++;
	} else if (set == 0) {
		note.verdict = count_in(ctx, c, b, &key, outside, &counts_0, &stack_map_0);
	} else {
		note.verdict = count_in(ctx, c, b, &key, outside, &counts_1, &stack_map_1);
	}

	if (note.verdict >= BPF_SPILLED || c->pass_all) {
		__builtin_memcpy(note.comm, key.comm, sizeof(note.comm));
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

PROGRAM(count_sample, 0)
PROGRAM(count_sample_in_cgroup, BY_CGROUP)
PROGRAM(count_sample_in_mntns, BY_MNTNS)
PROGRAM(count_sample_in_both, BY_CGROUP | BY_MNTNS)

/* In a pid namespace; since 5.7, which has loops, too. */
PROGRAM(count_sample_here, BY_PIDNS)
PROGRAM(count_sample_here_in_cgroup, BY_PIDNS | BY_CGROUP)
PROGRAM(count_sample_here_in_mntns, BY_PIDNS | BY_MNTNS)
PROGRAM(count_sample_here_in_both, BY_PIDNS | BY_CGROUP | BY_MNTNS)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
