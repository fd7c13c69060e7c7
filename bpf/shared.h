/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parts that profile.bpf.c and offcpu.bpf.c share: maps, the keys of counts, and the filter on tasks.
 *
 * Programs without a group (no flag BY_*) load on kernels since 4.9. So the code in them has only helpers and map types
 * of that version, no loops, no global data, no calls, no kernel BTF. Code for a group may need more; it is only in the
 * programs for that group.
 */
#ifndef BPF_SHARED_H
#define BPF_SHARED_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "bpf/layout.h"

enum { BY_CGROUP = 1, BY_MNTNS = 2, BY_PIDNS = 4 };

/*
 * One program for each combination of groups; user space loads one of them. The programs for a PID namespace need 5.7,
 * which also has loops.
 */
#define PROGRAMS(name)                                                                                                 \
	PROGRAM(name, 0)                                                                                               \
	PROGRAM(name##_in_cgroup, BY_CGROUP)                                                                           \
	PROGRAM(name##_in_mntns, BY_MNTNS)                                                                             \
	PROGRAM(name##_in_both, BY_CGROUP | BY_MNTNS)                                                                  \
	PROGRAM(name##_here, BY_PIDNS)                                                                                 \
	PROGRAM(name##_here_in_cgroup, BY_PIDNS | BY_CGROUP)                                                           \
	PROGRAM(name##_here_in_mntns, BY_PIDNS | BY_MNTNS)                                                             \
	PROGRAM(name##_here_in_both, BY_PIDNS | BY_CGROUP | BY_MNTNS)

#define MAX_LEVEL 32 /* of nested PID namespaces: MAX_PID_NS_LEVEL, include/linux/pid_namespace.h */

/* User space sets max_entries, and the value size of the stack maps, before it creates the maps. */
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

/* User space replaces these by maps that another program has pinned. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} cgroup_ids SEC(".maps"), mntns_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_flight);
} flight SEC(".maps");

/* A bit for each process id that note_first() has reported. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

/* The events of note_first(): one for each CPU, with a ring of its own. Each record wakes user space. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} first SEC(".maps");

/* An event for each CPU. Its records go to the ring of the samples or switches of that CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} notes SEC(".maps");

struct stack_map {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
};

/*
 * Storing a stack here shows whether it exists; user space never reads this map. For samples, the entry has room for a
 * whole callchain: newer kernels (6.1 is one) copy all of it, also behind the end of a smaller entry, until the fix of
 * 2025 ("bpf: Fix stackmap overflow check in __bpf_get_stackid()").
 */
struct stack_map probe SEC(".maps");

/*
 * Report process @pid to user space if this is its first wanted sample or interval. User space then reads the mappings
 * of the process, or the records about them, at once: the process may exit soon. If the report fails, because the ring
 * is full or this CPU came online later, the next sample or interval reports the process. (Before 5.1 the helper
 * returns no error if the ring is full.) Two CPUs may write a word at once: then they report a process twice.
 */
static __always_inline void note_first(void *ctx, __u32 pid)
{
	__u32 word = pid / 64;
	__u64 bit = 1ULL << pid % 64, *bits = bpf_map_lookup_elem(&seen, &word);

	if (bits && !(*bits & bit) && !bpf_perf_event_output(ctx, &first, BPF_F_CURRENT_CPU, &pid, sizeof(pid)))
		*bits |= bit;
}

static __always_inline int has_user_part(void *ctx)
{
	return bpf_get_stackid(ctx, &probe, BPF_F_USER_STACK | BPF_F_REUSE_STACKID) != -EFAULT;
}

/*
 * The maps for stacks: one for short entries (may be missing), and one for all other stacks. A stack that is too long
 * for a short entry must not be put there: see probe.
 */
struct stack_maps {
	struct stack_map *shorts, *stacks;
};

/*
 * Store a stack. The helper returns -EFAULT if there is no such stack (a kernel thread has no user stack), or if the
 * flags skip all of its entries. That shows which stacks are short: if we skip BPF_SHORT_WORDS entries, none is left.
 * Return: as in struct bpf_count_key; below BPF_NO_STACK: it could not be stored.
 */
static __always_inline int stack_id(void *ctx, const struct bpf_config *c, struct stack_maps maps, __u64 flags)
{
	int id = -EEXIST;

	if (maps.shorts && c->has_shorts &&
	    bpf_get_stackid(ctx, &probe, flags | BPF_SHORT_WORDS | BPF_F_REUSE_STACKID) == -EFAULT) {
		id = bpf_get_stackid(ctx, maps.shorts, flags);
		if (id >= 0)
			return id | BPF_SHORT_STACK;
	}
	if (id != -EFAULT)
		id = bpf_get_stackid(ctx, maps.stacks, flags);
	return id == -EFAULT ? BPF_NO_STACK : id < 0 ? -EEXIST : id;
}

/*
 * True if @id is still the number of this stack; it is from stack_id() with the same arguments, or BPF_NO_STACK. Two
 * CPUs that store different stacks at once may both find the same entry empty: then both get its number, but the second
 * stack replaces the first (bpf_get_stackid() of all kernels). Likewise an entry seems empty while user space reads it.
 * So ask before a number is used in a new key. A stack can still be wrong if a CPU stops between the helper's look and
 * its store, or if the key exists already, because both stacks have the same one. (If the stack is not there any more,
 * the helper may store it elsewhere; the next sample finds it.)
 */
static __always_inline int is_stored(void *ctx, const struct bpf_config *c, struct stack_maps maps, __u64 flags,
				     __s32 id)
{
	return id == BPF_NO_STACK || stack_id(ctx, c, maps, flags) == id;
}

/* True if both stacks of a key are stored. */
static __always_inline int has_stacks(void *ctx, const struct bpf_config *c, struct stack_maps maps, __s32 kernel_stack,
				      __s32 user_stack)
{
	return is_stored(ctx, c, maps, c->kernel_skip, kernel_stack) &&
	       is_stored(ctx, c, maps, BPF_F_USER_STACK, user_stack);
}

/*
 * Make the key for a sample or an interval of @who with @user_stack, from stack_id(); the kernel stack is taken now.
 * Return: 1; 0: a stack could not be stored, and @key is unchanged.
 */
static __always_inline int make_key(void *ctx, const struct bpf_config *c, const struct bpf_note *who, __s32 user_stack,
				    struct stack_maps maps, struct bpf_count_key *key)
{
	__s32 kernel_stack = c->no_kernel ? BPF_NO_STACK : stack_id(ctx, c, maps, c->kernel_skip);

	if (kernel_stack < BPF_NO_STACK || user_stack < BPF_NO_STACK)
		return 0;
	key->pid = who->pid;
	key->kernel_stack = kernel_stack;
	key->user_stack = user_stack;
	__builtin_memcpy(key->comm, who->comm, sizeof(key->comm));
	key->unused = 0;
	return 1;
}

/* Compare words: both names are aligned for that. */
static __always_inline int has_comm(const struct bpf_config *c, const char *comm)
{
	__u32 name[LAYOUT_COMM_LEN / 4];

	_Static_assert(LAYOUT_COMM_LEN == 16, "all words of it");
	__builtin_memcpy(name, comm, sizeof(name));
	return name[0] == c->comm[0] && name[1] == c->comm[1] && name[2] == c->comm[2] && name[3] == c->comm[3];
}

/*
 * True if the current task meets those of two conditions that @c asks for: it is in the wanted cgroup or below it
 * (by_cgroup), and its cgroup is in `cgroup_ids` (by_cgroup_ids). Before 4.18 bpf_current_task_under_cgroup() did not
 * work in interrupts, in which samples are taken. bpf_get_current_cgroup_id() came with 4.18, so older kernels cannot
 * load this.
 */
static __always_inline int is_in_cgroup(const struct bpf_config *c)
{
	__u64 id = bpf_get_current_cgroup_id();

	if (c->by_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return 0;
	return !c->by_cgroup_ids || bpf_map_lookup_elem(&cgroup_ids, &id);
}

/* Read the pointer at @at + @offset; 0: it is NULL, or cannot be read. */
static __always_inline __u64 pointer_at(__u64 at, __u32 offset)
{
	__u64 p = 0;

	return bpf_probe_read(&p, sizeof(p), (void *)(at + offset)) ? 0 : p;
}

/* The same for a number. */
static __always_inline __u32 number_at(__u64 at, __u32 offset)
{
	__u32 n = 0;

	return bpf_probe_read(&n, sizeof(n), (void *)(at + offset)) ? 0 : n;
}

/* Inode number of the current task's mount namespace; 0: the task has left it while exiting, or it cannot be read. */
static __always_inline __u32 mount_namespace(const struct bpf_mntns_offsets *at)
{
	__u64 nsproxy = pointer_at(bpf_get_current_task(), at->nsproxy);
	__u64 ns = nsproxy ? pointer_at(nsproxy, at->mnt_ns) : 0;

	return ns ? number_at(ns, at->inum) : 0;
}

static __always_inline int is_ours(const struct bpf_config *c, __u64 upid)
{
	__u64 ns = pointer_at(upid, c->pidns_at.ns);

	return ns && number_at(ns, c->pidns_at.inum) == c->pidns;
}

/*
 * Find the current task's ids in our PID namespace, if that is the task's own namespace or contains it; otherwise the
 * ids are BPF_OUTSIDE. Return: as number().
 */
static __always_inline int number_by_levels(const struct bpf_config *c, struct bpf_note *note)
{
	const struct bpf_pidns_offsets *at = &c->pidns_at;
	__u64 task = bpf_get_current_task(), pid = pointer_at(task, at->thread_pid);
	__u64 tgid = pointer_at(pointer_at(task, at->signal), at->tgid);
	__u32 level = 0, i, place = at->numbers;

	if (!pid || !tgid || bpf_probe_read(&level, sizeof(level), (void *)(pid + at->level)) || level > MAX_LEVEL)
		return -1;
#pragma clang loop unroll(disable)
	for (i = 0; i <= MAX_LEVEL; i++, place += at->upid_size) {
		if (i > level) {
			note->pid = note->tid = BPF_OUTSIDE;
			return 0;
		}
		if (is_ours(c, pid + place)) {
			note->tid = number_at(pid + place, at->nr);
			note->pid = number_at(tgid + place, at->nr);
			return note->tid && note->pid ? 0 : -1;
		}
	}
	return -1;
}

/*
 * Find the current task's ids in our PID namespace. The helper knows only the task's own namespace, not those that
 * contain it. A dying task has no ids any more.
 * Return: 0: the ids are in @note, or BPF_OUTSIDE; -1: not known.
 */
static __always_inline int number(const struct bpf_config *c, struct bpf_note *note)
{
	struct bpf_pidns_info in = {};

	if (bpf_get_ns_current_pid_tgid(c->pidns_dev, c->pidns, &in, sizeof(in)))
		return c->pidns_at.thread_pid ? number_by_levels(c, note) : -1;
	note->pid = in.tgid;
	note->tid = in.pid;
	return in.tgid && in.pid ? 0 : -1;
}

/*
 * Apply the filters (core/tasks/filter.h) to a sample, or to the task of an interval.
 * @groups: BY_CGROUP, BY_MNTNS, BY_PIDNS; a compile-time constant
 * Return: BPF_COUNTED: the sample is wanted; BPF_UNKNOWN: it may be; BPF_FILTERED or BPF_LEFT.
 */
static __always_inline __u32 judge(const struct bpf_config *c, const struct bpf_note *note, int groups)
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
	if ((c->by_comm && !has_comm(c, note->comm)) || (groups & BY_CGROUP && !is_in_cgroup(c)))
		return BPF_FILTERED;
	if (!(groups & BY_MNTNS))
		return wanted;
	if (groups & BY_PIDNS && note->tid == BPF_OUTSIDE)
		return BPF_FILTERED; /* the rings have no records about its namespaces */
	mntns = mount_namespace(&c->mntns_at);
	if (!mntns)
		return BPF_LEFT;
	if ((c->mntns && mntns != c->mntns) || (c->by_mntns_ids && !bpf_map_lookup_elem(&mntns_ids, &mntns)))
		return BPF_FILTERED;
	return wanted;
}

#endif
