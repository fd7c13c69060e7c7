/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Map layouts shared by the BPF programs and backend-bpf/. Both clang (for BPF) and gcc compile this header.
 *
 * Samples, profile.bpf.c: User space fills `config`, `targets` and perhaps `cgroup`, and attaches a program to one perf
 * event on each CPU. For each sample, the program does one of these:
 * - It counts the sample (`counts_N`, its stacks in `stack_map_N` and `short_map_N`) and returns 0: the kernel drops
 *   the sample.
 * - It filters the sample out and returns 0.
 * - If it cannot count the sample, it writes a note to the event's ring (`notes`) and returns 1. Then the kernel writes
 *   the sample to the same ring behind the note, and user space counts it.
 *
 * `stats` has a counter for each of these cases, so that every sample is accounted for.
 *
 * There are two sets of tables, N = 0 and 1: user space reads one while the program fills the other. If only one set is
 * needed, and its tables may become large, they start small. In this case, the attached program is dispatch() from the
 * start, which calls the program in `programs`. When its tables have no room for some samples, user space puts a second
 * instance of that program there, with larger tables and a `config` of its own.
 *
 * Time off the CPU, offcpu.bpf.c: One program sees the switches of all CPUs. When a thread leaves its CPU, the program
 * stores it in `slots`, and its stacks in `stack_map`. When the thread comes back, the program adds the time to its
 * entry of `counts_N`. If there is no room for a stack or a count, the program passes the interval on as a note; the
 * note has the stacks if they could not be stored. `stats` has a counter for each of these cases, too. There is only
 * one `slots` and one `stack_map`: an interval that begins while one set is filled may end in the other.
 *
 * Names of kernel addresses, names.bpf.c: for each address, user space runs a program that leaves the name in `answer`.
 *
 * All structures have members of fixed widths, no padding, and no pointers.
 */
#ifndef BPF_LAYOUT_H
#define BPF_LAYOUT_H

#include <linux/types.h>

#define LAYOUT_COMM_LEN 16

/* names.bpf.c: "name+0xoffset/0xsize [module]": KSYM_NAME_LEN (512), two numbers, MODULE_NAME_LEN (about 60). */
#define LAYOUT_ANSWER_LEN 640

/* Offsets in bytes of kernel structure members that describe a task, from the kernel's BTF (backend-bpf/offsets.h). */

/* For the mount namespace. */
struct bpf_mntns_offsets {
	__u32 nsproxy; /* in struct task_struct: a pointer to struct nsproxy */
	__u32 mnt_ns;  /* in struct nsproxy: a pointer to struct mnt_namespace */
	__u32 inum;    /* in struct mnt_namespace: a __u32 */
};

/* For the ids that a task has in each of its PID namespaces. */
struct bpf_pidns_offsets {
	__u32 thread_pid; /* in struct task_struct: a pointer to struct pid */
	__u32 signal;     /* in struct task_struct: a pointer to struct signal_struct */
	__u32 tgid;       /* in struct signal_struct: a pointer to struct pid */
	__u32 level;      /* in struct pid: how many namespaces contain its own, a __u32 */
	__u32 numbers;    /* in struct pid: a struct upid for each of these, the outermost first, then for its own */
	__u32 upid_size;  /* size of struct upid */
	__u32 nr;         /* in struct upid: a __u32 */
	__u32 ns;         /* in struct upid: a pointer to struct pid_namespace */
	__u32 inum;       /* in struct pid_namespace: a __u32 */
};

/* For the tid and the states of a task. */
struct bpf_switch_offsets {
	__u32 tid;        /* in struct task_struct: a __u32 */
	__u32 state;      /* in struct task_struct: a __u32, or the lower half of a __u64 (little endian) */
	__u32 exit_state; /* in struct task_struct: a __u32 */
	__u32 given;      /* 1: the fourth argument of the program has the state as the kernel read it */
};

/* The one entry of `config`. */
struct bpf_config {
	__u32 by;                        /* which ids are the keys of `targets`: BPF_BY_* */
	__u32 idle;                      /* 1: keep the idle task */
	__u32 no_kernel;                 /* 1: user stacks only */
	__u32 no_user;                   /* 1: kernel stacks only */
	__u32 pass_all;                  /* 1: pass on each sample, even if counted or filtered; note each switch */
	__u32 unwind;                    /* pass on samples with a user stack: BPF_UNWIND_* */
	__u32 set;                       /* the set of tables to count into: 0, 1; or BPF_SET_NONE */
	__u32 by_comm;                   /* 1: only threads called @comm */
	__u32 comm[LAYOUT_COMM_LEN / 4]; /* zero padded; in words, because the program compares words */

	__u32 by_cgroup;     /* 1: only tasks in the cgroup of `cgroup`, or below it */
	__u32 by_cgroup_ids; /* 1: only tasks whose cgroup is in `cgroup_ids` */
	__u32 by_mntns_ids;  /* 1: only tasks whose mount namespace is in `mntns_ids` */

	/* Only for programs that read mount namespaces: the only one wanted. */
	__u32 mntns; /* inode number; 0: any */
	struct bpf_mntns_offsets mntns_at;

	/* Only for programs that run for a PID namespace: the namespace, and the name of tasks outside it. */
	__u32 pidns;                             /* inode number */
	__u32 pidns_dev;                         /* device, as the kernel numbers it */
	__u32 outside_comm[LAYOUT_COMM_LEN / 4]; /* for tasks outside; in words as @comm */
	struct bpf_pidns_offsets pidns_at;       /* all 0: the offsets are not known */

	/* Only for programs that see switches: the wanted intervals off the CPU. */
	__u64 min_ns, max_ns; /* limits of their length, both included */
	__u64 state_mask; /* with @by_state: only intervals that begin in one of these states; 0: only those of a thread
			     that could still run */
	__u64 could_run;  /* bits of a state to ignore: a thread that leaves with no other bits could still run */
	__u64 dead;       /* bits that mean that a thread never comes back */
	__u32 by_state;
	__u32 by_cpu; /* 1: only intervals that begin on @cpu */
	__u32 cpu;
	__u32 threads; /* BPF_THREADS_* */

	/* Only for raw_count_switch(), which does not get the tracepoint's record. */
	struct bpf_switch_offsets switch_at;

	__u32 has_shorts; /* 1: short stacks have a map of their own */
	__u32 generation; /* 1: these are the larger tables of the second instance */
	/* 1: only samples of user code may use `proved`, see kernel_withholds_registers() */
	__u32 proves_user;
	__u32 kernel_skip; /* how many frames to leave out in front of kernel stacks */
};

/* Samples to pass on: none, all, or those whose user stack is not in `proved`. */
enum { BPF_UNWIND_NONE, BPF_UNWIND_ALL, BPF_UNWIND_UNPROVED };

/* States that raw_count_switch() computes, as in the tracepoint's record since 4.20. */
#define BPF_STATE_IDLE      0x80  /* waits uninterruptibly, but does not count as load */
#define BPF_STATE_PREEMPTED 0x100 /* could run, and was preempted */
#define BPF_STATE_DEAD      0x30

enum { BPF_THREADS_ANY, BPF_THREADS_USER, BPF_THREADS_KERNEL };

/*
 * BPF_BY_TREE: process ids, with 1 for wanted and 0 for other processes; user space decides about ids that are missing.
 */
enum { BPF_BY_NONE, BPF_BY_PID, BPF_BY_TID, BPF_BY_TREE };

#define BPF_SET_NONE 2 /* counting has not begun, or is over: drop every sample or switch, uncounted */

/*
 * Key of `counts_N`, from make_key(). The value is a __u64 number of samples, or struct bpf_charge. A key in a map
 * takes a multiple of 8 bytes (kernel/bpf/hashtab.c), so a key without @unused would take 32 bytes, too.
 */
struct bpf_count_key {
	__u32 pid; /* process (tgid) in the PID namespace, or BPF_OUTSIDE */
	/*
	 * Entry of `stack_map_N`, or BPF_SHORT_STACK and an entry of `short_map_N`; or BPF_NO_STACK: there is no such
	 * stack. If a stack cannot be stored, the sample is passed on, and has no entry here.
	 */
	__s32 kernel_stack, user_stack;
	char comm[LAYOUT_COMM_LEN]; /* of the thread, zero padded */
	__u32 unused;               /* 0 */
};

#define BPF_NO_STACK    (-1)
#define BPF_SHORT_STACK 0x20000000 /* no stack map has so many entries */
#define BPF_SHORT_WORDS 32 /* words in an entry for a short stack: addresses, and perhaps a marker before them */

/*
 * Key of `proved`. With a @user_stack (as in struct bpf_count_key), samples of the process with this stack need not be
 * unwound. The value is an __s32: the user_stack with which such samples are counted in `counts_N`. It is @user_stack
 * itself, or a number from BPF_LEAF_STACKS on. Such a number stands for the stack @user_stack with the address @top
 * behind its leaf; user space inserts that address. An entry with BPF_NO_STACK as its @user_stack says that the process
 * has proven stacks: only then does the program look up the stacks of its samples.
 */
struct bpf_proved_key {
	__u32 set; /* N; 0 with BPF_NO_STACK */
	__u32 pid; /* as in struct bpf_count_key */
	__s32 user_stack;
	__u32 unused;
	__u64 top; /* the word that the user's stack pointer points to; 0: any */
};

#define BPF_LEAF_STACKS 0x40000000 /* above all numbers of stacks */

#define BPF_OUTSIDE 0xffffffffU /* pid and tid of a task outside the PID namespace, where it has no ids */

/* Samples or intervals that user space has to count, by reason. */
struct bpf_spills {
	__u64 stack;  /* no room for a stack, or another stack has its place */
	__u64 count;  /* no room for the count */
	__u64 unwind; /* user space unwinds the user stack */
	__u64 tree;   /* see BPF_UNKNOWN */
	__u64 number; /* the task's id in the PID namespace is not known here */
};

/* Entry N of `stats`, one for each CPU. */
struct bpf_stats {
	__u64 taken; /* = counted + filtered + all spilled */
	__u64 counted;
	__u64 filtered;
	struct bpf_spills spilled;
	__u64 idle;    /* of those taken: samples of the idle task */
	__u64 outside; /* of those taken: tasks outside the PID namespace */
	__u64 proved;  /* of those counted: with a stack of `proved` */
};

/*
 * The one entry of `flight`, one for each CPU. A run of the program increments @entered before it reads `config.set`,
 * and @left at its end. Once both are equal on a CPU, no run there can still use an older set.
 * @came: only offcpu.bpf.c: the thread that came at the last switch; 0: there was no switch yet. raw_count_switch()
 * stores the address of the task, because execve(2) may change its id. count_switch() has no address: it stores 1 + id
 */
struct bpf_flight {
	__u64 entered, left;
	__u64 came;
};

/* Results for a sample, or for a thread that leaves its CPU. */
enum {
	BPF_COUNTED,
	BPF_FILTERED,
	BPF_LEFT, /* filtered: its task has left its namespaces while exiting */
	BPF_SPILLED,
	BPF_UNKNOWN,    /* spilled: user space has to decide whether the process is wanted; all else matches */
	BPF_UNNUMBERED, /* spilled before judge(): user space has to find the ids, and to apply the filters */
};

/* The task of a note. */
struct bpf_note {
	__u32 set, verdict;
	/*
	 * The ids in the PID namespace, or BPF_OUTSIDE; 0 if @verdict is BPF_UNNUMBERED. In the initial namespace,
	 * dying tasks have ids, too.
	 */
	__u32 pid, tid;
	char comm[LAYOUT_COMM_LEN]; /* at the time of the sample */
};

/* Raw data of the note in front of a sample that was passed on. */
struct bpf_sample_note {
	struct bpf_note who;
	__s32 user_stack; /* as in bpf_count_key, in set who.set: a stack that may become proven; or BPF_NO_STACK */
	__u32 generation; /* of the tables that have @user_stack: see struct bpf_config */
	__u64 top; /* for @user_stack: as in struct bpf_proved_key; 0: not known, or the sample is of kernel code */
};

/* Value of `counts_N` for time off the CPU. */
struct bpf_charge {
	__u64 ns, times; /* sum of the intervals, and their number */
};

/* Entry of `slots`, by the thread's id in the initial namespace. Only the thread's own switches write to it. */
struct bpf_slot {
	/*
	 * CLOCK_MONOTONIC time in ns when the thread left its CPU; 0 while it runs, or if the interval is filtered out
	 */
	__u64 ns;
	__u64 spilled; /* 1: the interval was passed on when it began, and @key is not set */
	struct bpf_count_key key;
};

/* Entry N of `stats` for time off the CPU, one for each CPU. */
struct bpf_switch_stats {
	/* Summed over both entries: = charged + filtered + lost + passed + the open ones in `slots` not passed on */
	__u64 begun;
	__u64 charged;
	__u64 filtered;
	__u64 lost;    /* the end was not seen, or there was no room for the beginning */
	__u64 passed;  /* = all spilled */
	__u64 no_slot; /* of those lost: `slots` had no room for the thread */
	__u64 unseen;  /* switches for which the kernel ran no program: another thread leaves than the one that came */
	/* Counted when an interval begins; only @count when an interval ends and `counts_N` has no room for it. */
	struct bpf_spills spilled;
};

/* Kinds of notes about switches. */
enum {
	BPF_SWITCH_SEEN,   /* the next records in the ring are of a switch to thread @id, seen at @ns */
	BPF_SWITCH_BEGIN,  /* thread @id leaves its CPU at @ns with the stacks of this record */
	BPF_SWITCH_END,    /* thread @id is back at @ns; 0: it came back at an unknown time */
	BPF_SWITCH_CHARGE, /* an interval of @ns nanoseconds has ended; its stacks are in `stack_map` */
};

/* Raw data of a note about a switch; fields that its kind does not use are 0. */
struct bpf_switch_note {
	__u32 kind, id;
	__u64 ns;
	union {
		struct bpf_note who; /* SEEN, END: only its set */
		struct {
			__u32 set; /* @charge.set and @who.set are at the same place */
			__u32 unused;
			struct bpf_count_key key;
		} charge; /* CHARGE */
	};
};

#endif
