/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF program and backend-bpf/ agree on; the only header both compilers read.
 *
 * User space fills `config` and `targets` and attaches the program to one perf event a CPU. For each sample the program
 * either counts it (`counts`, its stacks in `stack_map`) or filters it out, and returns 0, which ends it; or it cannot
 * count it and returns 1: then the kernel writes the sample to the event's ring, where user space counts it. Which of
 * these it was is in `books`, so that every sample is accounted for.
 *
 * Fixed widths, no padding, no pointers.
 */
#ifndef BPF_LAYOUT_H
#define BPF_LAYOUT_H

#define LAYOUT_COMM_LEN 16

/* The one entry of `config`. */
struct bpf_config {
	__u32 by;        /* which ids `targets` holds: BPF_BY_* */
	__u32 idle;      /* 1: keep the idle task */
	__u32 no_kernel; /* 1: user stacks only */
	__u32 no_user;   /* 1: kernel stacks only */
};

enum { BPF_BY_NONE, BPF_BY_PID, BPF_BY_TID };

/* Key of `counts`; the value is a __u64 number of samples. */
struct bpf_count_key {
	__u32 pid; /* process (tgid), as the initial pid namespace numbers it */
	/* Entry of `stack_map`, or BPF_NO_STACK. Other failures of bpf_get_stackid() are never counted. */
	__s32 kernel_stack, user_stack;
	char comm[LAYOUT_COMM_LEN]; /* the thread's, zero padded */
};

#define BPF_NO_STACK (-1)

/* The one entry of `books`, one for each CPU. */
struct bpf_books {
	__u64 taken; /* = counted + filtered + spilled_stack + spilled_count */
	__u64 counted;
	__u64 filtered;
	__u64 spilled_stack; /* no room for a stack, or another stack has its place */
	__u64 spilled_count; /* no room for the count */
};

#endif
