// SPDX-License-Identifier: Apache-2.0
/*
 * can perf|bpf - test whether the kernel permits what live tests need. Exit status 0, or 1 with the reason on stdout.
 *
 * It uses no code of the program under test: otherwise a defect of that program could skip its own tests.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int cannot(const char *what)
{
	printf("this machine cannot %s: %s\n", what, strerror(errno));
	return 1;
}

static int open_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 10000000,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
	};

	return (int)syscall(__NR_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
}

static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static const char license[] = "Dual BSD/GPL";
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t)license;
	return (int)syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int make_stack_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_STACK_TRACE;
	attr.key_size = 4;
	attr.value_size = 64 * 8;
	attr.max_entries = 16;
	return (int)syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int event, program;

	if (argc != 2 || (strcmp(argv[1], "perf") && strcmp(argv[1], "bpf"))) {
		fputs("usage: can perf|bpf\n", stderr);
		return 2;
	}
	event = open_event();
	if (event < 0)
		return cannot("open a perf event on a whole CPU");
	if (!strcmp(argv[1], "perf"))
		return 0;
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* kernels before 5.11 account maps there */
	program = load_program();
	if (program < 0)
		return cannot("load a BPF program for perf events");
	if (make_stack_map() < 0)
		return cannot("make a BPF stack map");
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program))
		return cannot("attach a BPF program to a perf event");
	return 0;
}
