/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF program and backend-bpf/ agree on; the only header both compilers read.
 *
 * User space fills `config`, `targets` and perhaps `cgroup`, and attaches a program to one perf event a CPU. For each
 * sample the program either counts it (`counts_N`, its stacks in `stack_map_N`) or filters it out, and returns 0, which
 * ends it; or it cannot count it and returns 1: then the kernel writes the sample to the event's ring, where user space
 * counts it. Which of these it was is in `books`, so that every sample is accounted for. In front of a sample that it
 * passes on, the program writes a note to the same ring (`notes`).
 *
 * There are two sets of tables, N = 0 and 1: user space reads the one while the program fills the other.
 *
 * Fixed widths, no padding, no pointers.
 */
#ifndef BPF_LAYOUT_H
#define BPF_LAYOUT_H

#define LAYOUT_COMM_LEN 16

/* The one entry of `config`. */
struct bpf_config {
	__u32 by;                        /* which ids `targets` has as keys: BPF_BY_* */
	__u32 idle;                      /* 1: keep the idle task */
	__u32 no_kernel;                 /* 1: user stacks only */
	__u32 no_user;                   /* 1: kernel stacks only */
	__u32 pass_all;                  /* 1: pass on every sample, whatever became of it here */
	__u32 unwind;                    /* 1: pass on every sample with a user part that is wanted */
	__u32 set;                       /* of tables to count into: 0, 1; or BPF_SET_NONE */
	__u32 by_comm;                   /* 1: only threads called @comm */
	__u32 comm[LAYOUT_COMM_LEN / 4]; /* zero padded; words, as the program compares it */

	__u32 by_cgroup;     /* 1: only tasks below that of `cgroup` */
	__u32 by_cgroup_ids; /* 1: only tasks whose cgroup is in `cgroup_ids`, */
	__u32 by_mntns_ids;  /* or whose mount namespace in `mntns_ids` */

	/* For the programs that look at it: the only mount namespace, and where in the kernel's structures it is. */
	__u32 mntns;      /* inode number; 0: any */
	__u32 nsproxy_at; /* in struct task_struct: a pointer to struct nsproxy */
	__u32 mnt_ns_at;  /* in that: a pointer to struct mnt_namespace */
	__u32 inum_at;    /* in that: a __u32 */
};

/* By tree: ids of processes, with 1 for those asked for and 0 for others; of the rest user space has to tell. */
enum { BPF_BY_NONE, BPF_BY_PID, BPF_BY_TID, BPF_BY_TREE };

#define BPF_SET_NONE 2 /* not yet: drop every sample, uncounted */

/* Key of `counts_N`; the value is a __u64 number of samples. */
struct bpf_count_key {
	__u32 pid; /* process (tgid), as the initial pid namespace numbers it */
	/* Entry of `stack_map_N`, or BPF_NO_STACK. Other failures of bpf_get_stackid() are never counted. */
	__s32 kernel_stack, user_stack;
	char comm[LAYOUT_COMM_LEN]; /* the thread's, zero padded */
};

#define BPF_NO_STACK (-1)

/* Entry N of `books`, one for each CPU. */
struct bpf_books {
	__u64 taken; /* = counted + filtered + all that are spilled */
	__u64 counted;
	__u64 filtered;
	__u64 spilled_stack;  /* no room for a stack, or another stack has its place */
	__u64 spilled_count;  /* no room for the count */
	__u64 spilled_unwind; /* user space unwinds the user's part */
	__u64 spilled_tree;   /* BPF_UNKNOWN */
	__u64 idle;           /* of those taken: of the idle task */
};

/*
 * The one entry of `flight`, one for each CPU. @entered counts before `config` is read, @left after everything else:
 * once they are equal on a CPU, no run of the program there can still use what was in `config` before.
 */
struct bpf_flight {
	__u64 entered, left;
};

/* What became of a sample. */
enum {
	BPF_COUNTED,
	BPF_FILTERED,
	BPF_LEFT, /* filtered: its task has left its namespaces, to exit */
	BPF_SPILLED,
	BPF_UNKNOWN, /* spilled: user space has to tell whether the process is asked for; all else is */
};

/* Raw data of the record in front of a sample that was passed on. */
struct bpf_note {
	__u32 set, verdict;
	__u32 pid, tid;             /* as the initial pid namespace numbers them, also of a dying task */
	char comm[LAYOUT_COMM_LEN]; /* at the time of the sample */
};

#endif
