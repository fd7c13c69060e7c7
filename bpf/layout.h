/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF programs and backend-bpf/ agree on; the only header both compilers read.
 *
 * Samples, profile.bpf.c:
 * User space fills `config`, `targets` and perhaps `cgroup`, and attaches a program to one perf event a CPU. For each
 * sample the program either counts it (`counts_N`, its stacks in `stack_map_N` and `short_map_N`) or filters it out,
 * and returns 0, which ends it; or it cannot count it and returns 1: then the kernel writes the sample to the event's
 * ring, where user space counts it. Which of these it was is in `stats`, so that every sample is accounted for. In
 * front of a sample that it passes on, the program writes a note to the same ring (`notes`).
 *
 * There are two sets of tables, N = 0 and 1: user space reads the one while the program fills the other. Where only one
 * is needed, and can be large, it is small at first: what is attached is dispatch(), which calls the program that
 * `programs` has. When that has no room any more, user space puts another instance of it there, with larger tables and
 * a `config` of its own.
 *
 * Time off the CPU, offcpu.bpf.c: one program sees the switches of all CPUs. `slots` has a thread from when it leaves
 * its CPU, with the stacks it left with in `stack_map`, until it comes back; then the time is added to its entry of
 * `counts_N`. What has no room is passed on as a note, which has the stacks where they could not be kept. `stats` say
 * what became of every interval. `slots` and `stack_map` are there once: an interval that begins while one set is
 * filled may end in the other.
 *
 * Names of kernel addresses, names.bpf.c: a program is run for each, and leaves the answer in `answer`.
 *
 * Fixed widths, no padding, no pointers.
 */
#ifndef BPF_LAYOUT_H
#define BPF_LAYOUT_H

#include <linux/types.h>

#define LAYOUT_COMM_LEN 16

/* names.bpf.c: "name+0xoffset/0xsize [module]": KSYM_NAME_LEN (512), two numbers, MODULE_NAME_LEN (about 60). */
#define LAYOUT_ANSWER_LEN 640

/* Where the kernel has what it knows of a task: offsets in bytes, as its BTF tells (backend-bpf/offsets.h). */

/* The mount namespace. */
struct bpf_mntns_offsets {
	__u32 nsproxy; /* in struct task_struct: a pointer to struct nsproxy */
	__u32 mnt_ns;  /* in that: a pointer to struct mnt_namespace */
	__u32 inum;    /* in that: a __u32 */
};

/* The numbers that a task has in each of its pid namespaces. */
struct bpf_pidns_offsets {
	__u32 thread_pid; /* in struct task_struct: a pointer to struct pid */
	__u32 signal;     /* in struct task_struct: a pointer to struct signal_struct */
	__u32 tgid;       /* in that: a pointer to struct pid */
	__u32 level;      /* in struct pid: how many namespaces are around its own, a __u32 */
	__u32 numbers;    /* in that: struct upid of each of them, the outermost first, */
	__u32 upid_size;  /* which is that long */
	__u32 nr;         /* in that: a __u32 */
	__u32 ns;         /* in that: a pointer to struct pid_namespace */
	__u32 inum;       /* in that: a __u32 */
};

/* The number and the states. */
struct bpf_switch_offsets {
	__u32 tid;        /* in struct task_struct: a __u32 */
	__u32 state;      /* in that: a __u32, or the lower half of a __u64 (little endian) */
	__u32 exit_state; /* in that: a __u32 */
	__u32 given;      /* 1: the state is the fourth argument of the program, as it was when the kernel looked */
};

/* The one entry of `config`. */
struct bpf_config {
	__u32 by;                        /* which ids `targets` has as keys: BPF_BY_* */
	__u32 idle;                      /* 1: keep the idle task */
	__u32 no_kernel;                 /* 1: user stacks only */
	__u32 no_user;                   /* 1: kernel stacks only */
	__u32 pass_all;                  /* 1: pass on every sample, whatever became of it here */
	__u32 unwind;                    /* pass on samples with a user part that is wanted: BPF_UNWIND_* */
	__u32 set;                       /* of tables to count into: 0, 1; or BPF_SET_NONE */
	__u32 by_comm;                   /* 1: only threads called @comm */
	__u32 comm[LAYOUT_COMM_LEN / 4]; /* zero padded; words, as the program compares it */

	__u32 by_cgroup;     /* 1: only tasks below that of `cgroup` */
	__u32 by_cgroup_ids; /* 1: only tasks whose cgroup is in `cgroup_ids`, */
	__u32 by_mntns_ids;  /* or whose mount namespace in `mntns_ids` */

	/* For the programs that look at it: the only mount namespace. */
	__u32 mntns; /* inode number; 0: any */
	struct bpf_mntns_offsets mntns_at;

	/* For the programs that run for a pid namespace: which, and what its tasks are not called. */
	__u32 pidns;                             /* inode number, */
	__u32 pidns_dev;                         /* on this device, as the kernel numbers it */
	__u32 outside_comm[LAYOUT_COMM_LEN / 4]; /* of tasks that are not in it; as @comm */
	struct bpf_pidns_offsets pidns_at;       /* all 0: not known */

	/* For the programs that see switches: which intervals off the CPU are wanted. */
	__u64 min_ns, max_ns; /* their length */
	__u64 state_mask;     /* with @by_state: bits of the state in which a thread leaves; 0: it could still run */
	__u64 could_run;      /* bits of that state that a thread may have that could still run */
	__u64 dead;           /* bits: it never comes back */
	__u32 by_state;
	__u32 by_cpu; /* 1: only those that begin on @cpu */
	__u32 cpu;
	__u32 threads; /* BPF_THREADS_* */

	/* For those of them that are not given the record of the tracepoint. */
	struct bpf_switch_offsets switch_at;

	__u32 has_shorts;  /* 1: short stacks have a map of their own */
	__u32 generation;  /* 1: the tables are those of a program that took the place of another one */
	__u64 proves_user; /* 1: nothing is proved of samples of the kernel's code, see kernel_withholds_registers() */
	__u64 group;       /* BPF_GROUP_*: what keys have, beside what all of them have */
};

#define BPF_GROUP_TID 1

/* Which of them: none, all, or those whose user stack is not one of `proved`. */
enum { BPF_UNWIND_NONE, BPF_UNWIND_ALL, BPF_UNWIND_UNPROVED };

/* States as these give them, as in the record of the tracepoint since 4.20. */
#define BPF_STATE_IDLE      0x80  /* waits, but nobody would wait for it */
#define BPF_STATE_PREEMPTED 0x100 /* could run, and was taken off its CPU */
#define BPF_STATE_DEAD      0x30

enum { BPF_THREADS_ANY, BPF_THREADS_USER, BPF_THREADS_KERNEL };

/* By tree: ids of processes, with 1 for those asked for and 0 for others; of the rest user space has to tell. */
enum { BPF_BY_NONE, BPF_BY_PID, BPF_BY_TID, BPF_BY_TREE };

#define BPF_SET_NONE 2 /* not yet: drop every sample, uncounted */

/*
 * Key of `counts_N`, which make_key() makes; the value is a __u64 number of samples, or struct bpf_charge. Parts that
 * are not asked for are 0. In a map it takes a multiple of 8 bytes (kernel/bpf/hashtab.c): less than 32 would save
 * nothing.
 */
struct bpf_count_key {
	__u32 pid; /* process (tgid), as the pid namespace numbers it; BPF_OUTSIDE */
	/*
	 * Entry of `stack_map_N`, or BPF_SHORT_STACK and an entry of `short_map_N`; or BPF_NO_STACK. Other failures of
	 * bpf_get_stackid() are never counted.
	 */
	__s32 kernel_stack, user_stack;
	char comm[LAYOUT_COMM_LEN]; /* the thread's, zero padded */
	__u32 tid;                  /* as @pid; BPF_GROUP_TID */
};

#define BPF_NO_STACK    (-1)
#define BPF_SHORT_STACK 0x20000000 /* no stack map has so many entries */
#define BPF_SHORT_WORDS 32         /* in an entry for a short stack: addresses, and perhaps a marker in front of them */

/*
 * Key of `proved`. With a @user_stack, as in struct bpf_count_key: samples of the process with this stack need not be
 * unwound. The value is the __s32 that they are counted with as user_stack: this one, or from BPF_LEAF_STACKS on a
 * number that user space knows, of this one with @top behind its leaf. With BPF_NO_STACK: there may be such ones: it is
 * worth to look.
 */
struct bpf_proved_key {
	__u32 set; /* N; 0 with BPF_NO_STACK */
	__u32 pid; /* as of struct bpf_count_key */
	__s32 user_stack;
	__u32 unused;
	__u64 top; /* the word that the user's stack pointer points to; 0: any */
};

#define BPF_LEAF_STACKS 0x40000000 /* above all of these */

#define BPF_OUTSIDE 0xffffffffU /* pid and tid of a task that is not in the pid namespace: it has none there */

/* What user space has to count, by reason. */
struct bpf_spills {
	__u64 stack;  /* no room for a stack, or another stack has its place */
	__u64 count;  /* no room for the count */
	__u64 unwind; /* user space unwinds the user's part */
	__u64 tree;   /* BPF_UNKNOWN */
	__u64 number; /* not known here which number its task has in the pid namespace */
};

/* Entry N of `stats`, one for each CPU. */
struct bpf_stats {
	__u64 taken; /* = counted + filtered + all that are spilled */
	__u64 counted;
	__u64 filtered;
	struct bpf_spills spilled;
	__u64 idle;    /* of those taken: of the idle task, */
	__u64 outside; /* of tasks outside the pid namespace */
	__u64 proved;  /* of those counted: with a stack of `proved` */
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
	BPF_UNKNOWN,    /* spilled: user space has to tell whether the process is asked for; all else is */
	BPF_UNNUMBERED, /* spilled before anything was asked: whose it is user space has to find out */
};

/* What a record tells of whom it is about. */
struct bpf_note {
	__u32 set, verdict;
	/* As the pid namespace numbers them, in the initial one also of a dying task; BPF_OUTSIDE. BPF_UNNUMBERED: 0 */
	__u32 pid, tid;
	char comm[LAYOUT_COMM_LEN]; /* at the time of the sample */
};

/* Raw data of the record in front of a sample that was passed on. */
struct bpf_sample_note {
	struct bpf_note who;
	__s32 user_stack; /* as in bpf_count_key, N = who.set: it may come to be proved; or BPF_NO_STACK */
	__u32 generation; /* of the tables that @user_stack is of: see struct bpf_config */
	__u64 top;        /* with that: as of struct bpf_proved_key; 0: not known, the sample is of the kernel's code */
};

/* What is in `counts_N` of time off the CPU. */
struct bpf_charge {
	__u64 ns, times; /* of so many intervals */
};

/* Entry of `slots`, by the thread as the initial namespace numbers it. Nothing but its own switches writes to it. */
struct bpf_slot {
	__u64 ns;      /* CLOCK_MONOTONIC, when it left its CPU; 0: it is on one, or nobody asks for this interval */
	__u64 spilled; /* 1: the interval was passed on when it began: of @key nothing is set */
	struct bpf_count_key key;
};

/* Entry N of `stats` about time off the CPU, one for each CPU. */
struct bpf_switch_stats {
	__u64 begun; /* = charged + filtered + lost + passed + what is open in `slots`, of both entries together */
	__u64 charged;
	__u64 filtered;
	__u64 lost;    /* nobody saw the end, or there was no room for the beginning */
	__u64 passed;  /* = all that are spilled */
	__u64 no_slot; /* of those lost: there are more threads than places in `slots` */
	/* When they begin, but for the count, for which there is no room when they end. */
	struct bpf_spills spilled;
};

/* What a note about switches tells. */
enum {
	BPF_SWITCH_SEEN,   /* the next records in the ring are of a switch to thread @id, which was seen at @ns */
	BPF_SWITCH_BEGIN,  /* thread @id leaves its CPU at @ns with the stacks of this record */
	BPF_SWITCH_END,    /* it is back at @ns; 0: it was, and nobody saw when */
	BPF_SWITCH_CHARGE, /* an interval of @ns nanoseconds is over, whose stacks are in `stack_map` */
};

/* Raw data of a record about switches; what its kind does not tell is 0. */
struct bpf_switch_note {
	__u32 kind, id;
	__u64 ns;
	union {
		struct bpf_note who; /* SEEN, END: its set alone */
		struct {
			__u32 set; /* in the place of that of @who */
			__u32 unused;
			struct bpf_count_key key;
		} charge; /* CHARGE */
	};
};

#endif
